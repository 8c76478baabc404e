// One small parser in which each technique can be switched off: it verifies BodyLength and CheckSum of a message, finds
// every field, and gives a field's text by its tag. With all techniques off it is the classic parser: each value copied
// into a std::map, a byte at a time.
// Thread: one per parser. Lifetime: without copies, views borrow the message. Errors: parse() returns false.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "nexusfix/base/tag.hpp"
#include "wire/kernels/kernels.hpp"

namespace nfx::bench {

struct Techniques {
  bool zero_copy = false;       // a value is a view of the message, not a std::string
  bool direct_look_up = false;  // an array by tag, not a std::map
  bool simd_scan = false;       // scan_soh and check_sum of the best kernel, not a byte at a time
  bool fixed_offsets = false;   // "8=FIX.4.4|9=" is compared at constant offsets, not parsed
  bool aligned = false;         // the parser's hot members start a cache line, not straddle one
  bool branch_hints = false;    // what ends a parse with an error is marked as unlikely
  bool restricted = false;      // the compiler may assume that the message and the fields do not overlap
  bool hot = false;             // parse() is [[gnu::hot]]
};
inline constexpr std::size_t technique_count = 8;

// The first `count` of them in the order above, or the last.
[[nodiscard]] consteval Techniques first_techniques(std::size_t count) {
  return {count > 0, count > 1, count > 2, count > 3, count > 4, count > 5, count > 6, count > 7};
}
[[nodiscard]] consteval Techniques last_techniques(std::size_t count) {
  return {count > 7, count > 6, count > 5, count > 4, count > 3, count > 2, count > 1, count > 0};
}
// All but one.
[[nodiscard]] consteval Techniques without_technique(std::size_t one) {
  return {one != 0, one != 1, one != 2, one != 3, one != 4, one != 5, one != 6, one != 7};
}

inline constexpr char soh = '\x01';
inline constexpr std::string_view fixed_header =
    "8=FIX.4.4\x01"
    "9=";
inline constexpr std::size_t check_sum_size = 7;  // "10=ddd|"
inline constexpr std::size_t tag_limit = 1024;    // larger ones are refused

// std::map when tags are looked up in a tree; otherwise an array in which an entry of an earlier message is stale.
template <Techniques on>
class LadderFields {
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

// What is read: the state that parse() goes through. Separate from the fields, so that both can be given as pointers.
struct ParseState {
  const char* begin = nullptr;
  const char* at = nullptr;
  const char* end = nullptr;
  const char* trailer = nullptr;
  unsigned sum = 0;
};

template <Techniques on>
class LadderParser {
 public:
  [[nodiscard]] bool parse(std::string_view message) {
    const char* const begin = message.data();
    if constexpr (on.hot && on.restricted) {
      return parse_hot_restricted(begin, begin + message.size(), &state_, &fields_);
    } else if constexpr (on.hot) {
      return parse_hot(begin, begin + message.size(), &state_, &fields_);
    } else if constexpr (on.restricted) {
      return parse_restricted(begin, begin + message.size(), &state_, &fields_);
    } else {
      return parse_plainly(begin, begin + message.size(), &state_, &fields_);
    }
  }

  [[nodiscard]] std::string_view get_view(Tag tag) const noexcept {
    return fields_.get(static_cast<unsigned>(value(tag)));
  }

 private:
  using Fields = LadderFields<on>;

  [[gnu::noinline]] static bool parse_plainly(const char* begin, const char* end, ParseState* state, Fields* fields) {
    return parse_message(begin, end, *state, *fields);
  }
  [[gnu::noinline, gnu::hot]] static bool parse_hot(const char* begin, const char* end, ParseState* state,
                                                    Fields* fields) {
    return parse_message(begin, end, *state, *fields);
  }
  [[gnu::noinline]] static bool parse_restricted(const char* __restrict begin, const char* end,
                                                 ParseState* __restrict state, Fields* __restrict fields) {
    return parse_message(begin, end, *state, *fields);
  }
  [[gnu::noinline, gnu::hot]] static bool parse_hot_restricted(const char* __restrict begin, const char* end,
                                                               ParseState* __restrict state,
                                                               Fields* __restrict fields) {
    return parse_message(begin, end, *state, *fields);
  }

  // A condition that only a bad message makes true.
  [[gnu::always_inline]] static bool fails(bool condition) noexcept {
    if constexpr (on.branch_hints) return __builtin_expect(static_cast<long>(condition), 0L) != 0;
    return condition;
  }

  [[gnu::always_inline]] static bool parse_message(const char* begin, const char* end, ParseState& state,
                                                   Fields& fields) {
    state.begin = state.at = begin;
    state.end = end;
    state.sum = 0;
    fields.clear();
    if (fails(static_cast<std::size_t>(end - begin) < fixed_header.size() + check_sum_size)) return false;
    const char* body = nullptr;
    std::size_t body_length = 0;
    if (fails(!read_header(state, fields, body, body_length))) return false;
    state.trailer = end - check_sum_size;
    if (fails(static_cast<std::size_t>(state.trailer - body) != body_length || state.trailer < body)) return false;
    while (state.at < state.trailer) {
      if (fails(!read_field(state, fields))) return false;
    }
    if (fails(state.at != state.trailer)) return false;
    return check_trailer(state, fields);
  }

