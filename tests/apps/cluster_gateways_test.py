"""Two gateways of nfx serve on one nats-server on loopback: ownership, refusal, drain, move, and a killed owner."""
import json
import os
import shutil
import subprocess
import unittest

from cluster_gateways_support import OWNED, SESSION, GatewaysCase
from cluster_tls_test import Server
from support import ENVIRONMENT, PATIENCE_S, PROGRAM, expect, run


class Gateways(GatewaysCase):
    def test_session_of_a_killed_owner_continues_with_its_numbers(self):
        self.start_owner_and_other()
        expect(self.trade("a", "first"), out="11=first")
        self.running["a"].process.kill()
        owned = self.running["b"].line_with(OWNED)
        # Its Logon, answer and Logout. The trader's Logout may have come after the last record.
        self.assertIn("next out 4;", owned)
        expect(self.trade("b", "second", "next_inbound = 4\nnext_outbound = 4\n"), out="11=second")

    def test_gateway_that_does_not_own_the_session_does_not_listen_for_it(self):
        self.start_owner_and_other()
        expect(self.trade("b", "lost"), code=1, err="refused")

    def test_drained_gateway_gives_its_session_up_and_undo_does_not_take_it_back(self):
        self.start_owner_and_other()
        self.assertEqual(self.nfx("drain", "a"), "drain a\n")
        self.running["b"].line_with(OWNED)
        self.assertEqual(self.nfx("settings"), "drain a\n")
        self.nfx("drain", "a", "--undo")
        self.assertIn("no settings", self.nfx("settings"))
        self.assertEqual(self.nfx("ls").split()[0], SESSION)

    def test_session_moves_to_the_gateway_that_an_operator_names_and_back(self):
        self.start_owner_and_other()
        self.nfx("move", SESSION, "--to", "b")
        self.running["b"].line_with(OWNED)
        self.nfx("move", SESSION, "--to", "a")
        self.assertIn("epoch 3", self.running["a"].line_with(OWNED))

    def test_journal_that_was_lost_after_an_ownership_gets_all_of_it_from_the_cluster(self):
        self.start_owner_and_other()
        expect(self.trade("a", "first"))
        self.nfx("move", SESSION, "--to", "b")
        self.running["b"].line_with(OWNED)
        self.running["a"].line_with("removed")
        shutil.rmtree(self.folder / "a" / "store")
        shutil.rmtree(self.folder / "a" / "rings")
        expect(self.trade("b", "second", "next_inbound = 4\nnext_outbound = 4\n"))
        self.running["a"].line_with("the journal is not as this gateway left it")
        self.nfx("move", SESSION, "--to", "a")
        self.running["a"].line_with(OWNED)
        expect(self.running["a"].stop(), err="")
        expect(run("store", "cat", self.folder / "a" / "store", "--raw"), out=["11=first", "11=second"], err="")

    def test_stopped_gateway_leaves_its_session_to_the_other_immediately(self):
        self.start_owner_and_other()
        expect(self.running["a"].stop(), err="")
        self.running["b"].line_with(OWNED)

    def test_copy_for_an_audit_has_both_directions_without_passwords(self):
        self.nfx("init", "--stream", "AUDITED", "--replicas", "1", "--lease", "1", "--audit-days", "30")
        self.start("a", 'stream = "AUDITED"\n', "store_received = true\n").line_with(OWNED)
        expect(self.trade("a", "first", 'username = "T"\npassword = "secret"\n'))
        self.running["a"].stop()
        of_stream = ("--session", SESSION, "--stream", "AUDITED", "--json")
        lines = self.nfx("tail", *of_stream)
        self.assertEqual(self.nfx("tail", *of_stream, "--audit"), lines)
        records = [json.loads(line) for line in lines.splitlines()]
        messages = [(record["direction"], record.get("message", "")) for record in records if record["kind"] == "message"]
        # The answer, which was stored while the order was processed.
        self.assertEqual([way for way, message in messages if "11=first" in message], ["out", "in"], lines)
        self.assertEqual(sum(message == "" for way, message in messages if way == "in"), 1, "the Logon has a password")
        self.assertNotIn("secret", lines)
        code, out, err = run("cluster", "check", "--url", self.url, "--stream", "AUDITED")
        self.assertIn("good  stream AUDITED_AUDIT is a copy for an audit, and lacks 0 frames\n", out, err)
        out, _ = expect(run("store", "cat", self.folder / "a" / "store", "--received", "--raw"),
                        out=" #2 received 8=FIX.4.4", err="")
        self.assertEqual(out.count(" received "), 2)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one CPU stays for housekeeping")
    def test_threads_of_a_gateway_run_on_the_housekeeping_cpus(self):
        cpu = min(os.sched_getaffinity(0))
        gateway = self.start("a", f'[placement]\nenabled = true\nhousekeeping = "{cpu}"\n')
        gateway.line_with(OWNED)
        out, _ = expect(gateway.stop(), err="")
        for name in ("nfx-cluster", "nfx-cluster-io"):
            self.assertIn(f"{name} on CPU {cpu}, ", out)

    def test_gateway_that_starts_before_the_servers_waits_for_them(self):
        self.start("a").line_with(OWNED)
        self.assertEqual(self.running["a"].stop()[0], 0)
        port = self.server.address.split(":")[1]
        self.server.stop()
        a = subprocess.Popen([PROGRAM, "serve", self.folder / "a" / "gateway.toml", "--echo"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        self.addCleanup(a.communicate)
        self.addCleanup(a.kill)
        self.assertTrue(any("it is tried again for 20 seconds" in line for line in iter(a.stdout.readline, "")))
        self.server = Server(self.folder, "-p", port)
        self.addCleanup(self.server.stop)
        self.assertTrue(any(OWNED in line for line in iter(a.stdout.readline, "")))

    def test_wrong_lease_is_one_line_with_what_to_write(self):
        folder = self.folder / "wrong"
        folder.mkdir()
        config = folder / "gateway.toml"
        config.write_text(f'[cluster]\nservers = ["{self.url}"]\ngateway = "a"\ngateways = ["a"]\n[[session]]\n'
                          'sender_comp_id = "V"\ntarget_comp_id = "T"\nlisten = "127.0.0.1:0"\ndurability = "async"\n'
                          f'store_ring_directory = "{folder}/rings"\n', encoding="utf-8")
        result = subprocess.run([PROGRAM, "serve", config], capture_output=True, timeout=PATIENCE_S, env=ENVIRONMENT,
                                check=False, text=True)
        self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1), result.stderr)
        self.assertIn("write lease_s = 1", result.stderr)


if __name__ == "__main__":
    unittest.main()
