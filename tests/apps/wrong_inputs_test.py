"""What people get wrong, a row each: one line on standard error with the place and the fix, the documented exit code, and
nothing half done: no file is written."""
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import unittest

import support

SESSION = '[[session]]\nsender_comp_id = "A"\ntarget_comp_id = "B"\nlisten = "127.0.0.1:0"\n'
INITIATOR = SESSION.replace("listen", 'role = "initiator"\nconnect')
CFG = ("[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\nNonStopSession=Y\n"
       "[SESSION]\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\n")
CHECK = "serve --check e.toml"
CHECK_CFG = "serve --check e.cfg"
SERVE = "serve e.toml"
TLS = 'tls = true\ntls_certificate = "c.pem"\ntls_key = "k.pem"\ntls_client_certificate = "none"\n'
FAILED, WRONG = 1, 2


def toml(more):
    return {"e.toml": SESSION + more}


def engine(more):
    return {"e.toml": f"[engine]\n{more}\n{SESSION}"}


def cfg(more):
    return {"e.cfg": CFG + more}


# What is wrong: the files, the command line, the exit code, the parts of the line.
ROWS = {
    # The configuration itself.
    "no configuration": ({}, "serve", WRONG, ["CONFIG is required", "nfx serve --help"]),
    "a configuration that does not exist": ({}, CHECK, WRONG, ["e.toml: ", "No such file", "give the path"]),
    "a folder as configuration": ({"e.toml/x": ""}, CHECK, WRONG, ["e.toml: ", "it is a folder", "give the path"]),
    "an empty configuration": ({"e.toml": ""}, CHECK, WRONG, ["e.toml:1:1: ", "add a [[session]] section"]),
    "a program as configuration": ({"e.toml": "\x7fELF\x01\x00"}, CHECK, WRONG, ["e.toml:1:1: not TOML"]),
    "JSON as configuration": ({"e.toml": '{"session": 1}'}, CHECK, WRONG, ["e.toml:1:1: not TOML"]),
    "a value that is missing": (toml("role = \n"), CHECK, WRONG, ["e.toml:5:8: not TOML"]),
    "a configuration in Latin-1": ({"e.cfg": b"[DEFAULT]\nDescription=caf\xe9\n"}, CHECK_CFG, WRONG,
                                   ["e.cfg:2: ", "save the file as UTF-8"]),
    # Names of keys and sections.
    "a misspelt key": (toml('sendr_sub_id = "x"\n'), CHECK, WRONG, ["e.toml:5:16: ", "did you mean sender_sub_id?"]),
    "a misspelt section": ({"e.toml": "[engin]\n" + SESSION}, CHECK, WRONG, ["e.toml:1:1: engin", "did you mean engine?"]),
    "[session] with single brackets": ({"e.toml": SESSION.replace("[[session]]", "[session]")}, CHECK, WRONG,
                                       ["e.toml:1:1: ", "write [[session]]"]),
    "[[sessions]]": ({"e.toml": SESSION.replace("session]]", "sessions]]")}, CHECK, WRONG, ["did you mean session?"]),
    # Values and units.
    "a number as text": (toml('heartbeat_interval_s = "30"\n'), CHECK, WRONG,
                         ["e.toml:5:24: [session] heartbeat_interval_s: expected an integer"]),
    "a number with a unit": (toml('heartbeat_interval_s = "30s"\n'), CHECK, WRONG, ["expected an integer from 0 to 86400"]),
    "milliseconds for seconds": (toml("heartbeat_interval_s = 300000\n"), CHECK, WRONG, ["from 0 to 86400"]),
    "a fraction of a second": (toml("heartbeat_interval_s = 1.5\n"), CHECK, WRONG, ["expected an integer"]),
    "a negative time": (toml("logon_timeout_s = -1\n"), CHECK, WRONG, ["e.toml:5:19: ", "from 1 to 86400"]),
    "yes for true": (toml('tcp_nodelay = "yes"\n'), CHECK, WRONG, ["e.toml:5:15: ", "expected true or false"]),
    "a misspelt idle strategy": (engine('idle = "spinn"'), CHECK, WRONG, ["e.toml:2:8: [engine] idle: expected", "spin"]),
    "no poll thread": (engine("poll_threads = 0"), CHECK, WRONG, ["poll_threads: expected an integer from 1"]),
    # Versions, roles, identities.
    "a BeginString without its dot": (toml('begin_string = "FIX4.4"\n'), CHECK, WRONG,
                                      ["e.toml:5:16: ", "expected one of FIX.4.0"]),
    "FIX 5.0 as BeginString": (toml('begin_string = "FIX.5.0SP2"\n'), CHECK, WRONG,
                               ["e.toml:5:16: ", 'begin_string = "FIX' 'T.1.1"', 'default_appl_ver_id = "FIX.5.0SP2"']),
    "a misspelt role": (toml('role = "aceptor"\n'), CHECK, WRONG, ["e.toml:5:8: ", 'expected "acceptor" or "initiator"']),
    "an initiator that listens": (toml('role = "initiator"\n'), CHECK, WRONG, ["[session] connect: an initiator needs"]),
    "an acceptor that connects": (toml('connect = "127.0.0.1:1"\n'), CHECK, WRONG,
                                  ["e.toml:5:11: ", 'remove it or set role = "initiator"']),
    "an acceptor given to connect": (toml(""), "connect e.toml", WRONG, ["e.toml: no session is an initiator", "set role"]),
    "two sessions of one name": ({"e.toml": SESSION + SESSION}, CHECK, WRONG,
                                 ["e.toml:7:18: ", "FIX.4.4:A->B exists already", "different CompIDs"]),
    "no SenderCompID": ({"e.toml": SESSION.replace('sender_comp_id = "A"\n', "")}, CHECK, WRONG, ["sender_comp_id: expected"]),
    "an empty CompID": ({"e.toml": SESSION.replace('"A"', '""')}, CHECK, WRONG, ["e.toml:2:18: ", "1 to 64 printable"]),
    "SOH in a CompID": ({"e.toml": SESSION.replace('"A"', '"A\\u0001"')}, CHECK, WRONG, ["e.toml:2:18: ", "1 to 64 printable"]),
    # Addresses.
    "no port": ({"e.toml": SESSION.replace(":0", "")}, CHECK, WRONG, ["e.toml:4:10: ", "expected an address such as"]),
    "port 70000": ({"e.toml": SESSION.replace(":0", ":70000")}, CHECK, WRONG, ["e.toml:4:10: ", "127.0.0.1:9878"]),
    "an unknown host": ({"e.toml": SESSION.replace("127.0.0.1", "no.such.host.invalid")}, SERVE, WRONG,
                        ["cannot listen: the host no.such.host.invalid is unknown (", "an address of this machine, such as 127.0.0.1"]),
    "an address of another machine": (
        {"e.toml": '[log]\ndirectory = "log"\n' + SESSION.replace("127.0.0.1", "192.0.2.1")}, SERVE, WRONG,
        ["cannot listen: bind 192.0.2.1:0: Cannot assign", "an address of this machine, such as 127.0.0.1"]),
    "an unknown host, checked only": (
        {"e.toml": SESSION.replace("127.0.0.1", "no.such.host.invalid")}, CHECK, WRONG,
        ["cannot listen: the host no.such.host.invalid is unknown ("]),
    "an address of another machine, checked only": (
        {"e.toml": SESSION.replace("127.0.0.1", "192.0.2.1")}, CHECK, WRONG, ["cannot listen: bind 192.0.2.1:0: Cannot assign"]),
    "two addresses of which one includes the other": (
        {"e.toml": SESSION.replace("127.0.0.1:0", "0.0.0.0:{port}") + SESSION.replace('"B"', '"C"').replace(":0", ":{port}")},
        SERVE, WRONG, ["bind 127.0.0.1:{port}: Address already in use: another session of this configuration listens on "
                       "0.0.0.0:{port}; give both the same address"]),
    "a port by name": ({"e.toml": SESSION.replace(":0", ":http")}, CHECK, WRONG, ["e.toml:4:10: ", "127.0.0.1:9878"]),
    # Dictionaries.
    "a dictionary that does not exist": (toml('dictionary = "NO.xml"\n'), CHECK, WRONG,
                                         ["e.toml:5:14: ", 'no file "NO.xml"', "write a path"]),
    "a folder as dictionary": ({**toml('dictionary = "d"\n'), "d/x": ""}, CHECK, WRONG,
                               ["e.toml:5:14: ", '"d" is a folder', "write the path of a dictionary file"]),
    "a dictionary of another version": (toml('dictionary = "FIX42.xml"\n'), CHECK, WRONG,
                                        ["e.toml:5:14: ", "is for FIX.4.2", "FIX.4.4", "name another file"]),
    "a text as dictionary": ({**toml('dictionary = "d.xml"\n'), "d.xml": "hello"}, CHECK, WRONG,
                             ["e.toml:5:14: ", "d.xml:1: this is not well-formed XML"]),
    "an empty dictionary": ({**toml('dictionary = "d.xml"\n'), "d.xml": ""}, CHECK, WRONG, ["d.xml", "it is empty"]),
    # Schedules.
    "a schedule without an end": (toml('start_time = "09:00:00"\n'), CHECK, WRONG, ["end_time: missing"]),
    "a time in everyday form": (toml('start_time = "9am"\nend_time = "17:00:00"\n'), CHECK, WRONG,
                                ["e.toml:5:14: ", '"9am" is not a time of day', "write"]),
    "a time zone of the wrong city": (
        toml('start_time = "09:00:00"\nend_time = "17:00:00"\ntime_zone = "Europe/Frankfurt"\n'), CHECK, WRONG,
        ["e.toml:7:13: ", "write an IANA name"]),
    # Stores, logs and certificates.
    "a file as folder of logs": ({"e.toml": '[log]\ndirectory = "f"\n' + SESSION, "f": ""}, SERVE, WRONG,
                                 ["[log]", "Not a directory", "choose another"]),
    "a file as folder of journals": ({**toml('store = "journal"\nstore_directory = "f"\n'), "f": ""}, SERVE, FAILED,
                                     ["Not a directory", "choose another directory"]),
    "a certificate that does not exist": (
        {**toml(TLS), "k.pem": "y"}, CHECK, WRONG, ["FIX.4.4:A->B: ", "c.pem: No such file"]),
    "a certificate that is a text, checked only": (
        {**toml(TLS), "c.pem": "x", "k.pem": "y"}, CHECK, WRONG, ["c.pem: holds no certificate in PEM form"]),
    "TLS without a certificate": (toml("tls = true\n"), CHECK, WRONG, ["tls_certificate: an acceptor needs a certificate"]),
    "a certificate that is a text": (
        {**toml(TLS), "c.pem": "x", "k.pem": "y"}, SERVE, WRONG, ["c.pem: holds no certificate in PEM form"]),
    # QuickFIX settings.
    "settings without [DEFAULT]": (
        {"e.cfg": "[SESSION]\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\n"}, CHECK_CFG, WRONG,
        ["e.cfg:1: [SESSION] ConnectionType: missing", "write ConnectionType="]),
    "settings without a session": ({"e.cfg": "[DEFAULT]\nConnectionType=acceptor\n"}, CHECK_CFG, WRONG,
                                   ["e.cfg:1: no session", "add a [SESSION] section"]),
    "maybe for Y": (cfg("ResetOnLogon=maybe\n"), CHECK_CFG, WRONG, ["e.cfg:9: [SESSION] ResetOnLogon: expected Y or N"]),
    "an invalid ConnectionType": ({"e.cfg": CFG.replace("acceptor", "server")}, CHECK_CFG, WRONG,
                                      ["e.cfg:2: [DEFAULT] ConnectionType: expected initiator or acceptor"]),
    "a variable that is not set": (cfg("SenderSubID=${NFX_NOT_SET}\n"), CHECK_CFG, WRONG,
                                   ["e.cfg:9: [SESSION] SenderSubID: ", "NFX_NOT_SET is not set; set it"]),
    "a converted file in a folder that does not exist": (
        cfg("AllowUnknownMsgFields=N\nValidateUserDefinedFields=Y\n"), "config convert e.cfg --out no/e.toml", FAILED,
        ["cannot write no/e.toml: No such file", "writable folder"]),
    # Logs and dictionaries as arguments.
    "a log that does not exist": ({}, "decode no.log", WRONG, ["no.log: No such file", "give the path"]),
    "a folder without messages": ({"d/x": ""}, "decode d", FAILED, ["d: no FIX message found"]),
    "a log without FIX": ({"x.log": "hello"}, "decode x.log", FAILED, ["x.log: no FIX message found", "8=FIX"]),
    "an overlay in a folder that does not exist": (
        {"x.log": support.fix(support.ORDER)}, "dict learn x.log --out no/x.xml", WRONG,
        ["no/x.xml: No such file or directory", "writable folder"]),
    "a dictionary to generate from that does not exist": ({}, "codegen no.xml --out o", WRONG,
                                                          ["cannot read no.xml: No such file", "give the path"]),
    "a misspelt message": ({}, "codegen FIX44.xml --out o --messages NewOrderSingel", WRONG,
                           ['no message "NewOrderSingel"', "did you mean NewOrderSingle?"]),
    # Stores as arguments.
    "a store that does not exist": ({}, "store ls no", WRONG, ["cannot read no: No such file", "give the directory"]),
    "a file as store": ({"f": ""}, "store ls f", WRONG, ["cannot read f: Not a directory", "give the directory"]),
    "a folder without journals": ({"d/x": ""}, "store ls d", WRONG, ["d: no session is stored here", "give the directory"]),
    "a folder without journals to verify": ({"d/x": ""}, "store verify d", WRONG, ["d: no session is stored here"]),
    "a folder without journals to show": ({"d/x": ""}, "store cat d", WRONG, ["d: no session is stored here"]),
    "a QuickFIX store that does not exist": ({}, "store import no --into s", WRONG, ["no: No such file", "give the FileStorePath"]),
    "a folder without a QuickFIX store": ({"d/x": ""}, "store import d --into s", WRONG,
                                          ["d: is not a QuickFIX file store", "give the FileStorePath"]),
    # Command lines.
    "a misspelt command": ({}, "srve e.toml", WRONG, ['unknown command "srve"', "did you mean serve?"]),
    "a misspelt option": ({"x.log": ""}, "decode --validat x.log", WRONG, ["unknown option --validat", "--validate?"]),
    "a word for a number": ({}, "demo --orders many", WRONG, ['--orders: "many" is not a whole number', "nfx demo --help"]),
    "a value that is not in the list": ({}, "demo --idle spinn", WRONG, ['--idle: "spinn"', "did you mean spin?"]),
    "a shell without completion": ({}, "completion tcsh", WRONG, ["bash, zsh, fish"]),
    "a server without its port": ({}, "tls doctor localhost", WRONG, ['"localhost" is not host:port', "such as"]),
}


