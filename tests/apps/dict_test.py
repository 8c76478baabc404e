"""nfx dict: what it reports of dictionaries, and what it learns from logs."""
import pathlib
import unittest

from support import FolderTest, expect, fix, run, run_in

SHIPPED = pathlib.Path(__file__).resolve().parent.parent.parent / "dictionaries"
IRREGULAR = pathlib.Path(__file__).resolve().parents[1] / "fix/dictionary/irregular"

HEADER = [(34, 2), (49, "CLIENT"), (56, "VENUE"), (52, "20240102-12:00:00.000")]
PARTIES = [(453, 2), (448, "firm"), (447, "D"), (452, 1), (448, "desk"), (447, "D"), (452, 3)]
ORDER = [(11, "abc"), (55, "IBM"), (54, 1), (60, "20240102-12:00:00"), (38, 100), (40, 2), (44, "12.5")]


def message(kind, body, begin="FIX.4.4", header=()):
    return fix([(35, kind), *HEADER[:2], *header, *HEADER[2:], *body], begin) + b"\n"


# Ten tags that FIX 4.4 does not have: 9731 and 9732 within the entries of NoPartyIDs, 9739 in the header.
def order(serial, extra=()):
    parties = [(453, 2), (448, "firm"), (9731, serial), (447, "D"), (452, 1),
               (448, "desk"), (9731, 7), (447, "D"), (452, 3), (9732, "x y")]
    if serial % 2:
        # The second tag of the group shows itself within an entry only here.
        parties = [(453, 2), (448, "firm"), (447, "D"), (9732, "z"), (448, "desk"), (447, "D"), (452, 3)]
    return message("D", [*ORDER, *parties, (9730, f"text {serial}"), (9733, f"{serial}.25"), *extra],
                   header=[(9739, "route")])


LOG = b"".join([
    b"some other line\n",
    order(1), order(2), order(3, [(9734, "20240102-12:00:00")]), order(4, [(9735, "0012")]),
    message("8", [(37, "o1"), (17, "e1"), (150, "0"), (39, "0"), (55, "IBM"), (54, 1), (151, 100), (14, 0), (6, 0),
                  (9736, -5), (9737, "Y"), (9738, "12:30:00")]),
])


class Files(FolderTest):
    def path(self, name, content=None):
        path = self.folder / name
        if content is not None:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def learn(self, log, *options, base="FIX44.xml"):
        """Learns from the log; gives exit code, output, and the overlay's text and path."""
        overlay = self.path("learned.xml")
        code, out, err = run("dict", "learn", self.path("venue.log", log), "--base", base, "--out", overlay, *options)
        self.assertEqual(err, "")
        return code, out, pathlib.Path(overlay).read_text(), overlay

    def assert_all_valid(self, log, overlay):
        expect(run("decode", "--validate", "--summary", "--dictionary", overlay, self.path("venue.log", log)),
               out="0 bad, 0 invalid", err="")


