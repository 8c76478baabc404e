"""nfx serve and nfx connect with TLS against programs of others: openssl s_client and s_server, and Python's ssl."""
import datetime
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess

from support import ENVIRONMENT, PATIENCE_S, PROGRAM, FolderTest, Server, expect, fix, run
from tls_support import Certificates, OpenSsl, OpenSslServer, ssl, test_with_tls

MESSAGE = re.compile(rb"8=FIX[^\x01]*\x01.*?\x0110=\d{3}\x01", re.DOTALL)
VERSIONS = ("1.2", "1.3")


class Peer:
    """One end of a FIX session over something that sends and receives bytes."""

    def __init__(self, carrier, sender="CLIENT", target="NEXUSFIX"):
        self.carrier = carrier
        self.sender = sender
        self.target = target
        self.number = 0
        self.received = b""

    def say(self, msg_type, *fields):
        self.number += 1
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d-%H:%M:%S")
        self.carrier.send(fix([(35, msg_type), (34, self.number), (49, self.sender), (52, now), (56, self.target), *fields]))

    def hear(self, msg_type):
        """The next message of this type, as its bytes; those before it are dropped."""
        while True:
            for found in MESSAGE.finditer(self.received):
                if b"\x0135=" + msg_type.encode() + b"\x01" in found.group():
                    self.received = self.received[found.end():]
                    return found.group()
            more = self.carrier.receive()
            if not more:
                raise AssertionError(f"the connection ended before a message of type {msg_type}: {self.received}")
            self.received += more

    def log_on(self):
        self.say("A", (98, 0), (108, 30), (141, "Y"))
        return self.hear("A")

    def is_alive(self, name):
        """Whether a TestRequest is answered."""
        self.say("1", (112, name))
        return f"\x01112={name}\x01".encode() in self.hear("0")


class PythonClient:
    """A connection of Python's ssl module."""

    def __init__(self, port, version, ca, certificate=None):
        context = ssl.create_default_context(cafile=ca)
        context.minimum_version = context.maximum_version = getattr(ssl.TLSVersion, "TLSv" + version.replace(".", "_"))
        if certificate:
            context.load_cert_chain(*certificate)
        plain = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        try:
            self.socket = context.wrap_socket(plain, server_hostname="127.0.0.1")
        except BaseException:
            plain.close()
            raise

    def send(self, data):
        self.socket.sendall(data)

    def receive(self):
        return self.socket.recv(65536)

    def close(self):
        self.socket.close()


class OpenSslClient(OpenSsl):
    def __init__(self, port, version, ca, certificate=None):
        own = ("-cert", certificate[0], "-key", certificate[1]) if certificate else ()
        super().__init__("s_client", "-quiet", "-connect", f"127.0.0.1:{port}", "-tls" + version.replace(".", "_"), "-CAfile",
                         ca, "-verify_return_error", *own)


