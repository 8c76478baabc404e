// validate() and a validator without shortcuts agree on random messages and policies, violation by violation.
#include <array>
#include <random>

#include "dictionary/plain_validator.hpp"
#include "dictionary/support.hpp"

namespace nfx {
namespace {

using namespace dictionary_test;
using Mode = ValidationMode;

// Cases that shipped dictionaries lack: listed values that their type forbids or that contain the separator, numbers as
// CheckSum and MsgType, tags beyond the directly indexed ones, and a member with a lower tag than its count.
constexpr std::string_view unusual_xml = R"(<fix type="FIX" major="4" minor="4" servicepack="0">
  <header>
    <field name="BeginString" required="Y"/><field name="BodyLength" required="Y"/>
    <field name="MsgType" required="Y"/><field name="MsgSeqNum" required="Y"/>
  </header>
  <messages>
    <message name="Order" msgtype="D" msgcat="app">
      <field name="Letter" required="N"/><field name="Words" required="N"/><field name="Characters" required="N"/>
      <field name="Rank" required="Y"/><field name="Far" required="Y"/><field name="Farther" required="N"/>
      <field name="Price" required="N"/>
      <group name="NoParts" required="N">
        <field name="Part" required="Y"/><field name="Low" required="Y"/><field name="Size" required="N"/>
        <group name="NoBits" required="N"><field name="Bit" required="N"/><field name="Farther" required="N"/></group>
      </group>
    </message>
  </messages>
  <trailer><field name="CheckSum" required="Y"/></trailer>
  <components/>
  <fields>
    <field number="8" name="BeginString" type="STRING"/>
    <field number="9" name="BodyLength" type="LENGTH"/>
    <field number="10" name="CheckSum" type="INT"/>
    <field number="34" name="MsgSeqNum" type="SEQNUM"/>
    <field number="35" name="MsgType" type="STRING"/>
    <field number="20" name="Low" type="INT"/>
    <field number="101" name="Letter" type="CHAR"><value enum="AB" description="TWO"/><value enum="C" description="C"/></field>
    <field number="102" name="Words" type="MULTIPLESTRINGVALUE">
      <value enum="up down" description="BOTH"/><value enum="up" description="UP"/></field>
    <field number="103" name="Characters" type="MULTIPLECHARVALUE">
      <value enum="1" description="ONE"/><value enum="a" description="A"/></field>
    <field number="104" name="Rank" type="INT"><value enum="1" description="ONE"/><value enum="10" description="TEN"/></field>
    <field number="44" name="Price" type="PRICE"/>
    <field number="4999" name="Far" type="INT"/>
    <field number="65000" name="Farther" type="PRICE"/>
    <field number="110" name="NoParts" type="NUMINGROUP"/>
    <field number="111" name="Part" type="STRING"/>
    <field number="112" name="Size" type="QTY"/>
    <field number="113" name="NoBits" type="NUMINGROUP"/>
    <field number="114" name="Bit" type="UTCTIMESTAMP"/>
  </fields>
</fix>)";

const Dictionary& unusual() {
  static const Dictionary dictionary = Dictionary::parse(unusual_xml, "unusual.xml");
  return dictionary;
}

class Generator {
 public:
  Generator(const Dictionary& dictionary, std::uint64_t seed) : dictionary_(dictionary), random_(seed) {}

  // A whole message; most are valid in nearly everything.
  std::string next() {
    const auto messages = dictionary_.messages();
    const MessageDef& def = messages[below(messages.size())];
    fields_.clear();
    for (const bool in_body : {false, true}) {
      for (const MemberDef& member : def.scope.members()) {
        const bool written_by_encoder = member.tag == Tag::BeginString || member.tag == Tag::BodyLength ||
                                        member.tag == Tag::MsgType || member.tag == Tag::CheckSum;
        if (!written_by_encoder && (member.section != Section::header) == in_body && wanted(member.required))
          add(member, 0);
      }
      if (chance(6)) std::shuffle(fields_.begin(), fields_.end(), random_);
    }
    for (std::uint64_t n = below(4); n > 1; --n) spoil();
    std::string text;
    for (const auto& [tag, value] : fields_) text += std::to_string(tag) + '=' + value + '|';
    return message(dictionary_.begin_string(), chance(40) ? "ZZ" : def.msg_type, text);
  }

