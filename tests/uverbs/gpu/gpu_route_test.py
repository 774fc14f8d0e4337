"""Queues, records, doorbells and payload in GPU memory on virtual devices, with a stand-in for
CUDA's driver: what a NIC's thread can reach of it, it reaches through the agent."""

import os
import re
import subprocess
import unittest
import uuid

from tests import case_report

PROGRAM = os.path.abspath("tools/ringpost/ringpost")
GPU_PROGRAM = os.path.abspath("tests/uverbs/gpu/gpu_program")


# Cases of this suite run with and without exec.gpu_doorbells.
BOTH = "GpuDoorbells"


def run_case(case, gpu_doorbells=False, **more):
    environment = dict(os.environ, LD_LIBRARY_PATH=os.path.abspath("tests/uverbs/gpu"), **more)
    if gpu_doorbells:
        environment["RINGPOST_TEST_GPU_DOORBELLS"] = "1"
    environment.pop("XML_OUTPUT_FILE", None)
    command = [PROGRAM, "exec", "--set=exec.devices=2",
               "--set=exec.fabric=gpu_" + uuid.uuid4().hex,
               f"--set=exec.gpu_doorbells={str(gpu_doorbells).lower()}", "--", GPU_PROGRAM,
               "--run_test=" + case, "--report_level=short"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=50,
                          check=False)


class GpuRoute(unittest.TestCase):
    def test_a_start_of_the_agent_that_cuda_holds_up_is_named(self):
        case = "GpuRegistration/ACopyOfADmaBufsDescriptorIsTheSameMemory"
        held_up = run_case(case, FAKE_CUDA_HELD_UP_S="6")
        self.assertEqual(held_up.returncode, 0, held_up.stdout + held_up.stderr)
        said = "has waited for the start of its agent for 4 s: CUDA holds"
        self.assertRegex(held_up.stderr, said)
        self.assertNotIn("has waited", run_case(case).stderr)


def add_cases():
    """A case here for each of the program's."""
    listed = subprocess.run([GPU_PROGRAM, "--list_content=HRF"], capture_output=True, text=True,
                            check=True)
    suite = ""
    for line in listed.stderr.splitlines():
        name = line.strip().rstrip("*")
        if not line.startswith(" "):
            suite = name
            continue

        def check(self, case=f"{suite}/{name}"):
            for gpu_doorbells in [False, True] if case.startswith(BOTH) else [False]:
                run = run_case(case, gpu_doorbells)
                said = run.stdout + run.stderr
                self.assertEqual(run.returncode, 0, said)
                self.assertRegex(said, r"1 test case out of \d+ passed", said)

        words = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        setattr(GpuRoute, "test_" + words, check)


add_cases()

if __name__ == "__main__":
    case_report.main()