class ServeTls(FolderTest):
    @classmethod
    def setUpClass(cls):
        cls.made = Certificates()
        cls.addClassCleanup(cls.made.folder.cleanup)
        cls.other = Certificates("Other CA")
        cls.addClassCleanup(cls.other.folder.cleanup)

    def serve(self, *lines, before="", certificate=None):
        certificate = certificate or self.files(self.made, "server")
        tls = ("tls = true", f'tls_certificate = "{certificate[0]}"', f'tls_key = "{certificate[1]}"', *lines)
        server = Server(self.folder, "--echo", settings=before + Server.TOML + "\n".join(tls) + "\n")
        self.addCleanup(server.end)
        return server

    def serve_with_client_certificates(self):
        return self.serve('tls_client_certificate = "require"', f'tls_ca = "{self.made.file("ca.pem")}"')

    def files(self, certificates, name):
        return certificates.file(name + ".crt"), certificates.file(name + ".key")

    def each_client(self):
        """Every kind of client in each version, as a function that connects one."""
        for kind in (PythonClient, OpenSslClient):
            for version in VERSIONS:
                with self.subTest(client=kind.__name__, version=version):

                    def connect(server, certificate=None, ca=self.made.file("ca.pem"), kind=kind, version=version):
                        carrier = kind(server.port, version, ca, certificate)
                        self.addCleanup(carrier.close)
                        return Peer(carrier)

                    yield connect

    def python_peer(self, server):
        carrier = PythonClient(server.port, "1.3", self.made.file("ca.pem"))
        self.addCleanup(carrier.close)
        return Peer(carrier)

    def assert_no_logon(self, connect, server, **how):
        """In TLS 1.2 the handshake fails; in TLS 1.3 the server's refusal comes after the handshake."""
        with self.assertRaises((OSError, AssertionError)):
            connect(server, **how).log_on()

    def serial(self, server):
        """Of the certificate that a new connection is shown."""
        shown = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}"], stdin=subprocess.DEVNULL,
                               capture_output=True, timeout=PATIENCE_S, check=False).stdout
        return subprocess.run(["openssl", "x509", "-noout", "-serial"], input=shown, capture_output=True, timeout=PATIENCE_S,
                              check=True).stdout

    def test_clients_of_others_log_on_and_get_their_orders_back_in_both_versions(self):
        server = self.serve()
        for connect in self.each_client():
            peer = connect(server)
            self.assertIn(b"\x0149=NEXUSFIX\x01", peer.log_on())
            peer.say("D", (11, "abc"), (55, "IBM"), (54, 1), (60, "20240102-12:00:00"), (38, 100), (40, 1))
            self.assertIn(b"\x0111=abc\x01", peer.hear("D"))
            peer.say("5")
            peer.hear("5")
            server.line_with("CLIENT logged out")

    def test_a_client_without_certificate_is_refused_by_a_server_that_demands_one_and_the_log_has_the_reason(self):
        server = self.serve_with_client_certificates()
        for connect in self.each_client():
            self.assert_no_logon(connect, server)
            self.assertIn('the client sent no certificate, and tls_client_certificate is "require"', self.refusal(server))
            peer = connect(server, certificate=self.files(self.made, "client"))
            peer.log_on()
            peer.say("5")
            peer.hear("5")
            server.line_with("CLIENT logged out")

    def refusal(self, server):
        """The line of the next handshake that failed."""
        line = server.error_with("Logon refused: ")
        self.assertRegex(line, r" Logon refused: tls_handshake: TLS handshake failed \(.*\) from 127\.0\.0\.1:\d+$")
        return line

    def assert_each_is_refused(self, server, *words, **how):
        """No client logs on in such a way, and the server's log has these words."""
        for connect in self.each_client():
            self.assert_no_logon(connect, server, **how)
            line = self.refusal(server)
            for each in words:
                self.assertIn(each, line)

    def test_a_certificate_of_an_unknown_authority_is_refused_and_the_log_names_both(self):
        self.assert_each_is_refused(self.serve_with_client_certificates(), "certificate verification failed",
                                    "CN=client; issued by CN=Other CA; add that authority to tls_ca",
                                    certificate=self.files(self.other, "client"))

    def test_an_expired_client_certificate_is_refused_and_the_log_has_its_date(self):
        self.assert_each_is_refused(self.serve_with_client_certificates(),
                                    "certificate has expired (subject CN=expired; on 2021-01-01 00:00:00 UTC",
                                    certificate=self.files(self.made, "expired"))

    def test_a_client_that_does_not_know_our_authority_disconnects_and_the_log_reports_it(self):
        self.assert_each_is_refused(self.serve(), "it does not know the issuer of our certificate (alert unknown ca)",
                                    ca=self.other.file("ca.pem"))

    def test_check_reads_certificates_and_keys_and_reports_what_the_start_reports(self):
        for certificate, key, words in (("server.crt", "server.key", ""),
                                        ("server.crt", "client.key", "client.key: the key does not belong to the certificate in "),
                                        ("expired.crt", "expired.key", "expired on 2021-01-01"),
                                        ("server.crt", "none.key", "none.key: No such file or directory")):
            with self.subTest(words):
                config = self.folder / "check.toml"
                config.write_text(Server.TOML + f'tls = true\ntls_certificate = "{self.made.file(certificate)}"\n'
                                  f'tls_key = "{self.made.file(key)}"\n', encoding="utf-8")
                code, out, err = run("serve", "--check", str(config))
                if not words:
                    self.assertEqual((code, err), (0, ""), "nothing is wrong")
                    continue
                self.assertEqual((code, out, err.count("\n")), (2, "", 1), err)
                self.assertIn(words, err)
                self.assertEqual(run("serve", str(config)), (code, out, err))
                self.assertEqual(list(self.folder.iterdir()), [config], "no journal is begun")

    def test_hangup_renews_the_certificate_for_new_connections_and_leaves_sessions_alone(self):
        self.made.issue("renewed", "IP:127.0.0.1")
        certificate, key = str(self.folder / "own.crt"), str(self.folder / "own.key")

        def install(crt, private):
            shutil.copy(crt, certificate)
            shutil.copy(private, key)

        install(*self.files(self.made, "server"))
        server = self.serve(certificate=(certificate, key))
        peer = self.python_peer(server)
        peer.log_on()
        first = self.serial(server)

        install(*self.files(self.made, "renewed"))
        self.assertEqual(self.serial(server), first)
        server.process.send_signal(signal.SIGHUP)
        server.line_with("tls: certificates, keys and revocation lists are reloaded")
        renewed = self.serial(server)
        self.assertNotEqual(renewed, first)
        self.assertTrue(peer.is_alive("renewed"))

        # What is broken changes nothing: a file that is not a certificate, and a key that is still the old one's.
        pathlib.Path(certificate).write_text("not a certificate\n")
        server.process.send_signal(signal.SIGHUP)
        line = server.line_with("tls: FIX.4.4:NEXUSFIX->CLIENT: ")
        self.assertIn(f"{certificate}: holds no certificate in PEM form", line)
        self.assertIn("the files loaded before stay in use", line)
        install(self.made.file("server.crt"), self.made.file("renewed.key"))
        server.process.send_signal(signal.SIGHUP)
        self.assertIn(f"{key}: the key does not belong to the certificate in {certificate}",
                      server.line_with("tls: FIX.4.4:NEXUSFIX->CLIENT: "))
        self.assertEqual(self.serial(server), renewed)
        self.assertTrue(peer.is_alive("broken"))
        self.assertEqual(server.stop()[0], 0)

    def test_no_client_resumes_and_each_handshake_is_full(self):
        server = self.serve()
        for version in VERSIONS:
            with self.subTest(version):
                first = PythonClient(server.port, version, self.made.file("ca.pem"))
                self.addCleanup(first.close)
                Peer(first).log_on()
                session = first.socket.session
                self.assertFalse(session.has_ticket)
                first.close()
                server.line_with("CLIENT logged out")
                with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as plain:
                    with first.socket.context.wrap_socket(plain, server_hostname="127.0.0.1", session=session) as second:
                        self.assertFalse(second.session_reused)

    def test_the_reason_of_a_broken_connection_reaches_the_session_and_the_event_log(self):
        server = self.serve(before=f'[log]\ndirectory = "{self.folder / "log"}"\n')
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as plain:
            plain.sendall(fix([(35, "A"), (34, 1), (49, "CLIENT"), (56, "NEXUSFIX")]))
            stranger = self.refusal(server)
        self.assertIn("does not speak TLS on this port", stranger)
        # A record that was not encrypted, before there is a session and afterwards.
        wrong, words = b"\x17\x03\x03\x00\x20" + b"x" * 32, "a record was changed on its way, or the peer encrypts wrongly"
        os.write(self.python_peer(server).carrier.socket.fileno(), wrong)
        self.assertIn(words, self.refusal(server))
        peer = self.python_peer(server)
        peer.log_on()
        os.write(peer.carrier.socket.fileno(), wrong)
        reason = "CLIENT logged out: " + words
        server.line_with(reason)
        self.assertEqual(server.stop()[0], 0)
        events = "".join(file.read_text() for file in (self.folder / "log").iterdir() if "event" in file.name)
        self.assertRegex(events, r"Logon refused: tls_handshake: .*the peer does not speak TLS on this port.* from 127\.0\.0\.1:\d+")
        self.assertIn(reason, events)

    def client(self, address, *lines):
        config = self.folder / "connect.toml"
        config.write_text('[[session]]\nrole = "initiator"\nsender_comp_id = "CLIENT"\ntarget_comp_id = "NEXUSFIX"\n'
                          f'connect = "{address}"\ntls = true\n' + "\n".join(lines) + "\n", encoding="utf-8")
        return str(config)

    def trusting(self, certificates):
        return f'tls_ca = "{certificates.file("ca.pem")}"'

    def test_connect_logs_on_to_openssl_s_server_in_both_versions(self):
        for version in VERSIONS:
            with self.subTest(version):
                server = OpenSslServer(self.made, "-tls" + version.replace(".", "_"))
                self.addCleanup(server.close)
                config = self.client(server.address, self.trusting(self.made))
                client = subprocess.Popen([PROGRAM, "connect", config, "--wait", "0"], stdin=subprocess.DEVNULL,
                                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENVIRONMENT, text=True)
                self.addCleanup(client.communicate)
                self.addCleanup(client.kill)
                peer = Peer(server, "NEXUSFIX", "CLIENT")
                self.assertIn(b"\x0156=NEXUSFIX\x01", peer.hear("A"))
                peer.say("A", (98, 0), (108, 30), (141, "Y"))
                peer.hear("5")
                peer.say("5")
                _, said = client.communicate(timeout=PATIENCE_S)
                self.assertEqual(client.returncode, 0, said)
                self.assertIn("CLIENT->NEXUSFIX logged on", said)
                server.close()

    def failure_of(self, config):
        """The first line of nfx connect, which would try again."""
        client = subprocess.Popen([PROGRAM, "connect", config], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, env=ENVIRONMENT, text=True)
        try:
            return client.stderr.readline()
        finally:
            client.kill()
            client.communicate()

    def test_connect_reports_why_it_rejects_a_server(self):
        for name, lines, words in (
                ("server", (self.trusting(self.other),), "issued by CN=Test CA; add that authority to tls_ca"),
                ("expired", (self.trusting(self.made),), "certificate has expired (subject CN=expired; on 2021-01-01"),
                ("client", (self.trusting(self.made),), "wanted 127.0.0.1, certificate has DNS:desk.example; set tls_server_name to"),
                ("server", (self.trusting(self.made), 'tls_peer_names = "venue"'), "carries none of tls_peer_names: CN=server")):
            with self.subTest(words):
                server = OpenSslServer(self.made, name=name)
                self.addCleanup(server.close)
                line = self.failure_of(self.client(server.address, *lines))
                self.assertIn("cannot connect: certificate verification failed: ", line)
                self.assertIn(words, line)

    def test_a_server_of_another_name_is_good_enough_where_the_name_is_not_checked(self):
        server = self.serve(certificate=self.files(self.made, "client"))
        config = self.client(f"127.0.0.1:{server.port}", self.trusting(self.made), "tls_check_name = false")
        expect(run("connect", config, "--wait", "0"), err="logged on")
        config = self.client(f"127.0.0.1:{server.port}", self.trusting(self.other), "tls_check_name = false")
        self.assertIn("add that authority to tls_ca", self.failure_of(config))

    def test_a_refusal_that_comes_after_the_handshake_is_what_connect_ends_with(self):
        server = self.serve_with_client_certificates()
        config = self.client(f"127.0.0.1:{server.port}", self.trusting(self.made), 'tls_min_version = "1.3"')
        expect(run("connect", config, "--wait", "0"), code=1,
               err="it requires a client certificate (alert certificate required); set tls_certificate and tls_key")


if __name__ == "__main__":
    test_with_tls()
