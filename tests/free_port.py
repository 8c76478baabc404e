"""A TCP port of loopback on which nothing listens, for a program that cannot choose one itself."""

import itertools
import os
import socket

# Each process has 32 ports of its own, one after the other, so that nobody gets the same one before the program listens. They are
# below 32768: Linux gives those from there to 60999 to connections and to listeners without a port.
FIRST, OF_A_PROCESS, PROCESSES = 10000, 32, 711
GIVEN = itertools.count()


def free_port():
    for tries in range(3 * OF_A_PROCESS):
        owner = os.getpid() + tries // OF_A_PROCESS  # after a round, those of another process
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", FIRST + owner % PROCESSES * OF_A_PROCESS + next(GIVEN) % OF_A_PROCESS))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise OSError("no free port on loopback")
