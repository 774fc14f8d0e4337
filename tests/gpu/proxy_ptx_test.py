"""The producers of a proxy as compiled for sm_90: an enqueue is one store, or has what it needs."""

import os
import unittest

from tests import case_report
from tests.gpu import ptx

RELAXED = "st.relaxed.sys.global.b128"
RELEASE = "st.release.sys.global.b128"
# What a value of a tuned ring does without.
MORE = ("call", "ld.global", "ld.relaxed", "ld.acquire", "atom", "red.", "fence", "membar",
        "st.release")


class ProxyKernelsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        here = os.path.dirname(os.path.abspath(__file__))
        cls.kernels = {k[:2]: k for k in ptx.read(os.path.join(here, "proxy_kernels"))}

    def test_each_kernel_is_compiled_for_both_hand_offs_and_spills_nothing(self):
        names = {"EnqueueValues", "EnqueuePut", "EnqueueRest"}
        self.assertEqual(set(self.kernels), {(n, h) for n in names for h in ("Tuned", "Baseline")})
        for kernel in self.kernels.values():
            self.assertEqual(kernel.spills, 0, kernel[:3])

    def test_a_value_of_a_tuned_ring_is_one_store_of_16_bytes_and_one_word_of_its_own(self):
        kernel = self.kernels["EnqueueValues", "Tuned"]
        self.assertTrue(ptx.loops_without(kernel, RELAXED, MORE))
        self.assertEqual([i for i in kernel.instructions if i.startswith(("fence", "membar"))], [])
        # What names the keys of a ring, and looks for room, is a function of its own.
        stores = {tuple(sorted(i for i in block if i.startswith("st.") and "param" not in i))
                  for block, _ in kernel.blocks if RELAXED in block}
        self.assertEqual(stores, {("st.global.b64", RELAXED)})

    def test_a_put_of_memory_releases_with_its_slot_and_has_no_other_fence(self):
        kernel = self.kernels["EnqueuePut", "Tuned"]
        self.assertIn(RELEASE, kernel.instructions)
        self.assertEqual([i for i in kernel.instructions if i.startswith(("fence", "membar"))], [])

    def test_a_baseline_enqueue_reserves_reads_the_progress_and_releases(self):
        kernel = self.kernels["EnqueueValues", "Baseline"]
        self.assertIn("atom.relaxed.gpu.global.add.u64", kernel.instructions)
        self.assertIn("ld.relaxed.sys.global.b64", kernel.instructions)
        self.assertIn(RELEASE, kernel.instructions)


if __name__ == "__main__":
    case_report.main()
