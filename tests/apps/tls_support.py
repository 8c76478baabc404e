"""Certificates for the tests of TLS, made by the openssl command, and what those tests do where it is missing."""
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from support import PATIENCE_S

try:
    import ssl
except ImportError:
    ssl = None

SKIPPED = 77


def test_with_tls():
    """Runs the calling file's tests; exit code 77 where a tool that they need is missing."""
    missing = "Python's module ssl (package python3)" if ssl is None else None
    if not shutil.which("openssl"):
        missing = "the command openssl (package openssl)"
    if missing:
        print(f"SKIPPED: {missing} is missing")
        sys.exit(SKIPPED)
    unittest.main()


class Certificates:
    """An authority and what it signs, made by the openssl command."""

    def __init__(self, name="Test CA"):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3650",
                     "-subj", f"/CN={name}", "-keyout", self.file("ca.key"), "-out", self.file("ca.pem"))
        (self.path / "index.txt").write_text("")
        (self.path / "ca.cnf").write_text(
            f"[ca]\ndefault_ca=d\n[d]\ndatabase={self.file('index.txt')}\nserial={self.file('serial')}\n"
            f"new_certs_dir={self.path}\ndefault_md=sha256\npolicy=p\ndefault_crl_days=30\nunique_subject=no\n"
            "copy_extensions=copy\n[p]\ncommonName=supplied\n")
        (self.path / "serial").write_text("1000\n")
        self.issue("server", "DNS:localhost,IP:127.0.0.1")
        self.issue("client", "DNS:desk.example")
        self.issue("expired", "IP:127.0.0.1", "20200101000000Z", "20210101000000Z")

    def file(self, name):
        return str(self.path / name)

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=PATIENCE_S)

    def ca(self, *arguments):
        self.openssl("ca", "-batch", "-config", self.file("ca.cnf"), "-cert", self.file("ca.pem"), "-keyfile",
                     self.file("ca.key"), *arguments)

    def issue(self, name, names, begin="20250101000000Z", end="20990101000000Z"):
        self.openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                     f"/CN={name}", "-addext", f"subjectAltName={names}", "-keyout", self.file(name + ".key"), "-out",
                     self.file(name + ".csr"))
        self.ca("-in", self.file(name + ".csr"), "-startdate", begin, "-enddate", end, "-notext", "-out",
                self.file(name + ".crt"))

    def sign(self, name, subject, *extensions, ca="ca", key=("ec", "-pkeyopt", "ec_paramgen_curve:P-256"), digest="sha256"):
        """A certificate with any content, signed by any other one, whether that may sign or not."""
        extra = [word for each in extensions for word in ("-addext", each)]
        self.openssl("req", "-new", "-newkey", *key, "-nodes", "-utf8", "-subj", subject, *extra, "-keyout",
                     self.file(f"{name}.key"), "-out", self.file(f"{name}.csr"))
        self.openssl("x509", "-req", "-in", self.file(f"{name}.csr"), "-CA", self.file(f"{ca}.pem"), "-CAkey",
                     self.file(f"{ca}.key"), "-CAcreateserial", "-copy_extensions", "copy", "-days", "30", f"-{digest}", "-out",
                     self.file(f"{name}.crt"))
        shutil.copy(self.file(f"{name}.crt"), self.file(f"{name}.pem"))

    def issue_by_another(self, name, names):
        """A certificate of an authority that nobody trusts."""
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3650", "-subj",
                     f"/CN={name}", "-addext", f"subjectAltName={names}", "-keyout", self.file(name + ".key"), "-out",
                     self.file(name + ".crt"))


class OpenSsl:
    """A running openssl s_client or s_server, whose input and output are the connection's."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(["openssl", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, bufsize=0)

    def send(self, data):
        self.process.stdin.write(data)

    def receive(self):
        """Some bytes; none when it has ended."""
        if not select.select([self.process.stdout], [], [], PATIENCE_S)[0]:
            raise AssertionError("openssl printed nothing")
        return os.read(self.process.stdout.fileno(), 65536)

    def receive_until(self, words, seconds):
        """What it prints until these words, its end, or so many seconds."""
        seen, end = b"", time.monotonic() + seconds
        while words not in seen and select.select([self.process.stdout], [], [], max(0.0, end - time.monotonic()))[0]:
            more = os.read(self.process.stdout.fileno(), 65536)
            if not more:
                break
            seen += more
        return seen

    def close(self):
        self.process.kill()
        self.process.communicate()


class OpenSslServer(OpenSsl):
    """Its address is one of the kernel's choice."""

    def __init__(self, certificates, *arguments, name="server"):
        super().__init__("s_server", "-accept", "127.0.0.1:0", "-cert", certificates.file(name + ".crt"), "-key",
                         certificates.file(name + ".key"), *arguments)
        seen = b""
        while b"\nACCEPT 127" not in seen or not seen.endswith(b"\n"):
            more = self.receive()
            if not more:
                raise AssertionError(f"openssl s_server ended: {seen}")
            seen += more
        self.address = seen[seen.index(b"\nACCEPT 127"):].split()[1].decode()
