// The bodies of PollLoop: what leaves, what waits for the journal or the peer before it may, and messages sent again.
// Included by poll_loop.hpp alone.
#pragma once

#include <algorithm>

#include "nexusfix/engine/poll_loop.hpp"
#include "nexusfix/engine/poll_loop_slot.hpp"

namespace nfx {

template <Transport T, Clock C>
void PollLoop<T, C>::mark_dirty(Slot& slot) noexcept {
  if (slot.dirty) return;
  slot.dirty = true;
  dirty_.push_back(slot.index);
}

template <Transport T, Clock C>
void PollLoop<T, C>::flush_all() {
  for (std::size_t i = 0; i < dirty_.size(); ++i) {
    Slot& slot = *slots_[dirty_[i]];
    slot.dirty = false;
    flush(slot);
  }
  dirty_.clear();
}

// One send for all that has gathered. What the kernel does not take waits for on_writable.
template <Transport T, Clock C>
void PollLoop<T, C>::flush(Slot& slot) {
  if (slot.connection == no_connection || slot.connecting || slot.blocked || slot.output.empty()) return;
  const std::span<const char> pending =
      slot.durable_store != nullptr && slot.durable_store->holds_back() ? releasable(slot) : slot.output.pending();
  if (pending.empty()) return;
  const SendResult result = transport_.try_send(slot.connection, pending);
  slot.output.consume(result.sent);
  slot.blocked = !result.closed && result.sent < pending.size();
  if (slot.released != 0) {
    slot.released -= result.sent;
    slot.gate_size -= std::min(slot.gate_size, result.sent);
  }
  if (slot.blocked) watch_slow(slot);
}

// Of what is pending, what the journal has on disk. The rest waits for the next sync, together with what gathers
// meanwhile: that is the group.
template <Transport T, Clock C>
std::span<const char> PollLoop<T, C>::releasable(Slot& slot) noexcept {
  const std::span<const char> pending = slot.output.pending();
  if (slot.gate != unset_position && slot.durable_store->durable() >= slot.gate) {
    slot.released = slot.gate_size;
    slot.gate = unset_position;
  }
  if (slot.gate == unset_position && slot.released < pending.size()) {
    slot.gate = slot.durable_store->position();
    slot.gate_size = pending.size();
    if (slot.durable_store->durable() >= slot.gate) {  // it was synced already: a resend, or nothing that is kept
      slot.released = slot.gate_size;
      slot.gate = unset_position;
    } else {
      slot.durable_store->want_sync();
    }
  }
  if (slot.gate != unset_position && !std::exchange(slot.gated, true)) waiting_.push_back(slot.index);
  return pending.first(slot.released);
}

template <Transport T, Clock C>
void PollLoop<T, C>::release_gated() {
  for (std::size_t i = 0; i < waiting_.size();) {
    Slot& slot = *slots_[waiting_[i]];
    if (slot.gate != unset_position && slot.durable_store->durable() < slot.gate &&
        slot.durable_store->condition() != StoreCondition::failed) {
      ++i;
      continue;
    }
    slot.gated = false;
    waiting_[i] = waiting_.back();
    waiting_.pop_back();
    if (slot.durable_store->condition() == StoreCondition::failed) {
      check_store(slot);
    } else {
      flush(slot);  // which may put it at the end of the list again
    }
  }
}

template <Transport T, Clock C>
void PollLoop<T, C>::forget_output(Slot& slot) noexcept {
  slot.output.clear();
  slot.released = slot.gate_size = 0;
  slot.gate = unset_position;
}

template <Transport T, Clock C>
void PollLoop<T, C>::watch_slow(Slot& slot) noexcept {
  if (slot.settings.slow_consumer != SlowConsumer::disconnect || slot.slow_deadline != MonotonicTime::max()) return;
  slot.slow_deadline = now_.monotonic + slot.settings.slow_consumer_timeout;
  rearm(slot);
}

// Also those that have nothing to do: a session whose store takes no more is not left standing until its heartbeat.
template <Transport T, Clock C>
void PollLoop<T, C>::check_stores() {
  store_changes_seen_ = stores_.changes();
  for (const auto& slot : slots_) {
    if (slot != nullptr && slot->durable_store != nullptr) check_store(*slot);
  }
}

// Before a connection: whether the journal takes messages.
template <Transport T, Clock C>
bool PollLoop<T, C>::store_is_good(Slot& slot) {
  check_store(slot);
  return !slot.store_trouble;
}

// A journal that takes no more ends its session: with a Logout while there is room for its number, at once when what is
// encoded can no longer be kept, for its number would be used again.
template <Transport T, Clock C>
void PollLoop<T, C>::check_store(Slot& slot) {
  const StoreCondition condition = slot.durable_store->condition();
  const std::uint64_t refused = slot.store.counts().refused;
  const bool lost = refused != std::exchange(slot.records_refused, refused);
  const bool bad = condition >= StoreCondition::full;
  if (!bad && !lost) {
    slot.store_trouble = false;
    return;
  }
  if (!std::exchange(slot.store_trouble, true)) {
    tell(slot, Notice::store_trouble, SeqNum{}, slot.durable_store->condition_text());
    if (!lost && condition == StoreCondition::full && slot.session.logged_on()) {
      return step(slot, 0, [&](Actions& out) { slot.session.logout("the message store takes no more", now_, out); });
    }
  }
  if (lost || condition == StoreCondition::failed) slot.drop_connection();
}

template <Transport T, Clock C>
void PollLoop<T, C>::pump_replay(Slot& slot) {
  std::uint64_t not_kept = 0;
  const auto read = [&](SeqNum seq) -> std::optional<std::string_view> {
    const auto kept = slot.store.read(seq);
    if (!kept) {
      // A session message is never kept, and nothing is lost with it; what the store gave up may have been an order.
      if (seq < slot.store.oldest_kept() && slot.store.counts().evicted != 0) ++not_kept;
      return std::nullopt;
    }
    if (replayed_message_.parse(*kept) != WireError::none) return std::nullopt;
    slot.looking_on = true;
    const bool wanted = application_.on_resend(slot, replayed_message_);
    slot.looking_on = false;
    return wanted ? kept : std::nullopt;
  };
  // Resent messages leave room for live ones: they wait while much is on its way already.
  std::size_t sent = 0;
  while (slot.session.replaying() && slot.output.pending().size() < replay_batch && sent < replay_batch) {
    const std::size_t before = slot.output.pending().size();
    const bool done = step(slot, admin_reserve, [&](Actions& out) {
      slot.session.continue_replay(read, replayed_message_, now_, out);
      slot.counts.resent += static_cast<std::uint64_t>(std::ranges::count(out.list(), true, &Action::resent));
      return out.list().empty();
    });
    const std::size_t after = slot.output.pending().size();
    sent += after > before ? after - before : 0;
    if (done) break;
  }
  slot.in_replay_list = slot.session.replaying();
  if (not_kept == 0) return;
  slot.counts.resend_not_kept += not_kept;
  tell(slot, Notice::resend_not_kept, slot.store.oldest_kept(), "raise retain_messages or retain_bytes");
}

}  // namespace nfx
