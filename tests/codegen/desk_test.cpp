// README's program receives messages of every type of FIX 4.4, with random fields that the dictionary allows. Each gets
// one answer, which the dictionary allows too, and the session continues.
#include <cstdlib>
#include <random>

#define main desk_main
#include "../../examples/desk.cpp"
#undef main
#include "desk_rig.hpp"
#include "nexusfix/fix42/news.hpp"
#include "support.hpp"

namespace nfx::codegen_test {
namespace {

const Dictionary& fix44_dictionary() {
  static const Dictionary dictionary = load_dictionary(
      DictionaryFiles{.transport = {}, .application = NFX_SOURCE_DIR "/dictionaries/FIX44.xml", .overlays = {}});
  return dictionary;
}

class RandomMessage {
 public:
  RandomMessage(const MessageDef& message, std::uint64_t seed) : random_(seed) { add(message.scope, 0); }

  [[nodiscard]] const std::string& body() const noexcept { return body_; }

 private:
  [[nodiscard]] std::size_t below(std::size_t limit) { return random_() % limit; }

  void add(const Scope& scope, int depth) {
    const auto members = scope.members();
    for (std::size_t i = 0; i < members.size(); ++i) {
      const MemberDef& member = members[i];
      if (member.section != Section::body) continue;
      // A group's entry begins with its first field.
      const bool first_of_entry = depth > 0 && i == 0;
      const bool wanted = member.required || first_of_entry || below(depth > 2 ? 20 : 4) == 0;
      const bool is_length = member.field->type == FieldType::length && i + 1 < members.size() &&
                             format_of(members[i + 1].field->type) == ValueFormat::data;
      if (is_length) {
        if (wanted || members[i + 1].required) {
          const std::string data = "a\001b=c" + std::string(below(9), 'd');
          put(member.tag, std::to_string(data.size()));
          put(members[i + 1].tag, data);
        }
        ++i;
      } else if (wanted && member.group != nullptr) {
        // If the numbers of entries are listed, as for NoSides(552), they are one or two.
        const std::size_t entries = 1 + below(member.field->values.empty() ? 3 : 2);
        put(member.tag, std::to_string(entries));
        for (std::size_t each = 0; each < entries; ++each) add(member.group->scope, depth + 1);
      } else if (wanted) {
        put(member.tag, value_of(*member.field));
      }
    }
  }
  void put(Tag tag, std::string_view text) { body_ += std::to_string(value(tag)) + '=' + std::string{text} + soh; }

  std::string value_of(const FieldDef& field) {
    const auto values = field.values.all();
    if (!values.empty()) return std::string{values[below(values.size())].value};
    switch (format_of(field.type)) {
      case ValueFormat::integer:
      case ValueFormat::number:
      case ValueFormat::sequence_number: return std::to_string(below(1'000'000));
      case ValueFormat::day_of_month: return std::to_string(1 + below(31));
      case ValueFormat::decimal: return std::to_string(below(1'000'000)) + (below(2) == 0 ? "" : ".25");
      case ValueFormat::character: return std::string(1, static_cast<char>('a' + below(26)));
      case ValueFormat::boolean: return below(2) == 0 ? "Y" : "N";
      case ValueFormat::character_list: return "a b";
      case ValueFormat::month_year: return "202403";
      case ValueFormat::timestamp: return "20240315-12:00:00.125";
      case ValueFormat::time: return "12:00:00";
      case ValueFormat::local_time: return "12:00:00";
      case ValueFormat::date: return "20240315";
      case ValueFormat::zoned_time: return "12:00Z";
      case ValueFormat::zoned_timestamp: return "20240315-12:00:00Z";
      case ValueFormat::text:
      case ValueFormat::text_list:
      case ValueFormat::data: return std::string(1 + below(40), static_cast<char>('A' + below(26)));
    }
    return "1";
  }

  std::mt19937_64 random_;
  std::string body_;
};

struct DeskOfReadme : ::testing::TestWithParam<std::uint64_t>, DeskRig<Desk> {};

void expect_valid(const MessageView& message) {
  ValidationReport report;
  const auto violation = validate(message, fix44_dictionary(), ValidationPolicy::strict(), report);
  EXPECT_FALSE(violation) << to_text(violation->reason) << ' ' << value(violation->tag) << " in " << message.bytes();
}

TEST_P(DeskOfReadme, answers_every_message_of_the_dictionary) {
  std::mt19937_64 random{GetParam()};
  for (const MessageDef& type : fix44_dictionary().messages()) {
    if (type.admin) continue;
    for (int i = 0; i < 10; ++i) {
      const std::string body = RandomMessage{type, random()}.body();
      const Received message{type.msg_type, body};
      expect_valid(message.view());
      const SeqNum number = trader.next_number();
      trader.send({type.msg_type, body});
      network.run();
      const auto answers = trader.received();
      ASSERT_EQ(answers.size(), type.msg_type == "j" ? 0U : 1U) << body;
      if (answers.empty()) continue;
      const nfx::testing::Received& answer = answers.front();
      expect_valid(answer.view());
      if (type.msg_type == "D" && message.view().has(Tag::OrderQty)) {
        EXPECT_EQ(answer.msg_type(), "8");
        for (const Tag tag : {Tag::ClOrdID, Tag::Symbol, Tag::Side})
          EXPECT_EQ(answer[tag], message.view().get_view(tag)) << body << answer.text();
        EXPECT_EQ(answer.view().get_decimal(Tag::LeavesQty), message.view().get_decimal(Tag::OrderQty));
        continue;
      }
      EXPECT_EQ(answer.msg_type(), "j") << body;
      EXPECT_EQ(answer.view().get_seq_num(Tag::RefSeqNum), number) << answer.text();
      EXPECT_EQ(answer[Tag::RefMsgType], type.msg_type) << answer.text();
      EXPECT_EQ(answer[Tag::BusinessRejectReason], type.msg_type == "D" ? "5" : "3") << body;
    }
  }
}

TEST(DeskOfReadme, does_not_send_a_message_of_another_version) {
  DeskRig<Desk> rig;
  const SeqNum before = rig.session().next_outbound();
  auto news = rig.session().create<fix42::News>();
  news.headline("halted");
  EXPECT_FALSE(news.ok());
  EXPECT_EQ(news.why(), "the message is of another FIX version than the session");
  EXPECT_EQ(news.send().error(), SendError::other_version);
  EXPECT_EQ(rig.session().next_outbound(), before);
}

// Eight seeds, from NFX_TEST_SEED on.
std::uint64_t first_seed() {
  const char* const text = std::getenv("NFX_TEST_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

INSTANTIATE_TEST_SUITE_P(seeds, DeskOfReadme, ::testing::Range(first_seed(), first_seed() + 8),
                         [](const auto& each) { return "seed_" + std::to_string(each.param); });

}  // namespace
}  // namespace nfx::codegen_test
