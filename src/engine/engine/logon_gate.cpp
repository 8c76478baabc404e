// Places and buffers of connections before their Logon, and the checks that a Logon passes before a session has it.
#include "engine/logon_gate.hpp"

#include <cstring>

#include "config/wildcard.hpp"
#include "nexusfix/session/schedule.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {

LogonGate::LogonGate(const EngineConfig& config, std::uint32_t thread, Authenticator* authenticator)
    : authenticator_(authenticator),
      most_bytes_(config.pending_logon_bytes),
      timeout_(config.pending_logon_timeout),
      addresses_({.hold_off = config.hold_off,
                  .max_invalid_logons = config.max_invalid_logons,
                  .max_logons = config.max_logons_per_address,
                  .max_known = config.max_known_addresses}),
      places_({.unknown = config.max_pending_logons,
               .per_address = config.max_pending_logons_per_address,
               .per_network = config.max_pending_logons_per_network,
               .known = config.max_pending_known_logons}),
      limit_(config.max_refusal_reports),
      pending_(places_.places()),
      bytes_(places_.places()) {
  for (const SessionSettings& settings : config.sessions) {
    if (settings.poll_thread != thread) continue;
    if (settings.is_replicated() && settings.session.role == Role::acceptor) replicated_.push_back(&settings);
    if (!settings.is_template) continue;
    templates_.push_back(&settings);
    expect(settings);
  }
}

void LogonGate::listening(ListenerId listener, const Endpoint& endpoint) {
  NFX_ASSERT(!listener_at(endpoint));
  listening_.push_back({listener, endpoint, to_string(endpoint)});
}

std::optional<ListenerId> LogonGate::listener_at(const Endpoint& endpoint) const noexcept {
  const auto found = std::ranges::find(listening_, endpoint, &Listening::endpoint);
  if (found == listening_.end()) return std::nullopt;
  return found->id;
}

std::optional<ListenerId> LogonGate::take_unused(const Endpoint& endpoint) noexcept {
  const auto found = std::ranges::find(listening_, endpoint, &Listening::endpoint);
  const auto there = std::ranges::find(allowed_, endpoint, &Allowed::endpoint);
  NFX_ASSERT(there != allowed_.end());
  if (found == listening_.end() || there->sessions != 0) return std::nullopt;
  const ListenerId listener = found->id;
  listening_.erase(found);
  allowed_.erase(there);
  return listener;
}

void LogonGate::expect_gateways(const ClusterConfig& cluster) {
  for (const std::string& name : cluster.gateways) {
    if (name != cluster.gateway) gateways_.push_back(PeerAddress::of_host(cluster.address_of(name)));
  }
}

void LogonGate::expect(const SessionSettings& settings) {
  if (settings.session.role != Role::acceptor) return;
  auto at = std::ranges::find(allowed_, settings.listen, &Allowed::endpoint);
  if (at == allowed_.end()) at = allowed_.insert(at, Allowed{.endpoint = settings.listen});
  ++at->sessions;
  if (settings.allowed_addresses.empty()) ++at->open;
  for (const std::string& text : settings.allowed_addresses) {
    const PeerAddress address = PeerAddress::of_host(text);
    auto known = std::ranges::find(at->addresses, address, &Allowed::Address::address);
    if (known == at->addresses.end()) known = at->addresses.insert(known, {.address = address});
    ++known->sessions;
  }
}

void LogonGate::forget(const SessionSettings& settings) noexcept {
  if (settings.session.role != Role::acceptor) return;
  const auto at = std::ranges::find(allowed_, settings.listen, &Allowed::endpoint);
  NFX_ASSERT(at != allowed_.end() && at->sessions != 0);
  --at->sessions;
  if (settings.allowed_addresses.empty()) --at->open;
  for (const std::string& text : settings.allowed_addresses) {
    const auto known = std::ranges::find(at->addresses, PeerAddress::of_host(text), &Allowed::Address::address);
    NFX_ASSERT(known != at->addresses.end());
    if (--known->sessions == 0) at->addresses.erase(known);
  }
}

PeerStanding LogonGate::standing(ListenerId listener, std::string_view peer) const noexcept {
  const PeerAddress address = PeerAddress::of_peer(peer);
  if (is_gateway(address)) return PeerStanding::known;
  const bool logged_on_before = addresses_.is_known(address);
  const auto here = std::ranges::find(listening_, listener, &Listening::id);
  if (here != listening_.end()) {
    const auto allowed = std::ranges::find(allowed_, here->endpoint, &Allowed::endpoint);
    if (allowed != allowed_.end() && allowed->sessions != 0) {
      const auto named = std::ranges::find(allowed->addresses, address, &Allowed::Address::address);
      if (named != allowed->addresses.end() && !address.is_none()) return PeerStanding::known;
      if (allowed->open == 0) return PeerStanding::not_allowed;
    }
  }
  return logged_on_before ? PeerStanding::known : PeerStanding::unknown;
}

std::uint32_t LogonGate::occupy(std::uint32_t index, const IncomingConnection& incoming, MonotonicTime now) {
  NFX_ASSERT(pending_[index].id == no_connection);
  count_shared(counters_.pending_accepted);
  pending_[index] = {
      .id = incoming.id, .listener = incoming.listener, .deadline = now + timeout_, .peer = std::string{incoming.peer}};
  pending_[index].from_gateway = is_gateway(PeerAddress::of_peer(incoming.peer));
  if (!bytes_[index]) bytes_[index] = std::make_unique_for_overwrite<char[]>(most_bytes_);
  deadline_ = std::min(deadline_, pending_[index].deadline);
  return index;
}

