// The end of a GLIMPSE snapshot.
#include "nexusfix/market/itch_feed.hpp"

namespace nfx::market {

std::optional<std::uint64_t> glimpse_end(std::span<const std::byte> message) noexcept {
  if (message.size() != glimpse_end_size || static_cast<char>(message.front()) != 'G') return std::nullopt;
  return soup::read_number(message.subspan<1, 20>());
}

}  // namespace nfx::market