class Learn(Files):
    def test_an_overlay_makes_a_log_with_ten_undeclared_tags_valid(self):
        self.assertEqual(run("decode", "--validate", "--summary", self.path("venue.log", LOG))[0], 1)
        code, out, overlay, path = self.learn(LOG)
        self.assertEqual(code, 0, out)
        self.assertEqual(overlay.count("<field number="), 10, overlay)
        self.assertIn("5 of 5 messages are valid with the overlay", out)
        self.assert_all_valid(LOG, path)

    def test_messages_with_a_wrong_body_length_or_check_sum_are_learned_from_and_counted(self):
        wrong = b"".join([order(1), fix([(35, "D"), *HEADER, *ORDER, (9730, "text")], sum_off=1) + b"\n",
                          fix([(35, "D"), *HEADER, *ORDER, (9739, 5)], length_off=7) + b"\n",
                          b"8=FIX.4.4|9=100|35=A|49=A|56=B|34=1|52=20240105-10:00:00|98=0|108=30|553=****|9740=x|10=000|\n",
                          b"8=FIX.4.4|9=***|35=0|49=A|56=B|34=1|52=20240105-10:00:00|9741=x|10=***|\n"])
        _, out, overlay, _ = self.learn(wrong)
        for tag in ["9730", "9739", "9740", "9741"]:
            self.assertIn(f'number="{tag}"', overlay)
        self.assertIn("4 of 5 messages have a wrong BodyLength or CheckSum, as in a log with masked values", out)
        self.assertNotIn("cannot be read", out)

    def test_a_log_in_utf16_with_brackets_is_learned_from(self):
        log = ("sent " + fix([(35, "D"), *HEADER, *ORDER, (9730, "text")], separator="[SOH]").decode() + "\r\n").encode("utf-16")
        self.assertIn('number="9730"', self.learn(log)[2])

    def test_files_in_the_current_folder_need_no_path(self):
        self.path("venue.log", LOG)
        pathlib.Path(self.path("base.xml")).write_bytes((SHIPPED / "FIX44.xml").read_bytes())
        expect(run_in(self.folder, "dict", "learn", "venue.log", "--base", "base.xml", "--out", "out.xml"), err="")
        self.assertIn('base="base.xml"', pathlib.Path(self.path("out.xml")).read_text())

    def test_an_overlay_that_cannot_be_written_is_one_line(self):
        for out, part in [("none/out.xml", "No such file or directory"), (".", "Is a directory")]:
            code, _, err = run_in(self.folder, "dict", "learn", self.path("venue.log", LOG), "--base", "FIX.4.4", "--out", out)
            self.assertEqual((code, err.count("\n")), (2, 1), err)
            self.assertTrue(err.startswith(f"nfx: cannot write {out}: {part}"), err)

    def test_tags_within_entries_belong_to_the_group_after_the_field_they_followed(self):
        _, _, overlay, _ = self.learn(LOG)
        group = overlay[overlay.index('<group name="NoPartyIDs">'):overlay.index("</group>")]
        self.assertIn('<field name="Tag9731" required="N" after="PartyID"/>', group)
        self.assertIn('<field name="Tag9732" required="N" after="PartyRole"/>', group)
        self.assertEqual(group.count("<field"), 2)
        header = overlay[overlay.index("<header>"):overlay.index("</header>")]
        self.assertIn("Tag9739", header)

    def test_types_are_guessed_and_texts_in_doubt(self):
        _, _, overlay, _ = self.learn(LOG)
        for tag, kind in [(9730, "STRING"), (9731, "INT"), (9732, "STRING"), (9733, "FLOAT"), (9734, "UTCTIMESTAMP"),
                          (9735, "STRING"), (9736, "INT"), (9737, "STRING"), (9738, "UTCTIMEONLY")]:
            self.assertIn(f'<field number="{tag}" name="Tag{tag}" type="{kind}"/>', overlay)

    def test_known_tags_values_and_message_types_are_learned_too(self):
        log = (message("D", [*ORDER, (371, 5)]) + message("D", [(k, "Z" if k == 54 else v) for k, v in ORDER]) +
               message("U7", [*ORDER, *PARTIES, (9730, 1)]))
        code, out, overlay, path = self.learn(log)
        self.assertEqual(code, 0, out)
        self.assertIn("371 RefTagID is not a field of NewOrderSingle (once): added", out)
        self.assertIn("54 Side has Z outside its list (once): added", out)
        self.assertIn("message type U7 is not in the dictionary (once): added", out)
        self.assertIn('<message name="MessageU7" msgtype="U7" msgcat="app">', overlay)
        self.assert_all_valid(log, path)

    def test_a_group_of_undeclared_fields_is_recognised(self):
        log = (message("D", [*ORDER, (9800, 1), (9801, "a"), (9802, 1), (9810, "behind")]) +
               message("D", [*ORDER, (9800, 2), (9801, "a"), (9802, 1), (9801, "b"), (9802, 2), (9810, "behind")]))
        code, out, overlay, path = self.learn(log)
        self.assertEqual(code, 0, out)
        self.assertIn('<field number="9800" name="Tag9800" type="NUMINGROUP"/>', overlay)
        group = overlay[overlay.index('<group name="Tag9800"'):overlay.index("</group>")]
        self.assertIn("Tag9801", group)
        self.assertIn("Tag9802", group)
        self.assertNotIn("Tag9810", group)
        self.assert_all_valid(log, path)

    def test_what_an_overlay_does_not_fix_is_named(self):
        log = message("D", ORDER[1:])
        code, out, _, _ = self.learn(log)
        self.assertEqual(code, 1)
        self.assertIn("0 of 1 messages are valid with the overlay", out)
        self.assertIn("D: Required tag missing (11), 1 messages", out)

    def test_a_log_of_fixt_is_compared_with_transport_and_application(self):
        log = (message("A", [(98, 0), (108, 30), (1137, 9), (9900, "in Logon")], "FIXT.1.1") +
               message("D", [*ORDER, (9901, "in an order")], "FIXT.1.1"))
        code, out, overlay, path = self.learn(log, "--transport", "FIXT11.xml", base="FIX50SP2.xml")
        self.assertEqual(code, 0, out)
        self.assertIn('base="FIX50SP2.xml" transport="FIXT11.xml"', overlay)
        self.assert_all_valid(log, path)

    def learn_without_base(self, log, *options):
        overlay = self.path("learned.xml")
        out, _ = expect(run("dict", "learn", self.path("venue.log", log), "--out", overlay, *options), err="")
        return out, pathlib.Path(overlay).read_text(), overlay

    def test_without_a_base_the_version_of_most_messages_chooses_it(self):
        log = LOG + message("0", [], "FIX.4.2") + message("0", [], "FIX.4.9")
        out, overlay, path = self.learn_without_base(log)
        self.assertIn("compared with FIX44.xml, the version of most messages", out)
        self.assertIn("2 messages are not FIX.4.4: left out", out)
        self.assertIn('base="FIX44.xml"', overlay)
        self.assert_all_valid(LOG, path)

    def test_without_a_base_fixt_is_recognised_by_appl_ver_id_or_by_the_logons_default(self):
        logon = message("A", [(98, 0), (108, 30), (1137, 8)], "FIXT.1.1")
        orders = message("D", [*ORDER, (9901, "x")], "FIXT.1.1")
        out, overlay, path = self.learn_without_base(logon + orders)
        self.assertIn("compared with FIXT11.xml and FIX50SP1.xml", out)
        self.assertIn('base="FIX50SP1.xml" transport="FIXT11.xml"', overlay)
        self.assert_all_valid(logon + orders, path)
        named = message("D", [*ORDER, (9901, "x")], "FIXT.1.1", header=[(1128, 7)])
        self.assertIn('base="FIX50.xml"', self.learn_without_base(logon + named)[1])
        self.assertIn('base="FIX50SP2.xml"', self.learn_without_base(orders)[1])

    def test_where_no_version_is_known_or_standard_input_is_read_a_base_has_to_be_given(self):
        code, _, err = run("dict", "learn", self.path("venue.log", message("0", [], "FIX.4.9")))
        self.assertEqual((code, err.count("\n")), (1, 1), err)
        self.assertIn("venue.log: no message has a BeginString(8) that a dictionary is shipped for; give one with --base", err)
        expect(run("dict", "learn", "-", data=LOG), code=2, err="--base is needed with standard input", err_lines=1)
        expect(run("dict", "learn", self.path("empty.log", b"nothing")), code=1, err="empty.log: no FIX message found")

    def test_findings_are_bounded_and_the_bound_is_reported(self):
        log = b"".join(message("D", [*ORDER, *((tag, 1) for tag in range(start, start + 2000))])
                       for start in range(10000, 14000, 2000))
        code, out, overlay, _ = self.learn(log)
        self.assertEqual(code, 1)
        self.assertIn("too many findings: 3700 times a field was left out", out)
        self.assertEqual(overlay.count("<field number="), 300)

    def test_without_a_file_the_overlay_goes_to_standard_output(self):
        out, err = expect(run("dict", "learn", "-", "--base", "FIX.4.4", data=LOG))
        self.assertTrue(out.startswith("<?xml"))
        self.assertTrue(out.endswith("</overlay>\n"))
        self.assertIn("9730 is unknown: NewOrderSingle (4 times, STRING): added", err)

    def test_a_log_without_messages_is_an_error(self):
        expect(run("dict", "learn", "-", "--base", "FIX44.xml", data=b"nothing here"), code=1,
               err="no FIX message found")


