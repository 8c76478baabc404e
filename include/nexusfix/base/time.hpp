// Time as the engine uses it: UTC for messages, monotonic for every timer.
// Nothing here reads a clock; the poll loop does, and passes an Instant.
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

using Duration = std::chrono::nanoseconds;
using UtcTime = std::chrono::sys_time<Duration>;
using MonotonicTime = std::chrono::time_point<std::chrono::steady_clock, Duration>;

// A time in another unit, such as a day. Empty outside the range of UtcTime, which ends in 1677 and in 2262.
template <typename Unit>
  requires std::convertible_to<Unit, Duration>
[[nodiscard]] constexpr std::optional<UtcTime> to_utc_time(std::chrono::sys_time<Unit> time) noexcept {
  if (time.time_since_epoch() > std::chrono::floor<Unit>(Duration::max()) ||
      time.time_since_epoch() < std::chrono::ceil<Unit>(Duration::min()))
    return std::nullopt;
  return UtcTime{time};
}

// One reading of both clocks.
struct Instant {
  UtcTime utc{};
  MonotonicTime monotonic{};
};

// A UTCTimestamp as received: 0 to 12 digits of fraction.
struct UtcTimestamp {
  UtcTime time{};                 // to the nanosecond
  std::uint16_t picoseconds = 0;  // digits 10 to 12, below the nanosecond
  std::uint8_t fraction_digits = 0;
};

// Reads "YYYYMMDD-HH:MM:SS[.f{1,12}]". Second 60 is accepted (leap second) and counts as the next minute's first.
// Empty when the text is anything else or names a day that does not exist. Cost: one pass, no allocation.
[[nodiscard]] std::optional<UtcTimestamp> parse_utc_timestamp(std::string_view text) noexcept;

// The same to the nanosecond; false if parse_utc_timestamp() would return nothing. g++ 12 returns an optional through
// memory and reads it before all of its parts are stored, which takes longer than the rest.
[[nodiscard]] bool read_utc_time(std::string_view text, UtcTime& time) noexcept;

// Longest text write_utc_timestamp produces: 17 characters, a point and nine digits.
inline constexpr std::size_t max_utc_timestamp_size = 27;

// Writes a UTCTimestamp with 0 to 9 digits of fraction (truncated, never rounded up into the future) and returns
// its length: 17, or 18 + digits. `out` must hold max_utc_timestamp_size characters.
std::size_t write_utc_timestamp(char* out, UtcTime time, unsigned fraction_digits) noexcept;

// write_utc_timestamp that caches the text of the last second, which successive messages share.
// Thread: one owner. Cost: a compare and the fraction's digits when the second is unchanged.
// Times in the partial second at which the range of UtcTime begins (in 1677) count as its first whole second.
class UtcTimestampWriter {
 public:
  std::size_t write(char* out, UtcTime time, unsigned fraction_digits) noexcept;

  // For writers that assemble the timestamp themselves. settle() caches the second of `time` and returns the
  // nanoseconds within it. text() is that second, "YYYYMMDD-HH:MM:SS.", in 24 characters, of which the last six are
  // undefined. sum() is the sum of its bytes without the point.
  [[nodiscard]] bool covers(UtcTime time) const noexcept { return since_begin(time) < nanoseconds_per_second; }
  std::uint32_t settle(UtcTime time) noexcept {
    const std::uint64_t since = since_begin(time);
    return since < nanoseconds_per_second ? static_cast<std::uint32_t>(since) : renew(time);
  }
  [[nodiscard]] const char* text() const noexcept { return text_.data(); }
  [[nodiscard]] std::uint32_t sum() const noexcept { return sum_; }

 private:
  static constexpr std::uint64_t nanoseconds_per_second = 1'000'000'000;

  // Times before the cached second give very large values.
  [[nodiscard]] std::uint64_t since_begin(UtcTime time) const noexcept {
    return static_cast<std::uint64_t>(time.time_since_epoch().count()) - begin_;
  }
  std::uint32_t renew(UtcTime time) noexcept;

  std::uint64_t begin_ = 0;  // of the cached second, in nanoseconds since 1970
  std::uint32_t sum_ = 14 * '0' + (1 + 9 + 7 + 1 + 1) + '-' + 2 * ':';
  std::array<char, 24> text_{'1', '9', '7', '0', '0', '1', '0', '1', '-', '0', '0', ':', '0', '0', ':', '0', '0', '.'};
};

// Where the receive time of a packet comes from.
enum class StampSource : std::uint8_t {
  none = 0,      // no time is known
  program = 1,   // the program read its clock after it had received the packet
  kernel = 2,    // the kernel, when the network card passed the packet to it
  hardware = 3,  // the network card, by its own clock, which is UTC only where it is synchronised
};
inline constexpr std::uint8_t stamp_sources = 4;

[[nodiscard]] constexpr std::string_view to_string(StampSource source) noexcept {
  switch (source) {
    case StampSource::none: return "none";
    case StampSource::program: return "program";
    case StampSource::kernel: return "kernel";
    case StampSource::hardware: return "hardware";
  }
  return "none";
}

}  // namespace nfx
