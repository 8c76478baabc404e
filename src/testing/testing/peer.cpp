// A counterparty whose messages the test writes.
#include "nexusfix/testing/network.hpp"

#include <algorithm>
#include <utility>

#include "log/message_text.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "testing/network_parts.hpp"
#include "testing/peer_parts.hpp"
#include "wire/wrong_checksum.hpp"

namespace nfx::testing {

// Received messages.

Received::Received(std::string bytes) {
  const auto fields = static_cast<std::uint32_t>(std::ranges::count(bytes, soh)) + 1;
  auto parts = std::make_shared<Parts>(std::move(bytes), MessageView{fields});
  if (const WireError error = parts->view.parse(parts->bytes); error != WireError::none) {
    std::string text = "no FIX message (" + std::string{to_string(error)} + "): ";
    append_message_text(text, parts->bytes, {});
    throw TestError(text);
  }
  parts_ = std::move(parts);
}

std::string Received::text() const {
  std::string text;
  append_message_text(text, bytes(), {});
  return text;
}

// The peer's parts.

PeerParts::PeerParts(std::shared_ptr<NetworkParts> network, std::string sender, std::string target, PeerOptions options)
    : network_(std::move(network)),
      raw(network_->network, network_->clock, sender, {.stream_buffer = network_->options.stream_buffer}, target),
      sender_(std::move(sender)),
      target_(std::move(target)),
      options_(std::move(options)) {
  if (options_.listen != 0 && options_.connect != 0)
    fail("a peer either connects or listens: PeerOptions has ports for both");
  if (options_.listen != 0) raw.listen(options_.listen);
  network_->peers.push_back(this);
}

PeerParts::~PeerParts() { std::erase(network_->peers, this); }

void PeerParts::fail(const std::string& text) const { throw TestError(sender_ + "->" + target_ + ": " + text); }

std::size_t PeerParts::take_turn() {
  std::size_t work = reading ? raw.read() : 0;
  if (raw.connected() && !was_connected_) begin_connection();
  for (std::string& bytes : raw.take_messages()) accept(Received{std::move(bytes)});
  was_connected_ = raw.connected();
  if (!was_connected_) {
    unsent_.clear();
  } else if (!unsent_.empty()) {
    const std::size_t sent = raw.send(unsent_);
    unsent_.erase(0, sent);
    work += sent != 0 ? 1 : 0;
  }
  return work;
}

void PeerParts::accept(Received message) {
  const std::string_view type = message.msg_type();
  if (type == msg_type::logon) logon_received_ = true;
  if (type == msg_type::test_request && answering && connected())
    send({.msg_type = msg_type::heartbeat, .body = "112=" + std::string{message[Tag::TestReqID]} + soh});
  if (type == msg_type::logout) {
    logout_text_ = message[Tag::Text];
    if (answering && connected() && !logout_sent_) send({.msg_type = msg_type::logout});
    logon_received_ = false;
  }
  (is_session_msg_type(type) ? session_messages : application_messages).push_back(std::move(message));
}

void PeerParts::begin_connection() {
  identify(options_.listen != 0 ? Role::initiator : Role::acceptor);
  was_connected_ = true;
  unsent_.clear();
  logout_text_.clear();
  logon_sent_ = logon_received_ = logout_sent_ = false;
}

void PeerParts::identify(Role role) {
  config_ = {};
  if (const auto place = network_->find(role, options_.begin_string, target_, sender_)) {
    const SessionConfig& theirs = place->settings->session;
    config_.begin_string = theirs.begin_string;
    config_.default_appl_ver_id = theirs.default_appl_ver_id;
    config_.sender_sub_id = theirs.target_sub_id;
    config_.target_sub_id = theirs.sender_sub_id;
    config_.sender_location_id = theirs.target_location_id;
    config_.target_location_id = theirs.sender_location_id;
    config_.timestamp_digits = theirs.timestamp_digits;
  }
  if (!options_.begin_string.empty()) config_.begin_string = options_.begin_string;
  config_.sender_comp_id = sender_;
  config_.target_comp_id = target_;
  raw.identify(config_);
}

std::uint16_t PeerParts::port() const {
  if (options_.connect != 0) return options_.connect;
  if (const auto place = network_->find(Role::acceptor, options_.begin_string, target_, sender_)) {
    if (const auto local = place->loop->local_endpoint(place->settings->listen)) return local->port;
  }
  const std::vector<std::uint16_t> ports = network_->listening();
  if (ports.size() == 1) return ports.front();
  fail("no acceptor has this session; set PeerOptions::connect to a port; sessions: " + network_->session_names());
}

void PeerParts::connect() {
  if (options_.listen != 0) fail("this peer listens: the engine connects to it");
  if (connected()) fail("the peer has a connection");
  const std::uint16_t to = port();
  raw.connect(to);
  if (!connected()) fail("nobody listens at port " + std::to_string(to));
  begin_connection();
}

std::string PeerParts::logon_body(std::string_view fields) const {
  std::string body = "98=0|108=30|";
  if (!config_.default_appl_ver_id.empty()) body += "1137=" + config_.default_appl_ver_id + '|';
  return fields_of(body) + fields_of(fields);
}

void PeerParts::logon(std::string_view fields) {
  if (logged_on()) fail("the peer is logged on");
  if (options_.listen == 0 && !connected()) connect();
  network_->run();
  if (!connected())
    fail(options_.listen == 0 ? why_ended()
                              : "no engine has connected to port " + std::to_string(options_.listen) +
                                    ": make this peer before the engine, or advance() by its reconnect_delay");
  if (options_.listen != 0 && !logon_received_) fail("the engine has connected and sent no Logon");
  std::vector<PollLoopCounters> before;
  for (const EngineParts* each : network_->running) before.push_back(each->engine.loop->counters());
  const std::string body = logon_body(fields);
  if (body.contains(std::string{soh} + "141=Y" + soh)) raw.seq = 1;
  send({.msg_type = msg_type::logon, .body = body});
  network_->run();
  if (logged_on()) return;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const PollLoopCounters after = network_->running[i]->engine.loop->counters();
    for (const LogonRefusalRow& row : logon_refusal_rows) {
      if (row.counter != nullptr && after.*row.counter != before[i].*row.counter)
        fail("the Logon was refused: " + std::string{row.text} +
             (logout_text_.empty() ? "" : ", with the text \"" + logout_text_ + '"') +
             "; sessions: " + network_->session_names());
    }
  }
  fail("the Logon was not answered: " + why_ended());
}

