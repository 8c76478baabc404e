// The journal of a session that this gateway owns, while the session exists: its records are appended to the owner, and
// what the owner releases may leave.
// Thread: the gateway's. Cost: a copy into the owner's next frame. Bounds: what the owner has no space for stays in the
// journal's ring; while that is full, the peer is not read. Errors: a sequence number that goes back without a reset is
// `false` from append_to().
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cluster/owner.hpp"
#include "gateway/first_records.hpp"
#include "gateway/session_tail.hpp"
#include "gateway/stored_begin.hpp"
#include "nexusfix/base/time.hpp"
#include "store/journal_replica.hpp"

namespace nfx::gateway {

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
  // What the owner has released may leave; `alone`: all that has ended.
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
