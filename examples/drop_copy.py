#!/usr/bin/env python3
"""Copies what owners of sessions have stored on a stream to files: each record once and in order, across takeovers.

Needs nats-py and nkeys (pip install nats-py nkeys). Writes Parquet with pyarrow, and CSV without it. With the package
crc32c the check sum of each frame is compared too.

    drop_copy.py --url tls://127.0.0.1:4222 --ca ca.pem --credentials reader.creds --output copy
    drop_copy.py --session DESK-VENUE --output copy --once      # ends with the last record that is there at the start

A part of the copy is one file, named by the first and the last sequence of the stream in it. state.json names the last
sequence that is in a finished part, and where each session was; it is replaced after each part. After a kill, a part
that it does not name is removed and read again, so that a restart continues without a gap and repeats nothing.

The frame: docs/cluster-protocol.md and src/cluster/cluster/frame.hpp. Passwords are masked, as in logs of NexusFIX.
"""

import argparse
import asyncio
import csv
import json
import pathlib
import signal
import struct
import sys

try:
    import nats
    import nats.errors
    import nats.js.errors
    from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
except ImportError:
    sys.exit("drop_copy.py: nats-py is missing: pip install nats-py nkeys")
try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    pyarrow = None
try:
    from crc32c import crc32c
except ImportError:
    crc32c = None

FRAME = struct.Struct("<IHBBQQQQQQQIIII")
RECORD = struct.Struct("<QIB3x")
MAGIC, VERSION = 0x4358464E, 1
EPOCH_FRAME, RECORDS_FRAME = 1, 2
INBOUND, OUTBOUND, RESET, BEGAN = 1, 2, 3, 4
KINDS = {INBOUND: ("message", "in"), OUTBOUND: ("message", "out"), RESET: ("reset", ""), BEGAN: ("began", "")}
COLUMNS = ("sequence", "session", "frame", "record", "epoch", "gateway", "kind", "direction", "number", "stored_ns",
           "message")
BATCH = 256           # frames of a request
READS_AGAIN = 240     # in a row, each 250 ms after the one before
SECRETS = {96, 554, 925, 1402, 1404}
DATA_OF_LENGTH = {95: 96, 1401: 1402, 1403: 1404}  # of the secret ones


class Wrong(Exception):
    """What no owner writes."""


class Hole(Exception):
    """Frames are missing in an answer, which comes from a replica that does not have them."""


def shown(message):
    """A FIX message on one line, with | for SOH; values of secret fields are ***."""
    pieces = []
    rest, data_tag, data_size, after_secret = message, 0, None, False
    while rest:
        size = rest.find(b"\x01")
        size = len(rest) if size < 0 else size
        name, equals, value = rest[:size].partition(b"=")
        tag = int(name) if equals and name.isdigit() and len(name) <= 9 else 0
        begin = len(name) + 1 if tag else 0
        if tag and tag == data_tag:
            end = begin + min(data_size if data_size is not None else len(rest), len(rest) - begin)
            if end < len(rest) and rest[end] == 1:
                size = end
            elif tag in SECRETS:
                size = len(rest)
        data_tag = DATA_OF_LENGTH.get(tag, 0)
        data_size = int(value) if data_tag and value.isdigit() and len(value) <= 9 else None
        secret = after_secret if begin == 0 else tag in SECRETS
        text = rest[:begin] + b"***" if secret else rest[:size]
        pieces.append(printable(text) + ("|" if size < len(rest) else ""))
        after_secret = secret
        rest = rest[size + 1:]
    return "".join(pieces)


def printable(text):
    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        decoded = None
    if decoded is not None and decoded.isprintable():
        return decoded
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}" for byte in text)


