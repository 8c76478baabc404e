"""nfx host topology: text, JSON, pictures and groups of captured machines, and its errors for files of other kinds."""
import json
import pathlib
import unittest
import xml.etree.ElementTree

from support import FolderTest, expect, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests/engine/placement/topologies"
CONFIG = """[engine]
poll_threads = 1

[[session]]
role = "initiator"
begin_string = "FIX.4.4"
sender_comp_id = "US"
target_comp_id = "THEM"
connect = "127.0.0.1:9"
"""


class HostTopology(FolderTest):
    def show(self, name, *arguments):
        out, _ = expect(run("host", "topology", "--from", str(FIXTURES / name), *arguments), err="")
        return out

    def changed(self, name, old, new):
        """A fixture with one text replaced."""
        file = self.folder / name
        text = (FIXTURES / name).read_text(encoding="utf-8")
        self.assertIn(old, text)
        file.write_text(text.replace(old, new), encoding="utf-8")
        return file

    def assert_refused(self, arguments, *parts):
        _, err = expect(run("host", "topology", *arguments), code=2, out="", err_lines=1)
        for part in parts:
            self.assertIn(part, err)

    def test_this_machine_is_shown_in_one_screen(self):
        out, _ = expect(run("host", "topology"), err="")
        self.assertTrue(out.startswith("this machine"), out)
        self.assertIn("Package ", out)

    def test_every_fixture_can_be_shown_in_every_format(self):
        files = sorted(FIXTURES.glob("*.xml"))
        self.assertGreater(len(files), 5)
        for file in files:
            with self.subTest(file.name):
                self.assertIn("CPUs in", self.show(file.name))
                self.assertGreater(len(json.loads(self.show(file.name, "--format", "json"))["cores"]), 0)
                picture = xml.etree.ElementTree.fromstring(self.show(file.name, "--format", "svg"))
                self.assertEqual(picture.tag, "{http://www.w3.org/2000/svg}svg")

    def test_groups_are_a_table_and_nothing_else(self):
        out = self.show("gpu_groups.xml", "--groups")
        self.assertEqual(out.splitlines()[0], "PCIe Topology:")
        self.assertEqual(len(out.splitlines()), 3)
        self.assertEqual(len(json.loads(self.show("gpu_groups.xml", "--groups", "--format", "json"))), 2)

    def test_published_groups_are_printed_byte_for_byte(self):
        captured = ROOT.parent / "shared/topologies"
        if not (captured / "p5.48xlarge.xml").exists():
            self.skipTest(f"{captured} is not there: it is not in the repository")
        out, _ = expect(run("host", "topology", "--from", str(captured / "p5.48xlarge.xml"), "--groups"), err="")
        self.assertEqual(out, (captured / "p5.48xlarge.groups.txt").read_text(encoding="utf-8"))

    def test_output_goes_to_the_file(self):
        file = self.folder / "machine.svg"
        self.assertEqual(self.show("hybrid.xml", "--format", "svg", "--output", str(file)), "")
        self.assertEqual(file.read_text(encoding="utf-8"), self.show("hybrid.xml", "--format", "svg"))

    def test_a_file_that_cannot_be_written_is_named(self):
        file = self.folder / "no/such/folder/x"
        self.assert_refused(["--from", str(FIXTURES / "hybrid.xml"), "--output", str(file)], str(file), "No such file")

    def test_the_plan_of_a_configuration_is_drawn_into_it(self):
        config = self.folder / "engine.toml"
        config.write_text(CONFIG, encoding="utf-8")
        self.assertIn("nfx-poll-0", self.show("core_complexes.xml", "--plan", str(config)))
        picture = self.show("core_complexes.xml", "--plan", str(config), "--format", "svg")
        self.assertIn("nfx-poll-0", picture)
        self.assertIn("housekeeping", picture)

    def test_a_folder_is_the_root_of_a_machine(self):
        cpu = self.folder / "sys/devices/system/cpu"
        cpu.mkdir(parents=True)
        (cpu / "online").write_text("0-2\n", encoding="utf-8")
        expect(run("host", "topology", "--from", str(self.folder)), out="3 CPUs in 3 cores", err="")

    def test_a_folder_without_cpus_is_refused_by_name(self):
        self.assert_refused(["--from", str(self.folder)], str(self.folder), "sys/devices/system/cpu/online")

    def test_hwlocs_complaint_is_part_of_the_message(self):
        file = self.changed("hybrid.xml", 'type="Package"', 'type="Pickage"')
        self.assert_refused(["--from", str(file)], str(file), "unrecognized object type string Pickage")

    def test_a_file_that_stops_hwloc_is_refused(self):
        file = self.changed("hybrid.xml", 'cpuset="0x00000001"', 'cpuset="0x00000000"')
        self.assert_refused(["--from", str(file)], str(file), "is not a topology that hwloc can read")

    def test_what_is_not_xml_is_refused(self):
        self.assert_refused(["--from", str(pathlib.Path(__file__))], "host_topology_test.py", "not ")
        self.assert_refused(["--from", str(self.folder / "none.xml")], "none.xml: No such file or directory")

    def test_groups_have_no_picture(self):
        self.assert_refused(["--groups", "--format", "svg"], "--groups")


if __name__ == "__main__":
    unittest.main()