class Check(Files):
    def test_a_shipped_dictionary_is_summed_up(self):
        expect(run("dict", "check", "FIX44.xml"),
               out=["FIX.4.4: 93 messages (8 of the session), 912 fields", "no problems"])

    def test_a_version_names_its_dictionary_and_a_transport_joins_it(self):
        expect(run("dict", "check", "FIX.5.0SP2", "--transport", "FIXT.1.1"),
               out="FIX.5.0SP2 in sessions of FIXT.1.1: 164 messages")

    def test_all_problems_are_reported_together(self):
        path = self.path("bad.xml", """<fix type="FIX" major="4" minor="4">
<header/><trailer/><messages><message name="M" msgtype="M" msgcat="app">
<field name="Nope" required="Y"/>
<field name="A" required="maybe"/></message></messages>
<fields><field number="1" name="A" type="STRNG"/>
<field number="1" name="B" type="INT"/></fields></fix>""")
        out, _ = expect(run("dict", "check", path), code=1)
        for problem in [":3: message M names the field Nope", ":4: required is 'maybe'", ":5: field A has the unknown",
                        ":6: field number 1 already belongs to A"]:
            self.assertIn(path + problem, out)
        self.assertIn(path + ":1: the dictionary has no Logon, Heartbeat", out)
        self.assertIn("5 problems", out)

    def test_overlays_are_checked_with_what_they_change(self):
        overlay = self.path("o.xml", '<overlay><messages><message name="Newz"/></messages></overlay>')
        expect(run("dict", "check", "FIX44.xml", "--overlay", overlay), code=1, out="did you mean News?")

    def test_irregularities_that_are_repaired_are_listed_and_are_no_success(self):
        path = str(IRREGULAR / "values_twice.xml")
        expect(run("dict", "check", path), code=1,
               out=[path + ":45: field Side lists the value '1' twice",
                    "2 problems, repaired when the dictionary is used"])

    def test_session_messages_that_are_missing_are_a_problem(self):
        dictionary = (SHIPPED / "FIX44.xml").read_text(encoding="utf-8")
        start = dictionary.index('<message name="TestRequest"')
        end = dictionary.index("</message>", start) + len("</message>")
        expect(run("dict", "check", path := self.path("own.xml", dictionary[:start] + dictionary[end:])), code=1,
               out=[path + ":",
                    "the dictionary has no TestRequest: taken from FIX44.xml; add them, or write an overlay",
                    "1 problem, repaired when the dictionary is used"])

    def test_other_commands_use_an_irregular_dictionary_and_warn_of_it_once(self):
        path = str(IRREGULAR / "types_in_small_letters.xml")
        code, out, err = run("dict", "diff", path, str(IRREGULAR / "sound.xml"))
        self.assertEqual((code, out), (0, "no differences\n"))
        self.assertIn("(and 13 more like this)", err)
        self.assertEqual(err.count("warning: "), 1, err)

    def test_a_missing_file_is_named(self):
        expect(run("dict", "check", "Nope.xml"), code=1, out="cannot read Nope.xml: ")