class Copier:
    """Makes rows of frames, and knows where each session is."""

    def __init__(self, prefix, state):
        self.prefix = prefix
        self.last = state["last"]
        self.sessions = state["sessions"]  # by name: number, epoch and gateway of the last frame
        self.rows = []
        self.first_of_part = None

    def state(self):
        return {"last": self.last, "sessions": self.sessions}

    def add(self, sequence, subject, stored_ns, data):
        """False: this frame is in the copy already."""
        if sequence <= self.last:
            return False
        session = subject[len(self.prefix):]
        where = f"session {session}, sequence {sequence} of the stream: "
        if len(data) < FRAME.size:
            raise Wrong(where + "less than a frame")
        (magic, version, kind, _, _, epoch, gateway, number, _, _, _, count, size, _, crc) = FRAME.unpack_from(data)
        if magic != MAGIC or version != VERSION or size != len(data) - FRAME.size:
            raise Wrong(where + "not a frame of this version")
        if crc32c is not None and crc32c(data[FRAME.size:], crc32c(data[:FRAME.size - 4])) != crc:
            raise Wrong(where + "a check sum that is not that of the bytes")
        before = self.sessions.get(session)
        if before is not None:
            if number <= before[0]:
                return False
            expected = before[1] + 1 if kind == EPOCH_FRAME else before[1]
            if number != before[0] + 1:
                if count == 0 or RECORD.unpack_from(data, FRAME.size)[2] != RESET:
                    raise Hole(where + f"frame {number} follows frame {before[0]}")
                print(f"drop_copy.py: {where}frames {before[0] + 1} to {number - 1} were removed before they were read "
                      "(nfx cluster compact); a copy for an audit keeps them (--audit)", file=sys.stderr)
            elif epoch != expected or (kind == RECORDS_FRAME and gateway != before[2]):
                raise Wrong(where + f"a frame of epoch {epoch} follows one of epoch {before[1]}")
        rows = []
        at = FRAME.size
        for record in range(1, count + 1):
            seq, length, record_kind = RECORD.unpack_from(data, at)
            at += RECORD.size
            message = data[at:at + length]
            at += length
            rows.append((sequence, session, number, record, epoch, f"{gateway:016x}",
                         *KINDS.get(record_kind, (f"record {record_kind}", "")), seq, stored_ns,
                         shown(message) if record_kind in (INBOUND, OUTBOUND) else ""))
        if at != len(data):
            raise Wrong(where + "records that do not fill the frame")
        self.rows += rows
        self.sessions[session] = (number, epoch, gateway)
        self.last = sequence
        if self.first_of_part is None:
            self.first_of_part = sequence
        return True


class Folder:
    """The parts and the state."""

    def __init__(self, path, form):
        self.path = pathlib.Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self.form = form
        self.subjects = {}
        self.state_file = self.path / "state.json"

    def load(self, prefix, chosen):
        self.subjects = {"prefix": prefix, "chosen": chosen}
        empty = {"last": 0, "sessions": {}, **self.subjects}
        state = json.loads(self.state_file.read_text()) if self.state_file.exists() else empty
        if state["prefix"] != prefix or state["chosen"] != chosen:
            sys.exit(f"drop_copy.py: {self.path} (--output) has a copy of other sessions; choose another folder")
        for unfinished in self.path.glob(".*.part"):
            unfinished.unlink()
        for part in self.path.glob("*-*.*"):
            if int(part.stem.rpartition("-")[2]) > state["last"]:
                part.unlink()
        return state

    def save(self, copier):
        if copier.first_of_part is None:
            return
        if copier.rows:
            name = f"{copier.first_of_part:020d}-{copier.last:020d}.{self.form}"
            unfinished = self.path / f".{name}.part"
            (write_parquet if self.form == "parquet" else write_csv)(unfinished, copier.rows)
            unfinished.rename(self.path / name)
        unfinished = self.path / ".state.json.part"
        unfinished.write_text(json.dumps({**copier.state(), **self.subjects}))
        unfinished.rename(self.state_file)
        copier.rows, copier.first_of_part = [], None


def write_parquet(path, rows):
    types = {"sequence": pyarrow.uint64(), "frame": pyarrow.uint64(), "record": pyarrow.uint32(), "epoch": pyarrow.uint64(),
             "number": pyarrow.uint64(), "stored_ns": pyarrow.timestamp("ns", tz="UTC")}
    values = list(zip(*rows))
    table = pyarrow.table({name: pyarrow.array(values[i], types.get(name, pyarrow.string()))
                           for i, name in enumerate(COLUMNS)})
    pyarrow.parquet.write_table(table, path, compression="zstd")


def write_csv(path, rows):
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(COLUMNS)
        writer.writerows(rows)


def stored_ns(message):
    # $JS.ACK.[DOMAIN.ACCOUNT.]STREAM.CONSUMER.DELIVERED.SEQUENCE.CONSUMER_SEQUENCE.NANOSECONDS.PENDING
    tokens = message.reply.split(".")
    return int(tokens[-2] if len(tokens) == 9 else tokens[9])


