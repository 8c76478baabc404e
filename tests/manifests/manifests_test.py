"""The compose file and the Kubernetes manifests: valid by the schemas, consistent with each other, and their nats.conf is one
that nats-server starts with.

Schemas: the package kubernetes-validate from PyPI has those of Kubernetes; the Go module
github.com/compose-spec/compose-go/v2 has the one of Compose (go mod download). NFX_MANIFEST_PYTHON names a Python with
kubernetes-validate and jsonschema."""
import copy
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest

try:
    import yaml
except ImportError:
    print("SKIPPED: PyYAML is missing (package python3-yaml)")
    sys.exit(77)

PROGRAM = os.environ["NFX_PROGRAM"]
ROOT = pathlib.Path(__file__).resolve().parents[2] / "packaging"
PYTHON = os.environ.get("NFX_MANIFEST_PYTHON", sys.executable)
SERVER = os.environ.get("NFX_NATS_SERVER") or shutil.which("nats-server", path=str(pathlib.Path.home() / "go/bin"))
PATIENCE_S = 600
VERSION = "1.32"
# Reads JSON lines; prints one line for each document that the schemas of Kubernetes refuse.
VALIDATE = """
import json, sys, kubernetes_validate
for line in sys.stdin:
    document = json.loads(line)
    try:
        kubernetes_validate.validate(document, sys.argv[1], strict=True)
    except kubernetes_validate.ValidationError as error:
        print(document["kind"], document["metadata"]["name"], "/".join(map(str, error.path)), error.message[:200])
"""
VALIDATE_COMPOSE = """
import json, sys, jsonschema
schema, document = json.load(open(sys.argv[1])), json.load(sys.stdin)
for error in jsonschema.Draft7Validator(schema).iter_errors(document):
    print("/".join(map(str, error.path)), error.message[:200])
"""


def python_has(*modules):
    return subprocess.run([PYTHON, "-c", "import " + ", ".join(modules)], capture_output=True, check=False).returncode == 0


def run_python(program, argument, data):
    done = subprocess.run([PYTHON, "-c", program, argument], input=data, capture_output=True, text=True, check=True,
                          timeout=PATIENCE_S)
    return done.stdout.splitlines()


def compose_schema():
    found = sorted((pathlib.Path.home() / "go/pkg/mod/github.com/compose-spec/compose-go").glob("v2@*/schema/compose-spec.json"))
    return found[-1] if found else None


def documents():
    for name in ("nats.yaml", "init.yaml", "gateways.yaml", "network.yaml"):
        yield from yaml.safe_load_all((ROOT / "kubernetes" / name).read_text(encoding="utf-8"))


def of_kind(kind):
    return {document["metadata"]["name"]: document for document in documents() if document["kind"] == kind}


def toml(path):
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


class Schemas(unittest.TestCase):
    def problems(self, wanted):
        return run_python(VALIDATE, VERSION, "".join(json.dumps(each) + "\n" for each in wanted))

    @unittest.skipUnless(python_has("kubernetes_validate"), "kubernetes-validate is missing (pip install kubernetes-validate)")
    def test_kubernetes_accepts_every_manifest_and_finds_a_wrong_field(self):
        every = list(documents())
        self.assertGreater(len(every), 12)
        self.assertEqual(self.problems(every), [])
        for name, change in (("spec/template/spec/containers/0/readinessProbes", lambda pod: pod.update(readinessProbes={})),
                             ("no image", lambda pod: pod.update(image=[]))):
            wrong = copy.deepcopy(of_kind("StatefulSet")["gateway"])
            change(wrong["spec"]["template"]["spec"]["containers"][0])
            self.assertEqual(len(self.problems([wrong])), 1, name)

    @unittest.skipUnless(compose_schema(), "the schema of Compose is missing (go mod download github.com/compose-spec/compose-go/v2)")
    @unittest.skipUnless(python_has("jsonschema"), "jsonschema is missing (pip install jsonschema)")
    def test_compose_accepts_the_file_and_finds_a_wrong_field(self):
        document = yaml.safe_load((ROOT / "compose/compose.yaml").read_text(encoding="utf-8"))
        schema = str(compose_schema())
        self.assertEqual(run_python(VALIDATE_COMPOSE, schema, json.dumps(document)), [])
        document["services"]["gateway-a"]["healthchecks"] = {}
        self.assertEqual(len(run_python(VALIDATE_COMPOSE, schema, json.dumps(document))), 1)

    @unittest.skipUnless(shutil.which("kubectl"), "kubectl is missing")
    def test_kustomize_builds_all_of_it_with_the_secrets_that_nfx_makes(self):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder, "kubernetes")
            shutil.copytree(ROOT / "kubernetes", place)
            hosts = "nats,nats-0.nats-servers,nats-1.nats-servers,nats-2.nats-servers"
            subprocess.run([PROGRAM, "cluster", "secrets", "--folder", place / "secrets", "--hosts", hosts], check=True,
                           capture_output=True, timeout=PATIENCE_S)
            done = subprocess.run(["kubectl", "kustomize", place], capture_output=True, text=True, check=False,
                                  timeout=PATIENCE_S)
            self.assertEqual(done.returncode, 0, done.stderr)
            built = list(yaml.safe_load_all(done.stdout))
            kinds = [document["kind"] for document in built]
            self.assertEqual(kinds.count("StatefulSet"), 2)
            self.assertEqual(kinds.count("Secret"), 3)
            self.assertEqual({document["metadata"]["namespace"] for document in built}, {"nexusfix"})
            # Names of generated maps and secrets are those that the pods mount.
            made = {document["metadata"]["name"] for document in built if document["kind"] in ("Secret", "ConfigMap")}
            used = set(re.findall(r"(?:secretName|^ +name): ((?:nats|gateway|admin)-(?:config|secrets)\S*)", done.stdout, re.M))
            self.assertEqual(used & made, made)


