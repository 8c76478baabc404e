// A message of the peer that is longer than max_message_size: its bytes are counted and summed as they arrive, and only
// its first fields are stored, so that its sequence number is known when it has arrived whole.
// Thread: one owner. Cost: a sum over the bytes; no allocation. Lifetime: the memory is the caller's. A value:
// `oversized = {}` forgets it. Bounds: `head_size` bytes are stored.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/wire/encoder.hpp"
#include "nexusfix/wire/field_writer.hpp"

namespace nfx {

class OversizedMessage {
 public:
  static constexpr std::size_t head_size = 4096;

  OversizedMessage() noexcept = default;
  // Without memory: only the CheckSum is of interest.
  OversizedMessage(std::span<char> memory, std::size_t total) noexcept
      : memory_(memory.first(std::min(memory.size(), head_size))), total_(total) {
    NFX_ASSERT(total > trailer_size);
  }

  // A part of it has arrived, and another one is to come.
  [[nodiscard]] bool under_way() const noexcept { return seen_ < total_; }
  [[nodiscard]] std::size_t total() const noexcept { return total_; }

  // The start of another message before the end of this one, whose length is wrong then: where it is in `bytes`, which
  // are the next ones, and what of it was taken before. It follows an SOH.
  struct Start {
    std::size_t at = std::string_view::npos;  // npos: there is none
    std::string_view taken{};
  };
  [[nodiscard]] Start next_start(std::string_view bytes) const noexcept {
    constexpr std::size_t around = soh_and_start.size() - 1;
    std::array<char, 2 * around> border;
    const std::size_t ahead = std::min(bytes.size(), around);
    std::copy_n(trailer_.end() - around, around, border.begin());
    std::copy_n(bytes.begin(), ahead, border.begin() + around);
    const std::size_t across = std::string_view{border.data(), around + ahead}.find(soh_and_start);
    if (across != std::string_view::npos) return {0, soh_and_start.substr(1, around - across - 1)};
    const std::size_t at = bytes.find(soh_and_start);
    if (at == std::string_view::npos || at + 1 >= total_ - seen_) return {};
    return {at + 1, {}};
  }

  // Takes what belongs to it from the front of `bytes`; returns how many. `bytes` may be in the memory.
  std::size_t take(std::string_view bytes) noexcept {
    bytes = bytes.substr(0, total_ - seen_);
    const std::size_t in_head = std::min(bytes.size(), memory_.size() - head_);
    sum_ += check_sum(bytes);
    const std::size_t last = std::min(bytes.size(), trailer_size);
    std::copy(trailer_.begin() + static_cast<std::ptrdiff_t>(last), trailer_.end(), trailer_.begin());
    std::copy(bytes.end() - static_cast<std::ptrdiff_t>(last), bytes.end(),
              trailer_.end() - static_cast<std::ptrdiff_t>(last));
    if (in_head != 0) std::memmove(memory_.data() + head_, bytes.data(), in_head);
    head_ += in_head;
    seen_ += bytes.size();
    return bytes.size();
  }

  // Once it has arrived: whether it ends with a right CheckSum, and the beginning of its fields.
  [[nodiscard]] bool is_right() const noexcept {
    NFX_ASSERT(!under_way());
    if (!std::string_view{trailer_.data(), trailer_.size()}.starts_with("10=") || trailer_.back() != soh) return false;
    const std::uint32_t sum = sum_ - check_sum({trailer_.data(), trailer_.size()});
    std::uint32_t declared = 0;
    for (std::size_t i = 3; i < 6; ++i) {
      if (trailer_[i] < '0' || trailer_[i] > '9') return false;
      declared = declared * 10 + static_cast<std::uint32_t>(trailer_[i] - '0');
    }
    return (sum & 0xFF) == declared;
  }
  [[nodiscard]] std::string_view head() const noexcept { return {memory_.data(), head_}; }

 private:
  static constexpr std::size_t trailer_size = 7;  // "10=ddd<SOH>"
  static constexpr std::string_view soh_and_start =
      "\x01"
      "8=FIX";

  std::span<char> memory_;
  std::size_t total_ = 0;
  std::size_t seen_ = 0;
  std::size_t head_ = 0;
  std::uint32_t sum_ = 0;
  std::array<char, trailer_size> trailer_{};
};

}  // namespace nfx
