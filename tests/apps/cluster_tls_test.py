"""nfx cluster with --ca and --credentials, against nats-server on loopback."""
import base64
import binascii
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from support import PATIENCE_S, expect, run

try:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
except ImportError:
    Ed25519PrivateKey = None

SERVER = os.environ.get("NFX_NATS_SERVER") or shutil.which("nats-server", path=str(pathlib.Path.home() / "go/bin"))
OPERATOR, ACCOUNT, USER, SEED = 14 << 3, 0, 20 << 3, 18 << 3


class Server:
    """Chooses its port itself and writes it to a file in the folder."""

    def __init__(self, folder, *arguments):
        self.process = subprocess.Popen(
            [SERVER, "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", folder, "-js", "-sd", f"{folder}/js", *arguments],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and self.process.poll() is None:
            for path in pathlib.Path(folder).glob(f"*_{self.process.pid}.ports"):
                try:
                    self.address = json.loads(path.read_text())["nats"][0].split("://")[1]
                    return
                except ValueError:
                    pass  # half written
            time.sleep(0.02)
        self.stop()
        raise AssertionError("nats-server did not start")

    def pause(self):
        """Returns when none of its threads runs any more: on a busy machine some do for a while after the signal."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        self.process.kill()
        self.process.wait()


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if "libnats-dev" in run("cluster", "check", "--url", "nats://127.0.0.1:1", "--timeout", "1")[2]:
            raise unittest.SkipTest("built without libnats")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.server = Server(cls.folder, *cls.prepare())
        cls.addClassCleanup(cls.server.stop)

    def check(self, *arguments):
        return run("cluster", "check", "--url", f"nats://{self.server.address}", "--timeout", "30", *arguments)

    def accepted(self, *arguments):
        _, out, err = self.check(*arguments)
        self.assertEqual(err, "")
        self.assertIn("good  the servers are nats-server", out)

    def refused(self, text, *arguments):
        expect(self.check(*arguments), code=1, out="", err=text, err_lines=1)


@unittest.skipUnless(SERVER, "no nats-server: ./dev deps nats builds one")
@unittest.skipUnless(shutil.which("openssl"), "no openssl command")
class Tls(Case):
    @classmethod
    def prepare(cls):
        def openssl(*arguments):
            subprocess.run(["openssl", *arguments], cwd=cls.folder, check=True, capture_output=True)

        key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
        for name in ("ca", "other"):
            openssl("req", "-x509", *key, "-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}")
        openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=server")
        pathlib.Path(cls.folder, "names").write_text("subjectAltName=IP:127.0.0.1\n")
        openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-extfile", "names", "-out", "server.pem")
        return "--tls", "--tlscert", f"{cls.folder}/server.pem", "--tlskey", f"{cls.folder}/server.key"

    def test_the_authority_of_the_server_is_accepted(self):
        self.accepted("--ca", f"{self.folder}/ca.pem")

    def test_another_authority_is_refused(self):
        wrong = f"{self.folder}/other.pem"
        self.refused(f"{self.server.address}: the server's certificate was not verified with --ca {wrong}: ",
                     "--ca", wrong)

    def test_a_client_without_tls_is_refused(self):
        self.refused(f"{self.server.address}: the server requires TLS; name the file of its certificate authority with --ca: ")

    def test_a_file_without_certificates_is_named(self):
        self.refused(f"{self.folder}/names: ", "--ca", f"{self.folder}/names")

    def test_a_missing_file_is_wrong_usage(self):
        for option in ("--ca", "--credentials"):
            expect(self.check(option, f"{self.folder}/missing"), code=2, out="",
                   err=f"{option}: cannot read {self.folder}/missing: No such file")


def text_of(data):
    return base64.b32encode(data + binascii.crc_hqx(data, 0).to_bytes(2, "little")).decode().rstrip("=")


class Key:
    """A key as NATS writes it: base 32 of its kind, its bytes and a check sum."""

    def __init__(self, kind):
        self.key = Ed25519PrivateKey.generate()
        self.public = text_of(bytes([kind]) + self.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))
        private = self.key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
        self.seed = text_of(bytes([SEED | kind >> 5, (kind & 31) << 3]) + private)

    def token(self, subject, kind, **claims):
        def part(data):
            return base64.urlsafe_b64encode(data).decode().rstrip("=")

        body = {"iat": int(time.time()), "iss": self.public, "name": kind, "sub": subject,
                "nats": {**claims, "type": kind, "version": 2}}
        body["jti"] = base64.b32encode(hashlib.sha256(json.dumps(body).encode()).digest()).decode().rstrip("=")
        text = part(b'{"typ":"JWT","alg":"ed25519-nkey"}') + "." + part(json.dumps(body).encode())
        return text + "." + part(self.key.sign(text.encode()))


@unittest.skipUnless(SERVER, "no nats-server: ./dev deps nats builds one")
@unittest.skipUnless(Ed25519PrivateKey, "Python's cryptography is missing")
class Credentials(Case):
    @classmethod
    def prepare(cls):
        operator, account, system, stranger = Key(OPERATOR), Key(ACCOUNT), Key(ACCOUNT), Key(ACCOUNT)
        unlimited = dict.fromkeys(("subs", "data", "payload"), -1)
        limits = {**unlimited, "wildcards": True, **dict.fromkeys(("imports", "exports", "conn", "leaf"), -1)}
        stored = dict.fromkeys(("mem_storage", "disk_storage", "streams", "consumer"), -1)
        preload = {account.public: operator.token(account.public, "account", limits={**limits, **stored}),
                   system.public: operator.token(system.public, "account", limits=limits)}
        own = operator.token(operator.public, "operator", system_account=system.public)
        path = pathlib.Path(cls.folder, "server.conf")
        path.write_text(f"operator: {own}\nsystem_account: {system.public}\nresolver: MEMORY\nresolver_preload: {{\n"
                        + "".join(f"  {name}: {token}\n" for name, token in preload.items()) + "}\n")
        for name, issuer in (("good", account), ("stranger", stranger)):
            cls.write(name, issuer, unlimited)
        return "-c", str(path)

    @classmethod
    def write(cls, name, issuer, limits):
        user = Key(USER)
        path = pathlib.Path(cls.folder, f"{name}.creds")
        path.touch(mode=0o600)
        path.write_text(f"-----BEGIN NATS USER JWT-----\n{issuer.token(user.public, 'user', **limits)}\n"
                        "------END NATS USER JWT------\n\n"
                        f"-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n")

    def test_a_user_of_the_account_is_accepted(self):
        self.accepted("--credentials", f"{self.folder}/good.creds")

    def test_a_user_of_an_unknown_account_is_refused(self):
        path = f"{self.folder}/stranger.creds"
        self.refused(f"{self.server.address}: not connected with --credentials {path}: ", "--credentials", path)

    def test_a_file_that_others_may_read_is_refused(self):
        path = pathlib.Path(self.folder, "open.creds")
        shutil.copy(f"{self.folder}/good.creds", path)
        for mode in (0o640, 0o604):
            path.chmod(mode)
            self.refused(f"--credentials: {path}: mode {mode:04o} lets other users read or change it: run 'chmod 600 {path}'", "--credentials",
                         str(path))


if __name__ == "__main__":
    unittest.main()
