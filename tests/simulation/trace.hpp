// Records a simulated world: a hash of all events, and the last ones as text.
// Thread: one owner. Cost: a copy into a ring per event; the text is formatted when it is read.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/time.hpp"

namespace nfx::simulation {

enum class Side : std::uint8_t { venue, trader };

[[nodiscard]] constexpr Side other(Side side) noexcept { return side == Side::venue ? Side::trader : Side::venue; }
[[nodiscard]] constexpr std::size_t index(Side side) noexcept { return static_cast<std::size_t>(side); }
[[nodiscard]] std::string_view to_string(Side side) noexcept;

class Trace {
 public:
  // With `live` every event is also written there immediately.
  explicit Trace(MonotonicTime begin, std::FILE* live = nullptr) : begin_(begin), live_(live), events_(kept) {}

  void at(MonotonicTime now) noexcept { now_ = now; }
  // `what` is a literal; `detail` is truncated.
  void add(Side side, const char* what, std::uint64_t number = 0, std::string_view detail = {});

  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  // The last events, one per line: virtual time, side, event.
  [[nodiscard]] std::string last(std::size_t events = kept) const;

 private:
  static constexpr std::size_t kept = 256;
  struct Event {
    Duration since_begin;
    Side side;
    const char* what;
    std::uint64_t number;
    std::array<char, 72> detail;
  };
  [[nodiscard]] static std::string line(const Event& event);

  MonotonicTime begin_;
  MonotonicTime now_ = begin_;
  std::FILE* live_;
  std::vector<Event> events_;
  std::uint64_t count_ = 0;
  std::uint64_t hash_ = 0xCBF29CE484222325U;
};

// FNV-1a, starting with `hash`.
[[nodiscard]] std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t hash = 0xCBF29CE484222325U) noexcept;

}  // namespace nfx::simulation