void PeerParts::logout(std::string_view text) {
  if (!logged_on()) fail("the peer is not logged on: " + why_ended());
  send({.msg_type = msg_type::logout, .body = text.empty() ? "" : "58=" + std::string{text} + soh});
  network_->run();
  disconnect();
}

void PeerParts::disconnect() {
  if (connected()) raw.close();
  was_connected_ = false;
  unsent_.clear();
}

std::string PeerParts::why_ended() const {
  if (!logout_text_.empty()) return "the engine sent a Logout with the text \"" + logout_text_ + '"';
  if (connected()) return reading ? "the connection is open" : "set_reading(false) is in effect";
  return was_connected_ || raw.closed ? "the engine closed the connection" : "the peer has no connection";
}

void PeerParts::send(const PeerMessage& message) {
  if (!connected()) fail("a message cannot be sent: " + why_ended());
  if (message.msg_type.empty()) fail("a message without MsgType(35): a field of its builder could not be written");
  if (message.msg_type == msg_type::logon) logon_sent_ = true;
  if (message.msg_type == msg_type::logout) logout_sent_ = true;
  const std::uint64_t number = message.number ? value(*message.number) : raw.seq++;
  std::string bytes = raw.message(message.msg_type, fields_of(message.body), number, message.poss_dup);
  if (message.wrong_check_sum) bytes = with_wrong_checksum(std::move(bytes));
  send_bytes(bytes);
}

void PeerParts::send_bytes(std::string_view bytes) {
  if (!connected()) fail("bytes cannot be sent: " + why_ended());
  unsent_ += bytes;
  unsent_.erase(0, raw.send(unsent_));
}

std::vector<Received> PeerParts::take(std::deque<Received>& from) {
  std::vector<Received> taken{from.begin(), from.end()};
  from.clear();
  return taken;
}

Received PeerParts::receive(std::string_view msg_type) {
  const std::string wanted = msg_type.empty() ? std::string{} : " of type " + std::string{msg_type};
  if (application_messages.empty()) {
    fail("no application message" + wanted + " has come" +
         (session_messages.empty() ? "" : "; the last session message is " + session_messages.back().text()) +
         (connected() ? "; was run() called?" : "; " + why_ended()));
  }
  Received message = application_messages.front();
  if (!msg_type.empty() && message.msg_type() != msg_type)
    fail("the next message is not" + wanted + ": " + message.text());
  application_messages.pop_front();
  returned_.push_back(message);
  if (returned_.size() > most_returned) returned_.pop_front();
  return message;
}

// The peer.

Peer::Peer(Network& network, std::string sender_comp_id, std::string target_comp_id, PeerOptions options)
    : parts_(std::make_unique<PeerParts>(network.parts_, std::move(sender_comp_id), std::move(target_comp_id),
                                         std::move(options))) {}
Peer::~Peer() = default;
Peer::Peer(Peer&&) noexcept = default;
Peer& Peer::operator=(Peer&&) noexcept = default;

void Peer::logon(std::string_view fields) { parts_->logon(fields); }
void Peer::logout(std::string_view text) { parts_->logout(text); }
void Peer::connect() { parts_->connect(); }
void Peer::disconnect() { parts_->disconnect(); }
bool Peer::connected() const noexcept { return parts_->connected(); }
bool Peer::logged_on() const noexcept { return parts_->logged_on(); }
void Peer::send(const PeerMessage& message) { parts_->send(message); }
void Peer::send_bytes(std::string_view bytes) { parts_->send_bytes(bytes); }
SeqNum Peer::next_number() const noexcept { return SeqNum{parts_->raw.seq}; }
void Peer::set_next_number(SeqNum number) noexcept { parts_->raw.seq = value(number); }
void Peer::set_reading(bool reading) noexcept { parts_->reading = reading; }
void Peer::set_answering(bool answering) noexcept { parts_->answering = answering; }
std::vector<Received> Peer::received() { return parts_->take(parts_->application_messages); }
std::vector<Received> Peer::session_messages() { return parts_->take(parts_->session_messages); }
Received Peer::receive() { return parts_->receive({}); }
Received Peer::receive(std::string_view msg_type) { return parts_->receive(msg_type); }

void Peer::send_written(std::string_view msg_type, const FieldWriter& fields, std::string_view wrong) {
  if (!fields.ok() || !wrong.empty()) {
    const std::string what = fields.ok() ? std::string{wrong} : to_string(fields.fault());
    throw TestError("a message of type " + std::string{msg_type} + " cannot be sent: " + what);
  }
  send({.msg_type = msg_type, .body = fields.view()});
}

}  // namespace nfx::testing
