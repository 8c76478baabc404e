// Formats numbers and names for reports: short, and without terminal control sequences.
// Thread: any; pure.
#pragma once

#include <string>
#include <string_view>

namespace nfx {

// At most four characters: "0", "0.4", "12", "999", "9.9k", "120k", "3.1M".
[[nodiscard]] std::string compact(double number);
// Time per second, given in microseconds, in at most five characters: "0", "12us", "1.2ms", "340ms", "1.0s".
[[nodiscard]] std::string compact_us(double us);
// With one digit after the decimal point below 10: "0.5", "12".
[[nodiscard]] std::string rate_text(double number);
// With this many digits after the decimal point.
[[nodiscard]] std::string fixed(double number, int digits);
// Replaces characters that are not printable ASCII by question marks.
[[nodiscard]] std::string printable_text(std::string_view text);

// Text from the host's files or a configuration, for one line of a report: see append_printable().
[[nodiscard]] std::string one_line(std::string_view text);

}  // namespace nfx
