// Sends orders with unique names, and checks their answers.
#include "trader.hpp"

#include <charconv>
#include <chrono>
#include <utility>

#include "base/clocks.hpp"
#include "nexusfix/wire/field_writer.hpp"

namespace nfx::cluster_kill {
namespace {

std::int64_t now_ns() { return read_monotonic().time_since_epoch().count(); }

std::uint64_t number_in(const MessageView& message, Tag tag) {
  const std::string_view text = message.get_view(tag);
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

EngineConfig configuration(Role role, const std::vector<std::uint16_t>& ports) {
  EngineConfig config;
  config.idle = IdleMode::block;
  SessionSettings settings;
  settings.session.role = role;
  settings.session.takeover_timeout = std::chrono::seconds{1};
  settings.session.sender_comp_id = "TRADER";
  settings.session.target_comp_id = "VENUE";
  settings.session.heartbeat_interval = std::chrono::seconds{1};
  settings.session.logon_timeout = std::chrono::seconds{2};
  settings.session.resend_timeout = std::chrono::seconds{2};
  if (role == Role::acceptor)
    settings.listen = {"127.0.0.1", ports.front()};
  else
    for (const std::uint16_t port : ports) settings.connect.push_back({"127.0.0.1", port});
  settings.reconnect_delay = std::chrono::milliseconds{20};
  settings.reconnect_delay_max = std::chrono::milliseconds{40};
  settings.connect_timeout = std::chrono::seconds{1};
  settings.store_kind = StoreKind::memory;
  settings.store.retain_messages = std::size_t{1} << 22;
  settings.store.retain_bytes = std::size_t{1} << 30;
  config.sessions.push_back(std::move(settings));
  return config;
}

}  // namespace

Trader::Trader(Role role, std::vector<std::uint16_t> ports, Load load) : Counterparty(load, now_ns()) {
  engine_ = std::make_unique<Engine>(configuration(role, ports), *this);
  thread_ = std::thread{[this] { engine_->run(); }};
}

Trader::~Trader() { stop(); }

void Trader::stop() {
  if (!thread_.joinable()) return;
  engine_->stop();
  thread_.join();
  if (const SessionHandle* session = engine_->session(0))
    ended(value(session->next_inbound()), value(session->next_outbound()));
}

void Trader::on_logon(SessionHandle& session) {
  session_ = &session;
  logged_on(value(session.next_inbound()), value(session.next_outbound()));
}

void Trader::on_logout(SessionHandle&, std::string_view reason) { note("logged out: " + std::string{reason}); }

void Trader::on_notice(SessionHandle&, Notice notice, SeqNum seq, std::string_view text) {
  note(std::string{to_string(notice)} + " " + std::to_string(value(seq)) + " " + std::string{text});
}

Handled Trader::on_message(SessionHandle&, const MessageView& message) {
  answer_came(number_in(message, Tag::ClOrdID), number_in(message, Tag::MsgSeqNum), now_ns());
  return Handled::done;
}

Duration Trader::on_turn(Instant now) {
  constexpr Duration soon = std::chrono::milliseconds{1};
  const bool up = session_ != nullptr && session_->logged_on();
  char space[256];
  for (auto due = orders_due(now.monotonic.time_since_epoch().count(), up); due > 0; --due) {
    FieldWriter body{space};
    body.append(Tag::ClOrdID, next_order())
        .append(Tag::Symbol, "NFX")
        .append(Tag::Side, '1')
        .append(Tag::OrderQty, 100);
    if (!session_->send({.msg_type = "D", .body = body.view()})) break;
    order_sent();
  }
  return soon;
}

}  // namespace nfx::cluster_kill