  ValidationPolicy policy() {
    const auto mode = [this] { return std::array{Mode::strict, Mode::strict, Mode::lenient, Mode::off}[below(4)]; };
    ValidationChecks checks = chance(2) ? ValidationPolicy::strict().checks() : ValidationChecks{};
    checks.groups = std::array{Mode::strict, Mode::lenient, Mode::off}[below(3)];
    if (chance(2)) {
      checks.unknown_fields = mode();
      checks.user_defined_fields = mode();
      checks.fields_not_in_message = mode();
      checks.field_order = mode();
      checks.values_present = mode();
      checks.formats = mode();
      checks.enum_values = mode();
      checks.required_fields = mode();
      checks.group_counts = mode();
      checks.duplicate_fields = mode();
      checks.message_types = mode();
    }
    ValidationPolicy policy{checks, chance(3) ? Mode::lenient : Mode::strict};
    for (std::uint64_t n = below(3); n > 1; --n) {
      const auto fields = dictionary_.fields();
      const Tag tag = chance(3) ? Tag{} : fields[below(fields.size())].tag;
      policy.set(chance(2) ? "D" : "", tag, mode());
    }
    return policy;
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool chance(std::uint64_t one_in) { return below(one_in) == 0; }
  bool wanted(bool required) { return required ? !chance(60) : chance(12); }

  void add(const MemberDef& member, int depth) {
    if (member.group == nullptr) {
      fields_.emplace_back(value(member.tag), value_of(*member.field));
      return;
    }
    const std::uint64_t entries = below(4);
    const std::uint64_t declared = chance(25) ? below(5) : entries;
    fields_.emplace_back(value(member.tag), std::to_string(declared));
    for (std::uint64_t i = 0; i < entries; ++i) {
      const auto members = member.group->scope.members();
      std::vector<const MemberDef*> present;
      for (std::size_t at = 0; at < members.size(); ++at) {
        const bool wants = at == 0 ? !chance(60) : wanted(members[at].required);
        if (wants && (members[at].group == nullptr || depth < 3)) present.push_back(&members[at]);
      }
      if (chance(3)) std::shuffle(present.begin(), present.end(), random_);
      for (const MemberDef* each : present) add(*each, depth + 1);
    }
  }

  std::string value_of(const FieldDef& field) {
    const auto listed = field.values.all();
    if (chance(40)) return odd_value();
    if (!listed.empty() && !chance(15)) {
      const std::string one{listed[below(listed.size())].value};
      return chance(4) ? one + ' ' + std::string{listed[below(listed.size())].value} : one;
    }
    switch (field.type) {
      case FieldType::integer:
      case FieldType::length:
      case FieldType::seq_num:
      case FieldType::tag_num: return digits(1 + below(10));
      case FieldType::quantity:
      case FieldType::price:
      case FieldType::float_number:
      case FieldType::amount: return number();
      case FieldType::utc_timestamp: return timestamp();
      case FieldType::boolean: return chance(2) ? "Y" : "N";
      case FieldType::character: return "x";
      case FieldType::utc_date_only:
      case FieldType::local_mkt_date: return "20240102";
      case FieldType::month_year: return "202401";
      default: return "text";
    }
  }
  std::string digits(std::uint64_t count) {
    std::string text;
    for (; count > 0; --count) text += static_cast<char>('0' + below(10));
    return text;
  }
  std::string number() {
    std::string text = digits(below(12)) + (chance(2) ? "." : "") + digits(below(11));
    return chance(8) ? '-' + text : text;
  }
  // Close to a valid time, on both sides.
  std::string timestamp() {
    const auto two = [this](std::uint64_t limit) {
      const std::uint64_t n = below(limit);
      return std::string{static_cast<char>('0' + n / 10), static_cast<char>('0' + n % 10)};
    };
    static constexpr std::array years{"2024", "2023", "1900", "2000", "1677", "1678", "2261", "2262", "9999", "0000"};
    const bool near = chance(4);
    std::string text = std::string{years[below(years.size())]} + two(near ? 15 : 12) + two(near ? 34 : 28) + '-' +
                       two(near ? 26 : 24) + ':' + two(near ? 62 : 60) + ':' + two(near ? 63 : 60);
    if (chance(2)) text += '.' + digits(near ? below(15) : 3);
    return text;
  }
  std::string odd_value() {
    static constexpr std::array odd{"",
                                    "Z",
                                    ".",
                                    "-",
                                    "+1",
                                    "1 2",
                                    "A B",
                                    " ",
                                    "\x80",
                                    "12\xBA",
                                    "1.",
                                    ".5",
                                    "00000000",
                                    "123456789",
                                    "0",
                                    "-1234567",
                                    "1234567890123456789",
                                    "1..2",
                                    "12345.678901",
                                    "20240102",
                                    "a",
                                    "up down up",
                                    "up  down"};
    return chance(3) ? number() : odd[below(odd.size())];
  }

  void spoil() {
    if (fields_.empty()) return;
    const std::size_t at = below(fields_.size());
    switch (below(7)) {
      case 0: fields_.erase(fields_.begin() + static_cast<std::ptrdiff_t>(at)); break;
      case 1: fields_.push_back(fields_[at]); break;
      case 2: std::swap(fields_[at], fields_[below(fields_.size())]); break;
      case 3: fields_[at].second = odd_value(); break;
      case 4: fields_[at].first = value(dictionary_.fields()[below(dictionary_.fields().size())].tag); break;
      case 5: fields_[at].first = static_cast<std::int32_t>(below(chance(2) ? 80'000 : 6000)); break;
      case 6: fields_.insert(fields_.begin() + static_cast<std::ptrdiff_t>(at), {4998, "x"}); break;
    }
  }

  const Dictionary& dictionary_;
  std::mt19937_64 random_;
  std::vector<std::pair<std::int32_t, std::string>> fields_;
};

std::string described(const std::optional<Violation>& rejected, std::span<const Violation> tolerated) {
  std::string text = rejected ? testing::PrintToString(*rejected) : "accepted";
  for (const Violation& each : tolerated) text += ", tolerated " + testing::PrintToString(each);
  return text;
}

class Agreement : public testing::TestWithParam<const Dictionary& (*)()> {};

INSTANTIATE_TEST_SUITE_P(, Agreement, testing::Values(&fix42, &fix44, &unusual), [](const auto& suite) {
  return std::string(suite.param == &fix42 ? "FIX42" : suite.param == &fix44 ? "FIX44" : "unusual");
});

// Other messages with --gtest_shuffle and --gtest_repeat.
TEST_P(Agreement, with_a_validator_that_takes_no_shortcut) {
  const Dictionary& dictionary = GetParam()();
  const auto seed = static_cast<std::uint64_t>(testing::UnitTest::GetInstance()->random_seed());
  SCOPED_TRACE("seed " + std::to_string(seed));
  Generator generator{dictionary, seed};
  MessageView view(32768);
  ValidationReport report;
  int accepted = 0, rejected = 0, tolerated = 0;
  for (int i = 0; i < 12'000; ++i) {
    const std::string text = generator.next();
    if (view.parse(text) != WireError::none) continue;  // data fields without the preceding length
    const ValidationPolicy policy = generator.policy();
    const std::optional<Violation> found = validate(view, dictionary, policy, report);
    const PlainVerdict plain = validate_plainly(view, dictionary, policy);
    const std::span<const Violation> kept{plain.tolerated.data(),
                                          std::min(plain.tolerated.size(), ValidationReport::capacity)};
    ASSERT_EQ(described(found, report.violations()), described(plain.rejected, kept)) << text;
    ASSERT_EQ(report.total(), plain.tolerated.size()) << text;
    ++(found ? rejected : report.empty() ? accepted : tolerated);
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(rejected, 1000);
  EXPECT_GT(tolerated, 300);
}

}  // namespace
}  // namespace nfx
