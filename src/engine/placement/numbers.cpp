// Numbers and names for reports.
#include "placement/numbers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/printable.hpp"

namespace nfx {

std::string fixed(double number, int digits) {
  if (!std::isfinite(number)) return "-";
  std::array<char, 64> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), std::clamp(number, -1e18, 1e18),
                                          std::chars_format::fixed, digits);
  return {text.data(), static_cast<std::size_t>(end - text.data())};
}

std::string compact(double number) {
  if (!std::isfinite(number) || number < 0) return "-";
  if (number < 0.05) return number > 0 ? "<.1" : "0";
  if (number < 9.95) return std::abs(number - std::round(number)) < 0.05 ? fixed(number, 0) : fixed(number, 1);
  if (number < 999.5) return fixed(number, 0);
  for (const char unit : {'k', 'M', 'G', 'T'}) {
    number /= 1000;
    if (number < 9.95) return fixed(number, 1) + unit;
    if (number < 999.5) return fixed(number, 0) + unit;
  }
  return ">999";
}

std::string compact_us(double us) {
  if (!std::isfinite(us) || us < 0) return "-";
  if (us < 0.5) return us > 0 ? "<1us" : "0";
  if (us < 999.5) return fixed(us, 0) + "us";
  const double ms = us / 1000;
  if (ms < 9.95) return fixed(ms, 1) + "ms";
  if (ms < 999.5) return fixed(ms, 0) + "ms";
  const double s = ms / 1000;
  return s < 9.95 ? fixed(s, 1) + 's' : compact(s) + 's';
}

std::string rate_text(double number) {
  const bool whole = std::abs(number - std::round(number)) < 0.05;
  return fixed(number, std::abs(number) < 9.95 && !whole ? 1 : 0);
}

std::string printable_text(std::string_view text) {
  std::string out{text};
  std::ranges::replace_if(out, [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

std::string one_line(std::string_view text) {
  std::string out;
  append_printable(out, text);
  return out;
}

}  // namespace nfx