bool LogonGate::count_refusal(LogonRefusalReason reason, std::string_view peer, MonotonicTime now) {
  NFX_ASSERT(reason != LogonRefusalReason::none);
  count_shared(counters_.*row_of(reason).counter);
  const bool reported = limit_.admit(reason, peer, now);
  deadline_ = std::min(deadline_, limit_.deadline());
  return reported;
}

std::size_t LogonGate::collect(std::uint32_t index, std::span<const char> bytes) noexcept {
  PendingLogon& pending = (*this)[index];
  NFX_ASSERT(pending.size <= most_bytes_);
  if (!bytes.empty()) places_.heard(index);
  const std::size_t taken = std::min(bytes.size(), most_bytes_ - pending.size);
  if (taken != 0) std::memcpy(bytes_[index].get() + pending.size, bytes.data(), taken);
  pending.size += taken;
  NFX_ASSERT(pending.size <= most_bytes_);
  return taken;
}

std::string_view LogonGate::received(std::uint32_t index) const noexcept {
  NFX_ASSERT(index < pending_.size());
  return {bytes_[index].get(), pending_[index].size};
}

void LogonGate::drop_front(std::uint32_t index, std::size_t bytes) noexcept {
  PendingLogon& pending = (*this)[index];
  NFX_ASSERT(bytes <= pending.size);
  pending.size -= bytes;
  std::memmove(bytes_[index].get(), bytes_[index].get() + bytes, pending.size);
  clear_bytes({bytes_[index].get() + pending.size, bytes});
}

void LogonGate::release(std::uint32_t index) noexcept {
  NFX_ASSERT(index < pending_.size());
  NFX_ASSERT(pending_[index].id != no_connection);
  clear_bytes({bytes_[index].get(), pending_[index].size});  // a Logon has a password
  pending_[index] = {};
  places_.release(index);
}

std::optional<std::uint32_t> LogonGate::waiting_for(std::size_t session) const noexcept {
  NFX_ASSERT(session != 0);
  const auto found = std::ranges::find(pending_, session, &PendingLogon::opening);
  if (found == pending_.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - pending_.begin());
}

std::optional<SessionKey> LogonGate::key_of(const MessageView& logon, const PendingLogon& pending) const noexcept {
  const auto here = std::ranges::find(listening_, pending.listener, &Listening::id);
  if (here == listening_.end()) return std::nullopt;
  return SessionKey{here->name, logon.begin_string(), logon.get_view(Tag::TargetCompID),
                    logon.get_view(Tag::SenderCompID)};
}

const SessionSettings* LogonGate::owned_elsewhere(const MessageView& logon,
                                                  const PendingLogon& pending) const noexcept {
  const auto found = std::ranges::find_if(replicated_, [&](const SessionSettings* settings) {
    const SessionConfig& session = settings->session;
    return session.begin_string == logon.begin_string() &&
           session.sender_comp_id == logon.get_view(Tag::TargetCompID) &&
           session.target_comp_id == logon.get_view(Tag::SenderCompID) &&
           listener_at(settings->listen) == pending.listener;
  });
  return found == replicated_.end() ? nullptr : *found;
}

std::optional<SessionSettings> LogonGate::from_template(const MessageView& logon, PendingLogon& pending,
                                                        UtcTime now) const {
  pending.refused = LogonRefusalReason::unknown_session;
  const std::string_view ours = logon.get_view(Tag::TargetCompID);
  const std::string_view peers = logon.get_view(Tag::SenderCompID);
  if (!usable_comp_id(ours) || !usable_comp_id(peers)) return std::nullopt;
  const auto fits = [&](const SessionSettings* settings) {
    const SessionConfig& session = settings->session;
    return session.begin_string == logon.begin_string() && listener_at(settings->listen) == pending.listener &&
           matches_wildcard(session.sender_comp_id, ours) && matches_wildcard(session.target_comp_id, peers);
  };
  const auto found = std::ranges::find_if(templates_, fits);
  if (found == templates_.end()) return std::nullopt;
  SessionSettings settings = **found;
  settings.is_template = false;
  settings.journal.lean = true;
  settings.session.sender_comp_id = ours;
  settings.session.target_comp_id = peers;
  if (settings.schedule && !settings.schedule->logon_allowed(now)) {
    pending.refused = LogonRefusalReason::outside_schedule;
    return std::nullopt;
  }
  pending.refused = LogonRefusalReason::none;
  return settings;
}

bool LogonGate::may_come_from(const SessionSettings& settings, PendingLogon& pending, const TlsPeer* certificate) {
  if (!settings.allowed_addresses.empty()) {
    const PeerAddress address = PeerAddress::of_peer(pending.peer);
    const auto same = [&](const std::string& allowed) { return PeerAddress::of_host(allowed) == address; };
    if (address.is_none() || std::ranges::none_of(settings.allowed_addresses, same)) {
      pending.refused = LogonRefusalReason::address_not_allowed;
      return false;
    }
  }
  if (!settings.tls_enabled || settings.tls.peer_names.empty()) return true;
  if (certificate != nullptr && is_one_of(*certificate, settings.tls.peer_names, settings.session.target_comp_id))
    return true;
  pending.refused = LogonRefusalReason::certificate;
  return false;
}

bool LogonGate::may_log_on(const SessionSettings& settings, const MessageView& logon, PendingLogon& pending,
                           bool is_new, const TlsPeer* certificate) {
  if (!may_come_from(settings, pending, certificate)) return false;
  // A Logon that waited for its session to be opened, or for a connected peer, comes here again.
  if (!pending.approved) {
    pending.approved = authenticator_ == nullptr ||
                       authenticator_->on_logon_request({settings.session, logon, pending.peer, is_new, certificate});
  }
  if (pending.approved) return true;
  pending.refused = LogonRefusalReason::application;
  return false;
}

}  // namespace nfx
