"""A client that speaks FIX over a socket of its own, so that a test can send what no good client would."""
import datetime
import re
import socket

from support import PATIENCE_S, fix


def utc():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d-%H:%M:%S.%f")[:-3]


class Peer:
    def __init__(self, port, sender="CLIENT", target="NEXUSFIX", number=1, receive_buffer=None):
        self.socket = socket.socket()
        self.socket.settimeout(PATIENCE_S)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(("127.0.0.1", port))
        self.begin(sender, target, number)

    @classmethod
    def accepted(cls, listener, sender, target, number=1):
        """The next connection of a listening socket, as the venue."""
        peer = cls.__new__(cls)
        peer.socket, _ = listener.accept()
        peer.socket.settimeout(PATIENCE_S)
        peer.begin(sender, target, number)
        return peer

    def begin(self, sender, target, number):
        self.names = [(49, sender), (56, target)]
        self.next = number
        self.received = b""

    def message(self, kind, *fields, number=None, **wrong):
        """Its bytes; without a number it gets the next one."""
        if number is None:
            number = self.next
            self.next += 1
        return fix([(35, kind), (34, number), *self.names, (52, utc()), *fields], **wrong)

    def send(self, kind, *fields, **options):
        self.socket.sendall(self.message(kind, *fields, **options))

    def receive(self):
        """The next message's fields by tag; None when the connection has ended."""
        fields = self.receive_fields()
        return fields and dict(field.split("=", 1) for field in fields)

    def receive_fields(self):
        """The same as a list of "tag=value", for repeating groups."""
        while True:
            found = re.match(rb"8=FIX.*?\x0110=\d{3}\x01", self.received, re.DOTALL)
            if found:
                self.received = self.received[found.end():]
                return found[0].decode("latin-1").split("\x01")[:-1]
            more = self.socket.recv(65536)
            if not more:
                return None
            self.received += more

    def receive_kind(self, kind):
        """The next message of this kind; those before it are dropped."""
        while True:
            message = self.receive()
            if message is None or message["35"] == kind:
                return message

    def log_on(self):
        self.send("A", (98, 0), (108, 30))
        return self.receive_kind("A")

    def close(self):
        self.socket.close()
