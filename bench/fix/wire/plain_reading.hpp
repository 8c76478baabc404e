// The obvious way to read a message, byte by byte and with copies: the reference for every row's answer. Shares no code
// with the library. Cost: allocates freely.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/corpus.hpp"

namespace nfx::bench {

struct PlainField {
  int tag = 0;
  std::size_t offset = 0;  // of the value
  std::string text;
};

using PlainMessage = std::vector<PlainField>;

// Empty unless BodyLength and CheckSum are right and the message starts with 8, 9, 35. Knows no data fields.
[[nodiscard]] std::optional<PlainMessage> read_plainly(std::string_view message);

// The text of the first field with this tag; empty if missing.
[[nodiscard]] std::string plain_text(const PlainMessage& message, int tag);

struct PlainDecimal {
  std::int64_t mantissa = 0;
  unsigned scale = 0;
};
[[nodiscard]] PlainDecimal plain_decimal(std::string_view text);
[[nodiscard]] std::int64_t plain_time_ns(std::string_view text);

// Whether two texts are equal, or the same number with a different count of trailing zeros.
[[nodiscard]] bool same_value(std::string_view a, std::string_view b);

// The sum that a row's typed readings of a message must give; 0 without readings.
enum class Prices : std::uint8_t { exact, binary };
[[nodiscard]] std::uint64_t expected_readings(Kind kind, const PlainMessage& message, Prices prices);

}  // namespace nfx::bench
