"""A real server for other machines, and a network that breaks off."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

TOKEN = "a token that only the tests have"


def certificates(directory: Path) -> None:
    """Create an authority with certificates for a server and a client, and another authority."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed, which makes the certificates of these tests")
    for name in ("ca", "other"):
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        signed = ["-x509", "-days", "2", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem"]
        _openssl(directory, "req", *key, *signed)
    for name in ("server", "client"):
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}"]
        _openssl(directory, "req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr")
        (directory / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
        by = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"]
        _openssl(directory, "x509", "-req", "-in", f"{name}.csr", *by, "-out", f"{name}.pem")
        with open(directory / f"{name}-both.pem", "w") as both:
            both.write((directory / f"{name}.pem").read_text() + (directory / f"{name}.key").read_text())


def _openssl(directory: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=directory, check=True, capture_output=True)


class Server:
    """`larder serve --listen`, on a port that it keeps when it is restarted."""

    def __init__(self, program: str, directory: Path, *flags: str) -> None:
        self.directory = directory
        self.port = 0
        self.starts = 0
        self._command = [program, "serve", "--cache", str(directory / "far"), "--socket", str(directory / "far.sock")]
        self._command += ["--flows", str(directory), *flags]
        self._process: subprocess.Popen[str] | None = None
        self.start()

    def start(self) -> None:
        command = [*self._command, "--listen", f"127.0.0.1:{self.port}"]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if "batches for other machines at " in line:
                self.port = int(line.rsplit(":", 1)[1])
                self.starts += 1
                return
        raise AssertionError(f"the server ended with status {self._process.wait()}")

    def kill(self) -> None:
        """Kill it immediately."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        assert self._process.stderr is not None
        self._process.stderr.close()
        self._process = None

    def status(self) -> str:
        """Return the output of `larder serve --status --json`."""
        command = [*self._command[:6], "--status", "--json"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def close(self) -> None:
        if self._process is not None:
            self.kill()


class Network:
    """Forwards bytes to a port; each connection breaks off after a set number."""

    def __init__(self, port: int, bytes_of: Callable[[int], int]) -> None:
        self._to = port
        self._bytes_of = bytes_of
        self.connections = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self._to))
            most = self._bytes_of(self.connections)
            self.connections += 1
            self._threads.append(threading.Thread(target=self._join, args=(near, far, most)))
            self._threads[-1].start()

    def _join(self, near: socket.socket, far: socket.socket, most: int) -> None:
        with near, far:
            back = threading.Thread(target=self._pass, args=(near, far, -1))
            back.start()
            self._pass(far, near, most)
            back.join()

    def _pass(self, source: socket.socket, to: socket.socket, most: int) -> None:
        with contextlib.suppress(OSError):
            while most != 0:
                data = source.recv(1 << 16 if most < 0 else min(most, 1 << 16))
                if not data:
                    break
                most -= len(data) if most > 0 else 0
                to.sendall(data)
        for end in (source, to):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join()


def token_file(directory: Path) -> Path:
    """Return the file of the token."""
    path = directory / "token"
    if not path.exists():
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(TOKEN + "\n")
    return path
