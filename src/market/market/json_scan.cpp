// The scan of messages in the shape that venues send.
#include <array>
#include <bit>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "market/json_fields.hpp"
#include "nexusfix/base/digits.hpp"

namespace nfx::market {
namespace {

// The characters that end the plain part of a text: its end, escapes, controls, and non-ASCII characters.
constexpr std::array<bool, 256> ends_text = [] {
  std::array<bool, 256> ends{};
  for (std::size_t c = 0; c < ends.size(); ++c) ends[c] = c < 0x20 || c >= 0x80 || c == '"' || c == '\\';
  return ends;
}();

// Every read is before `end_`, except reads of texts, which are before `readable_`.
class Scan {
 public:
  Scan(const JsonBytes& bytes, JsonFields& out) noexcept
      : at_(bytes.data), end_(bytes.data + bytes.size), readable_(bytes.data + bytes.capacity), out_(&out) {}

  // The whole message.
  bool message() noexcept {
    constexpr std::string_view stream = R"({"stream":")", data = R"(,"data":)";
    const bool wrapped = rest().starts_with(stream);
    if (wrapped) {
      at_ += stream.size();
      std::string_view name;
      if (!text(name) || !rest().starts_with(data)) return false;
      at_ += data.size();
    }
    // Called in one place, so that all of the scan is one function and its place in the message a register.
    return object() && rest() == (wrapped ? "}" : "");
  }

 private:
  [[nodiscard]] std::string_view rest() const noexcept { return {at_, static_cast<std::size_t>(end_ - at_)}; }
  bool take(char c) noexcept {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  // After the opening quote, to after the closing one.
  bool text(std::string_view& out) noexcept {
    const char* const begin = at_;
#ifdef __SSE2__
    // Sixteen characters at a time. Controls, and what is not ASCII, are less than a space as signed numbers.
    for (; readable_ - at_ >= 16 && at_ < end_; at_ += 16) {
      const __m128i chars = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at_));
      const __m128i ends = _mm_or_si128(
          _mm_or_si128(_mm_cmpeq_epi8(chars, _mm_set1_epi8('"')), _mm_cmpeq_epi8(chars, _mm_set1_epi8(0x5C))),
          _mm_cmplt_epi8(chars, _mm_set1_epi8(0x20)));
      const auto marks = static_cast<unsigned>(_mm_movemask_epi8(ends));
      if (marks == 0) continue;
      at_ += std::countr_zero(marks);
      return end_of_text(begin, out);
    }
#endif
    // Eight characters at a time. The lowest mark is exact: a borrow marks only what is after it.
    for (; end_ - at_ >= 8; at_ += 8) {
      const auto word = digits::load<std::uint64_t>(at_);
      const std::uint64_t quotes = word ^ digits::every_byte * '"', escapes = word ^ digits::every_byte * 0x5C;
      const std::uint64_t marks =
          (((quotes - digits::every_byte) & ~quotes) | ((escapes - digits::every_byte) & ~escapes) |
           ((word - digits::every_byte * 0x20) & ~word) | word) &
          digits::top_bits;
      if (marks == 0) continue;
      at_ += std::countr_zero(marks) / 8;
      break;
    }
    while (at_ < end_ && !ends_text[static_cast<unsigned char>(*at_)]) ++at_;
    return end_of_text(begin, out);
  }
  bool end_of_text(const char* begin, std::string_view& out) noexcept {
    if (at_ >= end_ || *at_ != '"') return false;
    out = {begin, static_cast<std::size_t>(at_ - begin)};
    ++at_;
    return true;
  }

  bool object() noexcept {
    if (!take('{')) return false;
    do {
      if (end_ - at_ < 4 || *at_ != '"') return false;
      JsonKey key = JsonKey::other;
      if (at_[2] == '"' && at_[3] == ':') [[likely]] {
        const auto letter = static_cast<unsigned char>(at_[1]);
        if (ends_text[letter]) return false;
        key = json_letters[letter];
        at_ += 4;
      } else {
        ++at_;
        std::string_view name;
        if (!text(name) || !take(':')) return false;
        key = json_key(name);
        if (key == JsonKey::other || key == JsonKey::data) return false;
      }
      if (!value(key)) return false;
    } while (take(','));
    return take('}');
  }

  bool value(JsonKey key) noexcept {
    if (at_ == end_) return false;
    const char* const begin = at_;
    const char first = *at_;
    if (first == '"') {
      ++at_;
      std::string_view found;
      return text(found) && out_->set(key, JsonType::text, found);
    }
    if (first == '[') return levels(key);
    if (first >= '0' && first <= '9') {
      while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
      const auto size = static_cast<std::size_t>(at_ - begin);
      return (first != '0' || size == 1) && out_->set(key, JsonType::number, {begin, size});
    }
    for (const std::string_view word : {std::string_view{"true"}, std::string_view{"false"}}) {
      if (!rest().starts_with(word)) continue;
      at_ += word.size();
      return out_->set(key, JsonType::boolean, word);
    }
    return false;
  }

  // [["price","quantity"],...]
  bool levels(JsonKey key) noexcept {
    const bool has_levels = key == JsonKey::b || key == JsonKey::a || key == JsonKey::bids || key == JsonKey::asks;
    if (!has_levels || !out_->set(key, JsonType::levels, {})) return false;
    const std::size_t begin = out_->level_count();
    ++at_;
    if (!take(']')) {
      do {
        std::string_view price, quantity;
        if (!take('[') || !take('"') || !text(price) || !take(',') || !take('"') || !text(quantity) || !take(']')) {
          return false;
        }
        if (out_->add_level(price, quantity) != JsonError::none) return false;
      } while (take(','));
      if (!take(']')) return false;
    }
    out_->end_levels(key, begin);
    return true;
  }

  const char* at_;
  const char* end_;
  const char* readable_;
  JsonFields* out_;
};

}  // namespace

bool scan_json(const JsonBytes& bytes, JsonFields& out) noexcept {
  out.clear();
  return Scan{bytes, out}.message();
}

}  // namespace nfx::market
