// Connections that have no session yet: which are accepted, and what is reported of those that are refused.

#include "engine/session_runner.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "transport/proxy_header.hpp"

namespace nfx {

// Before the handshake of a connection with TLS, and when a connection may send its Logon.
PeerStanding SessionRunner::standing_of(ListenerId listener, std::string_view peer) {
  LogonRefusalReason reason = LogonRefusalReason::stopping;
  if (logons_.addresses().is_held_off(PeerAddress::of_peer(peer), now_.monotonic)) {
    reason = LogonRefusalReason::held_off;
  } else if (!stopping_) {
    const PeerStanding standing = logons_.standing(listener, peer);
    if (standing != PeerStanding::not_allowed) return standing;
    reason = LogonRefusalReason::address_not_allowed;
  }
  report_refusal({.reason = reason, .peer = peer});
  return PeerStanding::not_allowed;
}

void SessionRunner::accept(ListenerId listener, ConnectionId id, std::string_view peer) {
  NFX_ASSERT(owners_.find(id).kind == ConnectionOwner::Kind::none);
  const PeerStanding standing = standing_of(listener, peer);
  if (standing == PeerStanding::not_allowed) return network_.close(id);
  const IncomingConnection incoming{.listener = listener, .id = id, .peer = peer, .standing = standing};
  const auto index = logons_.admit(
      incoming, now_.monotonic, [this](std::uint32_t oldest) { refuse_pending(oldest, LogonRefusalReason::evicted); });
  if (!index) {
    report_refusal({.reason = LogonRefusalReason::too_many_connections, .peer = peer});
    return network_.close(id);
  }
  owners_.set(id, {ConnectionOwner::Kind::pending, *index});
}

void SessionRunner::refuse_without_memory(ConnectionId id, std::string_view peer) {
  const ConnectionOwner owner = owners_.find(id);
  NFX_ASSERT(owner.kind != ConnectionOwner::Kind::session);
  if (owner.kind == ConnectionOwner::Kind::pending) return refuse_pending(owner.index, LogonRefusalReason::no_memory);
  report_refusal({.reason = LogonRefusalReason::no_memory, .peer = peer});
  network_.close(id);
}

void SessionRunner::note_refusal(PendingLogon& pending, LogonRefusalReason reason, std::string_view text) noexcept {
  const std::size_t size = text.copy(refused_text_.data(), refused_text_.size());
  pending.refused = reason;
  pending.refused_text = {refused_text_.data(), size};
}

LiveSession* SessionRunner::refuse_logon(PendingLogon& pending, LogonRefusalReason reason,
                                         LiveSession* names) noexcept {
  NFX_ASSERT(reason != LogonRefusalReason::none);
  // Where its own peer has logged on, and only then: whoever else knows its CompIDs cannot replace what ended it.
  const bool its_peer = reason == LogonRefusalReason::application || reason == LogonRefusalReason::certificate ||
                        reason == LogonRefusalReason::store;
  if (its_peer && names != nullptr && !names->connection.exists())
    note_end(*names, EndReason::logon_refused,
             pending.refused_text.empty() ? to_string(reason) : std::string_view{pending.refused_text});
  pending.refused = reason;
  pending.names = names == nullptr ? nullptr : &names->config();
  return nullptr;
}

void SessionRunner::refuse_pending(std::uint32_t index, LogonRefusalReason reason, const MessageView* logon,
                                   std::string_view text) {
  const PendingLogon& pending = logons_[index];
  const ConnectionId id = pending.id;
  NFX_ASSERT((owners_.find(id) == ConnectionOwner{ConnectionOwner::Kind::pending, index}));
  LogonRefusal refusal{.reason = reason, .peer = pending.peer, .text = text, .session = pending.names};
  if (logon != nullptr) {
    refusal.begin_string = logon->begin_string();
    refusal.sender_comp_id = logon->get_view(Tag::SenderCompID);
    refusal.target_comp_id = logon->get_view(Tag::TargetCompID);
  } else if (pending.names != nullptr) {
    refusal.begin_string = pending.names->begin_string;
    refusal.sender_comp_id = pending.names->target_comp_id;
    refusal.target_comp_id = pending.names->sender_comp_id;
  }
  report_refusal(refusal);
  owners_.clear(id);
  network_.close(id);
  logons_.release(index);
}

// Connections of sessions that another gateway owns.

// A peer's address counts as it would without the other gateway.
bool SessionRunner::take_proxy_header(std::uint32_t index) {
  PendingLogon& pending = logons_[index];
  const ProxyHeader header = read_proxy_header(logons_.received(index));
  switch (header.status) {
    case ProxyHeader::Status::absent: pending.from_gateway = false; return true;
    case ProxyHeader::Status::incomplete: return false;
    case ProxyHeader::Status::wrong:
      refuse_pending(index, LogonRefusalReason::not_fix, nullptr, "a wrong header of the PROXY protocol");
      return false;
    case ProxyHeader::Status::complete: break;
  }
  pending.from_gateway = false;
  pending.handed_on = true;
  pending.peer = header.peer;
  logons_.drop_front(index, header.size);
  if (standing_of(pending.listener, pending.peer) != PeerStanding::not_allowed) return true;
  owners_.clear(pending.id);
  network_.close(pending.id);
  logons_.release(index);
  return false;
}

LiveSession* SessionRunner::not_owned_here(const SessionSettings& settings, PendingLogon& pending) {
  if (hand_on_ == nullptr) return refuse_logon(pending, LogonRefusalReason::not_owner);
  if (pending.handed_on) {
    pending.refused_text = "another gateway has handed it on, and takes this one for the owner";
    return refuse_logon(pending, LogonRefusalReason::not_owner);
  }
  if (settings.tls_enabled) {
    pending.refused_text = "a connection with TLS is not handed on";
    return refuse_logon(pending, LogonRefusalReason::not_owner);
  }
  if (!LogonGate::may_come_from(settings, pending, nullptr)) return refuse_logon(pending, pending.refused);
  pending.hands_on = &settings;
  network_.hold(pending.id, true);
  commands_.push({.kind = LoopCommand::Kind::hand_on, .connection = pending.id});
  network_.wake();
  return nullptr;
}

// Repeated in each iteration until the kernel receives nothing more for the connection, or its time is over.
void SessionRunner::hand_on(const LoopCommand& command) {
  const ConnectionOwner owner = owners_.find(command.connection);
  if (owner.kind != ConnectionOwner::Kind::pending) return;
  const PendingLogon& pending = logons_[owner.index];
  NFX_ASSERT(hand_on_ != nullptr && pending.hands_on != nullptr);
  std::string behind = pending.rest;
  const std::expected<int, NotDetached> socket = network_.detach(pending.id, behind);
  if (!socket && socket.error() == NotDetached::not_yet) {
    commands_.push({.kind = LoopCommand::Kind::hand_on, .connection = pending.id});
    return network_.wake();
  }
  if (!socket) return refuse_pending(owner.index, LogonRefusalReason::not_owner, nullptr, to_string(socket.error()));
  const SessionConfig& session = pending.hands_on->session;
  HandedOn connection;
  connection.socket = *socket;
  connection.replica = replica_name(*pending.hands_on);
  connection.session = identity(session);
  connection.peer = pending.peer;
  connection.bytes = logons_.received(owner.index);
  connection.bytes += behind;
  owners_.clear(pending.id);
  logons_.release(owner.index);
  if (hand_on_->push(connection)) return;
  report_refusal({.reason = LogonRefusalReason::not_owner,
                  .peer = connection.peer,
                  .begin_string = session.begin_string,
                  .sender_comp_id = session.target_comp_id,
                  .target_comp_id = session.sender_comp_id,
                  .text = "too many connections wait to be handed on, or the gateway has not begun",
                  .session = &session});
}

void SessionRunner::report_refusal(LogonRefusal refusal) {
  refusal.time = now_.utc;
  if (!logons_.count_refusal(refusal.reason, refusal.peer, now_.monotonic)) return;
  try {
    reports_.refused(refusal);
  } catch (...) {
    callback_threw("on_logon_refused");
  }
}

void SessionRunner::handshake_failed(std::string_view peer, std::string_view why) {
  report_refusal({.reason = LogonRefusalReason::tls_handshake, .peer = peer, .text = why});
}

// Connections whose time is over, and refusals that were not reported individually.
void SessionRunner::expire_logons() {
  logons_.expire(now_.monotonic, [this](std::uint32_t index) {
    // One that challenges has sent its Logon.
    refuse_pending(
        index, logons_[index].challenging ? LogonRefusalReason::already_connected : LogonRefusalReason::logon_timeout);
  });
  report_refusal_counts(false);
}

void SessionRunner::report_refusal_counts(bool at_end) {
  const auto report = [this](LogonRefusalReason reason, std::uint64_t count, std::string_view peer) {
    try {
      reports_.refused({.reason = reason, .time = now_.utc, .peer = peer, .count = count});
    } catch (...) {
      callback_threw("on_logon_refused");
    }
  };
  logons_.report_counts(now_.monotonic, at_end, report);
}

}  // namespace nfx
