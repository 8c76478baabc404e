// Detects orders that were seen before: for messages with PossResend(97)=Y, which carry a new
// sequence number and may or may not be repetitions. It remembers the last `capacity` identifiers.
// Thread: one owner. Cost: one hash and a short probe per call; memory is allocated once, by the constructor.
// Bounds: the newest identifier replaces the oldest; identifiers longer than 15 bytes are remembered as their size and
// a 128-bit hash of all of their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

class PossResendFilter {
 public:
  explicit PossResendFilter(std::uint32_t capacity = 65536);

  // Remembers the identifier. Returns true when it was not remembered before.
  bool remember(std::string_view id) noexcept;

  // Whether to process a message: false for a possible resend whose identifier is known. Remembers it either way.
  [[nodiscard]] bool accept(std::string_view id, bool possible_resend) noexcept {
    return remember(id) || !possible_resend;
  }

  [[nodiscard]] bool contains(std::string_view id) const noexcept;
  void clear() noexcept;
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }

 private:
  struct Key {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  static constexpr std::uint32_t none = UINT32_MAX;

  [[nodiscard]] static Key key_of(std::string_view id) noexcept;
  [[nodiscard]] std::uint32_t slot_for(const Key& key) const noexcept;  // its slot, or the free slot for it
  void forget(const Key& key) noexcept;

  std::uint32_t capacity_;
  std::uint32_t mask_;
  std::uint32_t size_ = 0;
  std::uint32_t oldest_ = 0;                // in ring_
  std::unique_ptr<Key[]> ring_;             // in the order of arrival
  std::unique_ptr<std::uint32_t[]> slots_;  // positions in ring_, open addressing, at most half full
};

}  // namespace nfx