async def copy(options):
    subject_prefix = options.stream + ".s."
    if options.audit:
        options.stream += "_AUDIT"
    chosen = options.session or "*"
    folder = Folder(options.output, options.format)
    copier = Copier(subject_prefix, folder.load(subject_prefix, chosen))
    tls = {}
    if options.ca:
        import ssl
        tls["tls"] = ssl.create_default_context(cafile=options.ca)
    if options.credentials:
        tls["user_credentials"] = options.credentials
    client = await nats.connect(options.url.split(","), max_reconnect_attempts=-1, connect_timeout=options.timeout,
                                error_cb=ignore, **tls)
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    stream = client.jetstream(timeout=options.timeout)
    end = None
    if options.once:
        end = (await stream.stream_info(options.stream)).state.last_seq
    again = 0
    while not stopped.is_set() and (end is None or copier.last < end):
        try:
            if await read(stream, options, subject_prefix + chosen, copier, folder, stopped, end):
                break
            again = 0
        except (Hole, nats.errors.Error, asyncio.TimeoutError) as error:
            # A lost server takes its consumers with it; a replica that is late is read again.
            again += 1
            if again == 1:
                print(f"drop_copy.py: {type(error).__name__} {error}; reading again", file=sys.stderr)
            if again > READS_AGAIN:
                sys.exit(f"drop_copy.py: {error}: the same after {READS_AGAIN} reads")
            try:
                await asyncio.wait_for(stopped.wait(), 0.25)
            except asyncio.TimeoutError:
                pass
    folder.save(copier)
    await client.close()
    print(f"drop_copy.py: copied up to sequence {copier.last} of {options.stream}")


async def ignore(_):
    """The client connects again by itself."""


async def read(stream, options, subject, copier, folder, stopped, end):
    """Reads until the end (True), or until this consumer has to be replaced by another one."""
    config = ConsumerConfig(ack_policy=AckPolicy.NONE, deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
                            opt_start_seq=copier.last + 1, inactive_threshold=60, mem_storage=True, num_replicas=1)
    consumer = await stream.pull_subscribe(subject, stream=options.stream, config=config)
    idle = 0
    try:
        while not stopped.is_set():
            try:
                messages = await consumer.fetch(BATCH, timeout=1)
                idle = 0
            except asyncio.TimeoutError:
                folder.save(copier)
                idle += 1
                # The stream may end with other sessions, or have frames that this consumer does not find any more.
                if end is not None and (await consumer.consumer_info()).num_pending == 0 and idle > 1:
                    return True
                if idle % 10 == 0:
                    await consumer.consumer_info()  # an error when its server was lost
                continue
            for message in messages:
                copier.add(message.metadata.sequence.stream, message.subject, stored_ns(message), message.data)
                if len(copier.rows) >= options.rows:
                    folder.save(copier)
            if end is not None and copier.last >= end:
                return True
        return True
    finally:
        try:
            await consumer.unsubscribe()
        except (nats.errors.Error, asyncio.TimeoutError):
            pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--url", default="nats://127.0.0.1:4222", help="servers, with commas between them")
    parser.add_argument("--ca", help="certificates that the servers' are checked with; turns TLS on")
    parser.add_argument("--credentials", help="file of the user")
    parser.add_argument("--stream", default="NEXUSFIX")
    parser.add_argument("--audit", action="store_true", help="from its copy for an audit, the stream NAME_AUDIT")
    parser.add_argument("--session", help="one session; default: all of the stream")
    parser.add_argument("--output", required=True, help="the folder of the copy")
    parser.add_argument("--format", choices=("parquet", "csv"), default="parquet" if pyarrow else "csv")
    parser.add_argument("--rows", type=int, default=100_000, help="of a part, at least; a part ends when nothing comes, too")
    parser.add_argument("--timeout", type=float, default=10, help="seconds for each answer")
    parser.add_argument("--once", action="store_true", help="end with the last record that is there at the start")
    options = parser.parse_args()
    if options.format == "parquet" and pyarrow is None:
        sys.exit("drop_copy.py: Parquet needs pyarrow (pip install pyarrow); --format csv needs nothing")
    if crc32c is None:
        print("drop_copy.py: without the package crc32c, check sums of frames are not compared", file=sys.stderr)
    try:
        asyncio.run(copy(options))
    except Wrong as error:
        sys.exit(f"drop_copy.py: {error}")


if __name__ == "__main__":
    main()
