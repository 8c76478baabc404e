#!/usr/bin/env python3
"""A release of a small repository: its version, its changelog, and the files that are made."""

import datetime
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import release  # noqa: E402

FILES = {
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.25)\nproject(nexusfix VERSION 0.1.0 LANGUAGES CXX)\n",
    "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A command.\n\n## [0.1.0] - 2026-01-02\n\n- All.\n",
    "SECURITY.md": "| version | supported |\n|---------|-----------|\n| 0.1     | yes       |\n",
    ".gitignore": "/build/\n",
    **{name: "image: nexusfix:0.1.0\n" for name in release.IMAGES},
}
CONTROL = """Package: nexusfix
Version: {version}
Architecture: all
Maintainer: A <a@example.invalid>
Depends: libc6 (>= 2.36), none-such
Description: a package
"""


class Release(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "tree"
        for name, text in FILES.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text, encoding="utf-8")
        self.git("init", "-q")
        self.commit()

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@example.invalid", *arguments], cwd=self.root,
                       check=True, capture_output=True)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-qm", "All")

    def prepare(self, version="0.2.0"):
        release.prepare(self.root, version, datetime.date(2026, 5, 6))

    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8")

    def package(self, version):
        place = self.root / "build/packages/staged"
        (place / "DEBIAN").mkdir(parents=True)
        (place / "DEBIAN/control").write_text(CONTROL.format(version=version), encoding="utf-8")
        subprocess.run(["dpkg-deb", "--build", "--root-owner-group", place,
                        self.root / f"build/packages/nexusfix_{version}_all.deb"], check=True, capture_output=True)

    def test_version_is_set_everywhere_and_the_changelog_begins_anew(self):
        self.prepare()
        self.assertEqual(release.version_of(self.root), "0.2.0")
        self.assertIn("## [Unreleased]\n\n## [0.2.0] - 2026-05-06\n\n### Added\n", self.text("CHANGELOG.md"))
        self.assertIn("| 0.2     | yes", self.text("SECURITY.md"))
        self.assertTrue(all(self.text(name) == "image: nexusfix:0.2.0\n" for name in release.IMAGES))

    def test_what_cannot_be_released_is_named(self):
        for version in ("0.1.0", "0.0.9", "1.0", "v0.2.0"):
            with self.assertRaisesRegex(release.NotReady, version.replace(".", r"\.")):
                self.prepare(version)
        self.prepare()
        with self.assertRaisesRegex(release.NotReady, "nothing to release"):
            self.prepare("0.3.0")
        with self.assertRaisesRegex(release.NotReady, "not committed"):
            release.make(self.root, self.root / "out")
        self.commit()
        with self.assertRaisesRegex(release.NotReady, "no packages of 0.2.0"):
            release.make(self.root, self.root / "build/out")

    @unittest.skipIf(shutil.which("dpkg-deb") is None, "no dpkg-deb")
    def test_files_are_whole_and_listed(self):
        self.prepare()
        self.commit()
        self.package("0.2.0")
        out = self.root / "build/out"
        release.make(self.root, out)
        names = {path.name for path in out.iterdir()}
        self.assertEqual(names, {"CHANGES.md", "SHA256SUMS", "nexusfix-0.2.0.spdx.json", "nexusfix-0.2.0.tar.gz",
                                 "nexusfix_0.2.0_all.deb"})
        sums = dict(reversed(line.split("  ")) for line in (out / "SHA256SUMS").read_text().splitlines())
        self.assertEqual(sums.keys(), names - {"SHA256SUMS"})
        for name, sum_of_it in sums.items():
            self.assertEqual(sum_of_it, hashlib.sha256((out / name).read_bytes()).hexdigest())
        self.assertEqual((out / "CHANGES.md").read_text(), "### Added\n\n- A command.\n")
        with tarfile.open(out / "nexusfix-0.2.0.tar.gz") as archive:
            self.assertIn("nexusfix-0.2.0/CMakeLists.txt", archive.getnames())
        bill = json.loads((out / "nexusfix-0.2.0.spdx.json").read_text())
        packages = {each["name"]: each["versionInfo"] for each in bill["packages"]}
        self.assertEqual(packages["nexusfix"], "0.2.0")
        self.assertEqual(packages["none-such"], "NOASSERTION")
        self.assertRegex(packages["libc6"], r"^\d")
        self.assertIn({"spdxElementId": "SPDXRef-nexusfix", "relationshipType": "DEPENDS_ON",
                       "relatedSpdxElement": "SPDXRef-libc6"}, bill["relationships"])


class Tree(unittest.TestCase):
    def test_files_that_name_the_version_name_this_one(self):
        version = release.version_of(release.ROOT)
        found = {}
        for folder in ("docs", "packaging"):
            for path in filter(pathlib.Path.is_file, (release.ROOT / folder).rglob("*")):
                if tags := re.findall(r"nexusfix:(\d[\d.]*)", path.read_text(encoding="utf-8")):
                    found[str(path.relative_to(release.ROOT))] = set(tags)
        self.assertEqual(found, {name: {version} for name in release.IMAGES})


if __name__ == "__main__":
    if shutil.which("git") is None:
        print("skipped: no git")
        sys.exit(77)
    unittest.main()
