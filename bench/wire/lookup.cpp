// Four ways to find a field by its tag, each built from the tags of a parsed message and then queried 0 to 16 times.
// Building it matters as much as querying it: most messages are queried a few times.

#include "harness/random.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "nexusfix/wire/tag_scan.hpp"
#include "wire/rows.hpp"

namespace nfx::bench {
namespace {

constexpr std::uint32_t npos = UINT32_MAX;
constexpr std::uint32_t fields_max = 512;

using Tags = std::span<const std::int32_t>;

std::uint32_t find_linearly(Tags tags, std::int32_t tag) noexcept {
  for (std::uint32_t i = 0; i < tags.size(); ++i) {
    if (tags[i] == tag) return i;
  }
  return npos;
}

// table[tag] is believed only when the field it names has that tag, so nothing is ever cleared.
class DirectTable {
 public:
  static constexpr const char* name = "table by tag, 128 KiB";

  void build(Tags tags) noexcept {
    tags_ = tags;
    // Backwards, so that the first field with a tag wins.
    for (auto i = static_cast<std::uint32_t>(tags.size()); i-- > 0;) {
      if (static_cast<std::uint32_t>(tags[i]) < size)
        table_[static_cast<std::uint32_t>(tags[i])] = static_cast<std::uint16_t>(i);
    }
  }
  [[nodiscard]] std::uint32_t find(std::int32_t tag) const noexcept {
    if (static_cast<std::uint32_t>(tag) >= size) return find_linearly(tags_, tag);
    const std::uint32_t i = table_[static_cast<std::uint32_t>(tag)];
    return i < tags_.size() && tags_[i] == tag ? i : npos;
  }

 private:
  static constexpr std::uint32_t size = 65536;
  Tags tags_;
  std::unique_ptr<std::uint16_t[]> table_ = std::make_unique<std::uint16_t[]>(size);
};

// Open addressing; a slot of an older message is empty by its generation.
class Hash {
 public:
  static constexpr const char* name = "hash, 1024 slots";

  void build(Tags tags) noexcept {
    tags_ = tags;
    if (++generation_ == 0) {
      slots_.fill({});
      generation_ = 1;
    }
    for (std::uint32_t i = 0; i < tags.size(); ++i) {
      std::uint32_t slot = slot_of(tags[i]);
      while (slots_[slot].generation == generation_ && tags[slots_[slot].index] != tags[i]) slot = (slot + 1) & mask;
      if (slots_[slot].generation != generation_) slots_[slot] = {generation_, static_cast<std::uint16_t>(i)};
    }
  }
  [[nodiscard]] std::uint32_t find(std::int32_t tag) const noexcept {
    for (std::uint32_t slot = slot_of(tag); slots_[slot].generation == generation_; slot = (slot + 1) & mask) {
      if (tags_[slots_[slot].index] == tag) return slots_[slot].index;
    }
    return npos;
  }

 private:
  struct Slot {
    std::uint16_t generation = 0;
    std::uint16_t index = 0;
  };
  static constexpr std::uint32_t bits = 10;  // twice fields_max
  static constexpr std::uint32_t mask = (1u << bits) - 1;
  static_assert(mask + 1 >= 2 * fields_max);

  static std::uint32_t slot_of(std::int32_t tag) noexcept {
    return (static_cast<std::uint32_t>(tag) * 0x9E3779B1u) >> (32 - bits);
  }

  Tags tags_;
  std::uint16_t generation_ = 0;
  std::array<Slot, mask + 1> slots_{};
};

// Nothing but the tags as 16-bit numbers, eight of which are compared with one instruction. Tags above 65535 are
// searched individually.
class VectorCompare {
 public:
  static constexpr const char* name = "vector compare, 32 tags a step";

  void build(Tags tags) noexcept {
    tags_ = tags;
    std::uint32_t large = 0;
    for (std::size_t i = 0; i < tags.size(); ++i) {
      large |= static_cast<std::uint32_t>(tags[i]) >> 16;
      narrow_[i] = static_cast<std::uint16_t>(tags[i]);
    }
    has_large_ = large != 0;
  }
  [[nodiscard]] std::uint32_t find(std::int32_t tag) const noexcept {
    if (has_large_ || static_cast<std::uint32_t>(tag) > 0xFFFF) return find_linearly(tags_, tag);
    const std::uint32_t place =
        tag_scan::find_far(narrow_.data(), static_cast<std::uint32_t>(tags_.size()), static_cast<std::uint16_t>(tag));
    // After the last tag are those of an earlier message.
    if (place < tags_.size()) return place;
    return npos;
  }

 private:
  Tags tags_;
  bool has_large_ = false;
  alignas(64) std::array<std::uint16_t, fields_max + tag_scan::places_per_stride> narrow_{};
};

class Linear {
 public:
  static constexpr const char* name = "linear, one tag a step";

