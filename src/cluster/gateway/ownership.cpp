// Decides who owns a session.
#include "gateway/ownership.hpp"

namespace nfx::gateway {
namespace {

using cluster::Assignment;
using cluster::GatewayId;
using cluster::Phase;
using cluster::StopReason;

Duration turn_of_each(Duration lease) { return leases_for_each * cluster::wait_for_lease(lease); }

// When this gateway may own a session that no gateway has. assign() decides, but for a session that is new to the
// cluster a gateway with its journal goes first. A gateway that should have a session and does not take it is not
// waited for indefinitely.
MonotonicTime turn_of(OwnershipState& s, bool is_new, const Members& members, const OwnershipRules& rules,
                      MonotonicTime now) {
  if (now < s.unable_until && !members.is_alone(now)) return s.unable_until;
  s.unable = {};
  // A local session becomes one of the cluster: its journal is at one of the gateways.
  if (is_new && s.has_journal) return now;
  const auto rank = static_cast<int>(members.rank(s.name, now));
  if (rank == 0) return is_new && members.size() > 1 ? rules.begin + cluster::wait_for_lease(rules.lease) : now;
  s.unable = members.run_of(members.owner_of(s.name, now).gateway);
  return *s.free_since + rank * turn_of_each(rules.lease);
}

Decision own_when_due(OwnershipState& s, const OwnershipFacts& facts, const Members& members,
                      const OwnershipRules& rules, MonotonicTime now) {
  const auto wait_until = [](MonotonicTime until) { return Decision{.until = until}; };
  if (const MonotonicTime from = std::max(s.not_before, rules.begin); now < from) return wait_until(from);
  if (!s.knows_lease) {
    if (now < s.lease_asked + lease_request) return wait_until(s.lease_asked + lease_request);
    s.lease_asked = now;
    return {Act::ask_for_lease};
  }
  if (facts.lease_of != GatewayId{} && facts.lease_of != members.own())
    return now < s.lease_end ? wait_until(s.lease_end) : Decision{Act::end_lease};
  if (!s.free_since) s.free_since = now;
  if (!s.looked) return {};
  const MonotonicTime turn = turn_of(s, s.found_nothing && !facts.has_frame, members, rules, now);
  return now < turn ? wait_until(turn) : Decision{Act::own};
}

void end_following(OwnershipState& s, const OwnershipRules& rules, MonotonicTime now) {
  s.follows = false;
  s.follow_at = now + rules.follow_again;
}

// Data that a takeover would read is read before, and is in the journal.
Act follow_when_due(OwnershipState& s, const OwnershipFacts& facts, const Members& members, const OwnershipRules& rules,
                    MonotonicTime now) {
  if (facts.phase == Phase::following) return Act::wait;
  if (s.follows) {
    if (facts.is_write_due && !std::exchange(s.written, true)) return Act::write;
    if (!facts.is_behind) {
      end_following(s, rules, now);
      return Act::wait;
    }
  } else {
    if (now < s.follow_at || !facts.may_follow) return Act::wait;
    const bool looks = !s.looked && s.free_since;  // to own it, perhaps
    if (!looks && !members.is_next(s.name, now)) {
      end_following(s, rules, now);
      return Act::wait;
    }
    s.follows = true;
  }
  s.written = false;
  return Act::follow;
}

bool has_note_job(const OwnershipState& s) { return s.note == NoteState::writing || s.note == NoteState::removing; }

Decision without_owner(OwnershipState& s, const OwnershipFacts& facts, const Members& members,
                       const OwnershipRules& rules, MonotonicTime now) {
  if (facts.gateway_ends || s.removed || facts.journal_busy || has_note_job(s)) return {};
  if (std::exchange(s.reads_all, false)) return {Act::read_again};
  const Decision own = own_when_due(s, facts, members, rules, now);
  if (own.act == Act::own) end_following(s, rules, now);
  if (own.act != Act::wait) return own;
  const Act follow = follow_when_due(s, facts, members, rules, now);
  return follow == Act::wait ? own : Decision{follow};
}

// For an owner whose session exists: whether the cluster answers.
Act answered_or_alone(OwnershipState& s, const OwnershipFacts& facts, const OwnershipRules& rules, MonotonicTime now) {
  // Messages are sent without the cluster only when a later start of this gateway would know of it.
  if (s.note == NoteState::written || s.note == NoteState::failed) {
    s.alone = s.note == NoteState::written;
    s.note = s.alone ? NoteState::kept : NoteState::none;
    return s.alone ? Act::continue_alone : Act::cut;
  }
  if (facts.unanswered_since && now - *facts.unanswered_since > rules.lost_after) {
    if (rules.when_lost == WhenLost::stop) return Act::cut;
    if (s.alone || s.stage == Stage::opening || has_note_job(s)) return Act::wait;
    s.note = NoteState::writing;
    return Act::write_note;
  }
  if (std::exchange(s.alone, false)) return Act::continue_with_cluster;
  if (!facts.is_stored || s.note != NoteState::kept) return Act::wait;
  s.note = NoteState::removing;
  return Act::remove_note;
}

// Whether an owner gives the session up. A gateway that did not take it gets it after its next start.
bool gives_up(OwnershipState& s, const Members& members, MonotonicTime now) {
  if (members.owner_of(s.name, now).gateway == members.self()) s.unable = {};
  return members.gives_up(s.name, now, s.unable);
}

}  // namespace

Members::Members(const ClusterConfig& config, GatewayId own) : lease_(config.lease), own_(own) {
  for (const std::string& name : config.gateways) {
    const bool drains = std::ranges::find(config.drain, name) != config.drain.end();
    members_.push_back({.name = name, .draining = drains});
    if (name == config.gateway) self_ = members_.size() - 1;
  }
  for (const std::string& pin : config.pins) {
    const std::size_t equals = pin.find('=');
    pins_.emplace_back(pin.substr(0, equals), pin.substr(equals + 1));
  }
}

bool Members::on_lease(std::size_t member, GatewayId gateway, MonotonicTime now) {
  if (member == self_) return gateway == own_ || gateway == GatewayId{};
  members_[member].id = gateway;
  members_[member].alive_until = gateway == GatewayId{} ? MonotonicTime{} : now + cluster::wait_for_lease(lease_);
  return true;
}

std::string Members::name_of(GatewayId gateway) const {
  if (gateway == own_) return members_[self_].name;
  const auto found = std::ranges::find(members_, gateway, &Member::id);
  return gateway == GatewayId{} || found == members_.end() ? std::string{} : found->name;
}

bool Members::is_alone(MonotonicTime now) const noexcept {
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (i != self_ && is_alive(i, now)) return false;
  return true;
}

Assignment Members::owner_of(const std::string& session, MonotonicTime now, std::span<const std::size_t> lost) const {
  std::vector<cluster::Gateway> gateways;
  gateways.reserve(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i)
    gateways.push_back({.name = members_[i].name,
                        .alive = is_alive(i, now) && std::ranges::find(lost, i) == lost.end(),
                        .draining = drains(i)});
  std::vector<cluster::Pin> pins;
  for (const auto* list : {&settings_.moves, &pins_})
    for (const auto& [of, gateway] : *list) pins.push_back({.session = of, .gateway = gateway});
  return cluster::assign(session, gateways, pins);
}

std::size_t Members::rank(const std::string& session, MonotonicTime now) const {
  std::vector<std::size_t> lost;
  for (;;) {
    const std::size_t first = owner_of(session, now, lost).gateway;
    if (first == self_ || first == Assignment::no_gateway) return lost.size();
    lost.push_back(first);
  }
}

bool Members::is_next(const std::string& session, MonotonicTime now) const {
  const std::size_t first = owner_of(session, now).gateway;
  return first == self_ || owner_of(session, now, std::span{&first, 1}).gateway == self_;
}

bool Members::gives_up(const std::string& session, MonotonicTime now, GatewayId unable) const {
  const Assignment assigned = owner_of(session, now);
  if (assigned.gateway == self_ || assigned.gateway == Assignment::no_gateway) return false;
  if (unable != GatewayId{} && run_of(assigned.gateway) == unable) return false;
  return drains(self_) || assigned.by == cluster::AssignedBy::pin;
}

bool Members::drains(std::size_t member) const {
  const Member& of = members_[member];
  return of.draining || std::ranges::find(settings_.drains, of.name) != settings_.drains.end();
}

Decision decide(OwnershipState& s, const OwnershipFacts& facts, const Members& members, const OwnershipRules& rules,
                MonotonicTime now) {
  if (s.stage != Stage::none && facts.phase == Phase::owning)
    if (const Act act = answered_or_alone(s, facts, rules, now); act != Act::wait) return {act};
  const bool assigns = now >= s.assign_at;
  if (assigns) s.assign_at = now + assign_again;
  switch (s.stage) {
    case Stage::none: {
      if (facts.phase == Phase::idle || facts.phase == Phase::following)
        return without_owner(s, facts, members, rules, now);
      // Also where a lost gateway comes back; but it has lost the session to a claim, which may be stored.
      const bool claims = facts.phase == Phase::claiming || facts.phase == Phase::replaying;
      if (assigns && !claims && members.owner_of(s.name, now).gateway != members.self()) return {Act::abandon};
      return {};
    }
    case Stage::opening: return {};
    case Stage::serving:
      if (facts.journal_closed) {
        s.removed = true;
        return {Act::end_removed};
      }
      return {facts.gateway_ends || (assigns && gives_up(s, members, now)) ? Act::give_up : Act::wait};
    case Stage::leaving:
      if (!facts.journal_closed && !facts.gateway_ends) return {};
      if (facts.phase == Phase::owning) return {facts.retiring || facts.has_rest ? Act::wait : Act::retire};
      return {facts.phase == Phase::idle ? Act::close : Act::wait};
  }
  return {};
}

void note_lease(OwnershipState& s, GatewayId holder, const Members& members, const OwnershipRules& rules,
                MonotonicTime now) {
  s.knows_lease = true;
  s.lease_end = now + cluster::wait_for_lease(rules.lease);
  if (holder != GatewayId{} && holder != members.own()) s.free_since.reset();
}

void note_stop(OwnershipState& s, StopReason reason, MonotonicTime now) {
  s.not_before = std::max(s.not_before, now + retry_after);
  if (reason == StopReason::retired || reason == StopReason::abandoned) s.knows_lease = false;
}

void note_not_opened(OwnershipState& s, bool changed, const Members& members, const OwnershipRules& rules,
                     MonotonicTime now) {
  s.reads_all = true;
  s.not_before = now + rules.lease;
  // Until each of the others has had its turn, and once more.
  if (!changed) s.unable_until = now + static_cast<int>(members.size() + 1) * turn_of_each(rules.lease);
}

bool is_full(std::string_view description) noexcept {
  return description.contains("exceeded") || description.contains("insufficient");
}

std::string refusal_text(std::string_view description) {
  if (!is_full(description)) return "the cluster stores nothing: " + std::string{description};
  return "the stream is full and stores nothing (" + std::string{description} +
         "): run nfx cluster compact, or raise max_bytes";
}

}  // namespace nfx::gateway
