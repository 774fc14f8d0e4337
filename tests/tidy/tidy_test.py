"""Each check finds what it forbids, and leaves alone what only looks like it."""

import unittest

import layers
import size
import tidy
import words
from source import Source
from tests import case_report


class CheckTest(unittest.TestCase):
    def found(self, check, path, text):
        return [line for line, _ in check(Source(path, text))]

    def assert_found(self, check, path, text, lines):
        self.assertEqual(self.found(check, path, text), lines)

    def assert_clean(self, check, path, text):
        self.assert_found(check, path, text, [])


class SizeTest(CheckTest):
    def body(self, lines):
        return "  x++;\n" * lines

    def test_long_function(self):
        text = "namespace a {\nvoid F() {\n" + self.body(69) + "}\n}\n"
        self.assert_found(size.function_length, "sim/a.cc", text, [2])

    def test_longest_function(self):
        text = "namespace a {\nvoid F() {\n" + self.body(68) + "}\n}\n"
        self.assert_clean(size.function_length, "sim/a.cc", text)

    def test_long_method_of_a_template(self):
        text = (
            "template <class T>\nstruct alignas(64) A final : B<T> {\n  int x;\n public:\n"
            "  explicit A(int y) : x{y}, z(y) {\n" + self.body(80) + "  }\n};\n"
        )
        self.assertEqual(len(self.found(size.function_length, "sim/a.h", text)), 1)

    def test_long_class_is_no_function(self):
        text = "class [[nodiscard]] A {\n" + "  int F();\n" * 100 + "};\n"
        self.assert_clean(size.function_length, "sim/a.h", text)

    def test_long_concept_is_no_function(self):
        text = "template <class P>\nconcept Port = requires(P p) {\n" + "  p.X();\n" * 90 + "};\n"
        self.assert_clean(size.function_length, "transport/port.h", text)

    def test_braces_in_strings_comments_and_directives(self):
        text = 'void F() { s = "}}{"; } // {{{\n#define A {\n' + "int b = 1'000;\n" * 80
        self.assert_clean(size.function_length, "sim/a.cc", text)

    def test_long_kernel(self):
        text = "__global__ void F(int n) {\n" + self.body(90) + "}\n"
        self.assert_found(size.function_length, "workloads/a.cu", text, [1])

    def test_long_python_and_starlark_function(self):
        text = "def f():\n" + "    x = 1\n" * 70
        self.assert_found(size.function_length, "tools/a.py", text, [1])
        self.assert_found(size.function_length, "tools/a.bzl", text, [1])

    def test_long_file(self):
        self.assert_found(size.file_length, "sim/a.h", "\n" * 201, [201])
        self.assert_clean(size.file_length, "sim/a.cc", "\n" * 400)
        self.assert_found(size.file_length, "sim/a.cc", "\n" * 401, [401])

    def test_long_line(self):
        self.assert_found(size.line_length, "sim/a.cc", "//" + "x" * 99 + "\n", [1])
        self.assert_clean(size.line_length, "sim/a.cc", "//" + "x" * 98 + "\n")


class WordsTest(CheckTest):
    def test_left_over(self):
        self.assert_found(words.left_overs, "sim/a.cc", "\n// TODO: more\n", [2])
        self.assert_clean(words.left_overs, "sim/a.cc", 'mkstemp("XXXXXX");\n')

    def test_internal_word(self):
        self.assert_found(words.internal_words, "docs/a.md", "see /work/x\n", [1])
        self.assert_found(words.internal_words, "a.py", "\n# A subagent did it\n", [2])
        self.assert_clean(words.internal_words, "docs/a.md", "the work of a session\n")

    def test_host_clock_in_virtual_time(self):
        text = "#include <chrono>\nint a = std::rand();\nstd::random_device d;\n"
        self.assert_found(words.host_clock, "sim/nic/a.cc", text, [1, 2, 3])
        self.assert_clean(words.host_clock, "sim/service/a.cc", text)

    def test_host_clock_only_mentioned(self):
        text = '// unlike <chrono>\nauto a = operand(b);\nconst char* c = "steady_clock";\n'
        self.assert_clean(words.host_clock, "sim/engine/a.cc", text)

    def test_verbs_outside_their_places(self):
        text = "ibv_open_device(d);\nmlx5dv_init_obj(&o, 1);\n"
        self.assert_found(words.verbs, "transport/a.cc", text, [1, 2])
        self.assert_clean(words.verbs, "backends/mlx5/a.cc", text)
        self.assert_clean(words.verbs, "transport/a.h", "// what ibv_post_send does\n")

    def test_platform_dependence(self):
        text = '#ifdef __CUDACC__\nasm volatile("");\n#endif\n'
        self.assertEqual(set(self.found(words.platform_dependence, "transport/a.h", text)), {1, 2})
        self.assert_clean(words.platform_dependence, "transport/host_device.h", text)
        self.assert_clean(words.platform_dependence, "backends/a.cc", text)

    def test_include_guard_is_no_platform_dependence(self):
        text = "// What it is.\n#ifndef A_H_\n#define A_H_\n#endif\n"
        self.assert_clean(words.platform_dependence, "transport/a.h", text)
        text += "#ifdef NDEBUG\n#endif\n"
        self.assert_found(words.platform_dependence, "transport/a.h", text, [5])

    def test_knows_its_device(self):
        check = words.knows_its_device
        self.assert_found(check, "backends/mlx5/a.cc", "// the emulated device\n", [1])
        self.assert_found(check, "backends/mlx5/a.cc", "getenv(\"RINGPOST_ROOT\");\n", [1])
        self.assert_clean(check, "backends/mlx5/a.cc", "virtual Result<bool> Meet();\n")
        self.assert_clean(check, "sim/uverbs/a.cc", "// the emulated device\n")

    def test_asks_whether_simulated(self):
        check = words.asks_whether_simulated
        self.assert_found(check, "workloads/a.cc", "if (simulated) x();\n", [1])
        self.assert_found(check, "transport/a.h", "bool b = nic.IsSimulated();\n", [1])
        self.assert_clean(check, "transport/a.h", "// if (simulated) is wrong\n")


