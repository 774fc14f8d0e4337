"""Two unmodified programs, a server and its client, on one virtual fabric."""

import os
import shutil
import subprocess
import time
import unittest
import uuid

PROGRAM = os.path.abspath("tools/ringpost/ringpost")
PATIENCE_S = 30
_LISTENS = "0A"


def exec_command(fabric, *program, link="infiniband"):
    """`ringpost exec` of a program; all that name a fabric reach each other."""
    return [PROGRAM, "exec", f"--set=exec.fabric={fabric}", f"--set=exec.link={link}", "--",
            *program]


def needs(program, package):
    return unittest.skipIf(shutil.which(program) is None,
                           f"{program} is not there: apt-get install {package}")


def new_fabric():
    """Sandboxes share /dev/shm, where a fabric of each name is."""
    return "test_" + uuid.uuid4().hex


def _is_listening(port):
    for name in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(name, encoding="ascii") as file:
            for line in file.readlines()[1:]:
                words = line.split()
                if words[3] == _LISTENS and int(words[1].rpartition(":")[2], 16) == port:
                    return True
    return False


class Pair:
    """What became of the two: exit statuses, and all that they printed.

    `port_options`: how the server is told its TCP port, and how the client is."""

    def __init__(self, port, program, arguments, link="infiniband", environment=None,
                 port_options=("-p", "-p")):
        fabric = new_fabric()
        words, to_server = [[program, *arguments, option, str(port)] for option in port_options]
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8",
                   "env": {**os.environ, **(environment or {})}}
        server = subprocess.Popen(exec_command(fabric, *words, link=link), **options)
        self.client, self.client_said = None, ""
        try:
            deadline = time.monotonic() + PATIENCE_S
            while server.poll() is None and not _is_listening(port):
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{words} does not listen")
                time.sleep(0.01)
            if server.poll() is None:
                client = subprocess.run(exec_command(fabric, *to_server, "127.0.0.1", link=link),
                                        timeout=PATIENCE_S, check=False, **options)
                self.client, self.client_said = client.returncode, client.stdout
            self.server_said = server.communicate(timeout=PATIENCE_S)[0]
        finally:
            server.kill()
            server.wait()
        self.server = server.returncode

    def ok(self):
        return self.server == 0 and self.client == 0

    def refusal(self):
        """perftest's own word on options that do not go together, or nothing."""
        if self.client is None and "Parser function exited with Error" in self.server_said:
            return next(line.strip() for line in self.server_said.splitlines() if line.strip())
        return ""

    def said(self):
        return (f"server {self.server}:\n{self.server_said}\n"
                f"client {self.client}:\n{self.client_said}")
