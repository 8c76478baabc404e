// When the sequence numbers of a session began: the bytes of a record `began`, and what the stream has of it.
// Thread: one. Cost: a copy of eight bytes.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "nexusfix/base/time.hpp"

namespace nfx::gateway {

using BeganBytes = std::array<char, sizeof(std::int64_t)>;

[[nodiscard]] inline BeganBytes began_bytes(UtcTime began) noexcept {
  return std::bit_cast<BeganBytes>(std::int64_t{began.time_since_epoch().count()});
}
[[nodiscard]] inline UtcTime time_of(std::string_view bytes) noexcept {
  std::int64_t ns = 0;
  std::memcpy(&ns, bytes.data(), sizeof ns);
  return UtcTime{Duration{ns}};
}

// When the sequence numbers of a session began, as far as the stream has it, while this gateway owns the session.
class StoredBegin {
 public:
  // A new ownership; nothing: the stream does not have it.
  void begin(std::optional<UtcTime> stored) noexcept { *this = {}, before_ = stored; }
  // Appended to the owner as its record number `count`. All records before a reset are stored.
  void append(UtcTime began, std::uint64_t count) noexcept {
    if (count_ != 0) before_ = began_;
    began_ = began;
    count_ = count;
  }
  // As the session has it now.
  [[nodiscard]] UtcTime last() const noexcept { return count_ != 0 ? began_ : before_.value_or(UtcTime{}); }
  // After an ownership with `stored` records.
  [[nodiscard]] std::optional<UtcTime> after(std::uint64_t stored) const noexcept {
    return count_ != 0 && stored >= count_ ? std::optional{began_} : before_;
  }

 private:
  std::optional<UtcTime> before_;
  UtcTime began_{};
  std::uint64_t count_ = 0;  // 0: none
};

}  // namespace nfx::gateway