  [[gnu::always_inline]] static bool read_header(ParseState& state, Fields& fields, const char*& body,
                                                 std::size_t& body_length) {
    if constexpr (on.fixed_offsets) {
      if (fails(std::memcmp(state.begin, fixed_header.data(), fixed_header.size()) != 0)) return false;
      fields.add(8, {state.begin + 2, fixed_header.size() - 5});
      state.at = state.begin + fixed_header.size();
      if constexpr (!on.simd_scan) state.sum += fixed_sum();
      if (fails(!read_value(state, fields, 9, state.at))) return false;
    } else {
      if (fails(!read_field(state, fields) || !read_field(state, fields))) return false;
      if (fails(fields.get(8) != "FIX.4.4")) return false;
    }
    body = state.at;
    const std::string_view text = fields.get(9);
    if (fails(text.empty() || text.size() > 6)) return false;
    for (const char c : text) {
      const unsigned digit = static_cast<unsigned char>(c) - unsigned{'0'};
      if (fails(digit > 9)) return false;
      body_length = body_length * 10 + digit;
    }
    return true;
  }

  static consteval unsigned fixed_sum() {
    unsigned sum = 0;
    for (const char c : fixed_header) sum += static_cast<unsigned char>(c);
    return sum;
  }

  [[gnu::always_inline]] static bool read_field(ParseState& state, Fields& fields) {
    unsigned tag = 0;
    const char* p = state.at;
    for (; p != state.end && *p != '='; ++p) {
      const unsigned digit = static_cast<unsigned char>(*p) - unsigned{'0'};
      if (fails(digit > 9)) return false;
      tag = tag * 10 + digit;
      if (fails(tag >= tag_limit)) return false;
      if constexpr (!on.simd_scan) state.sum += static_cast<unsigned char>(*p);
    }
    if (fails(p == state.end || tag == 0)) return false;
    if constexpr (!on.simd_scan) state.sum += static_cast<unsigned char>('=');
    return read_value(state, fields, tag, p + 1);
  }

  [[gnu::always_inline]] static bool read_value(ParseState& state, Fields& fields, unsigned tag, const char* value) {
    const char* p = value;
    if constexpr (on.simd_scan) {
      p = kernels::kernels().scan_soh(value, static_cast<std::size_t>(state.end - value));
      if (fails(p == state.end)) return false;
    } else {
      for (; *p != soh; ++p) {
        state.sum += static_cast<unsigned char>(*p);
        if (fails(p + 1 == state.end)) return false;
      }
      state.sum += static_cast<unsigned char>(soh);
    }
    fields.add(tag, {value, static_cast<std::size_t>(p - value)});
    state.at = p + 1;
    return true;
  }

  [[gnu::always_inline]] static bool check_trailer(ParseState& state, Fields& fields) {
    const char* const trailer = state.trailer;
    if constexpr (on.simd_scan) {
      state.sum = kernels::kernels().check_sum(state.begin, static_cast<std::size_t>(trailer - state.begin));
    }
    unsigned declared = 0;
    for (const char* p = trailer + 3; p != state.end - 1; ++p) {
      const unsigned digit = static_cast<unsigned char>(*p) - unsigned{'0'};
      if (fails(digit > 9)) return false;
      declared = declared * 10 + digit;
    }
    if (fails(std::memcmp(trailer, "10=", 3) != 0 || state.end[-1] != soh || declared != (state.sum & 255)))
      return false;
    fields.add(10, {trailer + 3, 3});
    return true;
  }

  ParseState state_;
  Fields fields_;
};

inline constexpr std::size_t cache_line_size = 64;

// The parser's address: at the start of a cache line, or with its first members in two lines.
template <Techniques on>
class LadderPlace {
 public:
  LadderPlace() : parser_(new(storage() + shift) LadderParser<on>) {}
  LadderPlace(const LadderPlace&) = delete;
  LadderPlace& operator=(const LadderPlace&) = delete;
  ~LadderPlace() { parser_->~LadderParser<on>(); }

  [[nodiscard]] LadderParser<on>& parser() noexcept { return *parser_; }

 private:
  static constexpr std::size_t shift = on.aligned ? 0 : cache_line_size - 2 * sizeof(void*);

  struct alignas(cache_line_size) Line {
    std::array<std::byte, cache_line_size> bytes;
  };
  [[nodiscard]] std::byte* storage() noexcept { return lines_.front().bytes.data(); }

  std::vector<Line> lines_ = std::vector<Line>((shift + sizeof(LadderParser<on>)) / cache_line_size + 1);
  LadderParser<on>* parser_;
};

}  // namespace nfx::bench
