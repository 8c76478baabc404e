// The replicator's side of a journal: reads its records in the ring, and tells the journal which messages may be sent.
#include "store/journal_replica.hpp"

#include <cstring>
#include <utility>

#include "nexusfix/base/assert.hpp"
#include "store/journal_writer.hpp"

namespace nfx {

void JournalReplica::call(std::function<void()> woken, std::function<void()> changed) {
  const std::lock_guard lock{mutex_};
  woken_ = std::move(woken);
  changed_ = std::move(changed);
}

void JournalReplica::open(detail::JournalWriter& writer, JournalPosition position) {
  const std::lock_guard lock{mutex_};
  NFX_REQUIRE(writer_ == nullptr && !closed_);  // a replica has one journal, and only once
  wanted_.store(position, std::memory_order_relaxed);
  committed_.store(position, std::memory_order_relaxed);
  taken_.store(position, std::memory_order_relaxed);
  needed_.store(position, std::memory_order_release);
  writer_ = &writer;
  if (!fenced_.empty()) writer.fence(fenced_);
}

// Copies the records that the replicator has not taken, because the ring is removed with the journal.
void JournalReplica::close(JournalPosition position) {
  {
    const std::lock_guard lock{mutex_};
    if (writer_ == nullptr) return;
    rest_begin_ = taken_.load(std::memory_order_relaxed);
    NFX_REQUIRE(rest_begin_ <= position);
    for (JournalPosition at = rest_begin_; at < position;) {
      RecordHeader header;
      std::memcpy(&header, record_at(at), sizeof header);
      rest_.insert(rest_.end(), record_at(at), record_at(at) + padded(header.size));
      at += padded(header.size);
    }
    end_ = position;
    writer_ = nullptr;
    woken_ = changed_ = nullptr;  // their targets may be destroyed before the replicator
    needed_.store(unset_position, std::memory_order_release);
    closed_.store(true, std::memory_order_release);
  }
  signal_->notify();
}

const char* JournalReplica::record_at(JournalPosition position) const noexcept {
  if (writer_ == nullptr) return rest_.data() + (position - rest_begin_);
  return writer_->ring_bytes() + detail::ring_offset(writer_->ring(), position);
}

void JournalReplica::take(JournalPosition limit, const Visit& visit) {
  const std::lock_guard lock{mutex_};
  if (writer_ == nullptr && !closed_) return;
  const JournalPosition head = writer_ != nullptr ? writer_->ring().head.load(std::memory_order_acquire) : end_;
  NFX_ASSERT(limit <= head);
  JournalPosition at = taken_.load(std::memory_order_relaxed);
  while (at < limit) {
    const char* const record = record_at(at);
    RecordHeader header;
    std::memcpy(&header, record, sizeof header);
    NFX_REQUIRE(header.size >= sizeof header && padded(header.size) <= head - at);
    const JournalPosition end = at + padded(header.size);
    if (end > limit || !visit(header, {record + sizeof header, header.size - sizeof header}, end)) return;
    at = end;
    taken_.store(at, std::memory_order_relaxed);
    if (writer_ != nullptr) needed_.store(at, std::memory_order_release);
  }
}

JournalPosition JournalReplica::head() const {
  const std::lock_guard lock{mutex_};
  return writer_ != nullptr ? writer_->ring().head.load(std::memory_order_acquire) : end_;
}

void JournalReplica::commit(JournalPosition position) {
  const std::lock_guard lock{mutex_};
  if (position <= committed_.load(std::memory_order_relaxed)) return;
  committed_.store(position, std::memory_order_release);
  if (woken_) woken_();
}

void JournalReplica::ask_for_end_of_step() {
  const std::lock_guard lock{mutex_};
  if (changed_ && writer_ != nullptr) changed_();
}

void JournalReplica::fence(const std::string& why) {
  const std::lock_guard lock{mutex_};
  if (!std::exchange(fenced_, why).empty()) return;
  if (writer_ == nullptr) return;
  writer_->fence(why);
  if (changed_) changed_();
}

}  // namespace nfx
