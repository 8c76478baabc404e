// Five techniques, each of which can be switched off: what one small parser gains from each on this machine. All
// parsers do the same: verify BodyLength and CheckSum of an ExecutionReport, find every field, read eight of them by
// the same functions. NexusFIX's own parser is a row too.
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <type_traits>

#include "nexusfix/wire/message_view.hpp"
#include "wire/rows.hpp"
#include "wire/typed_reads.hpp"

namespace nfx::bench {
namespace {

struct Techniques {
  bool zero_copy;       // a value is a view of the message, not a std::string
  bool direct_look_up;  // an array by tag, not a std::map
  bool simd_scan;       // scan_soh and check_sum of the best kernel, not a byte at a time
  bool fixed_offsets;   // "8=FIX.4.4|9=" is compared at constant offsets, not parsed
  bool aligned;         // the parser's hot members start a cache line, not straddle one
};

constexpr char soh = '\x01';
constexpr std::string_view fixed_header =
    "8=FIX.4.4\x01"
    "9=";
constexpr std::size_t check_sum_size = 7;  // "10=ddd|"
constexpr std::size_t tag_limit = 1024;    // larger ones are refused

// std::map when tags are looked up in a tree; otherwise an array in which an entry of an earlier message is stale.
template <Techniques on>
class Fields {
 public:
  using Value = std::conditional_t<on.zero_copy, std::string_view, std::string>;

  void clear() noexcept {
    if constexpr (on.direct_look_up) {
      ++generation_;
    } else {
      map_.clear();
    }
  }

  // The first field with a tag stays.
  void add(unsigned tag, std::string_view value) {
    if constexpr (on.direct_look_up) {
      Entry& entry = entries_[tag];
      if (entry.generation == generation_) return;
      entry.generation = generation_;
      entry.value = value;
    } else {
      map_.emplace(static_cast<int>(tag), value);
    }
  }

  [[nodiscard]] std::string_view get(unsigned tag) const noexcept {
    if constexpr (on.direct_look_up) {
      const Entry& entry = entries_[tag];
      return entry.generation == generation_ ? std::string_view{entry.value} : std::string_view{};
    } else {
      const auto found = map_.find(static_cast<int>(tag));
      return found == map_.end() ? std::string_view{} : std::string_view{found->second};
    }
  }

 private:
  struct Entry {
    std::uint64_t generation = 0;
    Value value;
  };
  struct Nothing {};
  std::uint64_t generation_ = 0;
  [[no_unique_address]] std::conditional_t<on.direct_look_up, Nothing, std::map<int, Value>> map_;
  [[no_unique_address]] std::conditional_t<on.direct_look_up, std::array<Entry, tag_limit>, Nothing> entries_;
};

template <Techniques on>
class LadderParser {
 public:
  [[nodiscard]] bool parse(std::string_view message) {
    begin_ = at_ = message.data();
    end_ = begin_ + message.size();
    sum_ = 0;
    fields_.clear();
    if (message.size() < fixed_header.size() + check_sum_size) return false;
    const char* body = nullptr;
    std::size_t body_length = 0;
    if (!read_header(body, body_length)) return false;
    trailer_ = end_ - check_sum_size;
    if (static_cast<std::size_t>(trailer_ - body) != body_length || trailer_ < body) return false;
    while (at_ < trailer_) {
      if (!read_field()) return false;
    }
    if (at_ != trailer_) return false;
    return check_trailer();
  }

  [[nodiscard]] std::string_view get_view(Tag tag) const noexcept {
    return fields_.get(static_cast<unsigned>(value(tag)));
  }

 private:
  [[gnu::always_inline]] bool read_header(const char*& body, std::size_t& body_length) {
    if constexpr (on.fixed_offsets) {
      if (std::memcmp(begin_, fixed_header.data(), fixed_header.size()) != 0) return false;
      fields_.add(8, {begin_ + 2, fixed_header.size() - 5});
      at_ = begin_ + fixed_header.size();
      if constexpr (!on.simd_scan) sum_ += fixed_sum();
      if (!read_value(9, at_)) return false;
    } else {
      if (!read_field() || !read_field()) return false;
      if (fields_.get(8) != "FIX.4.4") return false;
    }
    body = at_;
    const std::string_view text = fields_.get(9);
    if (text.empty() || text.size() > 6) return false;
    for (const char c : text) {
      const unsigned digit = static_cast<unsigned char>(c) - unsigned{'0'};
      if (digit > 9) return false;
      body_length = body_length * 10 + digit;
    }
    return true;
  }

