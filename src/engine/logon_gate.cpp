#include "engine/logon_gate.hpp"

#include <cstring>

#include "nexusfix/config/wildcard.hpp"
#include "nexusfix/session/schedule.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {

LogonGate::LogonGate(const EngineConfig& config, std::uint32_t thread, Application& application)
    : application_(application),
      most_bytes_(config.pending_logon_bytes),
      timeout_(config.pending_logon_timeout),
      pending_(config.max_pending_logons),
      bytes_(config.max_pending_logons) {
  for (const SessionSettings& settings : config.sessions) {
    if (settings.poll_thread == thread && settings.is_template) templates_.push_back(&settings);
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

std::optional<std::uint32_t> LogonGate::admit(ListenerId listener, ConnectionId id, std::string_view peer,
                                              MonotonicTime now) {
  NFX_ASSERT(id != no_connection);
  const auto free = std::ranges::find(pending_, no_connection, &PendingLogon::id);
  if (free == pending_.end()) {
    refuse();
    return std::nullopt;
  }
  count_shared(counters_.pending_accepted);
  const auto index = static_cast<std::uint32_t>(free - pending_.begin());
  *free = {.id = id, .listener = listener, .deadline = now + timeout_, .peer = std::string{peer}};
  if (!bytes_[index]) bytes_[index] = std::make_unique_for_overwrite<char[]>(most_bytes_);
  deadline_ = std::min(deadline_, free->deadline);
  return index;
}

void LogonGate::refuse() noexcept {
  count_shared(counters_.pending_accepted);
  count_shared(counters_.pending_refused);
}

std::size_t LogonGate::collect(std::uint32_t index, std::span<const char> bytes) noexcept {
  PendingLogon& pending = (*this)[index];
  NFX_ASSERT(pending.size <= most_bytes_);
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

void LogonGate::release(std::uint32_t index) noexcept {
  NFX_ASSERT(index < pending_.size());
  NFX_ASSERT(pending_[index].id != no_connection);
  pending_[index] = {};
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

std::optional<SessionSettings> LogonGate::from_template(const MessageView& logon, const PendingLogon& pending,
                                                        UtcTime now) const {
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
  settings.session.sender_comp_id = ours;
  settings.session.target_comp_id = peers;
  if (settings.schedule && !settings.schedule->logon_allowed(now)) return std::nullopt;
  return settings;
}

bool LogonGate::may_come_from(const SessionSettings& settings, const PendingLogon& pending,
                              const TlsPeer* certificate) {
  if (!settings.allowed_addresses.empty()) {
    const auto endpoint = Endpoint::parse(pending.peer);
    const auto address = endpoint ? canonical_address(endpoint->host) : std::nullopt;
    const auto same = [&](const std::string& allowed) { return canonical_address(allowed) == address; };
    if (!address || std::ranges::none_of(settings.allowed_addresses, same)) return false;
  }
  if (!settings.tls_enabled || settings.tls.peer_names.empty()) return true;
  return certificate != nullptr && is_one_of(*certificate, settings.tls.peer_names, settings.session.target_comp_id);
}

bool LogonGate::may_log_on(const SessionSettings& settings, const MessageView& logon, const PendingLogon& pending,
                           bool is_new, const TlsPeer* certificate) {
  return may_come_from(settings, pending, certificate) &&
         application_.on_logon_request({settings.session, logon, pending.peer, is_new, certificate});
}

}  // namespace nfx
