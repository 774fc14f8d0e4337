"""Callers as compiled for sm_90: what the transport's code costs a kernel that does not use it."""

import unittest

from tests import case_report
from tests.gpu import callers

DOORBELLS = ("st.mmio.", "st.release.sys.")


class CallersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.callers = callers.callers()

    def absent(self, caller):
        for other in self.callers:
            if other.build == "absent" and other[:2] == caller[:2]:
                return other
        return self.fail("no caller without a put")

    def test_every_variant_is_built(self):
        kinds = {(c.work, c.values, c.build, c.waits) for c in self.callers}
        self.assertEqual(len(kinds), 2 * 3 * (1 + 2 * 2))
        # Of those with a put, one for each of three orderings.
        self.assertEqual(len(self.callers), 2 * 3 * (1 + 2 * 2 * 3))

    def test_a_caller_without_a_put_has_none_of_its_code(self):
        for c in self.callers:
            rings = [i for i in c.instructions if i.startswith(DOORBELLS)]
            fences = [i for i in c.instructions if i.startswith(("fence", "membar"))]
            if c.build != "separate":
                self.assertIn("ret", c.instructions)
            if c.build == "absent":
                self.assertEqual(rings + fences, [])
            elif c.build == "inlined":
                self.assertGreater(len(rings), 0, c[:5])

    def test_a_put_that_is_never_reached_leaves_as_many_blocks_on_an_sm(self):
        for c in self.callers:
            with self.subTest(c[:5]):
                self.assertEqual(callers.blocks_per_sm(c.registers),
                                 callers.blocks_per_sm(self.absent(c).registers))

    def test_a_line_tells_of_each_kind_of_caller(self):
        lines = callers.table(self.callers)
        self.assertEqual(len(lines), 2 + 2 * 3 * 3)
        self.assertFalse([line for line in lines if " -" in line])


if __name__ == "__main__":
    case_report.main()
