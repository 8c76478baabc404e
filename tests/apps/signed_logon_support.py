"""Both sides of examples/signed_logon.cpp as processes, and a relay between them that changes the Logon."""
import pathlib
import re
import socket
import subprocess
import threading

from support import ENVIRONMENT, PATIENCE_S, free_port

SESSION = """[[session]]
role = "{role}"
sender_comp_id = "{us}"
target_comp_id = "{them}"
{address}
"""


def flip(message, field):
    """The message with the lowest bit of the field's sixth byte changed, and a CheckSum that is right again."""
    body = message[:message.rindex(b"10=")]
    at = body.index(field) + len(field) + 5
    body = body[:at] + bytes([body[at] ^ 1]) + body[at + 1:]
    return body + b"10=%03d\x01" % (sum(body) % 256)


class Relay:
    """Passes on the first connection that finds the server listening, with its first message changed."""

    def __init__(self, port, change):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, args=(port, change), daemon=True).start()

    def run(self, port, change):
        with self.listener:
            while True:
                client, _ = self.listener.accept()
                with client:
                    try:
                        server = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
                    except ConnectionRefusedError:  # not listening yet; the client tries again
                        continue
                    with server:
                        return self.relay(client, server, change)

    @staticmethod
    def relay(client, server, change):
        logon = b""
        while not re.search(b"\x0110=[0-9]{3}\x01$", logon):
            logon += client.recv(4096)
        server.sendall(change(logon))
        while data := server.recv(4096):
            client.sendall(data)


class Sides:
    """VENUE, which verifies, and TRADER, which signs; `program` is the example's binary."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = pathlib.Path(folder)
        self.port = free_port()
        self.processes = []

    def end(self):
        for process in self.processes:
            process.kill()
            process.communicate()
        self.processes.clear()

    def start(self, role, us, them, address, key):
        config = self.folder / f"{us}.toml"
        config.write_text(SESSION.format(role=role, us=us, them=them, address=address), encoding="utf-8")
        process = subprocess.Popen([self.program, str(config), str(key)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=ENVIRONMENT, text=True)
        self.processes.append(process)
        return process

    @staticmethod
    def line(stream, process):
        watchdog = threading.Timer(PATIENCE_S, process.kill)
        watchdog.start()
        try:
            return stream.readline()
        finally:
            watchdog.cancel()

    def keys(self, kind):
        """Of the venue and of the trader."""
        if kind == "hmac":
            secret = self.folder / "secret.txt"
            secret.write_text("not much of a secret", encoding="utf-8")
            return secret, secret
        private, public = self.folder / "private.pem", self.folder / "public.pem"
        for command in (["genpkey", "-algorithm", "ed25519", "-out", str(private)],
                        ["pkey", "-in", str(private), "-pubout", "-out", str(public)]):
            subprocess.run(["openssl", *command], check=True, capture_output=True, timeout=PATIENCE_S)
        return public, private

    def both(self, kind, change=None):
        """The venue and the trader; the trader's Logon is changed on its way."""
        venue_key, trader_key = self.keys(kind)
        venue = self.start("acceptor", "VENUE", "TRADER", f'listen = "127.0.0.1:{self.port}"', venue_key)
        port = Relay(self.port, change).port if change else self.port
        address = f'connect = "127.0.0.1:{port}"\nreconnect_delay_ms = 50\nreconnect_delay_max_ms = 50'
        return venue, self.start("initiator", "TRADER", "VENUE", address, trader_key)