class Show(Files):
    def test_a_message_is_printed_with_its_fields_groups_and_conditions(self):
        expect(run("dict", "show", "FIX44.xml", "NewOrderSingle"),
               out=["message D NewOrderSingle\n", "\n  11 ClOrdID STRING, required\n", "\n    448 PartyID STRING\n"])
        orchestra = self.path("o.xml", """<repository name="Rules" version="1.0"><fields>
<field id="40" name="OrdType" type="char"/><field id="44" name="Price" type="Price"/></fields><messages>
<message name="Order" msgType="D"><structure><fieldRef id="40" presence="required"/><fieldRef id="44" presence="conditional">
<rule name="r" presence="required"><when>OrdType == ^Limit</when></rule></fieldRef></structure></message></messages>
</repository>""")
        expect(run("dict", "show", orchestra, "D", "--fix-version", "FIX.4.4"),
               out="rule: message Order, field Price required when OrdType == ^Limit\n")
        out, err = expect(run("dict", "show", orchestra, "D"), code=2)
        self.assertIn("version '1.0' is the file's own; give the FIX version, such as --fix-version FIX.4.4", out + err)

    def test_a_field_is_printed_with_its_values(self):
        expect(run("dict", "show", "FIX44.xml", "54"), out="field 54 Side CHAR\n  1 BUY\n")
        expect(run("dict", "show", "FIX44.xml", "Syde"), code=1, err="no message or field Syde")


