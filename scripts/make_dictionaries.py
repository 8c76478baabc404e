#!/usr/bin/env python3
"""Writes dictionaries/<version>.xml from public specification data. Run by hand, never by the build.

Source: the `spec` folder of the QuickFIX source package on PyPI, fetched with pip into a temporary folder, or a
folder given with --spec. Only facts are taken: field numbers, names and types, enumerated values and their names,
which fields a message, group or component has, in which order, and which are required. They are written in the same
XML format, so that other tools can read our files and we can read theirs.

What is put right on the way, so that a validating engine can rely on the files:
  * a field that counts a repeating group has the type NUMINGROUP (FIX 4.0 to 4.2 only had INT);
  * sequence numbers have the type SEQNUM (the same);
  * a field stands once in a message, group or component, however often the source repeats it;
  * placeholders such as "ISO Country Code" in a list of values are no values: they leave the list, and the field is
    marked allowOtherValues="Y";
  * components without fields, or that nothing refers to, are left out;
  * what put_right() lists: places where the source contradicts the specification, or itself.

The output depends on the source alone: fields by number, messages by category and type, components by name.

    scripts/make_dictionaries.py                      # every version that dictionaries/ has, into that folder
    scripts/make_dictionaries.py FIX50SP2 FIXT11      # only these
    scripts/make_dictionaries.py --out /tmp/dictionaries
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as ElementTree
from xml.sax.saxutils import quoteattr

PACKAGE = "quickfix"
PACKAGE_VERSION = "1.16.0"
ALL_VERSIONS = sorted(file.stem for file in (pathlib.Path(__file__).parent.parent / "dictionaries").glob("*.xml"))

# Fields that FIX 4.3 and later give the type SeqNum, by number.
SEQUENCE_NUMBERS = {7, 16, 34, 36, 45, 369, 630, 789}

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
VALUE = re.compile(r"[!-<>-~]+")  # printable, no space, no '='


class SpecificationError(Exception):
    pass


# The group of FIXT 1.1's Logon that the source leaves out: (name, number, type, values).
MSG_TYPE_GROUP = [
    ("RefMsgType", 372, "STRING", []),
    ("MsgDirection", 385, "CHAR", [("R", "RECEIVE"), ("S", "SEND")]),
    ("RefApplVerID", 1130, "STRING", []),
    ("RefApplExtID", 1406, "INT", []),
    ("RefCstmApplVerID", 1131, "STRING", []),
    ("DefaultVerIndicator", 1410, "BOOLEAN", [("N", "NO"), ("Y", "YES")]),
]


def put_right(version, root):
    """Changes what the source has wrong. Each step names what is wrong and fails once the source is right."""
    fields = {node.get("name"): node for node in root.find("fields")}
    messages = {node.get("name"): node for node in root.find("messages")}
    if version in ("FIX40", "FIX41"):
        # "If more than one instruction is applicable to an order, this field can contain multiple instructions
        # separated by space": a list from the first version on, which the types of 4.0 and 4.1 have no name for.
        expect(fields["ExecInst"].get("type") == "CHAR", "ExecInst is a list already")
        fields["ExecInst"].set("type", "MULTIPLEVALUESTRING")
    if version == "FIX40":
        # Text repeats as often as LinesOfText says, as 4.1 spells out with a group.
        for name in ("News", "Email"):
            lines = messages[name].find("field[@name='LinesOfText']")
            text = messages[name].find("field[@name='Text']")
            expect(lines is not None and text is not None, f"{name} has LinesOfText as a group already")
            messages[name].remove(text)
            lines.tag = "group"
            lines.append(text)
    if version == "FIX43":
        # NoRpts is the number of messages that make up one status, not of entries.
        expect(fields["NoRpts"].get("type") == "NUMINGROUP", "NoRpts is no count already")
        fields["NoRpts"].set("type", "INT")
    if version == "FIX50SP2":
        # The list is a sample of three: which BeginString is right, the session decides.
        expect(len(fields["BeginString"]) == 3, "BeginString has another list")
        for value in list(fields["BeginString"]):
            fields["BeginString"].remove(value)
    if version in ("FIX50SP1", "FIX50SP2"):
        for value in fields["MsgType"]:
            if value.get("description") == "XM_LNON_FIX":
                value.set("description", "XML_NON_FIX")
    if version == "FIXT11":
        logon = messages["Logon"]
        expect(logon.find("group[@name='NoMsgTypes']") is None, "Logon has its message types already")
        after = [node.get("name") for node in logon].index("MaxMessageSize")
        group = ElementTree.Element("group", name="NoMsgTypes", required="N")
        logon.insert(after + 1, group)
        for name, number, kind, values in [("NoMsgTypes", 384, "NUMINGROUP", []), *MSG_TYPE_GROUP]:
            if name != "NoMsgTypes":
                ElementTree.SubElement(group, "field", name=name, required="N")
            if name not in fields:
                field = ElementTree.SubElement(root.find("fields"), "field", number=str(number), name=name, type=kind)
                for value, description in values:
                    ElementTree.SubElement(field, "value", enum=value, description=description)


def expect(condition, otherwise):
    if not condition:
        raise SpecificationError(f"{otherwise}: take that step out of put_right()")


class Specification:
    """One version's facts, checked to refer only to what they define."""

    def __init__(self, root):
        self.attributes = {key: root.get(key) for key in ("type", "major", "minor", "servicepack")}
        self.source_components = {node.get("name"): node for node in root.find("components")}
        self.number_of = {node.get("name"): int(node.get("number")) for node in root.find("fields")}
        self.counts = set()
        self.used_components = {}
        self.header = self.members(root.find("header"), "header")
        self.trailer = self.members(root.find("trailer"), "trailer")
        self.messages = [self.message(node) for node in root.find("messages")]
        self.messages.sort(key=lambda m: (m["msgcat"] != "admin", len(m["msgtype"]), m["msgtype"]))
        self.fields = sorted((self.field(node) for node in root.find("fields")), key=lambda f: f["number"])
        self.check_unique("field number", [f["number"] for f in self.fields])
        self.check_unique("field name", [f["name"] for f in self.fields])
        self.check_unique("message type", [m["msgtype"] for m in self.messages])

    @staticmethod
    def check_unique(what, values):
        twice = {value for value in values if values.count(value) > 1}
        if twice:
            raise SpecificationError(f"{what} defined twice: {sorted(twice)}")

    def message(self, node):
        return {
            "name": self.checked_name(node.get("name")),
            "msgtype": node.get("msgtype"),
            "msgcat": node.get("msgcat"),
            "members": self.members(node, node.get("name")),
        }

    def members(self, node, where):
        """The members of a header, trailer, message, group or component: (kind, name, required, members)."""
        result = []
        seen = set()
        # A component's own mention of a field wins over a direct one, which would otherwise stand there twice.
        inside_components = set()
        for child in node:
            if child.tag == "component":
                inside_components |= self.field_names(child.get("name"), ())
        for child in node:
            name = child.get("name")
            if child.tag == "component":
                if not self.field_names(name, ()):
                    continue
                self.use_component(name)
                result.append(("component", name, child.get("required"), None))
                continue
            if name not in self.number_of:
                raise SpecificationError(f"{where}: field {name} is not defined")
            if name in seen or name in inside_components:
                continue
            seen.add(name)
            inner = None
            if child.tag == "group":
                self.counts.add(name)
                inner = self.members(child, f"{where}/{name}")
                if not inner:
                    raise SpecificationError(f"{where}: group {name} has no fields")
            result.append((child.tag, name, child.get("required"), inner))
        return result

    def field_names(self, component, path):
        """Names of the fields and groups that a component puts into the place that refers to it."""
        if component not in self.source_components:
            raise SpecificationError(f"component {component} is not defined")
        if component in path:
            raise SpecificationError(f"component {component} contains itself")
        names = set()
        for child in self.source_components[component]:
            if child.tag == "component":
                names |= self.field_names(child.get("name"), (*path, component))
            else:
                names.add(child.get("name"))
        return names

    def use_component(self, name):
        if name not in self.used_components:
            self.used_components[name] = None  # against recursion through groups
            self.used_components[name] = self.members(self.source_components[name], name)

    def field(self, node):
        number = int(node.get("number"))
        name = self.checked_name(node.get("name"))
        kind = node.get("type")
        if name in self.counts:
            kind = "NUMINGROUP"
        elif number in SEQUENCE_NUMBERS and kind == "INT":
            kind = "SEQNUM"
        values = []
        is_open = False
        for value in node:
            text = value.get("enum")
            if VALUE.fullmatch(text):
                values.append((text, self.checked_name(value.get("description").upper(), digits_first=True)))
            else:
                is_open = True
        self.check_unique(f"value of {name}", [value for value, _ in values])
        return {"number": number, "name": name, "type": kind, "values": values, "open": is_open}

    @staticmethod
    def checked_name(name, digits_first=False):
        if not NAME.fullmatch("X" + name if digits_first else name):
            raise SpecificationError(f"{name!r} is no name")
        return name


