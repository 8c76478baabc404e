// The fields that a handler reads from each message, and a row's sum of them. The sum prevents the compiler from
// removing the reads, and allows comparing every row's answer. Must also compile as C++14, and for other instruction
// sets: hence no library, and no function that is not inlined.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nfx {
namespace bench {

enum class ReadAs : std::uint8_t { text, character, integer, decimal, time };

struct Reading {
  int tag;
  ReadAs as;
};

constexpr std::size_t reading_count = 8;

constexpr Reading report_readings[reading_count] = {
    {34, ReadAs::integer}, {11, ReadAs::text},    {150, ReadAs::character}, {38, ReadAs::decimal},
    {44, ReadAs::decimal}, {32, ReadAs::decimal}, {31, ReadAs::decimal},    {60, ReadAs::time}};

constexpr Reading order_readings[reading_count] = {
    {34, ReadAs::integer},   {11, ReadAs::text},    {55, ReadAs::text},    {54, ReadAs::character},
    {40, ReadAs::character}, {38, ReadAs::decimal}, {44, ReadAs::decimal}, {60, ReadAs::time}};

// A sum with a different odd weight for each reading.
class Fold {
 public:
  [[gnu::always_inline]] void text(std::size_t place, const char* bytes, std::size_t size) noexcept {
    if (size == 0) return;
    add(place, size + (static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[0])) << 8) +
                   (static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[size - 1])) << 16));
  }
  [[gnu::always_inline]] void character(std::size_t place, char value) noexcept {
    add(place, static_cast<unsigned char>(value));
  }
  // An integer, or nanoseconds since 1970.
  [[gnu::always_inline]] void integer(std::size_t place, std::int64_t value) noexcept {
    add(place, static_cast<std::uint64_t>(value));
  }
  [[gnu::always_inline]] void decimal(std::size_t place, std::int64_t mantissa, unsigned scale) noexcept {
    add(place, static_cast<std::uint64_t>(mantissa) * 32 + scale);
  }
  // For engines with binary floating-point prices: the nearest multiple of 0.00001.
  [[gnu::always_inline]] void approximate(std::size_t place, double value) noexcept {
    add(place, static_cast<std::uint64_t>(static_cast<std::int64_t>(value * 1e5 + 0.5)));
  }
  [[gnu::always_inline]] void unreadable(std::size_t place) noexcept { add(place, 0x5555555555555555); }

  [[gnu::always_inline]] std::uint64_t sum() const noexcept { return sum_; }

 private:
  [[gnu::always_inline]] void add(std::size_t place, std::uint64_t value) noexcept { sum_ += value * (2 * place + 1); }

  std::uint64_t sum_ = 0;
};

}  // namespace bench
}  // namespace nfx
