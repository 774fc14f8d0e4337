"""A long run shows on a terminal that it goes on."""

import os
import pty
import re
import subprocess
import tempfile
import threading
import unittest

from tests import case_report
from tests.cli.program import PATIENCE_S, PROGRAM, ROOT


class Progress(unittest.TestCase):
    def test_a_run_of_large_payload_shows_for_how_long_it_runs(self):
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("workload: {payload: 1 GiB}\n")
            file.flush()
            with subprocess.Popen([PROGRAM, "run", file.name], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=theirs,
                                  env={"PATH": os.environ["PATH"], "RINGPOST_ROOT": ROOT}) as run:
                os.close(theirs)
                guard = threading.Timer(PATIENCE_S, run.kill)
                guard.start()
                said = b""
                try:
                    while not re.search(rb"1/1 .*, [2-9] s", said):
                        said += os.read(ours, 4096)  # fails when the run has ended
                finally:
                    guard.cancel()
                    run.kill()
        self.assertIn(os.path.basename(file.name).encode(), said)


if __name__ == "__main__":
    case_report.main()