def member_lines(members, depth):
    indent = "  " * depth
    for kind, name, required, inner in members:
        start = f'{indent}<{kind} name={quoteattr(name)} required={quoteattr(required)}'
        if inner is None:
            yield start + "/>"
        else:
            yield start + ">"
            yield from member_lines(inner, depth + 1)
            yield f"{indent}</{kind}>"


def element_lines(tag, attributes, members, depth):
    indent = "  " * depth
    start = indent + "<" + tag + "".join(f" {key}={quoteattr(value)}" for key, value in attributes)
    if not members:
        yield start + "/>"
        return
    yield start + ">"
    yield from member_lines(members, depth + 1)
    yield f"{indent}</{tag}>"


def field_lines(field):
    start = f'    <field number="{field["number"]}" name={quoteattr(field["name"])} type={quoteattr(field["type"])}'
    if field["open"]:
        start += ' allowOtherValues="Y"'
    if not field["values"]:
        yield start + "/>"
        return
    yield start + ">"
    for value, name in field["values"]:
        yield f"      <value enum={quoteattr(value)} description={quoteattr(name)}/>"
    yield "    </field>"


def document_lines(version, specification):
    attributes = " ".join(f'{key}="{value}"' for key, value in specification.attributes.items())
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield "<!--"
    yield f"  {version}: messages, fields, types and values, as facts of the FIX specification."
    yield f"  Source: spec/{version}.xml of the PyPI package {PACKAGE} {PACKAGE_VERSION}, normalised."
    yield "  Written by scripts/make_dictionaries.py: change that, not this file."
    yield "-->"
    yield f"<fix {attributes}>"
    yield from element_lines("header", [], specification.header, 1)
    yield "  <messages>"
    for message in specification.messages:
        yield from element_lines("message", [(key, message[key]) for key in ("name", "msgtype", "msgcat")],
                                 message["members"], 2)
    yield "  </messages>"
    yield from element_lines("trailer", [], specification.trailer, 1)
    yield "  <components>"
    for name in sorted(specification.used_components):
        yield from element_lines("component", [("name", name)], specification.used_components[name], 2)
    yield "  </components>"
    yield "  <fields>"
    for field in specification.fields:
        yield from field_lines(field)
    yield "  </fields>"
    yield "</fix>"