class Kubernetes(unittest.TestCase):
    def test_each_stateful_set_survives_the_loss_of_a_node_and_a_drain(self):
        budgets, sets = of_kind("PodDisruptionBudget"), of_kind("StatefulSet")
        self.assertEqual(set(sets), {"nats", "gateway"})
        self.assertGreaterEqual(sets["nats"]["spec"]["replicas"], 3)
        self.assertGreaterEqual(sets["gateway"]["spec"]["replicas"], 2)
        services = of_kind("Service")
        for name, each in sets.items():
            template = each["spec"]["template"]
            labels = each["spec"]["selector"]["matchLabels"]
            self.assertLessEqual(labels.items(), template["metadata"]["labels"].items())
            self.assertEqual(budgets[name]["spec"], {"maxUnavailable": 1, "selector": {"matchLabels": labels}})
            apart = template["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            self.assertEqual(apart, [{"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}}])
            self.assertEqual(services[each["spec"]["serviceName"]]["spec"]["clusterIP"], "None")

    def test_probes_read_healthz_and_readyz(self):
        for name, each in of_kind("StatefulSet").items():
            container = each["spec"]["template"]["spec"]["containers"][0]
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                if name == "nats":
                    self.assertTrue(container[probe]["httpGet"]["path"].startswith("/healthz"))
                    self.assertIn(container[probe]["httpGet"]["port"], [port["name"] for port in container["ports"]])
                else:
                    command = container[probe]["exec"]["command"]
                    self.assertEqual(command[:3], ["nfx", "engine", "health"])
                    self.assertEqual("--ready" in command, probe == "readinessProbe")
                    self.assertEqual(command[-1], toml("kubernetes/engine.toml")["control"]["socket"])
                    usage = subprocess.run([PROGRAM, *command[1:-1], "/nowhere"], capture_output=True, timeout=PATIENCE_S, check=False)
                    self.assertEqual(usage.returncode, 3, usage.stderr)  # no engine: right usage

    def test_pods_have_no_more_rights_and_images_have_versions(self):
        pods = [each["spec"]["template"]["spec"] for kind in ("StatefulSet", "Job") for each in of_kind(kind).values()]
        for pod in pods:
            self.assertTrue(pod["securityContext"]["runAsNonRoot"])
            self.assertFalse(pod["automountServiceAccountToken"])
            for container in pod["containers"] + pod.get("initContainers", []):
                self.assertRegex(container["image"], r":\d+\.\d+\.\d+")
                self.assertEqual(container["securityContext"]["capabilities"], {"drop": ["ALL"]})
                self.assertIn("limits", container["resources"])
                mounted = {mount["name"] for mount in container["volumeMounts"]}
                self.assertLessEqual(mounted, {volume["name"] for volume in pod["volumes"]} | {"data", "store"})

    def test_policies_open_the_ports_that_are_used_and_no_others(self):
        policies = of_kind("NetworkPolicy")
        self.assertEqual(policies["nothing-else"]["spec"], {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]})
        opened = {port["port"] for policy in policies.values() for rule in policy["spec"].get("ingress", []) for port in rule["ports"]}
        session = toml("kubernetes/engine.toml")["session"][0]
        self.assertEqual(opened, {4222, 6222, int(session["listen"].rpartition(":")[2])})
        labels = [each["spec"]["template"]["metadata"]["labels"] for kind in ("StatefulSet", "Job") for each in of_kind(kind).values()]
        for policy in policies.values():
            chosen = policy["spec"]["podSelector"].get("matchLabels", {})
            self.assertTrue(any(chosen.items() <= each.items() for each in labels), policy["metadata"]["name"])

    def test_names_of_pods_are_those_in_the_configurations(self):
        sets = of_kind("StatefulSet")
        servers = [f"nats-{i}.nats-servers" for i in range(sets["nats"]["spec"]["replicas"])]
        engine = toml("kubernetes/engine.toml")["cluster"]
        self.assertEqual(engine["servers"], [f"tls://{name}:4222" for name in servers])
        self.assertEqual(engine["gateways"], [f"gateway-{i}" for i in range(sets["gateway"]["spec"]["replicas"])])
        routes = re.findall(r"nats://([^:]+):6222", (ROOT / "kubernetes/nats.conf").read_text(encoding="utf-8"))
        self.assertEqual(routes, servers)
        init = of_kind("Job")["cluster-init"]["spec"]["template"]["spec"]["containers"][0]["args"]
        self.assertEqual(init[init.index("--url") + 1].split(","), engine["servers"])
        self.assertEqual(float(init[init.index("--lease") + 1]), engine["lease_s"])
        self.assertEqual(init[init.index("--stream") + 1], engine["stream"])


