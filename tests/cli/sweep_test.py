"""A sweep: a row for each point, in one order, whatever runs it and however often it is killed."""

import fcntl
import json
import os
import pty
import random
import signal
import subprocess
import threading
import time

from tests import case_report
from tests.cli.program import PROGRAM, ROOT, ringpost
from tests.cli.sweep_case import EXPERIMENT, HANG_S, SWEEP, SweepCase, lines_of

COLUMNS = ["index", "transport.ordering", "workload.payload", "seed", "backend", "source",
           "config_hash", "limited_by", "violations", "error"]


class Table(SweepCase):
    def test_a_point_for_each_combination_has_a_row_in_the_order_of_the_file(self):
        run = self.sweep("out")
        self.assertEqual(run.stderr, "")
        rows = self.rows("out")
        self.assertEqual(list(rows[0])[:len(COLUMNS)], COLUMNS)
        expected = [(str(6 * o + 2 * p + s), ordering, payload, seed)
                    for o, ordering in enumerate(["gpu_fence", "system_fence"])
                    for p, payload in enumerate(["8 B", "64 B", "2 KiB"])
                    for s, seed in enumerate(["3", "4"])]
        self.assertEqual([tuple(row[name] for name in COLUMNS[:4]) for row in rows], expected)
        self.assertEqual({(row["backend"], row["source"], row["violations"], row["error"])
                          for row in rows}, {("sim", "simulated", "0", "")})
        head = lines_of(self.path("out", "results.csv"))[0]
        self.assertRegex(head, r"\A# ringpost \S+ \| simulated \| backend sim \| sweep [0-9a-f]{16}"
                               r" \| 12 points\Z")

    def test_a_row_has_what_the_run_of_its_settings_has(self):
        self.sweep("out")
        row = self.rows("out")[9]
        run = ringpost("run", self.experiment, "--set", "transport.ordering=system_fence", "--set",
                       "workload.payload=64 B", "--seed", "4", "--quiet", "--json",
                       self.path("run.json"))
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(self.path("run.json"), encoding="utf-8") as file:
            result = json.load(file)
        self.assertEqual(row["config_hash"], result["config_hash"])
        self.assertEqual(row["limited_by"], result["limited_by"])
        self.assertGreater(len(result["metrics"]), 1)
        units = lines_of(self.path("out", "results.csv"))[1]
        for name, metric in result["metrics"].items():
            self.assertEqual(float(row[name]), metric["value"])
            self.assertIn(f"{name} {metric['unit']}", units)
        self.assertEqual(float(row["requester_context_hit_rate"]), 100)

    def test_two_keys_of_one_axis_take_the_same_values(self):
        text = ("experiment: EXPERIMENT\nset: {workload.kind: message_rate}\n"
                "axes:\n  transport.qps_per_peer, workload.threads: [1, 2, 4]\n")
        self.sweep("out", text=text)
        self.assertEqual([(row["transport.qps_per_peer"], row["workload.threads"])
                          for row in self.rows("out")], [("1", "1"), ("2", "2"), ("4", "4")])

    def test_two_keys_of_one_axis_may_have_a_value_each(self):
        text = ("experiment: EXPERIMENT\nset: {workload.kind: message_rate}\n"
                "axes:\n  transport.qps_per_peer, workload.threads: [1, [4, 2], [4, 4]]\n")
        self.sweep("out", text=text)
        self.assertEqual([(row["transport.qps_per_peer"], row["workload.threads"])
                          for row in self.rows("out")], [("1", "1"), ("4", "2"), ("4", "4")])

    def test_a_list_of_points_may_set_other_keys_and_have_other_metrics(self):
        text = ("experiment: EXPERIMENT\npoints:\n- {workload.kind: message_rate}\n"
                "- {workload.payload: 64 B}\n")
        self.sweep("out", text=text)
        first, second = self.rows("out")
        self.assertEqual([row["workload.payload"] for row in (first, second)], ["8 B", "64 B"])
        self.assertEqual([row["workload.kind"] for row in (first, second)],
                         ["message_rate", "put_latency"])
        self.assertTrue(first["message_rate"] and not second["message_rate"])
        self.assertTrue(second["issue_latency"] and not first["issue_latency"])

    def test_the_count_of_processes_changes_no_byte(self):
        self.sweep("one", "--jobs", "1")
        self.sweep("two", "--jobs", "2")
        self.sweep("many", "--jobs", "12")
        self.assertEqual(self.bytes_of("one"), self.bytes_of("two"))
        self.assertEqual(self.bytes_of("one"), self.bytes_of("many"))

    def test_a_terminal_shows_how_far_it_is_and_what_time_is_left(self):
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        run = subprocess.run(
            [PROGRAM, "sweep", self.write("sweep.yaml", SWEEP), "--out", self.path("out")],
            env={"PATH": os.environ["PATH"], "RINGPOST_ROOT": ROOT}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=theirs, check=False, timeout=HANG_S)
        os.close(theirs)
        self.assertEqual(run.returncode, 0)
        shown = os.read(ours, 65536).decode()
        self.assertRegex(shown, r"\Achecking 0/12 points|\A\r\x1b\[Kchecking 1/12 points")
        for done in range(1, 13):
            self.assertRegex(shown, rf"K{done}/12 points, about \d+ s left")
        self.assertTrue(shown.endswith("\r\x1b[K"))

    def test_what_no_terminal_shows_says_at_once_how_many_points_are_checked(self):
        values = ", ".join(str(n) for n in range(1, 2001))
        # The last value is none, so that no point runs.
        text = f"experiment: EXPERIMENT\naxes:\n  workload.operations: [{values}, none]\n"
        run = ringpost("sweep", self.write("sweep.yaml", text), "--out", self.path("out"))
        self.assertEqual(run.returncode, 2)
        self.assertTrue(run.stderr.startswith("ringpost sweep: checking 0/2001 points\n"),
                        run.stderr)

    def test_each_row_says_whether_it_is_simulated_or_measured(self):
        self.sweep("out", text="experiment: EXPERIMENT\naxes: {backend: [sim, live]}\n")
        lines = lines_of(self.path("out", "results.csv"))
        self.assertIn(" | simulated and measured | ", lines[0])
        self.assertEqual(lines[2].split(",")[:5],
                         ["index", "backend", "seed", "source", "config_hash"])
        self.assertEqual([(row["backend"], row["source"]) for row in self.rows("out")],
                         [("sim", "simulated"), ("live", "measured")])

    def test_a_row_that_failed_says_it_too(self):
        self.sweep("out", text="experiment: EXPERIMENT\nset: {mlx5.devices: [there_is_none]}\n"
                               "axes: {backend: [mlx5, sim]}\n", status=1)
        self.assertEqual([(row["source"], row["error"] == "") for row in self.rows("out")],
                         [("measured", False), ("simulated", True)])

    def test_the_environment_sets_what_the_file_does_not(self):
        self.sweep("out", RINGPOST_SET="workload.operations=30 workload.payload=1 KiB")
        self.assertEqual([row["workload.payload"] for row in self.rows("out")][:3],
                         ["8 B", "8 B", "64 B"])
        self.sweep("plain")
        self.assertNotEqual(self.rows("out")[0]["config_hash"],
                            self.rows("plain")[0]["config_hash"])

    def test_a_point_that_fails_has_its_error_in_its_row_and_runs_again_when_resumed(self):
        text = ("experiment: EXPERIMENT\naxes:\n"
                "  faults.rules: [[], [{where: responder, kind: error}],"
                " [{where: responder, kind: delay, amount: 1 us}]]\n")
        run = self.sweep("out", text=text, status=1)
        rows = self.rows("out")
        self.assertEqual([bool(row["error"]) for row in rows], [False, True, False])
        self.assertIn(f"ringpost: point 1 failed: {rows[1]['error']}\n", run.stderr)
        before = self.bytes_of("out")
        self.sweep("out", "--resume", text=text, status=1)
        self.assertEqual(self.bytes_of("out"), before)
        points = [json.loads(line)["point"]
                  for line in lines_of(self.path("out", "points.jsonl"))[1:]]
        self.assertEqual(sorted(points), [0, 1, 2])

    def test_violations_end_with_status_3_unless_they_were_asked_for(self):
        text = ("experiment: EXPERIMENT\nset: {workload.inline: never}\naxes:\n"
                "  transport.ordering: [gpu_fence, system_fence]\n"
                "  visibility.reads: [l2, ptx]\n")
        run = self.sweep("out", text=text, status=3)
        self.assertIn("have violations", run.stderr)
        self.assertEqual([row["violations"] != "0" for row in self.rows("out")],
                         [False, True, False, False])


