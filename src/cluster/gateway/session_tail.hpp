// The records of a journal as records of an owner, and the positions of the journal that the owner's releases stand
// for. Thread: one. Cost: a copy into the owner's next frame. Bounds: the owner's pending_records_max positions.
// Errors: a sequence number that goes back without a reset is `false` from fits().
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>

#include "cluster/owner.hpp"
#include "gateway/stored_begin.hpp"
#include "nexusfix/base/time.hpp"
#include "store/journal_format.hpp"

namespace nfx::gateway {

class SessionTail {
 public:
  // A new ownership: what is appended from here on follows these numbers.
  void begin(JournalPosition position) noexcept {
    waiting_.clear();
    last_change_ = 0;
    released_ = position;
  }

  // The record that ends at `end`, as up to two records that give(const cluster::Record&) appends to the owner. False:
  // the owner has no space now, and nothing was appended.
  template <class Give>
  [[nodiscard]] bool take(const cluster::OwnerState& owner, const RecordHeader& header, std::string_view body,
                          JournalPosition end, Give&& give) {
    using cluster::RecordKind;
    const auto append = [&](RecordKind kind, std::uint64_t seq, std::string_view bytes) {
      if (!has_space(owner, kind, bytes.size())) return false;
      give(cluster::Record{.kind = kind, .seq = SeqNum{seq}, .bytes = bytes});
      return true;
    };
    switch (header.kind) {
      case nfx::RecordKind::message:
        if (!append(RecordKind::outbound, header.seq, body)) return false;
        break;
      case nfx::RecordKind::next_outbound:
        if (header.seq > value(owner.counters.outbound) && !append(RecordKind::outbound, header.seq - 1, {}))
          return false;
        break;
      case nfx::RecordKind::next_inbound:
        if (header.seq > value(owner.counters.inbound) &&
            !append(RecordKind::inbound, header.seq - 1, has_flag(header, RecordFlag::received) ? body : ""))
          return false;
        break;
      case nfx::RecordKind::reset:
        if (!append(RecordKind::reset, 0, {})) return false;
        // There is space: nothing else waits.
        {
          const BeganBytes bytes = began_bytes(UtcTime{Duration{header.time_ns}});
          static_cast<void>(append(RecordKind::began, 0, {bytes.data(), bytes.size()}));
        }
        break;
      case nfx::RecordKind::none:
      case nfx::RecordKind::opened:
      case nfx::RecordKind::closed: break;
    }
    waiting_.push_back({owner.appended, end});
    if (is_change(header)) last_change_ = owner.appended;
    return true;
  }

  // A reset, or a sequence number that a person has set.
  [[nodiscard]] static bool is_change(const RecordHeader& header) noexcept {
    return header.kind == nfx::RecordKind::reset ||
           (header.kind != nfx::RecordKind::message && has_flag(header, RecordFlag::by_operator));
  }
  // Whether one of those that were taken is not stored, after an ownership with `stored` records.
  [[nodiscard]] bool has_changes(std::uint64_t stored) const noexcept { return last_change_ > stored; }

  // Whether the record may follow what the owner has: a sequence number that goes back may not.
  [[nodiscard]] static bool fits(const cluster::OwnerState& owner, const RecordHeader& header) noexcept {
    switch (header.kind) {
      case nfx::RecordKind::message:
      case nfx::RecordKind::next_outbound: return header.seq >= value(owner.counters.outbound);
      case nfx::RecordKind::next_inbound: return header.seq >= value(owner.counters.inbound);
      case nfx::RecordKind::none:
      case nfx::RecordKind::reset:
      case nfx::RecordKind::opened:
      case nfx::RecordKind::closed: return true;
    }
    return true;
  }

  // What ends before it may leave, after `count` records were released.
  [[nodiscard]] JournalPosition released(std::uint64_t count) noexcept {
    while (!waiting_.empty() && waiting_.front().count <= count) {
      released_ = waiting_.front().end;
      waiting_.pop_front();
    }
    return released_;
  }

 private:
  struct Waiting {
    std::uint64_t count;  // of the owner's records, with this one
    JournalPosition end;
  };

  std::deque<Waiting> waiting_;
  JournalPosition released_ = 0;
  std::uint64_t last_change_ = 0;  // the owner's records with it
};

}  // namespace nfx::gateway
