// Messages after their lengths, two big-endian bytes each, seen some messages before they are read: so that what each
// will need is loaded meanwhile.
// Thread: any, one owner. Cost: a load and an add per message besides the call. Lifetime: borrows the bytes. Errors:
// none; it stops before a message that the bytes do not have whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nexusfix/base/language.hpp"
#include "nexusfix/market/itch_bytes.hpp"

namespace nfx::market {

class FramesAhead {
 public:
  static constexpr unsigned distance = 16;

  FramesAhead(const std::byte* begin, const std::byte* end) noexcept : at_(begin), end_(end) {}

  // Before each message is read: calls `expect(message)` for what is now within `distance`.
  template <class Expect>
  [[gnu::always_inline]] void next(Expect&& expect) {
    while (lead_ < distance && end_ - at_ >= 2) {
      const std::size_t size = load_big_endian<std::uint16_t>(at_);
      if (static_cast<std::size_t>(end_ - at_) - 2 < size) break;
      expect(std::span<const std::byte>{at_ + 2, size});
      at_ += 2 + size;
      ++lead_;
    }
    lead_ -= lead_ != 0 ? 1 : 0;
  }

 private:
  const std::byte* at_;
  const std::byte* end_;
  unsigned lead_ = 0;  // messages that were announced and not read
};

}  // namespace nfx::market
