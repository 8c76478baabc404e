"""nfx tls: the doctor against real servers (openssl s_server, Python's ssl), and the check of own files."""
import json
import os
import socket
import threading
import unittest

from support import PATIENCE_S, expect, run
from tls_support import Certificates, OpenSslServer, ssl, test_with_tls


class PythonServer:
    """Accepts TLS connections one after the other, and ends each when the client does."""

    def __init__(self, certificates, name, demand=False):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates.file(name + ".crt"), certificates.file(name + ".key"))
        if demand:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(certificates.file("ca.pem"))
        self.context = context
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            try:
                with self.context.wrap_socket(plain, server_side=True) as connection:
                    while connection.recv(4096):
                        pass
            except (ssl.SSLError, OSError):
                plain.close()

    def stop(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(PATIENCE_S)


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = Certificates()
        cls.addClassCleanup(cls.made.folder.cleanup)
        cls.made.issue("elsewhere", "DNS:fix.example")
        cls.made.issue("revoked", "IP:127.0.0.1")
        cls.made.ca("-revoke", cls.made.file("revoked.crt"))
        cls.made.ca("-gencrl", "-out", cls.made.file("crl.pem"))

    def serve(self, name="server", demand=False):
        server = PythonServer(self.made, name, demand)
        self.addCleanup(server.stop)
        return server.address

    def doctor(self, address, *arguments):
        code, out, err = run("tls", "doctor", address, "--ca", self.made.file("ca.pem"), "--format", "json", *arguments)
        self.assertEqual(err, "")
        found = json.loads(out)
        self.assertEqual(found["exit_code"], code)
        return code, found["findings"]

    def failures(self, findings):
        return " / ".join(f["text"] for f in findings if f["result"] == "failure")

    def test_a_good_server_is_good(self):
        code, findings = self.doctor(self.serve(), "--crl", self.made.file("crl.pem"))
        self.assertEqual((code, self.failures(findings)), (0, ""))
        texts = {f["step"]: f["text"] for f in findings}
        self.assertRegex(texts["handshake"], r"^TLSv1\.3 with TLS_\w+ in \d+ ms$")
        self.assertEqual(texts["revocation"], "nothing in the chain is revoked")
        self.assertEqual(texts["client certificate"], "the server requests none")

    def test_an_expired_certificate_is_named_with_its_date(self):
        code, findings = self.doctor(self.serve("expired"))
        self.assertEqual(code, 2)
        self.assertIn("certificate has expired (subject CN=expired; on 2021-01-01 00:00:00 UTC", self.failures(findings))
        self.assertRegex(self.failures(findings), r"expired \d+ days ago")

    def test_a_wrong_name_is_reported_with_both_names(self):
        code, findings = self.doctor(self.serve("elsewhere"))
        self.assertEqual(code, 2)
        self.assertIn("wanted 127.0.0.1, certificate has DNS:fix.example", self.failures(findings))
        self.assertEqual(self.doctor(self.serve("elsewhere"), "--name", "fix.example")[0], 0)

    def test_a_revoked_certificate_is_found_with_the_list_only(self):
        address = self.serve("revoked")
        self.assertEqual(self.doctor(address)[0], 0)
        code, findings = self.doctor(address, "--crl", self.made.file("crl.pem"))
        self.assertEqual(code, 2)
        self.assertIn("certificate revoked (subject CN=revoked", self.failures(findings))

    def test_an_unknown_authority_is_reported(self):
        address = self.serve()
        expect(run("tls", "doctor", address), code=2, out="add that authority to tls_ca")

    def test_a_server_that_demands_a_certificate_is_reported(self):
        address = self.serve(demand=True)
        code, findings = self.doctor(address)
        self.assertEqual(code, 2)
        self.assertIn("set tls_certificate and tls_key", self.failures(findings))
        mine = ("--cert", self.made.file("client.crt"), "--key", self.made.file("client.key"))
        self.assertEqual(self.doctor(address, *mine)[0], 0)

    def test_a_closed_port_and_a_plain_server_are_distinguished(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = f"127.0.0.1:{listener.getsockname()[1]}"

            def answer():
                plain, _ = listener.accept()
                with plain:
                    plain.recv(4096)
                    plain.sendall(b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01")

            threads = [threading.Thread(target=answer) for _ in range(2)]
            for thread in threads:
                thread.start()
            code, findings = self.doctor(address)
            self.assertEqual(code, 2)
            self.assertIn("does not speak TLS", self.failures(findings))
            for thread in threads:
                thread.join(PATIENCE_S)
        code, findings = self.doctor(address)
        self.assertEqual(code, 2)
        self.assertIn("refused", self.failures(findings))

    def test_openssl_s_server_is_understood_in_both_versions(self):
        for version in ("-tls1_2", "-tls1_3"):
            with self.subTest(version):
                server = OpenSslServer(self.made, version)
                self.addCleanup(server.close)
                code, findings = self.doctor(server.address)
                self.assertEqual((code, self.failures(findings)), (0, ""))
                wanted = "TLSv1.2 " if version == "-tls1_2" else "TLSv1.3 "
                self.assertTrue([f for f in findings if f["text"].startswith(wanted)], findings)

    def check(self, *arguments):
        code, out, err = run("tls", "check", *arguments)
        self.assertEqual(err, "")
        return code, out

    def test_good_files_are_good(self):
        files = ("--cert", self.made.file("server.crt"), "--key", self.made.file("server.key"), "--ca",
                 self.made.file("ca.pem"))
        os.chmod(self.made.file("server.key"), 0o600)
        code, out = self.check(*files, "--name", "localhost", "--crl", self.made.file("crl.pem"))
        self.assertEqual(code, 0, out)
        self.assertIn("1 revoked", out)
        self.assertEqual(self.check(*files, "--name", "fix.example")[0], 2)
        os.chmod(self.made.file("server.key"), 0o644)
        code, out = self.check(*files)
        self.assertEqual(code, 1)
        self.assertIn("chmod 600", out)
        os.chmod(self.made.file("server.key"), 0o600)

    def test_bad_files_are_named(self):
        code, out = self.check("--cert", self.made.file("server.crt"), "--key", self.made.file("client.key"))
        self.assertEqual(code, 2)
        self.assertIn("the key does not belong to the certificate", out)
        code, out = self.check("--cert", self.made.file("expired.crt"), "--key", self.made.file("expired.key"))
        self.assertEqual(code, 2)
        self.assertIn("expired", out)
        code, out = self.check("--ca", self.made.file("nowhere.pem"))
        self.assertEqual(code, 2)
        self.assertIn("No such file", out)

    def test_who_may_log_on_as_whom_is_shown(self):
        file = self.made.path / "venue.toml"
        file.write_text(f"""[defaults]
listen = "127.0.0.1:9880"
sender_comp_id = "VENUE"
tls = true
tls_certificate = "{self.made.file("server.crt")}"
tls_key = "{self.made.file("server.key")}"
tls_client_certificate = "require"
tls_ca = "{self.made.file("ca.pem")}"
[[session]]
target_comp_id = "DESK"
tls_peer_names = "desk.example"
[[session]]
target_comp_id = "OTHER"
tls_peer_names = "other.example"
[[session]]
target_comp_id = "ANY"
[[session]]
target_comp_id = "T-*"
template = true
tls_peer_names = "{{TargetCompID}}.example"
""")
        code, out, err = run("tls", "check", "--config", str(file), "--peer", self.made.file("client.crt"), "--format", "json")
        self.assertEqual((code, err), (1, ""))
        texts = [finding["text"] for finding in json.loads(out)["findings"]]
        self.assertIn("FIX.4.4:VENUE->DESK: a certificate with the name desk.example", texts)
        self.assertIn("may log on as FIX.4.4:VENUE->DESK", texts)
        self.assertIn("may not log on as FIX.4.4:VENUE->OTHER", texts)
        self.assertIn("may log on as FIX.4.4:VENUE->ANY", texts)
        self.assertIn("may log on as template FIX.4.4:VENUE->T-* with the CompID that makes {TargetCompID}.example one "
                      "of its names", texts)
        warning = ("FIX.4.4:VENUE->ANY: every client with a certificate of " + self.made.file("ca.pem") +
                   " may log on: name its own in tls_peer_names, or set a password")
        self.assertIn(warning, texts)
        self.assertIn("nfx: " + warning, run("serve", str(file), "--check")[2])

    def test_wrong_usage_is_one_line(self):
        for arguments in (("doctor", "nonsense"), ("doctor",), ("check",), ()):
            with self.subTest(arguments):
                expect(run("tls", *arguments), code=2, out="", err_lines=1)


if __name__ == "__main__":
    test_with_tls()
