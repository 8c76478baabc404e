// States of instruments and the times of their snapshot requests.
#include "market/update_recovery.hpp"

namespace nfx::market {

InstrumentRecovery::InstrumentRecovery(const RecoveryOptions& options) : options_(options) {
  NFX_REQUIRE(options.retry_min > Duration::zero() && options.retry_min <= options.retry_max);
  NFX_REQUIRE(options.old_updates_max != 0 && options.old_snapshots_max != 0);
  slots_.resize(options.instruments);
  waiting_.reserve(options.instruments);
}

void InstrumentRecovery::begin(InstrumentIndex index) {
  NFX_ASSERT(slot(index).state == InstrumentState::live && !slot(index).known);
  stop_being_live(index);
}

void InstrumentRecovery::stop_being_live(InstrumentIndex index) noexcept {
  Slot& at = slot(index);
  if (at.state != InstrumentState::live) return;
  at.state = InstrumentState::recovering;
  at.waiting = static_cast<std::uint32_t>(waiting_.size());
  at.wait = options_.retry_min;
  at.next_request = MonotonicTime::min();
  at.timed = false;
  waiting_.push_back(std::to_underlying(index));
  earliest_ = MonotonicTime::min();
}

void InstrumentRecovery::become_live(InstrumentIndex index) noexcept {
  Slot& at = slot(index);
  if (at.state == InstrumentState::live) return;
  at.state = InstrumentState::live;
  const std::uint32_t last = waiting_.back();
  waiting_[at.waiting] = last;
  slots_[last].waiting = at.waiting;
  waiting_.pop_back();
}

void InstrumentRecovery::refused(InstrumentIndex index, MonotonicTime now) noexcept {
  Slot& at = slot(index);
  if (at.state == InstrumentState::live) return;
  if (at.state != InstrumentState::stale) ++counters_.stale;
  at.state = InstrumentState::stale;
  at.wait = options_.retry_max;
  at.next_request = now + at.wait;
}

std::optional<InstrumentIndex> InstrumentRecovery::next_due(MonotonicTime now) noexcept {
  MonotonicTime earliest = MonotonicTime::max();
  for (std::size_t i = 0; i < waiting_.size(); ++i, ++cursor_) {
    if (cursor_ >= waiting_.size()) cursor_ = 0;
    const InstrumentIndex index{waiting_[cursor_]};
    Slot& at = slot(index);
    if (!at.timed) {
      at.timed = true;
      at.since = now;
    }
    if (at.state == InstrumentState::recovering && now - at.since >= options_.stale_after) {
      at.state = InstrumentState::stale;
      ++counters_.stale;
    }
    if (at.next_request <= now) {
      at.next_request = now + at.wait;
      at.wait = std::min(2 * at.wait, options_.retry_max);
      spaced_ = now + options_.request_spacing;
      ++counters_.requests;
      ++cursor_;
      return index;
    }
    earliest = std::min(earliest, at.next_request);
    if (at.state == InstrumentState::recovering) earliest = std::min(earliest, at.since + options_.stale_after);
  }
  earliest_ = earliest;
  return std::nullopt;
}

}  // namespace nfx::market
