"""The steps of the first hour, in their order. Each gives the lines that it has seen, or raises."""
import collections.abc
import dataclasses
import re

import quickfix_examples
from check_readme import blocks
from hour import Failed, Hour, found
from signed_logon_support import Sides, flip

ORDER = "35=D|11=first|55=ALFA|54=1|38=100|40=2|44=101.5|60=20260102-10:00:00\n"
SESSION = '[[session]]\nsender_comp_id = "NEXUSFIX"\ntarget_comp_id = "CLIENT"\nlisten = "127.0.0.1:0"\n'
CLIENT = ('[[session]]\nrole = "initiator"\nsender_comp_id = "{name}"\ntarget_comp_id = "NEXUSFIX"\n'
          'connect = "127.0.0.1:{port}"\npassword = "{password}"\n')


@dataclasses.dataclass(frozen=True)
class Step:
    name: str
    about: str
    run: collections.abc.Callable[[Hour], list]
    builds: bool = False


def expect(right, message):
    if not right:
        raise Failed(message)


def demo(hour):
    out, _ = hour.command("./dev", "demo")
    return [found(re.compile(r"Check passed: both sides agree.*"), out, "./dev demo").group(0)]


def readme(hour):
    return (hour.root / "README.md").read_text(encoding="utf-8")


def stop(server, name):
    """As SIGTERM does; gives standard output and standard error. A killed server would leave its journals' shared memory."""
    code, out, err = server.stop()
    expect(code == 0, f"{name} ended with {code}: {err}")
    return out, err


def confirm_an_order(hour, desk, folder):
    """The README's program confirms what `nfx connect` sends."""
    server = hour.serve(desk, "desk.toml", folder=folder, listens_on="stderr")
    file = found(re.compile(r"`nfx connect (\S+\.toml)`"), readme(hour), "README.md").group(1)
    trader = (hour.root / file).read_text(encoding="utf-8")
    (folder / "trader.toml").write_text(trader.replace("9878", str(server.port)), encoding="utf-8")
    out, _ = hour.command(hour.nfx, "connect", "trader.toml", folder=folder, data=ORDER)
    line = found(re.compile(r"ExecutionReport.*ClOrdID=first.*"), out, "nfx connect trader.toml").group(0)
    stop(server, desk)
    return line


def write_desk(hour, folder):
    """The README's program and configuration, but for the port."""
    program, = blocks(readme(hour), "cpp")
    configuration, = blocks(readme(hour), "toml")
    (folder / "desk.cpp").write_text(program, encoding="utf-8")
    (folder / "desk.toml").write_text(configuration.replace("9878", "0"), encoding="utf-8")


def packages_of(prefix):
    """Where pkg-config looks for an installation that is not in the system's folders."""
    file, = prefix.rglob("nexusfix-engine.pc")
    return str(file.parent)


def program(hour):
    hour.install()
    folder = hour.folder("desk")
    write_desk(hour, folder)
    line = found(re.compile(r"`(c\+\+ [^`]*desk\.cpp[^`]*)`"), readme(hour), "README.md").group(1)
    hour.shell(line, folder, PKG_CONFIG_PATH=packages_of(hour.prefix))
    return [confirm_an_order(hour, "./desk", folder)]


def moved_settings(hour):
    """Settings of QuickFIX's examples in a folder without anything else; makes a message log."""
    folder = hour.folder("quickfix")
    (folder / "executor.cfg").write_text(quickfix_examples.executor(), encoding="utf-8")
    server = hour.serve(hour.nfx, "serve", "executor.cfg", "--echo", folder=folder)
    (folder / "tradeclient.cfg").write_text(quickfix_examples.tradeclient(server.port), encoding="utf-8")
    # A tag of its own, as brokers have it, which QuickFIX's dictionary does not have.
    orders = "".join(ORDER.replace("first", f"order{i}").strip() + f"|21=1|9730=desk {i}\n" for i in range(3))
    out, err = hour.command(hour.nfx, "connect", "tradeclient.cfg", "--wait", "1", folder=folder, data=orders)
    expect(out.count("NewOrderSingle") == 3, f"nfx connect tradeclient.cfg shows {out}")
    log, server_err = stop(server, "nfx serve executor.cfg")
    logs = sorted((folder / "log").glob("*messages*"))
    expect(logs, f"no message log in {sorted(folder.rglob('*'))}")
    hour.log = logs[0]
    return [found(re.compile(r"FIX\.4\.2:EXECUTOR->CLIENT1 logged on.*"), log, "nfx serve executor.cfg").group(0),
            found(re.compile(r"nfx: .*SSLProtocol.*"), err, "nfx connect tradeclient.cfg").group(0),
            found(re.compile(r"nfx: .*shipped dictionar.*"), server_err, "nfx serve executor.cfg").group(0),
            out.splitlines()[0]]