  void build(Tags tags) noexcept { tags_ = tags; }
  [[nodiscard]] std::uint32_t find(std::int32_t tag) const noexcept { return find_linearly(tags_, tag); }

 private:
  Tags tags_;
};

// The tags of every message of a corpus, and those that are looked up.
struct Questions {
  std::vector<std::vector<std::int32_t>> tags;
  std::vector<std::array<std::int32_t, 16>> asked;
};

// One of the first four look-ups in each message is of a field that is not there: one of four, eight or sixteen; where
// there is only one look-up, that of a quarter of the messages.
std::shared_ptr<const Questions> make_questions(const Inputs& inputs, Kind kind) {
  constexpr std::int32_t missing_tag = 58;  // Text: often looked up, seldom there
  const Corpus& corpus = inputs.of(kind);
  Random random{inputs.seed + static_cast<unsigned char>(kind)};
  MessageView view;
  auto questions = std::make_shared<Questions>();
  for (std::uint32_t m = 0; m < corpus.size(); ++m) {
    if (view.parse(corpus[m]) != WireError::none) continue;
    std::vector<std::int32_t> tags;
    for (std::uint32_t i = 0; i < view.size(); ++i) tags.push_back(value(view.tag_at(i)));
    std::array<std::int32_t, 16> asked{};
    for (std::int32_t& tag : asked) tag = tags[random.below(tags.size())];
    asked[random.below(4)] = missing_tag;
    questions->tags.push_back(std::move(tags));
    questions->asked.push_back(asked);
  }
  return questions;
}

template <typename Method, std::size_t asked>
std::uint64_t ask(Method& method, const Questions& questions, Order order) noexcept {
  std::uint64_t sum = 0;
  for (const std::uint32_t m : order) {
    method.build(questions.tags[m]);
    keep(&method);  // what is built must be in memory even when nothing is looked up
    for (std::size_t i = 0; i < asked; ++i) sum += method.find(questions.asked[m][i]) + std::uint64_t{1};
  }
  return sum;
}

template <typename Method, std::size_t asked>
Row lookup_row(const std::shared_ptr<const Questions>& questions, const std::shared_ptr<Method>& method,
               const std::string& section) {
  Row row;
  row.section = section + ", " + std::to_string(asked) + (asked == 1 ? " question" : " questions");
  row.name = Method::name;
  row.baseline = std::is_same_v<Method, Hash>;
  row.run = [questions, method](Order order) { return ask<Method, asked>(*method, *questions, order); };
  row.check = [questions, method](std::uint32_t m) -> std::optional<std::uint64_t> {
    method->build(questions->tags[m]);
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < asked; ++i) {
      const std::uint32_t place = find_linearly(questions->tags[m], questions->asked[m][i]);
      if (method->find(questions->asked[m][i]) != place) return {};
      expected += place + std::uint64_t{1};
    }
    return expected;
  };
  return row;
}

struct Methods {
  std::shared_ptr<DirectTable> table = std::make_shared<DirectTable>();
  std::shared_ptr<Hash> hash = std::make_shared<Hash>();
  std::shared_ptr<VectorCompare> compare = std::make_shared<VectorCompare>();
  std::shared_ptr<Linear> linear = std::make_shared<Linear>();
};

template <std::size_t asked>
void add_rows(std::vector<Row>& rows, const Methods& methods, const std::shared_ptr<const Questions>& questions,
              const std::string& section) {
  rows.push_back(lookup_row<DirectTable, asked>(questions, methods.table, section));
  rows.push_back(lookup_row<Hash, asked>(questions, methods.hash, section));
  rows.push_back(lookup_row<VectorCompare, asked>(questions, methods.compare, section));
  rows.push_back(lookup_row<Linear, asked>(questions, methods.linear, section));
}

std::string fields_of(const Questions& questions) {
  std::size_t fields = 0;
  for (const auto& tags : questions.tags) fields += tags.size();
  return std::to_string((fields + questions.tags.size() / 2) / questions.tags.size()) + " fields";
}

}  // namespace

Group lookup_group(const Inputs& inputs) {
  Group group{"lookup", "ways to find fields by tag, built once a message and queried", corpus_messages, true, {}};
  const Methods methods;
  for (const Kind kind : {Kind::heartbeat, Kind::execution_report, Kind::market_data, Kind::wide}) {
    const auto questions = make_questions(inputs, kind);
    const std::string section = fields_of(*questions);
    add_rows<0>(group.rows, methods, questions, section);
    add_rows<1>(group.rows, methods, questions, section);
    add_rows<4>(group.rows, methods, questions, section);
    add_rows<8>(group.rows, methods, questions, section);
    add_rows<16>(group.rows, methods, questions, section);
  }
  return group;
}

}  // namespace nfx::bench