class Compose(unittest.TestCase):
    def test_names_of_services_are_those_in_the_configurations(self):
        services = yaml.safe_load((ROOT / "compose/compose.yaml").read_text(encoding="utf-8"))["services"]
        servers = sorted(name for name in services if name.startswith("nats-"))
        self.assertEqual(len(servers), 3)
        text = (ROOT / "compose/nats.conf").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"nats://([^:]+):6222", text), servers)
        for name in servers:
            self.assertEqual(services[name]["environment"], {"NATS_NAME": name})
        init = services["init"]["command"]
        for gateway in ("a", "b"):
            configuration = toml(f"compose/gateway-{gateway}.toml")
            self.assertEqual(configuration["cluster"]["gateway"], gateway)
            self.assertEqual(configuration["cluster"]["gateways"], ["a", "b"])
            self.assertEqual(configuration["cluster"]["servers"], [f"tls://{name}:4222" for name in servers])
            self.assertEqual(float(init[init.index("--lease") + 1]), configuration["cluster"]["lease_s"])
            self.assertEqual(configuration["control"]["socket"], services[f"gateway-{gateway}"]["healthcheck"]["test"][-1])
            port = configuration["session"][0]["listen"].rpartition(":")[2]
            self.assertTrue(services[f"gateway-{gateway}"]["ports"][0].endswith(":" + port))
        self.assertEqual(init[init.index("--url") + 1].split(","), configuration["cluster"]["servers"])
        first, second = (toml(f"compose/gateway-{gateway}.toml") for gateway in ("a", "b"))
        first["cluster"]["gateway"] = "b"
        self.assertEqual(first, second)


class Images(unittest.TestCase):
    def test_their_user_has_one_number_everywhere(self):
        def numbers(path, pattern):
            found = re.findall(pattern, (ROOT / path).read_text(encoding="utf-8"))
            self.assertTrue(found, f"{path}: nothing like {pattern}")
            return {(path, number) for number in found}

        found = set()
        for path in ("container/Dockerfile", "oci/Containerfile"):
            for pattern in (r"groupadd .*--gid (\d+)", r"useradd .*--uid (\d+)", r"(?m)^USER (\d+):\d+$", r"(?m)^USER \d+:(\d+)$"):
                found |= numbers(path, pattern)
        for pattern in (r"chown -R (\d+):\d+", r"chown -R \d+:(\d+)", r"user of the image, number (\d+),"):
            found |= numbers("compose/compose.yaml", pattern)
        for path in ("kubernetes/init.yaml", "kubernetes/gateways.yaml"):
            for key in ("runAsUser", "runAsGroup", "fsGroup"):
                found |= numbers(path, key + r": (\d+)")
        found |= numbers("../docs/packages.md", r"(?s)It runs .{1,80}\buser (\d+),")
        self.assertEqual(len({number for _, number in found}), 1, found)


