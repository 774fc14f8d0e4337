"""Two unmodified programs, a server and its client, on one virtual fabric."""

import os
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest
import uuid

PROGRAM = os.path.abspath("tools/ringpost/ringpost")
PATIENCE_S = 30
_LISTENS = "0A"
_given_ports = set()
_ports_lock = threading.Lock()


def exec_command(fabric, *program, link="infiniband", options=()):
    """`ringpost exec` of a program; all that name a fabric reach each other."""
    return [PROGRAM, "exec", f"--set=exec.fabric={fabric}", f"--set=exec.link={link}", *options,
            "--", *program]


def needs(program, package):
    return unittest.skipIf(shutil.which(program) is None,
                           f"{program} is not there: apt-get install {package}")


def new_fabric():
    """Sandboxes share /dev/shm, where a fabric of each name is."""
    return "test_" + uuid.uuid4().hex


def free_port():
    """A TCP port that nobody listens on, and that no other call has returned."""
    with _ports_lock:
        while True:
            with socket.socket() as probe:  # bound, not listening: others look for who listens
                probe.bind(("", 0))
                port = probe.getsockname()[1]
            if port not in _given_ports:
                _given_ports.add(port)
                return port


def _is_listening(port):
    for name in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(name, encoding="ascii") as file:
            for line in file.readlines()[1:]:
                words = line.split()
                if words[3] == _LISTENS and int(words[1].rpartition(":")[2], 16) == port:
                    return True
    return False


def _end(process, patience_s):
    """Its status, and what it printed. One that hangs is killed, with the program that it runs."""
    try:
        said = process.communicate(timeout=patience_s)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said = f"{process.communicate()[0]}\nkilled after {patience_s} s\n"
    return process.returncode, said


class Pair:
    """What became of the two: exit statuses, and all that they printed.

    Of the server and of the client, `words` are arguments and `environments` variables of its own,
    `options` are those of its `ringpost exec`, and `port_options` tells it the TCP port.
    """

    def __init__(self, program, arguments, link="infiniband", words=((), ()),
                 environments=({}, {}), port_options=("-p", "-p"), patience_s=PATIENCE_S,
                 options=((), ())):
        self._fabric, self._link, self._environments = new_fabric(), link, environments
        self._options = options
        port = str(free_port())
        sides = [[program, *arguments, option, port, *own]
                 for option, own in zip(port_options, words)]
        self.server = self.client = None
        self.server_said = self.client_said = ""
        server, client = self._start(0, sides[0]), None
        try:
            deadline = time.monotonic() + patience_s
            while (server.poll() is None and not _is_listening(int(port)) and
                   time.monotonic() < deadline):
                time.sleep(0.01)
            if server.poll() is None:
                client = self._start(1, [*sides[1], "127.0.0.1"])
                self.client, self.client_said = _end(client, patience_s)
        finally:
            self.server, self.server_said = _end(server, patience_s)

    def _start(self, side, words):
        command = exec_command(self._fabric, *words, link=self._link, options=self._options[side])
        return subprocess.Popen(command,
                                env={**os.environ, **self._environments[side]},
                                start_new_session=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, encoding="utf-8")

    def ok(self):
        return self.server == 0 and self.client == 0

    def said(self):
        return (f"server {self.server}:\n{self.server_said}\n"
                f"client {self.client}:\n{self.client_said}")
