"""What the library of backends/mlx5 is made of: nothing of the simulator's."""

import glob
import os
import subprocess
import unittest

from tests import case_report


class Symbols(unittest.TestCase):
    def test_its_library_has_and_wants_no_symbol_of_the_simulator(self):
        libraries = [path for path in glob.glob("backends/mlx5/libmlx5.*")
                     if path.endswith((".a", ".so"))]
        self.assertTrue(libraries, os.listdir("backends/mlx5"))
        for library in libraries:
            listing = subprocess.run(["nm", "-C", library], capture_output=True, text=True,
                                     check=True).stdout
            self.assertIn("ringpost::Mlx5Nic::CreateQp", listing)
            self.assertIn("mlx5dv_devx_obj_create", listing)
            self.assertNotIn("ringpost::sim", listing)


if __name__ == "__main__":
    case_report.main()
