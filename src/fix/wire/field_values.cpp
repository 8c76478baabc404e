// Parses integers a word at a time. Short ones, like most fields, take one step without a loop.
#include "nexusfix/wire/message_view.hpp"

#include "nexusfix/base/digits.hpp"

namespace nfx {
namespace {

// `count` characters after the sign: none, or more than fit into one word.
[[gnu::noinline]] std::expected<std::int64_t, FieldError> parse_long_int(const char* p, std::size_t count,
                                                                         std::uint64_t negative) noexcept {
  constexpr std::uint64_t limit = 1'000'000'000'000'000'000;  // the smallest number of more than 18 digits
  if (count == 0) return std::unexpected(FieldError::bad_format);
  const char* const end = p + count;
  const std::size_t in_first = (count - 1) % 8 + 1;
  std::uint64_t word = digits::load_last(p, in_first);
  std::uint64_t bad = digits::non_digits(word);
  std::uint64_t number = digits::value(word);
  bool in_range = true;
  for (p += in_first; p != end; p += 8) {
    word = digits::load_8(p);
    bad |= digits::non_digits(word);
    in_range &= number < limit / 100'000'000;
    number = number * 100'000'000 + digits::value(word);  // may wrap beyond 18 digits; the result is then not used
  }
  if (bad != 0) return std::unexpected(FieldError::bad_format);
  if (!in_range) return std::unexpected(FieldError::out_of_range);
  return digits::with_sign(number, negative);
}

}  // namespace

std::expected<std::int64_t, FieldError> parse_int(std::string_view text) noexcept {
  if (text.empty()) return std::unexpected(FieldError::bad_format);
  const std::uint64_t negative = text[0] == '-';
  const char* const p = text.data() + negative;
  const std::size_t count = text.size() - negative;
  if (count - 1 >= 8) return parse_long_int(p, count, negative);
  const std::uint64_t word = digits::load_last(p, count);
  if (digits::non_digits(word) != 0) return std::unexpected(FieldError::bad_format);
  return digits::with_sign(digits::value(word), negative);
}

}  // namespace nfx