class LayersTest(CheckTest):
    def includes(self, path, *included):
        text = "".join(f'#include "{name}"\n' for name in included)
        return bool(self.found(layers.include_layers, path, text))

    def test_every_forbidden_direction(self):
        for path, included in [
            ("transport/abi/wqe.h", "transport/port.h"),
            ("transport/cuda_port.cuh", "backends/make_nic.h"),
            ("transport/port.h", "sim/engine/time.h"),
            ("sim/nic/requester.cc", "sim/engine/time.h"),
            ("sim/nic/requester.cc", "sim/cost/cost.h"),
            ("sim/nic/requester.cc", "sim/cache/lru.h"),
            ("sim/engine/queue.h", "transport/port.h"),
            ("sim/cost/cost.h", "sim/node/node.h"),
            ("sim/service/service.h", "sim/node/node.h"),
            ("sim/node/node.h", "configs/schema/schema.h"),
            ("backends/mlx5/nic.cc", "sim/nic/step.h"),
            ("backends/mlx5/nic.cc", "backends/sim/fabric.h"),
            ("backends/sim/nic.cc", "backends/mlx5/nic.h"),
            ("sim/uverbs/device.cc", "backends/mlx5/nic.h"),
            ("sim/uverbs/device.cc", "transport/memory/agent_client.h"),
            ("sim/uverbs/gpu/agent.cc", "sim/uverbs/device.h"),
            ("backends/make_nic.h", "sim/node/node.h"),
            ("backends/live/nic.cc", "workloads/launch.h"),
            ("workloads/launch.cu", "sim/engine/fibre.h"),
            ("workloads/launch.cc", "tools/ringpost/run.h"),
            ("configs/schema/schema.h", "backends/make_nic.h"),
            ("tools/ringpost/run.cc", "tests/seed.h"),
        ]:
            with self.subTest(path=path, included=included):
                self.assertTrue(self.includes(path, included))

    def test_every_allowed_direction(self):
        for path, included in [
            ("transport/send_queue.h", "transport/abi/wqe.h"),
            ("sim/nic/requester.cc", "transport/abi/wqe.h"),
            ("sim/nic/requester.cc", "transport/status.h"),
            ("sim/memory/agent.h", "transport/order.h"),
            ("sim/cost/cost.h", "sim/nic/step.h"),
            ("sim/node/node.h", "sim/gpu/warp.h"),
            ("sim/service/service.h", "sim/wire/packet.h"),
            ("backends/sim/sim_port.h", "sim/node/node.h"),
            ("backends/live/nic.cc", "sim/service/service.h"),
            ("backends/make_nic.cc", "backends/mlx5/nic.h"),
            ("configs/schema/schema.h", "sim/cost/cost.h"),
            ("workloads/goodput.h", "configs/schema/schema.h"),
            ("sim/uverbs/device.cc", "sim/uverbs/gpu/agent.h"),
            ("sim/uverbs/gpu/agent.cc", "transport/memory/agent_client.h"),
            ("tools/ringpost/exec.cc", "sim/uverbs/device.h"),
            ("tests/sim/nic_test.cc", "sim/nic/requester.h"),
            ("transport/port.h", "infiniband/verbs.h"),
        ]:
            with self.subTest(path=path, included=included):
                self.assertFalse(self.includes(path, included))

    def test_relative_include(self):
        self.assertTrue(self.includes("sim/nic/a.cc", "../engine/time.h"))
        self.assertFalse(self.includes("sim/nic/a.cc", "step.h"))

    def test_include_in_a_comment(self):
        self.assert_clean(layers.include_layers, "sim/nic/a.h", '// #include "sim/cost/a.h"\n')

    def test_own_header_comes_first(self):
        def check(source):
            return layers.own_header_first(source, exists=lambda path: path == "sim/a.h")

        self.assert_found(check, "sim/a.cc", '#include <vector>\n#include "sim/a.h"\n', [1])
        self.assert_clean(check, "sim/a.cc", '#include "sim/a.h"\n#include <vector>\n')
        self.assert_clean(check, "sim/main.cc", "#include <vector>\n")


class TidyTest(unittest.TestCase):
    def test_every_check_says_what_it_holds(self):
        for check in tidy.CHECKS:
            self.assertTrue(check.__doc__, check.__name__)

    def test_no_check_is_forgotten(self):
        defined = {
            function
            for module in (layers, size, words)
            for function in vars(module).values()
            if callable(function) and getattr(function, "__module__", "") == module.__name__
            and function.__code__.co_varnames[:1] == ("source",)
            and not function.__name__.startswith("_")
        }
        self.assertEqual(defined, set(tidy.CHECKS))


if __name__ == "__main__":
    case_report.main()
