// The life cycle of a rail within a link: opening, greeting, up, closed, reopened; its operation slots, credits and
// deadlines.
#include <algorithm>

#include "fabric/link_core.hpp"

namespace nfx::fabric {
namespace {

constexpr Duration between_maintenance = std::chrono::milliseconds{2};
constexpr std::size_t completions = 64;
constexpr int rounds = 4;  // of that size, so that no rail makes the others wait

}  // namespace

std::size_t LinkCore::serve(std::size_t index) noexcept {
  LinkRail& rail = rails_[index];
  if (rail.phase == RailPhase::closed) return 0;
  std::array<Completion, completions> space;
  std::size_t served = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::size_t count = rail.rail.poll(space);
    if (rail.phase == RailPhase::opening) {
      if (rail.rail.state() != RailState::up) return 0;
      greet(index);
    }
    NFX_ASSERT(count <= completions);
    for (std::size_t i = 0; i < count; ++i) {
      const Completion& completion = space[i];
      switch (completion.kind) {
        case CompletionKind::done: release(rail, completion.value); break;
        case CompletionKind::arrived: take_number(index, completion); break;
        case CompletionKind::failed:
        case CompletionKind::down: close_rail(index, RailChange::failed); break;
      }
      // Later completions belong to a closed connection: the peer will send them again.
      if (rail.phase == RailPhase::closed) return served + i + 1;
    }
    served += count;
    if (count != 0) rail.again = false;
    if (count < completions) break;
  }
  return served;
}

void LinkCore::take_number(std::size_t index, const Completion& completion) noexcept {
  LinkRail& rail = rails_[index];
  rail.heard_at = now_;
  switch (kind_of(completion.value)) {
    case NumberKind::page:
      ++rail.consumed;
      if (!take_page(completion)) close_rail(index, RailChange::protocol);
      break;
    case NumberKind::record:
      ++rail.consumed;
      take_record(index, completion.value);
      break;
    case NumberKind::status: take_status(index, completion.value); break;
    case NumberKind::none: close_rail(index, RailChange::protocol); break;
  }
}

void LinkCore::release(LinkRail& rail, std::uint32_t slot) noexcept {
  NFX_REQUIRE(slot < rail.operations.size());
  const Operation operation = std::exchange(rail.operations[slot], Operation{});
  switch (operation.kind) {
    case NumberKind::page:
      NFX_ASSERT(sends_[operation.index].busy > 0);
      --sends_[operation.index].busy;
      break;
    case NumberKind::record: out_[operation.index].busy = false; break;
    case NumberKind::status: rail.status_busy &= ~(1U << operation.index); break;
    case NumberKind::none: return;  // already completed: a rail that reports a slot twice frees it once
  }
  rail.free.push_back(slot);
}

bool LinkCore::can_post(const LinkRail& rail, std::uint32_t reserve) noexcept {
  if (rail.phase != RailPhase::up || rail.free.size() <= reserve) return false;
  if (rail.posted - rail.peer_consumed + reserve < rail.peer_window) return true;
  add_shared(counters_.without_credit, 1);
  return false;
}

WriteResult LinkCore::post(std::size_t index, Write write, Operation operation) noexcept {
  LinkRail& rail = rails_[index];
  NFX_ASSERT(!rail.free.empty());
  write.slot = rail.free.back();
  const WriteResult result = rail.rail.try_write(write);
  switch (result) {
    case WriteResult::ok:
      rail.free.pop_back();
      NFX_ASSERT(rail.operations[write.slot].kind == NumberKind::none);
      rail.operations[write.slot] = operation;
      rail.again = false;
      if (operation.kind == NumberKind::status) break;
      if (rail.posted == rail.peer_consumed) rail.progress_at = now_;
      ++rail.posted;
      break;
    case WriteResult::again:
      add_shared(counters_.again, 1);
      if (!std::exchange(rail.again, true)) rail.again_since = now_;
      break;
    case WriteResult::failed: close_rail(index, RailChange::failed); break;
  }
  return result;
}

void LinkCore::greet(std::size_t index) noexcept {
  LinkRail& rail = rails_[index];
  rail.phase = RailPhase::greeting;
  ++rail.incarnation;
  rail.peer_incarnation = 0;
  rail.posted = rail.peer_consumed = rail.consumed = rail.consumed_reported = 0;
  rail.version = rail.statuses_seen = rail.peer_version = rail.newest = rail.version_reported = 0;
  rail.peer_versions = rail.status_busy = 0;
  rail.again = false;
  rail.status_due = true;
  rail.opened_at = rail.heard_at = rail.progress_at = rail.aged_at = now_;
}

