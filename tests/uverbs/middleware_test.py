"""UCX and libfabric, as Debian has them, run on the virtual ConnectX with their own settings."""

import unittest

from tests import case_report
from tests.uverbs import pair

DEVICE = "mlx5_0:1"


@pair.needs("ucx_perftest", "ucx-utils")
class Ucx(unittest.TestCase):
    def check(self, *arguments, transports="rc_x", link="infiniband"):
        """Nothing is set but which transports and which device are used: UCX keeps its hooks in
        mmap, and its cache of registrations."""
        environment = {"UCX_TLS": transports, "UCX_NET_DEVICES": DEVICE}
        both = pair.Pair("ucx_perftest", [*arguments, "-n", "50", "-w", "5"], link=link,
                         environments=(environment, environment))
        self.assertTrue(both.ok(), both.said())
        self.assertIn("Final:", both.client_said)
        for trouble in ("ERROR", "WARN"):
            self.assertNotIn(trouble, both.said())

    def test_messages_run_over_each_of_its_transports(self):
        for transports in ["rc_x", "rc_v", "ud_x", "ud_v", "dc_x", "ib"]:
            with self.subTest(transports):
                self.check("-t", "tag_lat", transports=transports)

    def test_messages_run_on_ethernet(self):
        for transports in ["rc_x", "ud_v"]:
            with self.subTest(transports):
                self.check("-t", "tag_lat", transports=transports, link="ethernet")

    def test_large_messages_go_by_rendezvous(self):
        self.check("-t", "tag_bw", "-s", "1000000")

    def test_one_sided_operations_run(self):
        for test in ["ucp_put_lat", "ucp_get", "ucp_fadd", "ucp_cswap"]:
            with self.subTest(test):
                self.check("-t", test, "-s", "8")

    def test_its_lower_layer_runs_alone(self):
        for transport in ["rc_mlx5", "rc_verbs"]:
            with self.subTest(transport):
                self.check("-d", DEVICE, "-x", transport, "-t", "put_lat",
                           transports="all")

    def test_a_worker_that_sleeps_is_woken(self):
        self.check("-d", DEVICE, "-x", "rc_mlx5", "-t", "am_lat", "-E", "sleep",
                   transports="all")


@pair.needs("fi_pingpong", "libfabric-bin")
class Libfabric(unittest.TestCase):
    def pingpong(self, provider, patience_s=pair.PATIENCE_S):
        return pair.Pair("fi_pingpong", ["-p", provider, "-e", "rdm", "-I", "10", "-c"],
                         port_options=("-B", "-P"), patience_s=patience_s)

    def test_reliable_datagrams_over_ud_run_with_their_contents_checked(self):
        # The last acknowledgement is a datagram: if it is lost as its sender leaves, nobody repeats
        # it, and the other side waits for ever.
        for _ in range(4):
            both = self.pingpong("verbs;ofi_rxd", patience_s=10)
            if both.ok():
                break
        self.assertTrue(both.ok(), both.said())

    def test_what_needs_the_connection_manager_is_not_offered(self):
        both = self.pingpong("verbs;ofi_rxm")
        self.assertFalse(both.ok())
        self.assertIn("fi_getinfo(): ", both.server_said)
        self.assertIn("No data available", both.server_said)


if __name__ == "__main__":
    case_report.main()