  static consteval unsigned fixed_sum() {
    unsigned sum = 0;
    for (const char c : fixed_header) sum += static_cast<unsigned char>(c);
    return sum;
  }

  [[gnu::always_inline]] bool read_field() {
    unsigned tag = 0;
    const char* p = at_;
    for (; p != end_ && *p != '='; ++p) {
      const unsigned digit = static_cast<unsigned char>(*p) - unsigned{'0'};
      if (digit > 9) return false;
      tag = tag * 10 + digit;
      if (tag >= tag_limit) return false;
      if constexpr (!on.simd_scan) sum_ += static_cast<unsigned char>(*p);
    }
    if (p == end_ || tag == 0) return false;
    if constexpr (!on.simd_scan) sum_ += static_cast<unsigned char>('=');
    return read_value(tag, p + 1);
  }

  [[gnu::always_inline]] bool read_value(unsigned tag, const char* value) {
    const char* p = value;
    if constexpr (on.simd_scan) {
      p = kernels::kernels().scan_soh(value, static_cast<std::size_t>(end_ - value));
      if (p == end_) return false;
    } else {
      for (; *p != soh; ++p) {
        sum_ += static_cast<unsigned char>(*p);
        if (p + 1 == end_) return false;
      }
      sum_ += static_cast<unsigned char>(soh);
    }
    fields_.add(tag, {value, static_cast<std::size_t>(p - value)});
    at_ = p + 1;
    return true;
  }

  [[gnu::always_inline]] bool check_trailer() {
    if constexpr (on.simd_scan) {
      sum_ = kernels::kernels().check_sum(begin_, static_cast<std::size_t>(trailer_ - begin_));
    }
    unsigned declared = 0;
    for (const char* p = trailer_ + 3; p != end_ - 1; ++p) {
      const unsigned digit = static_cast<unsigned char>(*p) - unsigned{'0'};
      if (digit > 9) return false;
      declared = declared * 10 + digit;
    }
    if (std::memcmp(trailer_, "10=", 3) != 0 || end_[-1] != soh || declared != (sum_ & 255)) return false;
    fields_.add(10, {trailer_ + 3, 3});
    return true;
  }

  const char* begin_ = nullptr;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  const char* trailer_ = nullptr;
  unsigned sum_ = 0;
  Fields<on> fields_;
};

constexpr std::size_t line = 64;

// The parser's address: at the start of a cache line, or with its first members in two lines.
template <Techniques on>
class Place {
 public:
  Place() : parser_(new(storage() + shift) LadderParser<on>) {}
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { parser_->~LadderParser<on>(); }

  [[nodiscard]] LadderParser<on>& parser() noexcept { return *parser_; }

 private:
  static constexpr std::size_t shift = on.aligned ? 0 : line - 2 * sizeof(void*);

  struct alignas(line) Line {
    std::array<std::byte, line> bytes;
  };
  [[nodiscard]] std::byte* storage() noexcept { return lines_.front().bytes.data(); }

