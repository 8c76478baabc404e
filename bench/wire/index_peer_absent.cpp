// Replaces index_peer.cpp where no header was given.
#include "wire/index_peer.hpp"

namespace nfx::bench {

bool index_peer_available() noexcept { return false; }
std::uint64_t index_peer_count(const PeerCorpus&, PeerOrder) noexcept { return 0; }
std::uint64_t index_peer_read_reports(const PeerCorpus&, PeerOrder, PeerReadTime) noexcept { return 0; }
std::uint64_t index_peer_read_orders(const PeerCorpus&, PeerOrder, PeerReadTime) noexcept { return 0; }
std::uint64_t index_peer_read_entries(const PeerCorpus&, PeerOrder, PeerReadTime) noexcept { return 0; }
int index_peer_fields(const char*, std::size_t, PeerField*, int) noexcept { return -1; }

}  // namespace nfx::bench
