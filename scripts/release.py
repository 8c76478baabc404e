#!/usr/bin/env python3
"""Makes a release; `./dev release` runs it. Nothing is uploaded, tagged or pushed.

    release.py prepare VERSION   sets the version in the tree and closes the changelog's section [Unreleased]
    release.py make OUTPUT       from a clean tree and the packages in build/packages: the archive of the sources, the
                                 packages, a bill of materials (SPDX 2.3) and SHA256SUMS

Exit status 1: the tree is not as it has to be; the message says what to do.
"""

import argparse
import datetime
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = re.compile(r"\d+\.\d+\.\d+")
PROJECT = re.compile(r"(project\(nexusfix VERSION )(\d+\.\d+\.\d+)")
UNRELEASED = "## [Unreleased]\n"
# Other files that name the version, as the tag of an image.
IMAGES = ("docs/cluster-tools.md", "packaging/compose/compose.yaml", "packaging/container/Dockerfile",
          "packaging/kubernetes/gateways.yaml", "packaging/kubernetes/init.yaml")


class NotReady(Exception):
    pass


def run(*command: str, cwd: pathlib.Path) -> str:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout


def version_of(root: pathlib.Path) -> str:
    return PROJECT.search((root / "CMakeLists.txt").read_text(encoding="utf-8"))[2]


def rewrite(path: pathlib.Path, change) -> None:
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")


def prepare(root: pathlib.Path, version: str, today: datetime.date) -> None:
    if not VERSION.fullmatch(version):
        raise NotReady(f"'{version}' is no version such as 0.2.0")
    before = version_of(root)
    if tuple(map(int, version.split("."))) <= tuple(map(int, before.split("."))):
        raise NotReady(f"{version} is not above {before}, the version of CMakeLists.txt")
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    head, found, rest = changelog.partition(UNRELEASED)
    if not found or not rest.split("\n## ", 1)[0].strip():
        raise NotReady("CHANGELOG.md has nothing under [Unreleased]: there is nothing to release")
    (root / "CHANGELOG.md").write_text(f"{head}{UNRELEASED}\n## [{version}] - {today}\n{rest}", encoding="utf-8")
    rewrite(root / "CMakeLists.txt", lambda text: PROJECT.sub(rf"\g<1>{version}", text))
    for name in IMAGES:
        rewrite(root / name, lambda text: text.replace(f"nexusfix:{before}", f"nexusfix:{version}"))
    minor_before, minor = before.rpartition(".")[0], version.rpartition(".")[0]
    rewrite(root / "SECURITY.md",
            lambda text: re.sub(rf"\| {re.escape(minor_before)}( +)\|", rf"| {minor}\1|", text))


def changes_of(changelog: str, version: str) -> str:
    found = re.search(rf"^## \[{re.escape(version)}\].*?\n(.*?)(?=^## |\Z)", changelog, re.S | re.M)
    if not found:
        raise NotReady(f"CHANGELOG.md has no section [{version}]: ./dev release prepare {version}")
    return found[1].strip() + "\n"


def fields_of(package: pathlib.Path) -> dict[str, str]:
    text = run("dpkg-deb", "--field", str(package), cwd=package.parent)
    return dict(re.findall(r"^(\S+): (.*)$", text, re.M))


def bill_of_materials(version: str, packages: list[pathlib.Path], commit: str, made: str) -> dict:
    """Each package, and what it depends on in the version that it was built with."""
    def element(name: str, its_version: str, **more: str) -> dict:
        return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": its_version,
                "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
                "copyrightText": "NOASSERTION", "licenseDeclared": "NOASSERTION", **more}

    elements, relations = {}, []
    for package in packages:
        fields = fields_of(package)
        own = element(fields["Package"], fields["Version"], licenseDeclared="MIT", packageFileName=package.name)
        own["checksums"] = [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(package.read_bytes()).hexdigest()}]
        elements[own["SPDXID"]] = own
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"]))
        for name in re.findall(r"(?:^|, )([a-z0-9.+-]+)", fields.get("Depends", "")):
            installed = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], capture_output=True, text=True,
                                       check=False).stdout or "NOASSERTION"
            needed = element(name, installed)
            elements.setdefault(needed["SPDXID"], needed)
            relations.append((own["SPDXID"], "DEPENDS_ON", needed["SPDXID"]))
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"nexusfix-{version}",
            "documentNamespace": f"https://spdx.org/spdxdocs/nexusfix-{version}-{commit}",
            "creationInfo": {"created": made, "creators": ["Tool: nexusfix-release"]}, "packages": list(elements.values()),
            "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations]}


def make(root: pathlib.Path, output: pathlib.Path) -> None:
    version = version_of(root)
    if changed := run("git", "status", "--porcelain", cwd=root):
        raise NotReady(f"the tree has changes that are not committed:\n{changed}")
    changes = changes_of((root / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    packages = sorted((root / "build/packages").glob(f"*_{version}*.deb"))
    if not packages:
        raise NotReady(f"no packages of {version} in build/packages: ./dev package")
    commit = run("git", "rev-parse", "HEAD", cwd=root).strip()
    made = run("git", "log", "-1", "--format=%cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", cwd=root).strip()
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    run("git", "archive", f"--prefix=nexusfix-{version}/", f"--output={output}/nexusfix-{version}.tar.gz", "HEAD", cwd=root)
    for package in packages:
        shutil.copy2(package, output)
    (output / "CHANGES.md").write_text(changes, encoding="utf-8")
    (output / f"nexusfix-{version}.spdx.json").write_text(
        json.dumps(bill_of_materials(version, packages, commit, made), indent=1) + "\n", encoding="utf-8")
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(output.iterdir())]
    (output / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    print("".join(sums), end="")
    print(f"release: {output} has {version} of {commit[:12]}; tag it: git tag -a v{version} -F {output}/CHANGES.md --cleanup=verbatim")


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes a release.")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("prepare").add_argument("version")
    verbs.add_parser("make").add_argument("output", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        if arguments.verb == "prepare":
            prepare(arguments.root, arguments.version, datetime.datetime.now(datetime.UTC).date())
            print(f"release: the version is {arguments.version}; commit it, then ./dev release")
        else:
            make(arguments.root, arguments.output.resolve())
    except NotReady as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