  std::vector<Line> lines_ = std::vector<Line>((shift + sizeof(LadderParser<on>)) / line + 1);
  LadderParser<on>* parser_;
};

template <typename Parser>
[[gnu::always_inline]] inline std::uint64_t read_fields(const Parser& parser) noexcept {
  return read_eight<report_readings>([&parser](Tag tag) { return parser.get_view(tag); });
}

template <typename Parser>
std::optional<std::uint64_t> check_against(const Parser& parser, const PlainMessage& plain) {
  for (const PlainField& field : plain) {
    if (parser.get_view(Tag{field.tag}) != field.text) return {};
  }
  const std::uint64_t expected = expected_readings(Kind::execution_report, plain, Prices::exact);
  if (read_fields(parser) != expected || !parser.get_view(Tag::Text).empty()) return {};
  return expected;
}

template <Techniques on>
Row ladder_row(const Inputs& inputs, const std::string& section, const std::string& name) {
  const Corpus& corpus = inputs.of(Kind::execution_report);
  const auto place = std::make_shared<Place<on>>();
  Row row;
  row.section = section;
  row.name = name;
  row.bytes_per_item = corpus.mean_size();
  row.prepare = use_best_kernel;
  row.run = [&corpus, place](Order order) {
    LadderParser<on>& parser = place->parser();
    std::uint64_t sum = 0;
    for (const std::uint32_t i : order) {
      if (parser.parse(corpus[i])) sum += read_fields(parser);
    }
    return sum;
  };
  row.check = [&inputs, place](std::uint32_t i) -> std::optional<std::uint64_t> {
    if (!place->parser().parse(inputs.of(Kind::execution_report)[i])) return {};
    return check_against(place->parser(), inputs.plain_of(Kind::execution_report)[i]);
  };
  return row;
}

Row product_row(const Inputs& inputs, const std::string& section) {
  const Corpus& corpus = inputs.of(Kind::execution_report);
  const auto view = std::make_shared<MessageView>();
  Row row;
  row.section = section;
  row.name = std::string{"NexusFIX MessageView, "} + all_kernels().back()->name;
  row.bytes_per_item = corpus.mean_size();
  row.prepare = use_best_kernel;
  row.run = [&corpus, view](Order order) {
    std::uint64_t sum = 0;
    for (const std::uint32_t i : order) {
      if (view->parse(corpus[i]) == WireError::none) sum += read_fields(*view);
    }
    return sum;
  };
  row.check = [&inputs, view](std::uint32_t i) -> std::optional<std::uint64_t> {
    if (view->parse(inputs.of(Kind::execution_report)[i]) != WireError::none) return {};
    return check_against(*view, inputs.plain_of(Kind::execution_report)[i]);
  };
  return row;
}

}  // namespace

Group ladder_group(const Inputs& inputs) {
  Group group{"ladder",
              std::string{"an ExecutionReport verified and 8 fields read, technique by technique; scan of "} +
                  all_kernels().back()->name,
              corpus_messages,
              true,
              {}};
  auto& rows = group.rows;
  const std::string up = "each on top of those above";
  rows.push_back(ladder_row<Techniques{}>(inputs, up, "owning std::map, byte by byte"));
  rows.back().baseline = true;
  rows.push_back(ladder_row<Techniques{true, false, false, false, false}>(inputs, up, "+ zero copy"));
  rows.push_back(ladder_row<Techniques{true, true, false, false, false}>(inputs, up, "+ O(1) look-up"));
  rows.push_back(ladder_row<Techniques{true, true, true, false, false}>(inputs, up, "+ SIMD delimiter scan"));
  rows.push_back(ladder_row<Techniques{true, true, true, true, false}>(inputs, up, "+ compile-time offsets"));
  rows.push_back(ladder_row<Techniques{true, true, true, true, true}>(inputs, up, "+ cache-line alignment"));
  rows.push_back(product_row(inputs, up));

  const std::string without = "all but one";
  rows.push_back(ladder_row<Techniques{true, true, true, true, true}>(inputs, without, "all five"));
  rows.back().baseline = true;
  rows.push_back(ladder_row<Techniques{false, true, true, true, true}>(inputs, without, "without zero copy"));
  rows.push_back(ladder_row<Techniques{true, false, true, true, true}>(inputs, without, "without O(1) look-up"));
  rows.push_back(ladder_row<Techniques{true, true, false, true, true}>(inputs, without, "without SIMD delimiter scan"));
  rows.push_back(
      ladder_row<Techniques{true, true, true, false, true}>(inputs, without, "without compile-time offsets"));
  rows.push_back(
      ladder_row<Techniques{true, true, true, true, false}>(inputs, without, "without cache-line alignment"));
  return group;
}

}  // namespace nfx::bench
