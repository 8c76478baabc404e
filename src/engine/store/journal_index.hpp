// The positions of the messages that can be resent: stored messages among the last `retain` sequence numbers.
// Thread: the poll thread. Cost: put and has read one entry; forgetting walks over the forgotten entries. Lifetime:
// pages of its own, mapped once. Errors: map() throws StoreError.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/memory.hpp"
#include "store/journal_format.hpp"
#include "store/journal_space.hpp"
#include "store/journal_store.hpp"

namespace nfx::detail {

class JournalIndex {
 public:
  void map(std::size_t messages) {
    NFX_ASSERT(entries_ == nullptr);
    retain_ = messages;
    const std::uint64_t entries = std::bit_ceil(std::max<std::size_t>(messages, 1));
    mask_ = entries - 1;
    try {
      entries_ = map_array<Entry>(entries, "a journal's index; lower retain_messages");
    } catch (const std::system_error& error) {
      throw StoreError(error.what());
    }
  }

  // Its pages, which another thread may map ahead of use. The entry of a sequence number is at the number modulo count.
  [[nodiscard]] IndexMemory memory() const noexcept {
    return {reinterpret_cast<char*>(entries_.get()), sizeof(Entry), mask_ + 1};
  }

  [[nodiscard]] bool empty() const noexcept { return live_ == 0; }
  [[nodiscard]] std::uint64_t first() const noexcept { return live_ == 0 ? 0 : first_; }
  [[nodiscard]] std::uint64_t last() const noexcept { return live_ == 0 ? 0 : last_; }
  [[nodiscard]] std::uint64_t evicted() const noexcept { return evicted_; }
  void forget_evictions() noexcept { evicted_ = 0; }

  // Where the entry of this number is, to be prefetched.
  [[nodiscard]] const void* place_of(std::uint64_t seq) const noexcept { return &slot(seq); }

  // The position of the message with this number; unset_position if it is not stored.
  [[nodiscard]] JournalPosition find(std::uint64_t seq) const noexcept {
    return live_ != 0 && seq >= first_ && seq <= last_ && has(seq) ? slot(seq).position : unset_position;
  }

  void put(std::uint64_t seq, JournalPosition position) noexcept {
    if (retain_ == 0) return;
    if (live_ > 0 && seq <= last_) forget_from(seq, position);
    while (live_ > 0 && seq - first_ >= retain_) evict_first();
    NFX_ASSERT(live_ == 0 || (last_ < seq && slot(last_).position < position));  // both ascend within an epoch
    NFX_ASSERT(!has(seq));                                                       // its slot holds no stored message
    slot(seq) = {seq, position};
    if (live_ == 0) first_ = seq;
    last_ = seq;
    ++live_;
    NFX_ASSERT(first_ <= last_ && last_ - first_ < retain_ && live_ <= retain_);
  }

  // Forgets all messages from `seq` on, when the number goes back; `head` is the current end of the stream. Clears
  // every entry: a later epoch that skips a number must not find the old message there.
  [[gnu::cold, gnu::noinline]] void forget_from(std::uint64_t seq, JournalPosition head) noexcept {
    if (live_ == 0 || seq > last_) return;
    if (seq <= first_) return forget_all(head);
    for (std::uint64_t number = last_; number >= seq; --number) {
      if (!has(number)) continue;
      slot(number).seq = 0;
      --live_;
    }
    last_ = seq - 1;
    NFX_ASSERT(live_ > 0 && has(first_));
    while (!has(last_)) --last_;  // ends at first_ at the latest
  }

  // Forgets all messages before `head`, the current end of the stream.
  void forget_all(JournalPosition head) noexcept {
    live_ = 0;
    first_readable_ = head;
  }

  // Positions before `oldest` can no longer be read.
  void forget_before(JournalPosition oldest) noexcept {
    if (oldest <= first_readable_) return;
    while (live_ > 0 && slot(first_).position < oldest) evict_first();
    first_readable_ = oldest;
  }

 private:
  struct Entry {
    std::uint64_t seq;  // 0: empty
    JournalPosition position;
  };

  [[nodiscard]] Entry& slot(std::uint64_t seq) const noexcept { return entries_[seq & mask_]; }
  [[nodiscard]] bool has(std::uint64_t seq) const noexcept {
    const Entry& entry = slot(seq);
    return entry.seq == seq && entry.position >= first_readable_;
  }

  void evict_first() noexcept {
    NFX_ASSERT(live_ > 0 && slot(first_).seq == first_ && first_ <= last_);
    slot(first_).seq = 0;
    --live_;
    ++evicted_;
    if (live_ == 0) return;
    do {
      ++first_;
      NFX_ASSERT(first_ <= last_);
    } while (!has(first_));  // ends at last_ at the latest
  }

  PageArray<Entry> entries_;
  std::uint64_t mask_ = 0;
  std::uint64_t retain_ = 0;
  std::uint64_t first_ = 0;  // with live_ > 0: the oldest stored number, always a valid entry
  std::uint64_t last_ = 0;   // with live_ > 0: the newest stored number
  std::uint64_t live_ = 0;
  JournalPosition first_readable_ = 0;  // entries before it are forgotten
  std::uint64_t evicted_ = 0;
};

}  // namespace nfx::detail