class Diff(Files):
    def test_a_dictionary_is_the_same_as_itself(self):
        self.assertEqual(run("dict", "diff", "FIX44.xml", "FIX.4.4"), (0, "no differences\n", ""))

    def test_each_kind_of_difference_has_a_line(self):
        overlay = self.path("o.xml", """<overlay base="FIX44.xml">
<fields><field number="9730" name="Flag" type="INT"/><field number="44" type="STRING"/>
<field number="54"><value enum="Z" description="ODD"/><value enum="9" remove="Y"/></field></fields>
<messages><message name="News"><field name="Flag" required="Y"/><field name="Headline" required="N"/></message>
<message name="Ping" msgtype="U1"><field name="Text"/></message>
<message name="NewOrderSingle"><group name="NoPartyIDs"><field name="Flag" after="PartyID"/></group></message>
<message name="Email" remove="Y"/></messages></overlay>""")
        out, _ = expect(run("dict", "diff", "FIX44.xml", overlay), code=1)
        for line in ["+ field 9730 Flag INT", "~ field 44 Price type: PRICE, then STRING", "+ value 54=Z ODD",
                     "- value 54=9 ", "+ B News: 9730 Flag (required)", "~ B News: 148 Headline required: Y, then N",
                     "+ message U1 Ping", "- message C Email", "+ D NewOrderSingle/453 NoPartyIDs: 9730 Flag"]:
            self.assertIn("\n" + line, "\n" + out)
        self.assertTrue(out.endswith("\n9 differences\n"), out)


class DecodeFixt(unittest.TestCase):
    def kinds(self, log):
        return run("decode", "--validate", "--one-line", "--color", "never", "-", data=log)

    def test_a_message_may_have_its_own_version(self):
        expect(self.kinds(message("6", [(1128, 7)], "FIXT.1.1") + message("CX", [(1128, 9)], "FIXT.1.1")), code=1,
               out="PartyDetailsDefinitionRequest")

    def test_the_logon_specifies_the_version_of_its_sender(self):
        logon = message("A", [(98, 0), (108, 30), (1137, 7)], "FIXT.1.1")
        # FIX 5.0 has no such message, FIX 5.0 SP2 does.
        strange = message("CX", [], "FIXT.1.1")
        self.assertIn("PartyDetailsDefinitionRequest", self.kinds(strange)[1])
        out = self.kinds(logon + strange)[1]
        self.assertNotIn("PartyDetailsDefinitionRequest", out)
        self.assertIn("Invalid MsgType", out)


if __name__ == "__main__":
    unittest.main()
