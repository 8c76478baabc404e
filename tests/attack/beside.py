"""One attack on one server next to an innocent session: its phases, and what was measured in them."""
import json
import random
import time

from judge import cost_of
from peers import Session, Target
from stage import CPUS, PROBE_SOURCE, Child, Folder, Innocent, Sampler, Server, ServerFailure, burn, may_be_first
from table import Evidence, Settings

PATIENCE_S = 20  # with an attacker, after its time


def probe_logons(target, sender, fields, number=1):
    """Logs on and out, five times a second; the time of each Logon, or None where it failed."""
    session, times = Session(target, sender, source=PROBE_SOURCE, timeout=2.0), []
    session.number = number
    while target.going():
        begin = time.monotonic()
        if session.log_on(*fields, timeout=2.0):
            times.append(time.monotonic() - begin)
            session.log_out()
        else:
            times.append(None)
        time.sleep(max(0.0, 0.2 - (time.monotonic() - begin)))
    return {"times": times, "number": session.number}


class Beside:
    """One run. `made` has phases, samples, cost, the attacker's result, the probe's times and failures."""

    def __init__(self, attack, variant, seconds, seed, tls):
        self.attack, self.seconds, self.seed = attack, seconds, seed
        self.folder = Folder()
        self.settings = Settings(self.folder, variant, tls, attack.allowed)
        self.cpus = CPUS[1:2] or CPUS[:1]
        self.nice = 0 if may_be_first() and len(CPUS) > 1 else 19
        self.server = self.innocent = None
        self.number = 1  # of the probe's next Logon
        self.made = {"failures": [], "phases": {}, "samples": {}}

    def target(self, seconds):
        return Target(self.port, seconds, random.Random(self.seed), self.settings.tls, self.settings.control)

    def start(self):
        self.server = Server(self.folder, self.settings.text(self.attack), terminal=self.attack.terminal)
        innocent_port = self.server.port_of(self.settings.innocent_host)
        self.port = self.server.port_of("127.0.0.1")
        self.server.put_poll_threads_first()
        self.server.let_terminal_go()
        self.innocent = Innocent(self.settings.innocent_host, innocent_port, self.cpus, self.settings.tls)
        if self.attack.warm:
            self.number = probe_logons(self.target(0.01), *self.attack.probe)["number"]
        self.server.wait_for_disk()
        self.innocent.phase()

    def sample(self, name):
        self.made["samples"][name] = self.server.sample() | self.server.lines()

    def sample_settled(self, name, seconds, enough=0):
        """With the fewest descriptors that were open within this time: the engine opens files of /proc ten times a second,
        and segments of journals, each for a moment. One that stays open is in each list."""
        limit, fewest = time.monotonic() + seconds, self.server.open_files()
        while len(fewest) > enough and time.monotonic() < limit:
            time.sleep(0.02)
            now = self.server.open_files()
            fewest = now if len(now) <= len(fewest) else fewest
        self.sample(name)
        self.made["samples"][name] |= {"fds": len(fewest), "open": fewest}

    def phase(self, name, seconds):
        time.sleep(seconds)
        self.made["phases"][name] = self.innocent.phase()

    def run_attack(self):
        attack, made = self.attack, self.made
        self.sample_settled("begin", 0.3)
        attacker = Child(lambda: attack.run(self.target(self.seconds)), cpus=self.cpus, nice=self.nice)
        prober = None
        if attack.probe:
            prober = Child(lambda: probe_logons(self.target(self.seconds), *attack.probe, self.number), cpus=self.cpus)
        sampler = Sampler(self.server)  # a thread, so after the forks
        self.phase("attack", self.seconds)
        made["result"] = attacker.result(PATIENCE_S)
        made["probes"] = prober.result(PATIENCE_S).get("times", [None]) if prober else []
        made["samples"]["most"] = sampler.finish()
        self.sample("end")
        if attack.check:
            made["failures"] += attack.check(Evidence(self.server, self.target(10), made["result"], made["probes"]))

    def wait_for_descriptors(self):
        limit = time.monotonic() + 3
        while self.server.sample()["fds"] > self.made["samples"]["begin"]["fds"] and time.monotonic() < limit:
            time.sleep(0.1)
        self.innocent.phase()

    def run_control(self):
        share = min(1.0, self.made["result"].get("cpu", 0) / self.seconds)
        burner = Child(burn, share, self.seconds / 2, cpus=self.cpus, nice=self.nice)
        self.phase("control", self.seconds / 2)
        burner.result(PATIENCE_S)

    def stop(self):
        wrong = self.innocent.finish()
        if wrong:
            self.made["failures"].append(f"the innocent: {wrong}")
        code = self.server.stop()
        if code is None:
            self.made["failures"].append("the server did not end in order after SIGTERM")
        elif code != 0:
            self.made["failures"].append(f"the server ended with {code}")

    def run(self, keep):
        begin = time.monotonic()
        try:
            self.start()
            self.sample("alone")
            self.phase("alone", self.seconds)
            self.run_attack()
            self.wait_for_descriptors()
            self.phase("after", self.seconds / 2)
            self.sample_settled("after", 3, self.made["samples"]["begin"]["fds"])
            self.run_control()
            self.stop()
            self.made["cost"] = cost_of(self.made["samples"])
        except (ServerFailure, OSError, json.JSONDecodeError) as failure:
            code = self.server.process.poll() if self.server else None
            last = self.server.text_of(self.server.err).strip()[-300:] if self.server else ""
            ended = f"the server ended with {code}: {last}; " if code is not None else ""
            self.made["failures"].append(f"{ended}{failure}")
        finally:
            for each in (self.innocent, self.server):
                if each:
                    each.kill()
            if keep and self.made["failures"]:
                print(f"files: {self.folder.path} {self.folder.shm}")
            else:
                self.folder.remove()
        self.made["took_s"] = time.monotonic() - begin
        return self.made
