// Connections before their Logon, the outcome of a Logon, and the reports about refused connections.
#include "engine/admission.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/length_text.hpp"
#include "engine/receiver.hpp"
#include "engine/session_table.hpp"
#include "engine/start_checks.hpp"
#include "nexusfix/base/secret.hpp"
#include "nexusfix/wire/framer.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "transport/proxy_header.hpp"

namespace nfx {
namespace {

bool is_lack_of_memory(const std::exception& error) noexcept {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  const auto* of_the_system = dynamic_cast<const std::system_error*>(&error);
  return of_the_system != nullptr && of_the_system->code() == std::errc::not_enough_memory;
}

}  // namespace

Admission::Admission(LoopContext& loop, LoopCommands& commands, SessionTable& sessions)
    : loop_(loop),
      commands_(commands),
      sessions_(sessions),
      gate_(loop.config, loop.thread, loop.callbacks.authenticator),
      message_(loop.config.max_fields) {
  loop.admission = this;
}

// Listeners.

void Admission::start() {
  for (const SessionSettings& settings : loop_.config.sessions) {
    // A replicated session listens from when this process owns it.
    if (settings.poll_thread == loop_.thread && !settings.is_replicated()) listen(settings);
  }
  if (hand_on_ == nullptr) return;
  // For the sessions that other gateways own too. Without TLS, which ends at the owner.
  gate_.expect_gateways(loop_.config.cluster);
  for (const SessionSettings* settings : gate_.replicated()) {
    if (settings->tls_enabled) continue;
    listen(*settings);
    gate_.expect(*settings);
  }
}

void Admission::listen(const SessionSettings& settings) {
  if (settings.session.role != Role::acceptor || gate_.listener_at(settings.listen)) return;
  auto listener = loop_.network.listen(settings.listen, settings.socket);
  if (!listener) throw ConfigError(cannot_listen(listener.error()));
  gate_.listening(*listener, settings.listen);
}

void Admission::close_unused(const SessionSettings& settings) noexcept {
  if (settings.session.role != Role::acceptor) return;
  if (const auto unused = gate_.take_unused(settings.listen)) loop_.network.close_listener(*unused);
}

// Connections without a Logon.

PeerStanding Admission::standing_of(ListenerId listener, std::string_view peer) {
  LogonRefusalReason reason = LogonRefusalReason::stopping;
  if (gate_.addresses().is_held_off(PeerAddress::of_peer(peer), loop_.now().monotonic)) {
    reason = LogonRefusalReason::held_off;
  } else if (!loop_.stopping) {
    const PeerStanding standing = gate_.standing(listener, peer);
    if (standing != PeerStanding::not_allowed) return standing;
    reason = LogonRefusalReason::address_not_allowed;
  }
  report_refusal({.reason = reason, .peer = peer});
  return PeerStanding::not_allowed;
}

void Admission::accept(ListenerId listener, ConnectionId id, std::string_view peer) {
  NFX_ASSERT(loop_.owners.find(id).kind == ConnectionOwner::Kind::none);
  try {
    const PeerStanding standing = standing_of(listener, peer);
    if (standing == PeerStanding::not_allowed) return loop_.network.close(id);
    const IncomingConnection incoming{.listener = listener, .id = id, .peer = peer, .standing = standing};
    const auto index = gate_.admit(incoming, loop_.now().monotonic, [this](std::uint32_t oldest) {
      refuse_pending(oldest, LogonRefusalReason::evicted);
    });
    if (!index) {
      report_refusal({.reason = LogonRefusalReason::too_many_connections, .peer = peer});
      return loop_.network.close(id);
    }
    loop_.owners.set(id, {ConnectionOwner::Kind::pending, *index});
  } catch (const std::bad_alloc&) {
    const ConnectionOwner owner = loop_.owners.find(id);
    NFX_ASSERT(owner.kind != ConnectionOwner::Kind::session);
    if (owner.kind == ConnectionOwner::Kind::pending) return refuse_pending(owner.index, LogonRefusalReason::no_memory);
    report_refusal({.reason = LogonRefusalReason::no_memory, .peer = peer});
    loop_.network.close(id);
  }
}

void Admission::on_close(std::uint32_t index, std::string_view words) {
  const std::string peer = gate_[index].peer;
  gate_.release(index);
  if (!words.empty()) handshake_failed(peer, words);
}

// Collects the first message of a connection in its small buffer, and hands connection and bytes to the session it
// names.
void Admission::receive(std::uint32_t index, std::span<const char> bytes) {
  MessageView& message = message_;
  const auto collect = [&](std::span<const char> from) {
    const std::size_t size = gate_.collect(index, from);
    // The transport's buffer would have the password until other bytes are in its place.
    clear_bytes({const_cast<char*>(from.data()), size});
    return size;
  };
  std::size_t taken = collect(bytes);
  if (gate_[index].from_gateway) [[unlikely]] {
    if (!take_proxy_header(index)) return;
    taken += collect(bytes.subspan(taken));
  }
  const std::span<const char> rest = bytes.subspan(taken);
  const std::string_view received = gate_.received(index);
  const Frame frame = next_frame(received, gate_.most_bytes());
  if (frame.status == FrameStatus::need_more && !gate_.full(index)) return;
  PendingLogon& pending = gate_[index];
  const ConnectionId id = pending.id;
  SessionDriver* session = nullptr;
  const bool whole = frame.status == FrameStatus::complete;
  const WireError error = whole ? message.parse(received.substr(0, frame.size)) : frame.error;
  const bool is_fix = whole && error == WireError::none;
  std::array<char, 96> fault;
  LengthText announced;
  if (is_fix) {
    session = find_session(pending);
  } else if (whole) {
    const bool is_readable = message.parse_leniently(received.substr(0, frame.size)) == WireError::bad_data_length;
    pending.refused = refusal_of(error);
    pending.refused_text = to_string(error);
    if (is_readable && message.size() != 0) {
      // The last field that could be read is the length.
      const Field length = message[message.size() - 1];
      const int size = std::snprintf(
          fault.data(), fault.size(), "%d=%.*s: the data field after it does not have that length", value(length.tag),
          static_cast<int>(std::min<std::size_t>(length.value.size(), 20)), length.value.data());
      pending.refused_text = {fault.data(), std::min(static_cast<std::size_t>(size), fault.size() - 1)};
    }
    gate_.addresses().count_invalid_logon(PeerAddress::of_peer(pending.peer), loop_.now().monotonic);
  } else {
    const bool too_long = frame.status == FrameStatus::need_more || frame.status == FrameStatus::too_large;
    pending.refused = too_long ? LogonRefusalReason::too_long : LogonRefusalReason::not_fix;
    pending.refused_text = announced.of(too_long ? WireError::too_large : error, received,
                                        {.key = "pending_logon_bytes", .bytes = gate_.most_bytes()});
    gate_.addresses().count_invalid_logon(PeerAddress::of_peer(pending.peer), loop_.now().monotonic);
  }
  if (pending.opening != 0 || pending.challenging || pending.hands_on != nullptr) {
    pending.rest.assign(rest.data(), rest.size());
    return;
  }
  if (session == nullptr) {
    const bool named = whole && message.size() > 2;
    return refuse_pending(index, pending.refused, named ? &message : nullptr, pending.refused_text);
  }
  session->attach(id, pending.peer);
  // The small buffer is not reused before its bytes are: no other connection is accepted in between.
  loop_.receiver->receive_first(*session, received);
  gate_.release(index);
  if (session->connection().id != id) return;
  loop_.receiver->receive_first(*session, {rest.data(), rest.size()});
}

// The session that a Logon names. Without memory for it the connection is refused, and the others go on.
SessionDriver* Admission::find_session(PendingLogon& pending) {
  try {
    SessionDriver* const session = session_for_logon(message_, pending);
    if (session != nullptr) session->prepare_connection();
    return session;
  } catch (const std::bad_alloc&) {
    note_refusal(pending, LogonRefusalReason::no_memory, {});
  } catch (const std::system_error& error) {
    note_refusal(pending, LogonRefusalReason::no_memory, error.what());
  }
  return nullptr;
}

// Which session a Logon gets.

SessionDriver* Admission::session_for_logon(const MessageView& logon, PendingLogon& pending) {
  if (logon.msg_type() != msg_type::logon) {
    const std::string_view type = logon.msg_type().substr(0, 16);
    const int size = std::snprintf(fault_text_.data(), fault_text_.size(), "MsgType(35)=%.*s: send Logon(35=A) first",
                                   static_cast<int>(type.size()), type.data());
    pending.refused_text = {fault_text_.data(), static_cast<std::size_t>(size)};
    return refuse_logon(pending, LogonRefusalReason::not_a_logon);
  }
  if (!std::exchange(pending.counted, true) &&
      !gate_.addresses().take_logon(PeerAddress::of_peer(pending.peer), loop_.now().monotonic))
    return refuse_logon(pending, LogonRefusalReason::too_many_logons);
  const auto key = gate_.key_of(logon, pending);
  if (!key) return refuse_logon(pending, LogonRefusalReason::unknown_session);
  SessionDriver* session = sessions_.find(*key);
  if (session == nullptr) {
    if (const SessionSettings* settings = gate_.owned_elsewhere(logon, pending))
      return not_owned_here(*settings, pending);
    return make_from_template(logon, pending);
  }
  if (!session->enabled()) return refuse_logon(pending, LogonRefusalReason::disabled, session);
  if (session->connection().exists()) {
    challenge(*session, logon, pending);
    if (!pending.challenging) refuse_logon(pending, pending.refused, session);
    return nullptr;
  }
  if (!session->logon_rate_allows()) {
    pending.refused_text = "the session logs on more often than max_logon_rate";
    return refuse_logon(pending, LogonRefusalReason::too_many_logons, session);
  }
  if (!may_log_on(session->settings(), logon, pending, false)) return refuse_logon(pending, pending.refused, session);
  if (!session->may_connect_now()) return refuse_logon(pending, LogonRefusalReason::outside_schedule, session);
  if (!session->store_is_good()) return refuse_logon(pending, LogonRefusalReason::store, session);
  session->start_over_when_due();
  return session;
}

// Then the Logon is refused.
bool Admission::may_log_on(const SessionSettings& settings, const MessageView& logon, PendingLogon& pending,
                           bool is_new) noexcept {
  try {
    return gate_.may_log_on(settings, logon, pending, is_new, loop_.network.tls_peer(pending.id));
  } catch (...) {
    loop_.callback_threw("on_logon_request");
    pending.refused = LogonRefusalReason::application;
    pending.refused_text = "on_logon_request threw an exception";
    return false;
  }
}

// A Logon of a session that is connected. It is refused while that connection is in use. Where nothing has arrived on
// it for a time, and the peer has proved who it is, the connection gets a TestRequest, and the Logon waits for its
// answer; one at a time.
void Admission::challenge(SessionDriver& session, const MessageView& logon, PendingLogon& pending) {
  pending.refused = LogonRefusalReason::already_connected;
  if (!session.may_be_challenged()) return;
  // One that would be refused for its number afterwards.
  const bool starts_over = session.config().reset_on_logon || logon.get_view(Tag::ResetSeqNumFlag) == "Y";
  const auto seq = logon.get_seq_num(Tag::MsgSeqNum);
  if (!seq || (*seq < session.next_inbound() && !starts_over)) return;
  if (const LogonFault fault = fault_of(session.settings().session, logon)) return state_fault(pending, fault);
  if (!may_log_on(session.settings(), logon, pending, false)) return;
  if (!session.challenge(pending.id, pending.peer)) return;
  pending.challenging = true;
  loop_.network.hold(pending.id, true);
}

LogonFault Admission::fault_of(const SessionConfig& config, const MessageView& logon) {
  ValidationReport scratch;
  const LogonFault fault = logon_sender_fault(config, logon, loop_.now(), scratch, fault_text_);
  return fault ? fault : logon_terms_fault(config, logon, fault_text_);
}

void Admission::challenge_failed(ConnectionId waiting, const SessionConfig& names) {
  const ConnectionOwner owner = loop_.owners.find(waiting);
  if (owner.kind != ConnectionOwner::Kind::pending) return;
  gate_[owner.index].names = &names;
  refuse_pending(owner.index, LogonRefusalReason::already_connected);
}

void Admission::try_again(ConnectionId waiting) {
  commands_.push({.kind = LoopCommand::Kind::logon_again, .connection = waiting});
  loop_.network.wake();
}

void Admission::logon_again(ConnectionId waiting) {
  const ConnectionOwner owner = loop_.owners.find(waiting);
  if (owner.kind != ConnectionOwner::Kind::pending) return;
  if (loop_.stopping) return refuse_pending(owner.index, LogonRefusalReason::stopping);
  loop_.count(&PollLoopCounters::takeovers);
  gate_[owner.index].challenging = false;
  loop_.network.hold(waiting, false);
  receive_rest(owner.index);
}

void Admission::receive_rest(std::uint32_t index) {
  const std::string rest = std::exchange(gate_[index].rest, {});
  receive(index, rest);
}

// Sessions of templates.

// The settings of the session that a template makes for this Logon; nothing if the Logon is refused. Everything that
// can be checked without a store is checked before anything of the session exists. The application is asked last.
std::optional<SessionSettings> Admission::accepted_by_template(const MessageView& logon, PendingLogon& pending) {
  const TlsPeer* certificate = loop_.network.tls_peer(pending.id);
  auto settings = gate_.from_template(logon, pending, loop_.now().utc);
  if (!settings || !LogonGate::may_come_from(*settings, pending, certificate)) return std::nullopt;
  if (sessions_.is_removed(identity(settings->session))) {
    pending.refused = LogonRefusalReason::disabled;
    return std::nullopt;
  }
  if (const LogonFault fault = fault_of(settings->session, logon)) {
    // Where the program decides who a peer is, a stranger gets no answer.
    if (fault.answered && may_log_on(*settings, logon, pending, true)) answer_refused(*settings, logon, pending.id);
    state_fault(pending, fault);
    return std::nullopt;
  }
  if (!may_log_on(*settings, logon, pending, true)) return std::nullopt;
  return settings;
}

// Sends the Logout with the reason, by a session without a store. A peer whose own sequence number is above 1 expects
// another one than 1 from us and gets no answer.
void Admission::answer_refused(const SessionSettings& settings, const MessageView& logon, ConnectionId id) {
  if (const auto seq = logon.get_seq_num(Tag::MsgSeqNum); seq && *seq != first_seq_num) return;
  SessionConfig config = settings.session;
  config.max_queued_messages = 1;
  config.max_queued_bytes = 1024;
  Session rules{config};
  std::vector<char> room(SessionDriver::admin_reserve);
  Actions connected{room};
  rules.on_connect(loop_.now(), connected);
  Actions refused{room};
  rules.on_message(logon, loop_.now(), refused);
  NFX_ASSERT(!rules.logged_on());
  for (const Action& action : refused.list()) {
    if (action.kind == ActionKind::send) static_cast<void>(loop_.network.try_send(id, action.bytes));
  }
}

// A session of a template. Memory is reserved here and now: a first Logon costs the other
// sessions some microseconds. A journal is opened on another thread; the Logon waits.
SessionDriver* Admission::make_from_template(const MessageView& logon, PendingLogon& pending) {
  if (loop_.stopping || loop_.draining) return refuse_logon(pending, LogonRefusalReason::stopping);
  auto settings = accepted_by_template(logon, pending);
  if (!settings) return nullptr;
  const bool on_disk = settings->store_kind == StoreKind::journal;
  const std::string name = identity(settings->session);
  const std::size_t number = sessions_.claim_place(name);
  if (number == 0) return refuse_logon(pending, LogonRefusalReason::too_many_sessions);
  const auto make = [this, number, name, of = std::make_shared<SessionSettings>(std::move(*settings))] {
    LoopCommand command{.kind = LoopCommand::Kind::opened, .number = number, .name = name};
    try {
      command.session = sessions_.make(*of, number, loop_.network.time_on_any_thread(), true);
    } catch (const StoreRefusal& refusal) {
      command.text = refusal.what();
      command.reported = !refusal.first;
    } catch (const std::exception& error) {
      command.refused = is_lack_of_memory(error) ? LogonRefusalReason::no_memory : LogonRefusalReason::store;
      command.text = error.what();
    }
    return command;
  };
  const auto make_elsewhere = [this, make] {
    commands_.push(make());
    loop_.network.wake();
  };
  if (on_disk && loop_.stores.later(name, make_elsewhere)) {
    pending.opening = number;
    loop_.network.hold(pending.id, true);
    return nullptr;
  }
  LoopCommand command = make();
  if (SessionDriver* const session = begin_session(command)) return session;
  note_refusal(pending, command.refused, command.text);
  return nullptr;
}

// The session of a Logon exists now, or could not be made; then its Logon is dropped.
SessionDriver* Admission::begin_session(LoopCommand& command) {
  if (command.session == nullptr) {
    commands_.release(command.name);
    if (!command.reported && command.refused == LogonRefusalReason::store)
      loop_.store_alert(command.name + ": " + command.text);
    return nullptr;
  }
  NFX_ASSERT(command.session->name() == command.name);
  SessionDriver& session = sessions_.begin_to_exist(std::move(command.session));
  session.begin();
  return &session;
}

// A session was opened on another thread; the Logon that requested it, if it still waits, is handled again.
void Admission::opened(LoopCommand& command) {
  const bool there = begin_session(command) != nullptr;
  const auto asking = gate_.waiting_for(command.number);
  if (!asking) return;
  if (!there || loop_.stopping) {
    return refuse_pending(*asking, loop_.stopping ? LogonRefusalReason::stopping : command.refused, nullptr,
                          command.name + ": " + command.text);
  }
  gate_[*asking].opening = 0;
  loop_.network.hold(gate_[*asking].id, false);
  receive_rest(*asking);
}

// Connections of sessions that another gateway owns.

// A peer's address counts as it would without the other gateway.
bool Admission::take_proxy_header(std::uint32_t index) {
  PendingLogon& pending = gate_[index];
  const ProxyHeader header = read_proxy_header(gate_.received(index));
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
  gate_.drop_front(index, header.size);
  if (standing_of(pending.listener, pending.peer) != PeerStanding::not_allowed) return true;
  drop_pending(index);
  return false;
}

SessionDriver* Admission::not_owned_here(const SessionSettings& settings, PendingLogon& pending) {
  if (hand_on_ == nullptr) return refuse_logon(pending, LogonRefusalReason::not_owner);
  if (pending.handed_on) {
    pending.refused_text = "another gateway handed the connection on to this one, which does not own the session";
    return refuse_logon(pending, LogonRefusalReason::not_owner);
  }
  if (settings.tls_enabled) {
    pending.refused_text = "a connection with TLS is not handed on";
    return refuse_logon(pending, LogonRefusalReason::not_owner);
  }
  if (!LogonGate::may_come_from(settings, pending, nullptr)) return refuse_logon(pending, pending.refused);
  pending.hands_on = &settings;
  loop_.network.hold(pending.id, true);
  commands_.push({.kind = LoopCommand::Kind::hand_on, .connection = pending.id});
  loop_.network.wake();
  return nullptr;
}

// Repeated in each iteration until the kernel receives nothing more for the connection, or its time is over.
void Admission::hand_on(const LoopCommand& command) {
  const ConnectionOwner owner = loop_.owners.find(command.connection);
  if (owner.kind != ConnectionOwner::Kind::pending) return;
  const PendingLogon& pending = gate_[owner.index];
  NFX_ASSERT(hand_on_ != nullptr && pending.hands_on != nullptr);
  std::string behind = pending.rest;
  const std::expected<int, NotDetached> socket = loop_.network.detach(pending.id, behind);
  if (!socket && socket.error() == NotDetached::not_yet) {
    commands_.push({.kind = LoopCommand::Kind::hand_on, .connection = pending.id});
    return loop_.network.wake();
  }
  if (!socket) return refuse_pending(owner.index, LogonRefusalReason::not_owner, nullptr, to_string(socket.error()));
  const SessionConfig& session = pending.hands_on->session;
  HandedOn connection;
  connection.socket = *socket;
  connection.replica = replica_name(*pending.hands_on);
  connection.session = identity(session);
  connection.peer = pending.peer;
  connection.bytes = gate_.received(owner.index);
  connection.bytes += behind;
  loop_.owners.clear(pending.id);
  gate_.release(owner.index);
  if (hand_on_->push(connection)) return;
  report_refusal({.reason = LogonRefusalReason::not_owner,
                  .peer = connection.peer,
                  .begin_string = session.begin_string,
                  .sender_comp_id = session.target_comp_id,
                  .target_comp_id = session.sender_comp_id,
                  .text = "too many connections wait to be handed on, or the gateway has not begun",
                  .session = &session});
}

// Refusals.

void Admission::note_refusal(PendingLogon& pending, LogonRefusalReason reason, std::string_view text) noexcept {
  const std::size_t size = text.copy(refused_text_.data(), refused_text_.size());
  pending.refused = reason;
  pending.refused_text = {refused_text_.data(), size};
}

SessionDriver* Admission::refuse_logon(PendingLogon& pending, LogonRefusalReason reason,
                                       SessionDriver* names) noexcept {
  NFX_ASSERT(reason != LogonRefusalReason::none);
  // Where its own peer has logged on, and only then: whoever else knows its CompIDs cannot replace what ended it.
  const bool its_peer = reason == LogonRefusalReason::application || reason == LogonRefusalReason::certificate ||
                        reason == LogonRefusalReason::store;
  if (its_peer && names != nullptr)
    names->note_refused_logon(pending.refused_text.empty() ? to_string(reason)
                                                           : std::string_view{pending.refused_text});
  pending.refused = reason;
  pending.names = names == nullptr ? nullptr : &names->config();
  return nullptr;
}

void Admission::refuse_pending(std::uint32_t index, LogonRefusalReason reason, const MessageView* logon,
                               std::string_view text) {
  const PendingLogon& pending = gate_[index];
  NFX_ASSERT((loop_.owners.find(pending.id) == ConnectionOwner{ConnectionOwner::Kind::pending, index}));
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
  drop_pending(index);
}

void Admission::drop_pending(std::uint32_t index) noexcept {
  loop_.owners.clear(gate_[index].id);
  loop_.network.close(gate_[index].id);
  gate_.release(index);
}

void Admission::report_refusal(LogonRefusal refusal) {
  refusal.time = loop_.now().utc;
  if (!gate_.count_refusal(refusal.reason, refusal.peer, loop_.now().monotonic)) return;
  try {
    loop_.reports.refused(refusal);
  } catch (...) {
    loop_.callback_threw("on_logon_refused");
  }
}

void Admission::handshake_failed(std::string_view peer, std::string_view why) {
  report_refusal({.reason = LogonRefusalReason::tls_handshake, .peer = peer, .text = why});
}

void Admission::expire() {
  gate_.expire(loop_.now().monotonic, [this](std::uint32_t index) {
    // One that challenges has sent its Logon.
    refuse_pending(
        index, gate_[index].challenging ? LogonRefusalReason::already_connected : LogonRefusalReason::logon_timeout);
  });
  report_refusal_counts(false);
}

void Admission::report_refusal_counts(bool at_end) {
  const auto report = [this](LogonRefusalReason reason, std::uint64_t count, std::string_view peer) {
    try {
      loop_.reports.refused({.reason = reason, .time = loop_.now().utc, .peer = peer, .count = count});
    } catch (...) {
      loop_.callback_threw("on_logon_refused");
    }
  };
  gate_.report_counts(loop_.now().monotonic, at_end, report);
}

void Admission::stop() {
  gate_.for_each([this](std::uint32_t index) { refuse_pending(index, LogonRefusalReason::stopping); });
  report_refusal_counts(true);
}

}  // namespace nfx
