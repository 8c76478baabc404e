// Statuses: each end writes its whole state to the other over every rail. They carry credits, acknowledgements,
// heartbeats, and the rails that an end has closed.
#include <algorithm>
#include <cstring>

#include "fabric/link_core.hpp"

namespace nfx::fabric {

void LinkCore::take_status(std::size_t index, std::uint32_t number) noexcept {
  LinkRail& rail = rails_[index];
  // The only version possibly in flight that has these low bits.
  const std::uint64_t first = rail.peer_version + 1;
  const std::uint64_t ahead = (number - first) & version_mask;
  if (ahead >= status_slots || (rail.peer_versions >> ahead & 1U) != 0) {
    add_shared(counters_.numbers_ignored, 1);
    return;
  }
  const std::uint64_t version = first + ahead;
  Status status;
  std::memcpy(&status, region_.data() + layout_.status_in(index, version), status_size(rails_.size()));
  if (status.version != version || status.session == 0) return close_rail(index, RailChange::protocol);
  rail.peer_versions |= 1U << ahead;
  const int complete = std::countr_one(rail.peer_versions);
  rail.peer_version += static_cast<std::uint64_t>(complete);
  rail.peer_versions >>= complete;
  apply_status(index, status);
}

// Checks in a greeting whether this is the link's peer.
void LinkCore::greeted(std::size_t index, const Status& status) noexcept {
  if (peer_session_ != 0 && status.session != peer_session_) return lose(LossReason::peer_restarted);
  // The peer talks to the predecessor of this end, and will notice.
  if (status.peer_session != 0 && status.peer_session != session_) return;
  if (status.options != fingerprint_) return lose(LossReason::different_options);
  peer_session_ = status.session;
  // A peer that does not know this end yet would attribute its records to the next one that greets it.
  if (status.peer_session == 0) {
    rails_[index].status_due = true;
    return;
  }
  come_up(index, status);
}

void LinkCore::apply_status(std::size_t index, const Status& status) noexcept {
  LinkRail& rail = rails_[index];
  if (rail.phase == RailPhase::greeting) greeted(index, status);
  if (rail.phase != RailPhase::up || lost()) return;
  if (status.session != peer_session_ || status.incarnation != rail.peer_incarnation ||
      status.statuses > rail.version || status.arrived > sent_ || status.acknowledged > application_sent_)
    return close_rail(index, RailChange::protocol);
  rail.newest = std::max(rail.newest, status.version);
  rail.peer_window = status.window;
  rail.statuses_seen = std::max(rail.statuses_seen, status.statuses);
  // A number that arrived twice was counted twice.
  const std::uint64_t consumed = std::min(status.consumed, rail.posted);
  if (consumed > rail.peer_consumed) {
    rail.peer_consumed = consumed;
    rail.progress_at = now_;
  }
  // Done first, so that records that arrived are not sent again when a rail was closed.
  if (status.arrived > arrived_) take_arrived(status.arrived);
  for (std::size_t other = 0; other < rails_.size(); ++other) {
    LinkRail& each = rails_[other];
    if (each.phase == RailPhase::up && status.closed[other] >= each.peer_incarnation)
      close_rail(other, RailChange::by_peer);
    if (each.awaits_peer && status.closed[other] >= each.fence) peer_has_closed(other);
  }
  if (status.acknowledged > application_acknowledged_) {
    application_acknowledged_ = status.acknowledged;
    events_.on_acknowledged(RecordSeq{status.acknowledged});
  }
}

void LinkCore::status_everywhere() noexcept {
  for (LinkRail& rail : rails_) rail.status_due = true;
}

void LinkCore::send_statuses() noexcept {
  for (std::size_t index = 0; index < rails_.size(); ++index) {
    LinkRail& rail = rails_[index];
    if (rail.phase != RailPhase::greeting && rail.phase != RailPhase::up) continue;
    const bool credits = (rail.consumed - rail.consumed_reported) * 4 >= window_of(rail);
    const bool seen = rail.peer_version - rail.version_reported >= status_slots / 2;
    if (!rail.status_due && !credits && !seen && now_ - rail.status_at < options_.heartbeat) continue;
    if (send_status(index)) rail.status_due = false;
  }
}

bool LinkCore::send_status(std::size_t index) noexcept {
  LinkRail& rail = rails_[index];
  const std::uint64_t version = rail.version + 1;
  const auto slot = static_cast<std::uint32_t>(version % status_slots);
  if (version - rail.statuses_seen > status_slots || (rail.status_busy >> slot & 1U) != 0 || rail.free.empty())
    return false;
  Status status{.session = session_,
                .peer_session = peer_session_,
                .version = version,
                .statuses = rail.peer_version,
                .consumed = rail.consumed,
                .arrived = delivered_,
                .acknowledged = acknowledged_,
                .options = fingerprint_,
                .window = window_of(rail),
                .incarnation = rail.incarnation};
  for (std::size_t other = 0; other < rails_.size(); ++other) status.closed[other] = rails_[other].closed;
  const std::uint64_t offset = layout_.status_out(index, version);
  std::memcpy(region_.data() + offset, &status, status_size(rails_.size()));
  const WriteResult result = post(index,
                                  {.local_offset = offset,
                                   .remote_offset = layout_.status_in(index, version),
                                   .length = status_size(rails_.size()),
                                   .number = encode_status(version)},
                                  {.kind = NumberKind::status, .index = slot});
  if (result != WriteResult::ok) return false;
  rail.version = version;
  rail.status_busy |= 1U << slot;
  rail.status_at = now_;
  rail.consumed_reported = rail.consumed;
  rail.version_reported = rail.peer_version;
  add_shared(counters_.statuses_sent, 1);
  return true;
}

}  // namespace nfx::fabric
