"""A TCP port of loopback on which nothing listens, for a program that cannot choose one itself."""

import random
import socket

# Those above, up to 60999, Linux gives to connections and to listeners without a port: another test could have it a moment later.
FIRST, LAST = 10000, 32767


def free_port():
    for _ in range(100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", random.randint(FIRST, LAST)))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise OSError("no free port on loopback")
