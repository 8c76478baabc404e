// Orders with unique names, a bounded number of them unanswered, and a ledger of the answers.
#include "trader.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "nexusfix/base/clocks.hpp"
#include "nexusfix/wire/field_writer.hpp"

namespace nfx::cluster_kill {
namespace {

constexpr std::size_t most_events = 40;

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

Trader::Trader(Role role, std::vector<std::uint16_t> ports, Load load) : load_(load), turned_(read_monotonic()) {
  ledger_.answers.push_back(0);  // orders count from 1
  last_.store(read_monotonic().time_since_epoch().count());
  engine_ = std::make_unique<Engine>(configuration(role, ports), *this);
  thread_ = std::thread{[this] { engine_->run(); }};
}

Trader::~Trader() { stop(); }

void Trader::stop() {
  if (!thread_.joinable()) return;
  engine_->stop();
  thread_.join();
  if (const SessionHandle* session = engine_->session(0)) {
    next_in_ = value(session->next_inbound());
    next_out_ = value(session->next_outbound());
  }
}

void Trader::on_logon(SessionHandle& session) {
  session_ = &session;
  ++ledger_.logons;
  note("logged on, next in " + std::to_string(value(session.next_inbound())) + ", next out " +
       std::to_string(value(session.next_outbound())));
}

void Trader::on_logout(SessionHandle&, std::string_view reason) { note("logged out: " + std::string{reason}); }

void Trader::on_notice(SessionHandle&, Notice notice, SeqNum seq, std::string_view text) {
  note(std::string{to_string(notice)} + " " + std::to_string(value(seq)) + " " + std::string{text});
}

void Trader::on_message(SessionHandle&, const MessageView& message) {
  const std::uint64_t order = number_in(message, Tag::ClOrdID), seq = number_in(message, Tag::MsgSeqNum);
  if (order == 0 || order > ledger_.sent)
    return note("an answer to no order: " + std::string{message.get_view(Tag::ClOrdID)});
  const auto [at, fresh] = ledger_.received.emplace(seq, order);
  if (!fresh && at->second != order) ++ledger_.conflicts;
  ++ledger_.answers[order];
  ++ledger_.answered;
  last_.store(read_monotonic().time_since_epoch().count());
  answered_.store(ledger_.answered, std::memory_order_release);
}

Duration Trader::on_turn(Instant now) {
  constexpr Duration soon = std::chrono::milliseconds{1};
  if (held_.load(std::memory_order_seq_cst) || session_ == nullptr || !session_->logged_on()) return 5 * soon;
  due_ += std::chrono::duration<double>(now.monotonic - std::exchange(turned_, now.monotonic)).count() * load_.rate;
  due_ = std::min(due_, static_cast<double>(load_.window));
  char space[256];
  for (; due_ >= 1 && ledger_.sent < ledger_.answered + load_.window; --due_) {
    FieldWriter body{space};
    body.append(Tag::ClOrdID, ledger_.sent + 1)
        .append(Tag::Symbol, "NFX")
        .append(Tag::Side, '1')
        .append(Tag::OrderQty, 100);
    if (!session_->send({.msg_type = "D", .body = body.view()})) return soon;
    ++ledger_.sent;
    ledger_.answers.push_back(0);
    sent_.store(ledger_.sent, std::memory_order_release);
  }
  return soon;
}

void Trader::note(std::string text) {
  const std::lock_guard lock{mutex_};
  if (events_.size() == most_events) events_.erase(events_.begin());
  events_.push_back(std::move(text));
}

std::string Trader::events() const {
  const std::lock_guard lock{mutex_};
  std::string all;
  for (const std::string& each : events_) all += "    trader: " + each + "\n";
  return all;
}

}  // namespace nfx::cluster_kill