def fetch_specification(folder):
    """Downloads the source package and unpacks its spec files."""
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:",
                    "--dest", str(folder), f"{PACKAGE}=={PACKAGE_VERSION}"], check=True)
    archive = folder / f"{PACKAGE}-{PACKAGE_VERSION}.tar.gz"
    with tarfile.open(archive) as package:
        for member in package.getmembers():
            path = pathlib.PurePosixPath(member.name)
            if member.isfile() and path.parent.name == "spec" and path.suffix == ".xml":
                (folder / path.name).write_bytes(package.extractfile(member).read())
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help=f"such as {', '.join(ALL_VERSIONS)} (default: these)")
    parser.add_argument("--spec", type=pathlib.Path, help="folder with the specification files (default: download)")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "dictionaries")
    options = parser.parse_args()
    versions = options.versions or ALL_VERSIONS
    with tempfile.TemporaryDirectory() as temporary:
        spec = options.spec or fetch_specification(pathlib.Path(temporary))
        for version in versions:
            try:
                root = ElementTree.parse(spec / f"{version}.xml").getroot()
                put_right(version, root)
                specification = Specification(root)
            except (OSError, SpecificationError) as error:
                sys.exit(f"{spec / version}.xml: {error}")
            options.out.mkdir(parents=True, exist_ok=True)
            path = options.out / f"{version}.xml"
            path.write_text("\n".join(document_lines(version, specification)) + "\n", encoding="utf-8")
            print(f"{path}: {len(specification.messages)} messages, {len(specification.fields)} fields, "
                  f"{len(specification.used_components)} components")


if __name__ == "__main__":
    main()
