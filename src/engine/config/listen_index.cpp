// Compares a session with the other sessions at its listen address.
#include "config/listen_index.hpp"

#include <algorithm>

#include "nexusfix/base/assert.hpp"

namespace nfx {
namespace {

// Identifies an acceptor at an address; the qualifier is not part of it, because a Logon has none.
std::string logon_key(const SessionConfig& session) {
  return session.begin_string + '\x01' + session.sender_comp_id + '\x01' + session.target_comp_id;
}

}  // namespace

ListenIndex::Terms ListenIndex::terms_of(const SessionSettings& settings) {
  Terms terms{
      .poll_thread = settings.poll_thread, .socket = settings.socket, .tls_enabled = settings.tls_enabled, .tls = {}};
  terms.socket.tls.reset();
  if (settings.tls_enabled) terms.tls = settings.tls;
  terms.tls.peer_names.clear();
  return terms;
}

std::optional<ListenIndex::Conflict> ListenIndex::find_conflict(const SessionSettings& settings) const {
  if (settings.session.role != Role::acceptor) return std::nullopt;
  const auto found = places_.find(address_of(settings.listen));
  if (found == places_.end()) return std::nullopt;
  const Place& there = found->second;
  const auto same = there.sessions.find(logon_key(settings.session));
  const bool is_there = same != there.sessions.end() && same->second == identity(settings.session);
  if (is_there && there.sessions.size() == 1) return std::nullopt;
  if (same != there.sessions.end() && !is_there) {
    return Conflict{"session_qualifier",
                    "is not sent in a Logon, so it cannot distinguish acceptors: give sessions with the same CompIDs "
                    "different listen addresses"};
  }
  const Terms wanted = terms_of(settings);
  const std::string address = "listen = \"" + to_string(settings.listen) + '"';
  const std::string shared = "sessions that share " + address + " must share their ";
  if (there.terms.poll_thread != wanted.poll_thread) return Conflict{"poll_thread", shared + "poll_thread"};
  if (there.terms.socket != wanted.socket) {
    return Conflict{"listen", shared +
                                  "tcp_nodelay, quickack, timestamps, busy_poll_us, tcp_keepalive_s, "
                                  "tcp_user_timeout_s and socket buffers"};
  }
  if (there.terms.tls_enabled != wanted.tls_enabled || there.terms.tls != wanted.tls) {
    return Conflict{"tls", shared +
                               "tls and tls_... settings except tls_peer_names: the session is known only after "
                               "the TLS handshake"};
  }
  const auto known = [&](const std::string& name) {
    return std::ranges::find(there.handshake_names, name) != there.handshake_names.end();
  };
  const std::vector<std::string>& names = settings.tls.peer_names;
  if (there.handshake_names.empty() || (!names.empty() && std::ranges::all_of(names, known))) return std::nullopt;
  return Conflict{"tls_peer_names", "expected names that the sessions at " + address +
                                        " began with, as the handshake there requires those: choose another address, "
                                        "or give one of those sessions a name with {TargetCompID}"};
}

bool ListenIndex::add(const SessionSettings& settings, std::vector<std::string> handshake_names) {
  if (settings.session.role != Role::acceptor) return true;
  NFX_ASSERT(!find_conflict(settings));
  const Address address = address_of(settings.listen);
  auto there = places_.find(address);
  if (there == places_.end()) {
    Place place{.terms = terms_of(settings), .handshake_names = std::move(handshake_names), .sessions = {}};
    there = places_.emplace(address, std::move(place)).first;
  }
  return there->second.sessions.emplace(logon_key(settings.session), identity(settings.session)).second;
}

void ListenIndex::remove(const SessionConfig& session, const Endpoint& listen) {
  if (session.role != Role::acceptor) return;
  const auto there = places_.find(address_of(listen));
  NFX_ASSERT(there != places_.end() && there->second.sessions.contains(logon_key(session)));
  there->second.sessions.erase(logon_key(session));
  if (there->second.sessions.empty()) places_.erase(there);
}

std::vector<std::string> ListenIndex::handshake_names(const SessionSettings& settings) const {
  if (settings.session.role == Role::initiator) return settings.tls.peer_names;
  const auto there = places_.find(address_of(settings.listen));
  return there == places_.end() ? std::vector<std::string>{} : there->second.handshake_names;
}

}  // namespace nfx
