"""The put kernels as compiled for sm_90: wide WQE stores, no spills, each policy its own fences."""

import unittest

from tests import case_report
from tests.gpu import ptx

# 16-byte stores of each operation's WQEs, over RC and over DC: control, address vector (DC), remote
# address, operands of an atomic, data or inline payload.
SEGMENTS = {
    "PutInlineQuiet": 3 + 4,
    "Put": 3 + 4,
    "PutStream": 3 + 4,
    "PutValues": 3 + 4,
    "PutSignal": 2 * (3 + 4),
    "Get": 3 + 4,
    "FetchAdd": 4 + 5,
    "Send": 2 + 3,
    "BlockPut": 3 + 4,
}
# Who has a QP alone has the usual case in line, as often as a loop is unrolled, and calls the rest,
# which is not compiled for one length of payload.
OWNERS = {"PerThread", "Batched"}
# What is compiled for one publication alone; a receive has no WQE of the send queue.
ONLY = {
    "PutValues": "PerThread",
    "FetchAdd": "PerThread",
    "Send": "PerThread",
    "Receive": "PerThread",
    "BlockPut": "Cooperative",
}

# Every fence that may stand in a kernel of the policy; those of completions included.
FENCES = {
    "OrderNone": set(),
    "OrderGpuFence": {"fence.acq_rel.gpu", "fence.acquire.gpu"},
    "OrderGpuFenceDbrec": {"fence.acq_rel.gpu", "fence.acquire.gpu"},
    "OrderGpuRelease": {"fence.acquire.gpu"},
    "OrderThreadfence": {"fence.sc.gpu", "fence.acquire.gpu"},
    "OrderSystemRelease": {"fence.acquire.sys"},
    "OrderSystemFence": {"fence.sc.sys", "fence.acquire.sys"},
}

DOORBELLS = {
    "OrderGpuRelease": "st.release.gpu.global.b64",
    "OrderSystemRelease": "st.release.sys.global.b64",
}
MMIO = "st.mmio.relaxed.sys.global.b64"


class PutKernelsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kernels = ptx.put_kernels()

    def each(self):
        for kernel in self.kernels:
            with self.subTest("/".join(kernel[:3])):
                yield kernel

    def test_every_operation_is_compiled_for_every_pair(self):
        pairs = {k[1:3] for k in self.kernels}
        self.assertLessEqual(len(pairs), 24)
        self.assertEqual({k.kernel for k in self.kernels}, set(SEGMENTS) | {"Receive"})
        for pair in pairs:
            compiled = {k.kernel for k in self.kernels if k[1:3] == pair}
            elsewhere = {kernel for kernel, publication in ONLY.items() if publication != pair[0]}
            self.assertEqual(compiled, (set(SEGMENTS) | {"Receive"}) - elsewhere)
        self.assertEqual({p[1] for p in pairs}, set(FENCES))

    def test_wqe_is_stored_in_segments_of_16_bytes(self):
        for k in self.each():
            if k.kernel == "Receive":
                continue
            wide = k.instructions.count("st.global.v4.b32")
            # A batch may end with a NOP of one segment.
            extra = 1 if (k.kernel, k.publication) == ("PutInlineQuiet", "Batched") else 0
            # So may a lane whose message has fewer pieces than those of others.
            extra += k.publication == "Cooperative" and not k.kernel.startswith(("PutI", "PutStr"))
            if k.publication in OWNERS:
                self.assertGreaterEqual(wide, SEGMENTS[k.kernel] + extra)
            else:
                self.assertEqual(wide, SEGMENTS[k.kernel] + extra)

    def test_nothing_is_spilled_and_only_what_is_seldom_called_is_on_the_stack(self):
        for k in self.each():
            self.assertEqual(k.spills, 0)
            self.assertLessEqual(k.stack, 256 if k.publication in OWNERS else 0)
            self.assertGreater(k.registers, 0)

    def test_registers_are_told_of_every_pair(self):
        pairs = {(k.publication, k.ordering) for k in self.kernels}
        lines = ptx.register_table(self.kernels)
        self.assertEqual(len(lines), 1 + len(pairs))
        # Only a policy of whole warps serves a block.
        self.assertTrue(any(" -" in line for line in lines))

    def test_fences_are_those_of_the_ordering_policy(self):
        for k in self.each():
            if k.kernel == "Receive":  # rings nothing
                continue
            fences = {i for i in k.instructions if i.startswith(("fence", "membar"))}
            self.assertEqual(fences, FENCES[k.ordering])

    def test_doorbell_is_one_store_of_64_bits(self):
        for k in self.each():
            if k.kernel == "Receive":
                continue
            doorbell = DOORBELLS.get(k.ordering, MMIO)
            self.assertGreaterEqual(k.instructions.count(doorbell), 1)
            if doorbell != MMIO:
                self.assertNotIn(MMIO, k.instructions)

    def test_the_owner_of_a_qp_loads_nothing_for_a_put_in_a_stream(self):
        for k in self.each():
            if k.kernel == "PutStream":
                through = DOORBELLS.get(k.ordering, MMIO)
                avoided = ("call", "ld.global", "ld.relaxed", "atom", "red.")
                free = ptx.loops_without(k, through, avoided)
                self.assertEqual(free, k.publication in OWNERS | {"Cooperative"})

    def test_many_values_in_one_call_touch_no_index_word_between_two_doorbells(self):
        for k in self.each():
            through = DOORBELLS.get(k.ordering, MMIO)
            avoided = ("call", "ld.global", "ld.relaxed", "atom", "red.", "st.global.b64")
            free = ptx.loops_without(k, through, avoided)
            self.assertEqual(free, k.kernel == "PutValues")

    def test_poll_reads_the_cqe_at_system_scope_past_l1(self):
        for k in self.each():
            if k.kernel == "PutInlineQuiet":
                self.assertIn("ld.relaxed.sys.global.L1::no_allocate.b64", k.instructions)

    def test_a_thread_that_waits_lets_the_other_lanes_of_its_warp_run(self):
        for k in self.each():
            # Two loads of the CQE make one waiting loop; there are others beside those.
            loops = k.instructions.count("ld.relaxed.sys.global.L1::no_allocate.b64") // 2
            self.assertGreater(loops, 0)
            self.assertGreaterEqual(k.instructions.count("nanosleep.u32"), loops)


if __name__ == "__main__":
    case_report.main()
