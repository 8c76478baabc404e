#!/usr/bin/env python3
"""How long another gateway takes to own all sessions of one that is killed: three nats-servers and two gateways of
nfx serve on loopback, whose sessions are logged out.

Each repeat kills the owner (SIGKILL) and starts it again, so that the sessions change sides. The time is from the kill
to the line of the last session that is owned; the lease is part of it. A session that is owned by nobody after two
minutes ends the benchmark with exit status 1.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

OWNED = re.compile(r" (\S+) owned by this gateway from epoch ")
PATIENCE_S = 120


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def wait_for(what, condition):
    """Ends the program with `what` when it does not come true."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"takeover: {what}: not within {PATIENCE_S} s")
        time.sleep(0.01)


class Servers:
    """Three nats-servers that are one cluster, with a stream on each."""

    def __init__(self, nfx, program, folder, lease):
        ports, routes = free_ports(3), free_ports(3)
        urls = [f"nats://127.0.0.1:{port}" for port in ports]
        self.processes = [
            subprocess.Popen([program, "-a", "127.0.0.1", "-p", str(ports[i]), "-js", "-sd", f"{folder}/js{i}", "-n", f"server-{i}",
                              "--cluster_name", "takeover", "--cluster", f"nats://127.0.0.1:{routes[i]}", "--routes",
                              ",".join(f"nats://127.0.0.1:{route}" for route in routes)],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for i in range(3)]
        self.urls = urls
        init = [nfx, "cluster", "init", "--url", ",".join(urls), "--lease", str(lease)]
        wait_for("no stream was made", lambda: subprocess.run(init, capture_output=True, check=False).returncode == 0)

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()


class Gateway:
    def __init__(self, nfx, name, folder, servers, sessions, lease):
        self.folder = folder / name
        self.folder.mkdir()
        listen = f"127.0.0.1:{free_ports(1)[0]}"
        urls = ", ".join(f'"{url}"' for url in servers.urls)
        text = f'[cluster]\nservers = [{urls}]\ngateway = "{name}"\ngateways = ["a", "b"]\nlease_s = {lease}\n'
        for number in range(sessions):
            text += (f'[[session]]\nsender_comp_id = "VENUE"\ntarget_comp_id = "T{number}"\nlisten = "{listen}"\n'
                     'durability = "replicated"\ndictionary = "none"\n')
        (self.folder / "gateway.toml").write_text(text, encoding="utf-8")
        self.command = [nfx, "serve", str(self.folder / "gateway.toml"), "--echo"]
        self.process = None

    def start(self):
        self.lines = self.folder / "lines"
        with self.lines.open("w") as lines:
            self.process = subprocess.Popen(self.command, stdout=lines, stderr=subprocess.STDOUT, cwd=self.folder)

    def owned(self):
        return len(set(OWNED.findall(self.lines.read_text(encoding="utf-8", errors="replace"))))

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nfx", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--sessions", type=int, default=1000, help="of the gateway that is killed (default: 1000)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--lease", type=int, default=1, help="of the gateways, in seconds (default: 1)")
    parser.add_argument("--server", default=os.environ.get("NFX_NATS_SERVER") or str(pathlib.Path.home() / "go/bin/nats-server"),
                        help="the program nats-server, 2.12 or later (default: NFX_NATS_SERVER, or of ~/go/bin)")
    options = parser.parse_args()
    options.nfx = str(pathlib.Path(options.nfx).resolve())
    if not pathlib.Path(options.server).exists():
        sys.exit("takeover: no nats-server: ./dev deps nats builds one")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nexusfix-takeover-"))
    servers, gateways = None, []
    try:
        servers = Servers(options.nfx, options.server, folder, options.lease)
        gateways = [Gateway(options.nfx, name, folder, servers, options.sessions, options.lease) for name in ("a", "b")]
        owner, other = gateways
        owner.start()
        wait_for("not all sessions have an owner", lambda: owner.owned() == options.sessions)
        times = []
        for _ in range(options.repeats):
            other.start()
            # It follows the sessions, one after the other: what a takeover would read is read before.
            time.sleep(5 + options.sessions / 200)
            owner.kill()
            begin = time.monotonic()
            wait_for("not all sessions were taken over", lambda: other.owned() == options.sessions)
            times.append(time.monotonic() - begin)
            print(f"{options.sessions} sessions owned {times[-1]:.2f} s after the kill", flush=True)
            owner, other = other, owner
        print(f"median {statistics.median(times):.2f} s, {min(times):.2f} to {max(times):.2f} s, with a lease of {options.lease} s")
    finally:
        for each in gateways:
            if each.process is not None and each.process.poll() is None:
                each.kill()
        if servers is not None:
            servers.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
