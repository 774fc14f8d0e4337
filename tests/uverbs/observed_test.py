"""`ringpost exec --json`, `--trace` and `--pcap`: what the NICs of a program did."""

import ctypes
import ctypes.util
import json
import os
import signal
import subprocess
import tempfile
import unittest

from tests import case_report
from tests.uverbs import pair

PUTS = 20
WRITE = ["-F", "-n", str(PUTS), "-s", "8"]
ETHERNET, ERF = 1, 197  # link types of libpcap
WRITE_ONLY, ACKNOWLEDGE = 0x0a, 0x11  # the opcodes of RC packets


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)

    def options(self, *kinds):
        """Of both sides: --json=server.json, ..."""
        return [[f"--{kind}={self.path(f'{side}.{kind}')}" for kind in kinds]
                for side in ("server", "client")]

    def latency(self, *kinds, link="infiniband", more=()):
        options = [[*more, *own] for own in self.options(*kinds)]
        both = pair.Pair("ib_write_lat", WRITE, link=link, options=options)
        self.assertTrue(both.ok(), both.said())


@pair.needs("ib_write_lat", "perftest")
class Counters(Folder):
    def test_each_put_of_a_latency_test_is_counted_once(self):
        self.latency("json")
        for side in ("server", "client"):
            result = self.read(side + ".json")
            self.assertEqual(result["status"], 0)
            self.assertEqual(result["program"][0], "ib_write_lat")
            [nic] = result["nics"]
            self.assertEqual((nic["program"], nic["device"]), ("ib_write_lat", "mlx5_0"))
            [qp] = nic["qps"]
            self.assertEqual(qp["wqes"], PUTS)
            self.assertEqual(qp["wqebbs_announced"], PUTS)
            self.assertEqual(qp["cqes"], PUTS)
            self.assertEqual(qp["error_cqes"], 0)
            # Each waits for the other's, and so rings for itself.
            self.assertEqual(qp["doorbells"] + qp["records_trailed"], PUTS)
            for name in ("wqes", "cqes"):
                self.assertEqual(nic["counters"][name], PUTS)
            self.assertEqual(nic["counters"]["packets_sent"], qp["packets_sent"])
            self.assertGreaterEqual(qp["packets_received"], PUTS)

    def test_processes_of_one_program_are_in_one_file(self):
        port, both = pair.free_port(), "ib_write_lat {} -p {} & sleep 1; ib_write_lat {} -p {} {}"
        words = " ".join(WRITE)
        run = subprocess.run(
            pair.exec_command(pair.new_fabric(), "sh", "-c",
                              both.format(words, port, words, port, "127.0.0.1; wait"),
                              options=[f"--json={self.path('all.json')}"]),
            capture_output=True, text=True, timeout=pair.PATIENCE_S, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        nics = self.read("all.json")["nics"]
        self.assertEqual([nic["all_qps"]["wqes"] for nic in nics], [PUTS, PUTS])
        self.assertEqual(len({nic["pid"] for nic in nics}), 2)

    def test_a_program_that_is_killed_leaves_its_counters(self):
        port = str(pair.free_port())
        words = ["ib_write_bw", "-F", "-D", "60", "-p", port]
        fabric = pair.new_fabric()
        server = subprocess.Popen(pair.exec_command(fabric, *words), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            script = f"{' '.join(words)} 127.0.0.1 & sleep 4; kill -9 $!; wait"
            run = subprocess.run(
                pair.exec_command(fabric, "sh", "-c", "sleep 1;" + script,
                                  options=[f"--json={self.path('killed.json')}"]),
                capture_output=True, text=True, timeout=pair.PATIENCE_S, check=False)
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
        self.assertIn(run.returncode, (0, 128 + signal.SIGKILL), run.stderr)
        [nic] = self.read("killed.json")["nics"]
        self.assertGreater(nic["counters"]["packets_sent"], 0)

    def test_a_recording_has_no_virtual_devices_to_tell_of(self):
        run = subprocess.run(
            pair.exec_command(pair.new_fabric(), "true",
                              options=[f"--set=exec.record={self.path('calls')}",
                                       f"--json={self.path('none.json')}"]),
            capture_output=True, text=True, timeout=pair.PATIENCE_S, check=False)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertRegex(run.stderr, r"\A[^\n]*exec\.record[^\n]*leave out --json[^\n]*\n\Z")

    def test_files_that_cannot_be_written_are_refused_before_the_program_runs(self):
        for option in ("--json", "--trace", "--pcap"):
            run = subprocess.run(
                pair.exec_command(pair.new_fabric(), "touch", self.path("ran"),
                                  options=[f"{option}={self.path('no/file')}"]),
                capture_output=True, text=True, timeout=pair.PATIENCE_S, check=False)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
            self.assertIn(option, run.stderr)
            self.assertFalse(os.path.exists(self.path("ran")))


@pair.needs("ib_write_lat", "perftest")
class Trace(Folder):
    def events(self, name):
        events = self.read(name)["traceEvents"]
        tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in events
                  if e["ph"] == "M" and e["name"] == "thread_name"}
        return [{**e, "track": tracks[e["pid"], e["tid"]].split(" (")[0]} for e in events
                if e["ph"] == "X"]

    def steps(self, events, wqe, track):
        return [e for e in events if e["track"] == track and e["args"]["wqe"] == wqe]

    def test_each_put_goes_from_doorbell_to_fetch_to_packet_to_cqe(self):
        self.latency("trace")
        events = self.events("client.trace")
        for wqe in range(PUTS):
            [doorbell] = self.steps(events, wqe, "doorbell")
            [fetch] = self.steps(events, wqe, "fetch")
            [cqe] = self.steps(events, wqe, "CQE")
            packets = self.steps(events, wqe, "transmit")
            self.assertGreaterEqual(len(packets), 1)
            self.assertEqual(fetch["args"]["opcode"], "RDMA_WRITE")
            self.assertEqual(fetch["args"]["bytes"], 8)
            times = [e["ts"] for e in (doorbell, fetch, packets[0], cqe)]
            self.assertEqual(times, sorted(times))
            self.assertEqual(len({e["args"]["qpn"] for e in (doorbell, fetch, packets[0], cqe)}), 1)
        queue = [e for e in events if e["track"].startswith("QP ")]
        self.assertEqual({e["name"] for e in queue if e["name"].startswith("WQE")},
                         {f"WQE {wqe}" for wqe in range(PUTS)})

    def test_a_ring_that_is_too_short_has_the_last_steps_and_says_so(self):
        options = [[], ["--set=exec.trace_steps_count=1024", f"--trace={self.path('short.trace')}"]]
        both = pair.Pair("ib_write_lat", ["-F", "-n", "1000", "-s", "8"], options=options)
        self.assertTrue(both.ok(), both.said())
        self.assertIn("exec.trace_steps_count", both.client_said)
        fetched = [e["args"]["wqe"] for e in self.events("short.trace") if e["track"] == "fetch"]
        self.assertEqual(fetched[-1], 999)
        self.assertLess(len(fetched), 1000)

    def test_traces_of_two_programs_can_be_put_together(self):
        self.latency("trace")
        groups = [{e["pid"] for e in self.events(side + ".trace")} for side in ("server", "client")]
        self.assertEqual(groups[0] & groups[1], set())
        # Of one clock: neither begins when the other has ended.
        spans = [[e["ts"] for e in self.events(side + ".trace")] for side in ("server", "client")]
        self.assertLess(min(spans[0]), max(spans[1]))
        self.assertLess(min(spans[1]), max(spans[0]))

    def test_a_receiver_of_the_same_trace_names_the_wqe_whose_packet_it_is(self):
        port, words = pair.free_port(), " ".join(WRITE)
        script = (f"ib_write_lat {words} -p {port} & sleep 1; "
                  f"ib_write_lat {words} -p {port} 127.0.0.1; wait")
        run = subprocess.run(
            pair.exec_command(pair.new_fabric(), "sh", "-c", script,
                              options=[f"--trace={self.path('both.trace')}"]),
            capture_output=True, text=True, timeout=pair.PATIENCE_S, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        events = self.events("both.trace")
        for qpn in {e["args"]["qpn"] for e in events if e["track"] == "fetch"}:
            received = {e["args"]["wqe"] for e in events
                        if e["track"] == "receive" and e["args"]["qpn"] == qpn
                        and e["args"]["at_qpn"] != qpn}
            self.assertEqual(received, set(range(PUTS)))


def packets_in(path):
    """(link type, frames) of a capture, read by libpcap."""
    library = ctypes.CDLL(ctypes.util.find_library("pcap"))
    library.pcap_open_offline.restype = ctypes.c_void_p
    library.pcap_next.restype = ctypes.POINTER(ctypes.c_uint8)
    message = ctypes.create_string_buffer(256)
    handle = ctypes.c_void_p(library.pcap_open_offline(path.encode(), message))
    if not handle:
        raise ValueError(message.value)

    class Header(ctypes.Structure):
        _fields_ = [("seconds", ctypes.c_long), ("micros", ctypes.c_long),
                    ("captured", ctypes.c_uint32), ("length", ctypes.c_uint32)]

    frames, header = [], Header()
    while frame := library.pcap_next(handle, ctypes.byref(header)):
        frames.append((header.seconds, header.micros, bytes(frame[:header.captured])))
    kind = library.pcap_datalink(handle)
    library.pcap_close(handle)
    return kind, frames


@unittest.skipIf(ctypes.util.find_library("pcap") is None, "libpcap is not there")
@pair.needs("ib_write_lat", "perftest")
class Capture(Folder):
    def check(self, link, kind, opcode_at):
        self.latency("pcap", "json", link=link)
        for side in ("server", "client"):
            found, frames = packets_in(self.path(side + ".pcap"))
            self.assertEqual(found, kind)
            [nic] = self.read(side + ".json")["nics"]
            self.assertEqual(len(frames), nic["counters"]["packets_sent"])
            times = [frame[:2] for frame in frames]
            self.assertEqual(times, sorted(times))
            opcodes = [frame[2][opcode_at] for frame in frames]
            self.assertEqual(set(opcodes), {WRITE_ONLY, ACKNOWLEDGE})
            self.assertGreaterEqual(opcodes.count(WRITE_ONLY), PUTS)

    def test_of_infiniband(self):
        self.check("infiniband", ERF, 16 + 8)

    def test_of_ethernet(self):
        self.check("ethernet", ETHERNET, 14 + 20 + 8)


if __name__ == "__main__":
    case_report.main()