class Resume(SweepCase):
    def test_rows_that_are_none_of_the_sweep_s_points_run_again(self):
        text = "experiment: EXPERIMENT\naxes:\n  workload.payload: [8 B, 16 B, 32 B]\n"
        self.sweep("out", text=text)
        before = self.bytes_of("out")
        path = self.path("out", "points.jsonl")
        identity, *rows = lines_of(path)
        edited = [json.loads(row) for row in rows]
        edited[0]["cells"][1] = "64 B"  # another point's value
        edited[1]["cells"][-4] = "deadbeef"  # another configuration's hash
        beyond = dict(edited[2], point=99999)
        lines = [identity] + [json.dumps(row) for row in edited + [beyond]]
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        self.sweep("out", "--resume", text=text)
        self.assertEqual(self.bytes_of("out"), before)

    def wait_for(self, condition):
        limit = time.monotonic() + HANG_S
        while not condition():
            self.assertLess(time.monotonic(), limit, "it hangs")
            time.sleep(0.002)

    def processes(self):
        """The processes of this test's points that run."""
        found = []
        for entry in os.listdir("/proc"):
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    command = file.read()
                with open(f"/proc/{entry}/stat", encoding="utf-8") as file:
                    zombie = file.read().rpartition(")")[2].split()[0] == "Z"
            except OSError:
                continue
            if self.experiment.encode() in command and not zombie:
                found.append(int(entry))
        return found

    def kill_after(self, lines, out):
        """Starts a sweep, and kills it when points.jsonl has so many lines."""
        process = subprocess.Popen(
            [PROGRAM, "sweep", self.write("sweep.yaml", SWEEP), "--out", self.path(out), "--jobs",
             "2"], env={"PATH": os.environ["PATH"], "RINGPOST_ROOT": ROOT},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        points = self.path(out, "points.jsonl")
        self.wait_for(lambda: os.path.exists(points) and len(lines_of(points)) >= lines
                      or process.poll() is not None)
        process.send_signal(signal.SIGKILL)
        process.wait(HANG_S)

    def test_a_sweep_that_was_killed_goes_on_and_ends_with_the_same_bytes(self):
        self.sweep("whole")
        for lines in (1, 4, 8):
            out = f"killed after {lines}"
            self.kill_after(lines, out)
            self.wait_for(lambda: not self.processes())
            done = self.bytes_of(out, "points.jsonl")
            self.assertEqual(done[-1:], b"\n")
            self.sweep(out, "--resume", "--jobs", "2")
            self.assertEqual(self.bytes_of(out), self.bytes_of("whole"))
            # What was done has not run again: its lines stand there in front, each once.
            after = lines_of(self.path(out, "points.jsonl"))
            self.assertEqual(set(done.decode().splitlines()) - set(after), set())
            self.assertEqual(len(after), 13)

    def hold(self, out):
        """Locks the folder as a sweep that writes there does; returns what holds it."""
        holder = os.open(self.path(out), os.O_RDONLY)
        fcntl.flock(holder, fcntl.LOCK_EX)
        return holder

    def test_what_a_killed_sweep_holds_a_moment_longer_is_waited_for(self):
        self.sweep("out")
        timer = threading.Timer(0.3, os.close, [self.hold("out")])
        timer.start()
        self.sweep("out", "--resume")
        timer.join()

    def test_a_folder_that_another_sweep_goes_on_to_hold_is_refused(self):
        self.sweep("out")
        holder = self.hold("out")
        run = self.sweep("out", "--resume", status=2)
        self.assertIn("--out: another sweep is writing to", run.stderr)
        os.close(holder)

    def test_a_torn_line_is_dropped_wherever_it_is_cut(self):
        self.sweep("whole")
        draw = random.Random(int(os.environ.get("RINGPOST_TEST_SEED", "1")))
        points, rows = self.bytes_of("whole", "points.jsonl"), self.bytes_of("whole")
        for case in range(8):
            os.mkdir(self.path(f"cut {case}"))
            for name, content in (("points.jsonl", points), ("results.csv", rows)):
                cut = draw.randrange(points.index(b"\n") + 1, len(points))
                with open(self.path(f"cut {case}", name), "wb") as file:
                    file.write(content[:cut])
            self.sweep(f"cut {case}", "--resume")
            self.assertEqual(self.bytes_of(f"cut {case}"), rows, f"case {case}")

    def test_files_that_a_killed_process_left_half_written_are_removed(self):
        self.sweep("out")
        for name in ("results.csv.1.partial", "points.jsonl.22.partial"):
            with open(self.path("out", name), "wb") as file:
                file.write(b"half")
        self.sweep("out", "--resume")
        self.assertEqual([name for name in os.listdir(self.path("out")) if "partial" in name], [])


class Output(SweepCase):
    def test_a_result_goes_whole_to_a_pipe(self):
        run = ringpost("run", self.experiment, "--quiet", "--json", "/dev/stdout")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(json.loads(run.stdout)["source"], "simulated")


if __name__ == "__main__":
    case_report.main()
