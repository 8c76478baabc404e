// The journal of a session that this gateway owns, while the session exists: its records are appended to the owner, and
// what the owner releases may leave.
// Thread: the gateway's. Cost: a copy into the owner's next frame. Bounds: what the owner has no space for stays in the
// journal's ring; while that is full, the peer is not read. Errors: a sequence number that goes back without a reset is
// `false` from append_to().
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cluster/owner.hpp"
#include "gateway/recovered.hpp"
#include "nexusfix/base/time.hpp"
#include "store/journal_format.hpp"
#include "store/journal_replica.hpp"

namespace nfx::gateway {

// When the sequence numbers of a session began, as far as the stream has it, while this gateway owns the session.
class StoredBegin {
 public:
  // A new ownership; nothing: the stream does not have it.
  void begin(std::optional<UtcTime> stored) noexcept { *this = {}, before_ = stored; }
  // Appended to the owner as its record number `count`. All records before a reset are stored.
  void append(UtcTime began, std::uint64_t count) noexcept {
    if (count_ != 0) before_ = began_;
    began_ = began;
    count_ = count;
  }
  // As the session has it now.
  [[nodiscard]] UtcTime last() const noexcept { return count_ != 0 ? began_ : before_.value_or(UtcTime{}); }
  // After an ownership with `stored` records.
  [[nodiscard]] std::optional<UtcTime> after(std::uint64_t stored) const noexcept {
    return count_ != 0 && stored >= count_ ? std::optional{began_} : before_;
  }

 private:
  std::optional<UtcTime> before_;
  UtcTime began_{};
  std::uint64_t count_ = 0;  // 0: none
};

// The space for messages in one frame that also has a reset, both counters and the time.
[[nodiscard]] constexpr UploadLimits upload_limits(const cluster::OwnerOptions& options) noexcept {
  constexpr std::size_t rest =
      sizeof(cluster::FrameHeader) + 3 * cluster::record_size(0) + cluster::record_size(cluster::began_size);
  return {.bytes = options.frame_bytes_max - rest, .messages = options.pending_records_max - 4};
}

// The records that a stream needs before the journal's next ones: records that only the journal has, and when its
// sequence numbers began, as one group, which is one frame. Nothing of the session leaves before that is stored:
// another owner would begin with used sequence numbers. Cost: the messages, until the owner has taken them.
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

// The records of a journal as records of an owner, and the positions of the journal that the owner's releases stand
// for. Bounds: the owner's pending_records_max positions.
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
  // Whether a record that was taken is not stored, after an ownership with `stored` records.
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

  // The end of the records that may leave, after `count` records were released.
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

class OwnedJournal {
 public:
  static constexpr Duration look_again{std::chrono::milliseconds{10}};  // for records that no answer follows

  // A new ownership: the session opens the journal with this replica. `began`: what the stream has of the beginning of
  // the sequence numbers.
  void begin(std::shared_ptr<JournalReplica> replica, std::optional<UtcTime> began) {
    *this = {};
    replica_ = std::move(replica);
    files_ = replica_;
    stored_begin_.begin(began);
  }
  // It is open, and the stream gets this first.
  void open(std::optional<Upload>&& upload) {
    tail_.begin(replica_->taken());
    first_.begin(std::move(upload));
  }
  void end() noexcept {
    replica_.reset();
    first_.clear();
  }

  // Also for a while after end().
  [[nodiscard]] bool has_files_open() const noexcept { return !files_.expired(); }
  [[nodiscard]] bool closed() const noexcept { return replica_->closed(); }

  // Gives what has ended, or with `all` what there is, to give(const cluster::Event&), which steps the owner, as far as
  // it has space.
  template <class Give>
  [[nodiscard]] bool append_to(const cluster::OwnerState& owner, bool all, Give&& give) {
    const JournalPosition limit = all ? replica_->head() : replica_->wanted();
    const auto append = [&](const cluster::Record& record) {
      give(cluster::Event{.kind = cluster::EventKind::append, .record = record, .more = true});
      if (record.kind == cluster::RecordKind::began) stored_begin_.append(time_of(record.bytes), owner.appended);
    };
    const auto end_group = [&] { give(cluster::Event{.kind = cluster::EventKind::end_group}); };
    bool fits = true;
    if (first_.store(owner, append, end_group) && limit > replica_->taken()) {
      replica_->take(limit, [&](const RecordHeader& header, std::string_view body, JournalPosition end) {
        fits = SessionTail::fits(owner, header);
        return fits && tail_.take(owner, header, body, end, append);
      });
      // The end of a step: a frame that ended within one would have an answer without the message that it answers.
      // Before a reset, and in a step that is larger than what may wait, it ends where there is no space.
      if (replica_->taken() == limit || owner.flight.bytes.empty()) end_group();
    }
    full_ = replica_->taken() < limit;
    return fits;
  }
  // Messages that the owner has released may leave; `alone`: all complete ones.
  void release(const cluster::OwnerState& owner, bool alone) {
    replica_->commit(alone ? replica_->wanted() : tail_.released(owner.released));
  }
  // Records that no answer follows have no end of their step yet.
  void look(MonotonicTime now) {
    if (now < look_at_) return;
    look_at_ = now + look_again;
    const JournalPosition head = replica_->head();
    const JournalPosition wanted = replica_->wanted();
    if (head > wanted && unended_head_ > wanted) replica_->ask_for_end_of_step();
    unended_head_ = head;
  }
  // Nothing is sent any more.
  void fence(std::string_view why) { replica_->fence(std::string{why}); }

  // Records that the owner can be given now.
  [[nodiscard]] bool has_records() const noexcept { return !full_ && replica_->wanted() > replica_->taken(); }
  // Whether the owner has not been given all of it.
  [[nodiscard]] bool has_rest(const cluster::OwnerState& owner) const {
    return first_.waits(owner) || replica_->taken() < replica_->head();
  }
  // Whether the stream has all that has ended.
  [[nodiscard]] bool is_stored(const cluster::OwnerState& owner) const noexcept {
    return owner.stored == owner.appended && !first_.waits(owner) && replica_->taken() >= replica_->wanted();
  }
  // Whether a change of the sequence numbers is not stored, after an ownership with `stored` records. Takes the rest.
  [[nodiscard]] bool loses_changes(std::uint64_t stored) {
    bool found = tail_.has_changes(stored);
    replica_->take(replica_->head(), [&found](const RecordHeader& header, std::string_view, JournalPosition) {
      found = found || SessionTail::is_change(header);
      return true;
    });
    return found;
  }
  [[nodiscard]] const StoredBegin& stored_begin() const noexcept { return stored_begin_; }

 private:
  std::shared_ptr<JournalReplica> replica_;
  std::weak_ptr<JournalReplica> files_;  // until they are closed
  SessionTail tail_;
  FirstRecords first_;
  StoredBegin stored_begin_;
  MonotonicTime look_at_{};
  JournalPosition unended_head_ = 0;  // when look() last saw it
  bool full_ = false;                 // the owner has no space: it has to be answered first
};

}  // namespace nfx::gateway
