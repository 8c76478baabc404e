// What a stream has to have before the journal's next records: what only the journal has, and when its sequence numbers
// began, as one group, which is one frame. Nothing of the session leaves before that is stored: another owner would
// begin with sequence numbers that were used.
// Thread: one. Cost: the messages, until the owner has taken them.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "cluster/owner.hpp"
#include "gateway/recovered.hpp"
#include "gateway/stored_begin.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx::gateway {

// What one frame takes of messages, with a reset, both counters and the time.
[[nodiscard]] constexpr UploadLimits upload_limits(const cluster::OwnerOptions& options) noexcept {
  constexpr std::size_t rest =
      sizeof(cluster::FrameHeader) + 3 * cluster::record_size(0) + cluster::record_size(cluster::began_size);
  return {.bytes = options.frame_bytes_max - rest, .messages = options.pending_records_max - 4};
}

class FirstRecords {
 public:
  // A new ownership.
  void begin(std::optional<Upload>&& upload) {
    upload_ = std::move(upload);
    last_ = 0;
  }
  void clear() noexcept { begin({}); }

  // Gives them to append(const cluster::Record&), which appends them to the owner as a group that end() ends, once
  // nothing else waits or is in flight. True: there are none, or they are stored.
  template <class Append, class End>
  [[nodiscard]] bool store(const cluster::OwnerState& owner, Append&& append, End&& end) {
    if (upload_) {
      if (!owner.pending.empty() || !owner.flight.bytes.empty() || owner.retiring) return false;
      give(owner, append);
      upload_.reset();
      last_ = owner.appended;
      end();
    }
    return owner.stored >= last_;
  }
  // Whether store() has something to do still.
  [[nodiscard]] bool waits(const cluster::OwnerState& owner) const noexcept { return upload_ || owner.stored < last_; }

 private:
  template <class Append>
  void give(const cluster::OwnerState& owner, Append&& append) const {
    using cluster::RecordKind;
    if (upload_->resets) append({.kind = RecordKind::reset, .seq = {}, .bytes = {}});
    for (const Message& message : upload_->messages)
      append({.kind = RecordKind::outbound, .seq = message.seq, .bytes = message.bytes});
    const cluster::Counters& counters = upload_->counters;
    if (counters.outbound > owner.counters.outbound)
      append({.kind = RecordKind::outbound, .seq = SeqNum{value(counters.outbound) - 1}, .bytes = {}});
    if (counters.inbound > owner.counters.inbound)
      append({.kind = RecordKind::inbound, .seq = SeqNum{value(counters.inbound) - 1}, .bytes = {}});
    if (!upload_->began) return;
    const BeganBytes bytes = began_bytes(*upload_->began);
    append({.kind = RecordKind::began, .seq = {}, .bytes = {bytes.data(), bytes.size()}});
  }

  std::optional<Upload> upload_;
  std::uint64_t last_ = 0;  // the owner's record that was the last one of them
};

}  // namespace nfx::gateway
