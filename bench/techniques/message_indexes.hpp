// From a message's sequence number to its place in a store's bytes: hash maps, and the dense table that
// MemoryMessageStore has. Each has insert(), find() and a name; none is given a size in advance but the dense one,
// whose memory is mapped when the store is made. Thread: one owner. Cost: what is measured. Errors: none.
#pragma once

#include <absl/container/flat_hash_map.h>
#ifdef NFX_BENCH_BOOST_FLAT_MAP
#include <boost/unordered/unordered_flat_map.hpp>
#endif

#include <bit>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace nfx::bench {

struct MessagePlace {
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
};

template <class Map>
class MapIndex {
 public:
  explicit MapIndex(std::uint64_t) {}
  void insert(std::uint64_t seq, MessagePlace place) { map_.emplace(seq, place); }
  void forget(std::uint64_t seq) { map_.erase(seq); }
  [[nodiscard]] const MessagePlace* find(std::uint64_t seq) const {
    const auto found = map_.find(seq);
    return found == map_.end() ? nullptr : &found->second;
  }

 private:
  Map map_;
};

struct StdIndex : MapIndex<std::unordered_map<std::uint64_t, MessagePlace>> {
  static constexpr const char* name = "std::unordered_map";
  using MapIndex::MapIndex;
};
struct AbslIndex : MapIndex<absl::flat_hash_map<std::uint64_t, MessagePlace>> {
  static constexpr const char* name = "absl::flat_hash_map";
  using MapIndex::MapIndex;
};
#ifdef NFX_BENCH_BOOST_FLAT_MAP
struct BoostIndex : MapIndex<boost::unordered_flat_map<std::uint64_t, MessagePlace>> {
  static constexpr const char* name = "boost::unordered_flat_map";
  using MapIndex::MapIndex;
};
#endif

// One entry per number, at the number modulo a power of two; an entry of an older message has another number.
class DenseIndex {
 public:
  static constexpr const char* name = "NexusFIX dense index";
  explicit DenseIndex(std::uint64_t messages) : entries_(std::bit_ceil(messages + 1)), mask_(entries_.size() - 1) {}
  void insert(std::uint64_t seq, MessagePlace place) {
    entries_[seq & mask_] = {seq, place};
    last_ = seq;
  }
  void forget(std::uint64_t seq) noexcept { first_ = seq + 1; }
  [[nodiscard]] const MessagePlace* find(std::uint64_t seq) const {
    if (seq < first_ || seq > last_) return nullptr;
    const Entry& entry = entries_[seq & mask_];
    return entry.seq == seq ? &entry.place : nullptr;
  }

 private:
  struct Entry {
    std::uint64_t seq = 0;
    MessagePlace place;
  };
  static_assert(sizeof(Entry) == 16);
  std::vector<Entry> entries_;
  std::uint64_t mask_;
  std::uint64_t first_ = 1, last_ = 0;
};

}  // namespace nfx::bench
