// What a stream has to have before the journal's next records: the journal's messages, where it does not have them, and
// then when the sequence numbers began. A stream that does not have that time does not have all of a journal.
// Thread: one. Cost: the messages, until the owner has taken them.
#pragma once

#include <optional>
#include <utility>

#include "gateway/recovered.hpp"
#include "gateway/stored_begin.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/cluster/owner.hpp"

namespace nfx::gateway {

class FirstRecords {
 public:
  // A new ownership: nothing, or either of the two, or both.
  void begin(std::optional<UtcTime> began, std::optional<Recovered>&& upload) {
    began_ = began;
    upload_ = std::move(upload);
  }
  void clear() noexcept {
    began_.reset();
    upload_.reset();
  }

  // Gives them to append(const cluster::Record&), which appends them to the owner, as far as there is space. False:
  // some are left.
  template <class Append>
  [[nodiscard]] bool append_to(const cluster::OwnerState& owner, Append&& append) {
    using cluster::RecordKind;
    const auto fits = [&](const cluster::Record& record) {
      if (!has_space(owner, record.kind, record.bytes.size())) return false;
      append(record);
      return true;
    };
    const auto reach = [&](RecordKind kind, SeqNum end, SeqNum now_at) {
      return end <= now_at || fits({.kind = kind, .seq = SeqNum{value(end) - 1}, .bytes = {}});
    };
    if (upload_) {
      for (auto& messages = upload_->messages; !messages.empty(); messages.pop_front())
        if (!fits({.kind = RecordKind::outbound, .seq = messages.front().seq, .bytes = messages.front().bytes}))
          return false;
      if (!reach(RecordKind::outbound, upload_->counters.outbound, owner.counters.outbound)) return false;
      if (!reach(RecordKind::inbound, upload_->counters.inbound, owner.counters.inbound)) return false;
      upload_.reset();
    }
    if (!began_) return true;
    const BeganBytes bytes = began_bytes(*began_);
    if (!fits({.kind = RecordKind::began, .seq = {}, .bytes = {bytes.data(), bytes.size()}})) return false;
    began_.reset();
    return true;
  }

 private:
  std::optional<UtcTime> began_;
  std::optional<Recovered> upload_;
};

}  // namespace nfx::gateway