void LinkCore::come_up(std::size_t index, const Status& status) noexcept {
  LinkRail& rail = rails_[index];
  rail.phase = RailPhase::up;
  up_ |= 1U << index;
  rail.peer_incarnation = status.incarnation;
  rail.report = RailChange::up;
  rails_report_ = true;
  up_at_ = rail.progress_at = now_;
  add_shared(counters_.rails_opened, 1);
  // The peer reopens an end only after it has closed it.
  if (rail.awaits_peer) peer_has_closed(index);
  status_everywhere();
}

void LinkCore::close_rail(std::size_t index, RailChange change) noexcept {
  LinkRail& rail = rails_[index];
  if (rail.phase == RailPhase::closed) return;
  const RailPhase before = std::exchange(rail.phase, RailPhase::closed);
  up_ &= ~(1U << index);
  rail.rail.close();
  rail.reopen_at = now_ + options_.reopen_after;
  if (before == RailPhase::opening) return;
  rail.closed = rail.incarnation;
  for (std::uint32_t slot = 0; slot < rail.limits.slots; ++slot) {
    if (rail.operations[slot].kind != NumberKind::none) release(rail, slot);
  }
  forget_early_records(index);
  if (before == RailPhase::up) {
    suspect_records(index);
    suspect_pages(index);
    rail.awaits_peer = true;
    rail.fence = rail.peer_incarnation;
    rail.report = change;
    rails_report_ = true;
    up_at_ = now_;
    add_shared(counters_.rails_closed, 1);
  }
  status_everywhere();
}

void LinkCore::peer_has_closed(std::size_t index) noexcept {
  if (!std::exchange(rails_[index].awaits_peer, false)) return;
  queue_suspects(index);
  lose_suspect_pages(index);
}

void LinkCore::maintain() noexcept {
  maintain_at_ = now_ + std::min(between_maintenance, options_.heartbeat);
  bool up = false;
  for (std::size_t index = 0; index < rails_.size(); ++index) {
    maintain_rail(index);
    up = up || rails_[index].phase == RailPhase::up;
  }
  if (up) up_at_ = now_;
  if (now_ - up_at_ > options_.lost_after) return lose(LossReason::no_rail);
  // The oldest record that has not arrived delays all later ones.
  if (arrived_ != sent_ && now_ - records_at_ > options_.write_deadline) {
    const RecordOut& oldest = out_[(arrived_ + 1) % options_.record_slots];
    if (oldest.state == RecordState::posted) close_rail(oldest.rail, RailChange::silent);
    records_at_ = now_;
  }
  if (open_sends_ == 0) return;
  for (SendTransfer& each : sends_) maintain_send(each);
}

void LinkCore::maintain_rail(std::size_t index) noexcept {
  LinkRail& rail = rails_[index];
  switch (rail.phase) {
    case RailPhase::closed:
      if (now_ < rail.reopen_at) return;
      rail.phase = RailPhase::opening;
      rail.rail.open(now_);
      rail.rail.maintain(now_);
      return;
    case RailPhase::opening:
      rail.rail.maintain(now_);
      if (rail.rail.state() == RailState::closed) close_rail(index, RailChange::failed);
      return;
    case RailPhase::greeting:
    case RailPhase::up: break;
  }
  rail.rail.maintain(now_);
  const bool is_silent = now_ - rail.heard_at > options_.silence;
  const bool is_deaf = rail.posted != rail.peer_consumed && now_ - rail.progress_at > options_.write_deadline;
  const bool is_full = rail.again && now_ - rail.again_since > options_.write_deadline;
  const bool is_forgetful = has_lost_completion(rail);
  // A peer that talks to this end's predecessor keeps the rail greeting, for another attempt.
  const bool is_strange = rail.phase == RailPhase::greeting && now_ - rail.opened_at > options_.silence;
  if (is_silent || is_deaf || is_full || is_forgetful || is_strange) close_rail(index, RailChange::silent);
}

// Whether a write has had no completion for one to two write deadlines.
bool LinkCore::has_lost_completion(LinkRail& rail) noexcept {
  if (now_ - rail.aged_at < options_.write_deadline) return false;
  rail.aged_at = now_;
  bool lost = false;
  for (Operation& each : rail.operations) lost = lost || (each.kind != NumberKind::none && ++each.age > 1);
  return lost;
}

std::uint32_t LinkCore::fingerprint() const noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  for (const std::uint64_t value :
       {std::uint64_t{sizeof(Status)}, std::uint64_t{options_.record_slots}, std::uint64_t{options_.record_size},
        std::uint64_t{options_.transfers}, std::uint64_t{options_.pages}, std::uint64_t{rails_.size()},
        std::uint64_t{regions_.size()}})
    add(value);
  return static_cast<std::uint32_t>(hash >> 32 ^ hash);
}

}  // namespace nfx::fabric