class WrongInputs(unittest.TestCase):
    def try_out(self, files, line, code, parts):
        port = str(support.free_port())
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for path, content in files.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                if isinstance(content, str):
                    content = content.replace("{port}", port).encode()
                (folder / path).write_bytes(content)
            before = sorted(folder.rglob("*"))
            result = support.run_in(folder, *line.split())
            self.assertEqual(sorted(folder.rglob("*")), before, "something was written")
        self.assertEqual(result[0], code, result)
        self.assertEqual(result[1], "", "nothing on standard output")
        self.assertEqual(result[2].count("\n"), 1, result[2])
        self.assertTrue(result[2].startswith("nfx: "), result[2])
        for part in parts:
            self.assertIn(part.replace("{port}", port), result[2])

    def test_each_gives_one_line_with_place_and_fix_and_writes_nothing(self):
        self.assertGreaterEqual(len(ROWS), 60)
        for what, row in ROWS.items():
            with self.subTest(what):
                self.try_out(*row)

    def test_a_port_in_use_is_named_before_anything_is_written(self):
        with socket.socket() as taken, tempfile.TemporaryDirectory() as name:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            first = ("127.0.0.1", support.free_port())
            pathlib.Path(name, "e.toml").write_text(
                '[log]\ndirectory = "log"\n' + SESSION.replace("127.0.0.1:0", f"127.0.0.1:{first[1]}")
                + SESSION.replace('"B"', '"C"').replace("127.0.0.1:0", address), encoding="utf-8")
            code, out, err = support.run_in(name, "serve", "e.toml")
            self.assertEqual(os.listdir(name), ["e.toml"], "neither logs nor journals")
            self.assertEqual((code, out, err.count("\n")), (WRONG, "", 1), err)
            self.assertIn(f"{address}: Address already in use; choose a free address", err)
            # As the engine that runs with this configuration has the address, a check of it is in order.
            code, out, err = support.run_in(name, "serve", "--check", "e.toml")
            self.assertEqual(os.listdir(name), ["e.toml"])
            self.assertEqual((code, err.count("\n")), (0, 1), err)
            self.assertIn("ok, 2 sessions", out)
            self.assertIn(f"nfx: a start now fails: cannot listen: bind {address}: Address already in use;", err)
            with socket.socket() as again:
                again.bind(first)  # without SO_REUSEADDR: nothing is left of the trial

    def as_nobody(self, files, line, closed):
        """The same as a user without rights; `closed` belongs to root alone, and the folder may not be written to."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for path, content in files.items():
                (folder / path).write_text(content, encoding="utf-8")
            # The shipped ones may be in a home folder that this user cannot read.
            shutil.copy(pathlib.Path(__file__).parents[2] / "dictionaries" / "FIX44.xml", folder)
            folder.chmod(0o755)
            (folder / closed).chmod(0o600)
            before = sorted(folder.rglob("*"))
            result = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", support.PROGRAM,
                                     *line.split()], stdin=subprocess.DEVNULL, capture_output=True, cwd=folder, text=True,
                                    timeout=support.PATIENCE_S, env=support.ENVIRONMENT, check=False)
            self.assertEqual(sorted(folder.rglob("*")), before, "something was written")
        return result.returncode, result.stdout, result.stderr

    @unittest.skipUnless(os.getuid() == 0 and shutil.which("setpriv"), "needs root, and setpriv of util-linux")
    def test_what_this_user_may_not_read_or_write_is_named(self):
        for what, (files, line, closed, code, parts) in {
                "a configuration of another user": (
                    {"e.toml": SESSION}, CHECK, "e.toml", WRONG, ["e.toml: ", "Permission denied", "readable"]),
                "settings of another user": (
                    {"e.cfg": CFG}, CHECK_CFG, "e.cfg", WRONG, ["e.cfg: ", "Permission denied", "readable"]),
                "a dictionary of another user": (
                    {**toml('dictionary = "d.xml"\n'), "d.xml": ""}, CHECK, "d.xml", WRONG,
                    ["e.toml:5:14: ", "d.xml", "Permission denied"]),
                "a key of another user": (
                    {**toml(TLS), "c.pem": "x", "k.pem": "y"}, CHECK, "c.pem", WRONG, ["c.pem: Permission denied"]),
                "a folder where no journals can be made": (
                    {"e.toml": SESSION, "x": ""}, SERVE, "x", FAILED, ["store: Permission denied", "choose another directory"]),
                "a folder where no logs can be made": (
                    {"e.toml": '[log]\ndirectory = "log"\n' + SESSION, "x": ""}, SERVE, "x", WRONG,
                    ["[log] ", "log", "Permission denied", "choose another"]),
                "a log of another user": (
                    {"x.log": ""}, "decode x.log", "x.log", WRONG, ["x.log: ", "Permission denied"])}.items():
            with self.subTest(what):
                result, out, err = self.as_nobody(files, line, closed)
                self.assertEqual((result, out, err.count("\n")), (code, "", 1), err)
                self.assertTrue(err.startswith("nfx: "), err)
                for part in parts:
                    self.assertIn(part, err)


if __name__ == "__main__":
    unittest.main()