def log_of_a_session(hour):
    if hour.log is None:
        moved_settings(hour)
    return hour.log


def decode(hour):
    log = log_of_a_session(hour)
    out, _ = hour.command(hour.nfx, "decode", log.name, folder=log.parent)
    for part in ("NewOrderSingle", "Logon", "ClOrdID", "order2", "desk 2"):
        expect(part in out, f"nfx decode {log.name} does not show {part}:\n{out}")
    summary, _ = hour.command(hour.nfx, "decode", "--summary", log.name, folder=log.parent)
    return summary.splitlines()


def learn(hour):
    log = log_of_a_session(hour)
    out, _ = hour.command(hour.nfx, "dict", "learn", log.name, "--out", "learned.xml", folder=log.parent)
    line = found(re.compile(r"(\d+) of (\d+) messages are valid with the overlay.*"), out, "nfx dict learn")
    expect(line.group(1) == line.group(2), out)
    expect("9730" in (log.parent / "learned.xml").read_text(encoding="utf-8"), f"learned.xml lacks the tag 9730: {out}")
    hour.command(hour.nfx, "decode", "--validate", "--summary", "--dictionary", "learned.xml", log.name, folder=log.parent)
    return [line.group(0)]


def signed(hour):
    sides = Sides(hour.target("signed_logon"), hour.folder("signed"))
    hour.processes.append(sides)
    seen = []
    for kind, key in (("hmac", "secret.txt"), ("ed25519", "private.pem, public.pem")):
        venue, trader = sides.both(kind)
        for process in (trader, venue):
            line = sides.line(process.stdout, process)
            expect(line.endswith(": logged on\n"), f"{kind}: {line}{process.stderr.read() if not line else ''}")
        sides.end()
        venue, _ = sides.both(kind, lambda logon: flip(logon, b"\x0196="))
        line = sides.line(venue.stderr, venue)
        expect("refused by the application" in line, f"{kind}, altered by one bit: {line}")
        sides.end()
        seen += [f"{kind} ({key}): logged on; signature altered by one bit: {line.strip()}"]
    return seen


def refused(hour):
    """What both sides report: for a wrong password, which a server does not answer, and for a wrong sequence number."""
    folder = hour.folder("refused")
    (folder / "venue.toml").write_text(SESSION + 'password = "right"\nnext_inbound = 5\n', encoding="utf-8")
    server = hour.serve(hour.nfx, "serve", "venue.toml", folder=folder)
    seen = []
    for password, options, reason, answer in (
            ("wrong", [], "credentials", "received our Logon and sent no answer"),
            ("right", ["--no-reset"], "sequence_number", "MsgSeqNum too low, expecting 5 but received 1")):
        (folder / "client.toml").write_text(CLIENT.format(name="CLIENT", port=server.port, password=password), encoding="utf-8")
        _, err = hour.command(hour.nfx, "connect", "client.toml", "--wait", "0", *options, folder=folder, expect=1)
        said = found(re.compile(f".*{re.escape(answer)}.*"), err, "nfx connect client.toml").group(0)
        causes = len(re.findall(r"^  - .*: ", err, re.MULTILINE))
        expect((causes > 0) == (reason == "credentials"), f"probable causes belong to silence only: {err}")
        seen += [f"nfx serve: {server.error_with(f'Logon refused: {reason}: ').strip()}",
                 f"nfx connect: {said}" + (f", and {causes} probable causes" if causes else "")]
    stop(server, "nfx serve venue.toml")
    return seen


def consumer(hour):
    """The installation in another place, found by CMake: the tests' small project, with typed messages."""
    hour.install()
    moved = hour.scratch / "moved prefix"
    hour.prefix.rename(moved)
    hour.prefix = moved
    folder = hour.folder("consumer")
    hour.command("cmake", "-G", "Ninja", "-S", hour.root / "tests/install/consumer", "-B", "build",
                 f"-DCMAKE_PREFIX_PATH={moved}", folder=folder)
    hour.command("cmake", "--build", "build", folder=folder)
    hour.command("build/consumer", moved / "share/nexusfix/dictionaries/FIX44.xml", "Heartbeat", folder=folder)
    write_desk(hour, folder)
    return [confirm_an_order(hour, "build/desk", folder)]


STEPS = (
    Step("demo", "the demonstration", demo, builds=True),
    Step("program", "the README's program, with an installed NexusFIX, and nfx connect", program, builds=True),
    Step("settings", "QuickFIX's settings in another folder: nfx serve, nfx connect", moved_settings),
    Step("decode", "the log of that session, decoded", decode),
    Step("learn", "a dictionary overlay from that log", learn),
    Step("signed", "a signed Logon, right and altered by one bit", signed),
    Step("refused", "a refused Logon, explained on both sides", refused),
    Step("consumer", "a CMake project with the installation, after it was moved", consumer, builds=True),
)