@unittest.skipUnless(SERVER, "no nats-server: ./dev deps nats builds one")
class Configuration(unittest.TestCase):
    def test_nats_server_accepts_each_configuration_and_refuses_a_wrong_one(self):
        for name in ("compose", "kubernetes"):
            with tempfile.TemporaryDirectory() as folder:
                place = pathlib.Path(folder)
                subprocess.run([PROGRAM, "cluster", "secrets", "--folder", place / "secrets", "--hosts", "nats-1,nats-2"], check=True,
                               capture_output=True, timeout=PATIENCE_S)
                text = (ROOT / name / "nats.conf").read_text(encoding="utf-8")
                text = text.replace("/etc/nats/", f"{folder}/").replace('"/data', f'"{folder}')
                for content, accepted in ((text, True), (text + "\nno_such_setting: 7\n", False)):
                    (place / "nats.conf").write_text(content, encoding="utf-8")
                    done = subprocess.run([SERVER, "-t", "-c", place / "nats.conf"], env={**os.environ, "NATS_NAME": "nats-1"},
                                          capture_output=True, text=True, timeout=PATIENCE_S, check=False)
                    self.assertEqual(done.returncode == 0, accepted, done.stderr)


class Engine(unittest.TestCase):
    def test_nfx_accepts_the_configuration_of_each_gateway(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("compose/gateway-a.toml", "compose/gateway-b.toml", "kubernetes/engine.toml"):
                path = pathlib.Path(folder, "engine.toml")
                path.write_text((ROOT / name).read_text(encoding="utf-8").replace("@GATEWAY@", "gateway-0"), encoding="utf-8")
                done = subprocess.run([PROGRAM, "config", "check", path], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
                if "cluster: unknown section" in done.stderr:
                    self.skipTest("this nfx has no section [cluster]")
                self.assertEqual((done.returncode, done.stderr), (0, ""), name)


class Secrets(unittest.TestCase):
    def secrets(self, *options):
        done = subprocess.run([PROGRAM, "cluster", "secrets", *options], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        return done.returncode, done.stderr

    def test_files_are_their_users_alone_and_are_not_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder, "secrets")
            self.assertEqual(self.secrets("--folder", str(place), "--hosts", "a,10.0.0.1"), (0, ""))
            for name in ("server.key", "accounts.conf", "admin.creds", "gateway.creds", "reader.creds"):
                self.assertEqual((place / name).stat().st_mode & 0o777, 0o600, name)
            before = (place / "accounts.conf").read_bytes()
            code, err = self.secrets("--folder", str(place), "--hosts", "a")
            self.assertEqual((code, err.count("\n")), (1, 1))
            self.assertIn("accounts.conf exists already: remove it, or choose another --folder", err)
            self.assertEqual((place / "accounts.conf").read_bytes(), before)
            self.assertEqual(self.secrets("--folder", f"{folder}/other", "--hosts", "a b")[0], 2)

    @unittest.skipUnless(shutil.which("openssl"), "no openssl command")
    def test_the_certificate_has_the_hosts(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.secrets("--folder", folder, "--hosts", "nats-0.nats-servers,10.0.0.1")[0], 0)
            done = subprocess.run(["openssl", "x509", "-in", f"{folder}/server.pem", "-noout", "-ext", "subjectAltName"],
                                  capture_output=True, text=True, check=True, timeout=PATIENCE_S)
            self.assertIn("DNS:nats-0.nats-servers, IP Address:10.0.0.1", done.stdout)
            subprocess.run(["openssl", "verify", "-CAfile", f"{folder}/ca.pem", f"{folder}/server.pem"], check=True,
                           capture_output=True, timeout=PATIENCE_S)


class Workflows(unittest.TestCase):
    def test_steps_are_those_of_ci(self):
        known = set(re.findall(r"^step (\w+) ", (ROOT.parent / ".ci/run").read_text(encoding="utf-8"), re.M))
        wanted = set()
        for path in sorted((ROOT.parent / ".github/workflows").glob("*.yml")):
            for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values():
                matrix = job["strategy"]["matrix"]
                rows = matrix["step"] if "step" in matrix else [row["step"] for row in matrix["include"]]
                wanted |= {step for row in rows for step in row.split()}
        self.assertEqual(wanted - known, set())
        self.assertGreater(len(wanted), 9)


if __name__ == "__main__":
    unittest.main()
