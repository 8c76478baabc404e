// Holds the latest messages of a session in memory, within two limits.
// Thread: one owner. Cost: append copies the bytes once, without allocation after construction. Memory is mapped at
// construction but touched only as it fills, so an idle session with generous limits costs a few pages.
// Lifetime: views from read and for_each are valid until the next append or reset.
// Durability: none; everything is lost when the process ends.
//
//   index   one entry per sequence number, at seq modulo a power of two     | seq | offset | length |
//   bytes   a ring; a message never wraps, so one that does not fit before the end begins at the front
//
//              tail            head                          head            tail
//       |------[msg][msg][msg]------|      or      |[msg][msg]--------------[msg][msg]---|
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/memory.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/store/store_options.hpp"
#include "store/store.hpp"

namespace nfx {

class MemoryMessageStore {
 public:
  // Throws std::invalid_argument for limits out of range, std::system_error if the memory cannot be mapped.
  explicit MemoryMessageStore(MemoryStoreOptions options = {}, UtcTime creation_time = {});

  // Evicts the oldest messages when full. False for an empty message, a message larger than retain_bytes, and number 0.
  bool append(SeqNum seq, std::string_view bytes, UtcTime now = {}) noexcept;

  [[nodiscard]] std::optional<std::string_view> read(SeqNum seq) const noexcept {
    const Entry* entry = find(value(seq));
    if (entry == nullptr) return std::nullopt;
    return view(*entry);
  }

  template <class Visitor>
  std::size_t for_each(SeqNum first, SeqNum last, Visitor&& visitor) const {
    std::size_t visited = 0;
    if (live_ == 0) return visited;
    const std::uint64_t begin = value(first) < first_ ? first_ : value(first);
    const std::uint64_t end = value(last) < last_ ? value(last) : last_;
    for (std::uint64_t seq = begin; seq <= end; ++seq) {
      const Entry* entry = find(seq);
      if (entry == nullptr) continue;
      ++visited;
      if (!visitor(SeqNum{seq}, view(*entry))) break;
    }
    return visited;
  }

  [[nodiscard]] SeqNum next_outbound() const noexcept { return next_outbound_; }
  [[nodiscard]] SeqNum next_inbound() const noexcept { return next_inbound_; }
  void set_next_outbound(SeqNum seq, UtcTime = {}) noexcept { next_outbound_ = seq; }
  void set_next_inbound(SeqNum seq, UtcTime = {}, std::string_view = {}) noexcept { next_inbound_ = seq; }
  // Excludes the messages from this number on from resends, because the next outbound number was set back to it.
  void forget_from(SeqNum seq) noexcept { forget_from(value(seq)); }

  [[nodiscard]] UtcTime creation_time() const noexcept { return creation_time_; }
  void reset(UtcTime now) noexcept;

  [[nodiscard]] StoreCounts counts() const noexcept { return counts_; }
  [[nodiscard]] std::uint64_t stored_bytes() const noexcept {
    if (live_ == 0) return 0;
    return head_ > tail_ ? head_ - tail_ : options_.retain_bytes - tail_ + head_;
  }
  [[nodiscard]] SeqNum oldest_kept() const noexcept { return SeqNum{live_ == 0 ? 0 : first_}; }

  void warm() const noexcept;  // prefetches what the next append uses
  // Touches all memory now, so that no append causes a page fault: for sessions whose latency matters from the start.
  void prefault() noexcept;

 private:
  struct Entry {
    std::uint64_t seq;  // 0: empty
    std::uint32_t offset;
    std::uint32_t length;
  };
  static_assert(sizeof(Entry) == 16);

  [[nodiscard]] Entry& slot(std::uint64_t seq) const noexcept { return index_[seq & mask_]; }
  [[nodiscard]] const Entry* find(std::uint64_t seq) const noexcept {
    if (live_ == 0 || seq < first_ || seq > last_) return nullptr;
    const Entry& entry = slot(seq);
    return entry.seq == seq ? &entry : nullptr;
  }
  [[nodiscard]] std::string_view view(const Entry& entry) const noexcept {
    NFX_ASSERT(std::size_t{entry.offset} + entry.length <= options_.retain_bytes);
    return {bytes_.get() + entry.offset, entry.length};
  }
  void forget_all() noexcept;
  void forget_from(std::uint64_t seq) noexcept;
  void evict_below(std::uint64_t seq) noexcept;
  void evict_oldest() noexcept;
  [[nodiscard]] std::uint32_t evict_for(std::uint32_t length) noexcept;

  MemoryStoreOptions options_;
  std::uint64_t mask_ = 0;
  PageArray<Entry> index_;
  PageArray<char> bytes_;
  std::uint64_t first_ = 0;  // with live_ > 0: the oldest stored number, always an occupied entry
  std::uint64_t last_ = 0;   // with live_ > 0: the newest stored number
  std::size_t live_ = 0;
  std::uint32_t head_ = 0;  // offset of the next message
  std::uint32_t tail_ = 0;  // offset of the oldest stored message
  SeqNum next_outbound_ = first_seq_num;
  SeqNum next_inbound_ = first_seq_num;
  UtcTime creation_time_{};
  StoreCounts counts_;
};

static_assert(MessageStore<MemoryMessageStore>);

}  // namespace nfx
