// Stores a session's sent messages by sequence number, and its state: both sequence numbers.
// Thread: one owner. Lifetime: bytes from read and for_each are valid until the next append or reset. Errors: append
// returns `false` for a message that cannot be stored, and counts it; the session then fills that gap on resend.
// Durability: each store documents which of its calls are durable when they return.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

struct StoreCounts {
  std::uint64_t appended = 0;
  std::uint64_t evicted = 0;  // stored before, and removed to free space
  std::uint64_t refused = 0;  // messages not stored, because append returned false, and sequence numbers not recorded

  friend bool operator==(const StoreCounts&, const StoreCounts&) = default;
};

// append          stores `bytes` under `seq`; false if it is not stored. Numbers may have gaps (messages that
//                 need no resend). A number that is not above the last appended one means the sequence went back:
//                 that number and all above it are forgotten first
// read            the message stored under `seq`, if any
// for_each        calls visitor(SeqNum, std::string_view) -> bool for the stored messages of first..last
//                 inclusive, in ascending order, until one call returns false. Returns how many it visited
// oldest_kept     the lowest stored number, 0 if there is none; with evictions, lower ones are lost
// next_outbound   the number of the next message to send; append does not change it
// next_inbound    the number expected next from the peer
// creation_time   when the current epoch began
// reset           forgets all messages, both counters become 1, creation_time becomes `now`
template <class S>
concept MessageStore = requires(S& store, const S& constant, SeqNum seq, std::string_view bytes, UtcTime now,
                                bool (*visitor)(SeqNum, std::string_view)) {
  { store.append(seq, bytes, now) } noexcept -> std::same_as<bool>;
  { constant.read(seq) } noexcept -> std::same_as<std::optional<std::string_view>>;
  { constant.for_each(seq, seq, visitor) } -> std::same_as<std::size_t>;
  { constant.oldest_kept() } noexcept -> std::same_as<SeqNum>;
  { constant.next_outbound() } noexcept -> std::same_as<SeqNum>;
  { constant.next_inbound() } noexcept -> std::same_as<SeqNum>;
  { store.set_next_outbound(seq, now) } noexcept;
  { store.set_next_inbound(seq, now) } noexcept;
  { constant.creation_time() } noexcept -> std::same_as<UtcTime>;
  { store.reset(now) } noexcept;
  { constant.counts() } noexcept -> std::same_as<StoreCounts>;
};

}  // namespace nfx
