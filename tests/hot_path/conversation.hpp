// Both ends of a conversation in one thread, each a poll loop over its own transport, so that the trap covers the
// acceptor's and the initiator's paths. The loops may have journals and logs, whose worker is another thread.
// Thread: one, except Around's own worker. Lifetime: transports outlive Around, which outlives the Conversation.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "concurrent/snapshot_box.hpp"
#include "engine/message_tap.hpp"
#include "engine/poll_loop_impl.hpp"
#include "engine/session_stores.hpp"
#include "log/event_log.hpp"
#include "log/message_log.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::test {

using namespace std::chrono_literals;

// The real time, advanced by the test: timers fire without waiting, and both sides agree on the time.
struct ShiftedClock {
  Duration shift{};
  [[nodiscard]] Instant now() const noexcept {
    const Instant time = SystemClock{}.now();
    return {time.utc + shift, time.monotonic + shift};
  }
  [[nodiscard]] MonotonicTime monotonic() const noexcept { return SystemClock{}.monotonic() + shift; }
  [[nodiscard]] Instant any_thread_now() const noexcept { return now(); }
};
static_assert(Clock<ShiftedClock>);

// Answers an order with an acknowledgement from a buffer of its own, and with a fill that is written into the output.
class Venue final : public Application {
 public:
  void on_rehearsal(SessionHandle& session, const MessageView& message) override {
    if (message.msg_type() != msg_type::new_order_single) return;
    std::ignore = on_message(session, message);
    --orders;
  }
  Handled on_message(SessionHandle& session, const MessageView& message) override {
    if (message.msg_type() != msg_type::new_order_single) {
      std::ignore = session.reject_business(message, BusinessRejectReason::unsupported_message_type, "not traded here");
      return Handled::done;
    }
    ++orders;
    const auto report = [&](FieldWriter& body, char status) {
      body.append(Tag::OrderID, orders)
          .append(Tag::ExecID, orders * 2 + (status == '2' ? 1U : 0U))
          .append(Tag::ExecType, status == '2' ? 'F' : '0')
          .append(Tag::OrdStatus, status)
          .append(Tag::ClOrdID, message.get_view(Tag::ClOrdID))
          .append(Tag::Symbol, message.get_view(Tag::Symbol))
          .append(Tag::Side, message.get_view(Tag::Side))
          .append(Tag::OrderQty, message.get_view(Tag::OrderQty))
          .append(Tag::LeavesQty, 0)
          .append(Tag::CumQty, 0)
          .append(Tag::AvgPx, 0);
    };
    std::array<char, 512> buffer;
    FieldWriter body{buffer};
    report(body, '0');
    std::ignore = session.send({.msg_type = msg_type::execution_report, .body = body.view()});
    auto fill = session.create(msg_type::execution_report);
    report(fill.fields(), '2');
    std::ignore = fill.send();
    return Handled::done;
  }
  void on_reject(SessionHandle&, const MessageView&) override { ++rejects; }
  bool on_resend(SessionHandle&, const MessageView&) override {
    ++resends;
    return true;
  }
  std::uint64_t orders = 0, rejects = 0, resends = 0;
};

class Trader final : public Application {
 public:
  Handled on_message(SessionHandle&, const MessageView& message) override {
    ++(message.msg_type() == msg_type::execution_report ? reports : business_rejects);
    return Handled::done;
  }
  void on_reject(SessionHandle&, const MessageView&) override { ++rejects; }
  std::uint64_t reports = 0, rejects = 0, business_rejects = 0;
};

inline bool send_order(SessionHandle& session, std::uint64_t number) {
  std::array<char, 512> buffer;
  FieldWriter body{buffer};
  body.append(Tag::ClOrdID, number).append(Tag::Symbol, "MSFT").append(Tag::Side, number % 2 == 0 ? '1' : '2');
  body.append(Tag::TransactTime, session.now().utc).append(Tag::OrderQty, 100 + number % 900).append(Tag::OrdType, '2');
  body.append(Tag::Price, Decimal{static_cast<std::int64_t>(10'000 + number % 1000), 2});
  return session.send({.msg_type = msg_type::new_order_single, .body = body.view()}).has_value();
}

// Additional parts of both loops: none, or journals and logs with a thread of their own.
class Around {
 public:
  Around() = default;
  // `wake_loops` is called as an engine wakes its poll threads: when messages that a store held back have become
  // durable.
  Around(const std::filesystem::path& folder, Durability durability, std::function<void()> wake_loops)
      : stores_(posix_disk(), std::move(wake_loops)) {
    journal.durability = durability;
    journal.directory = folder / "store";
    journal.ring_directory = folder / "ring";
    // Space for everything, however slow the disk is: a loop whose journal is full waits, which is not tested here.
    journal.segment_size = 16 * 1024 * 1024;
    journal.ring_size = 16 * 1024 * 1024;
    LogFileOptions file;
    file.folder = folder / "log";
    MessageLogOptions options;
    options.log.lanes = 2;
    options.log.target = file;
    messages_.emplace(options);
    file.name = "events";
    options.log.target = file;
    events_.emplace(options.log);
    worker_ = std::thread([this] { work(); });
  }
  Around(const Around&) = delete;
  Around& operator=(const Around&) = delete;
  ~Around() {
    stop_ = true;
    stores_.flusher(0).wake();
    if (worker_.joinable()) worker_.join();
  }
  [[nodiscard]] bool logs_and_keeps() const noexcept { return messages_.has_value(); }
  [[nodiscard]] SessionStores& stores() noexcept { return logs_and_keeps() ? stores_ : memory_stores(); }
  [[nodiscard]] LoopLogs logs(std::uint32_t lane) {
    LoopLogs logs;
    if (!logs_and_keeps()) return logs;
    logs.messages = messages_->lane(lane);
    logs.events = events_->lane(lane);
    return logs;
  }
  [[nodiscard]] std::uint64_t recorded() const noexcept { return messages_ ? messages_->counters().recorded : 0; }

  JournalOptions journal;

 private:
  void work() {
    while (!stop_) {
      const Instant now = SystemClock{}.now();
      const Duration next = stores_.flusher(0).turn(now);
      (void)messages_->step(now.utc);
      (void)events_->step(now.utc);
      stores_.flusher(0).wait(next);
    }
  }

  JournalStores stores_{posix_disk(), {}};
  std::optional<MessageLog> messages_;
  std::optional<EventLog> events_;
  std::atomic<bool> stop_{false};
  std::thread worker_;
};

template <class T>
class Conversation {
 public:
  Conversation(T& venue_transport, T& trader_transport, const SessionSettings& of_both, Around& around)
      : venue_transport_(venue_transport), trader_transport_(trader_transport) {
    SessionSettings settings = of_both;
    const Endpoint listen = settings.listen;
    settings.session.dictionary = settings.dictionary.get();
    settings.session.heartbeat_interval = 5s;
    settings.session.sender_comp_id = "VENUE";
    settings.session.target_comp_id = "TRADER";
    settings.journal = around.journal;
    settings.store_kind = around.logs_and_keeps() ? StoreKind::journal : StoreKind::memory;
    settings.prefault = true;
    venue_config_.sessions = {settings};
    venue_config_.log.metrics_file = "metrics";  // never written; makes the loop measure its latency
    venue_.emplace(venue_config_, 0, venue_transport, clock_, venue_application, around.stores());
    venue_->log_to(around.logs(0));
    venue_->start();
    settings.session.role = Role::initiator;
    std::swap(settings.session.sender_comp_id, settings.session.target_comp_id);
    settings.listen = {};
    settings.connect = {*venue_->local_endpoint(listen)};
    trader_config_.sessions = {settings};
    trader_.emplace(trader_config_, 0, trader_transport, clock_, trader_application, around.stores());
    trader_->log_to(around.logs(1));
    trader_->start();
    // Like a poll thread before it serves: the first snapshots allocate the memory that later ones are copied into.
    for (int i = 0; i < 2; ++i) {
      figures_.ask();
      publish_figures();
    }
  }

  void turn() {
    venue_->turn(0ns);
    trader_->turn(0ns);
    if (++turns_ % 64 == 0) figures_.ask();
    if (figures_.wanted()) publish_figures();
  }
  // Runs iterations until `done`; false if that takes absurdly long, even if each answer waits for a disk.
  static constexpr int most_turns = 20'000'000;
  template <class Done>
  [[nodiscard]] bool turn_until(Done&& done) {
    for (int i = 0; i < most_turns; ++i) {
      if (done()) return true;
      turn();
    }
    return false;
  }
  SessionHandle& venue() { return *venue_->find(0); }
  SessionHandle& trader() { return *trader_->find(0); }

  [[nodiscard]] bool log_on() {
    return turn_until([&] { return venue().logged_on() && trader().logged_on(); });
  }
  // Copies the messages of both sides from now on, as for a thread that requests them.
  void tap() {
    const auto attach = [this](PollLoop<T, ShiftedClock>& loop, MessageTap& tap) {
      tap.extend(MonotonicTime::max());
      const auto call =
          std::make_shared<LoopCall>([&tap](OperatorRequests& requests) { static_cast<void>(requests.attach(tap)); });
      static_cast<void>(loop.push(call));
      loop.turn(0ns);
    };
    attach(*venue_, venue_tap);
    attach(*trader_, trader_tap);
  }
  // Both loops rehearse messages from now on.
  void warm_up() {
    venue_->warm_up_every(1us);
    trader_->warm_up_every(1us);
  }
  // Until each of them has rehearsed so many more.
  [[nodiscard]] bool rehearse(std::uint64_t messages) {
    const std::uint64_t venue = venue_->warm_up().rehearsals(), trader = trader_->warm_up().rehearsals();
    return turn_until([&] {
      return venue_->warm_up().rehearsals() >= venue + messages && trader_->warm_up().rehearsals() >= trader + messages;
    });
  }
  // Runs until ended connections are closed, and the transports have noticed that they are busy-polled.
  [[nodiscard]] bool settle() {
    for (int i = 0; i < 5'000; ++i) turn();
    return turn_until([&] { return venue_transport_.lingering() == 0 && trader_transport_.lingering() == 0; });
  }
  // Orders in bursts of different sizes, each awaited.
  [[nodiscard]] bool trade(std::uint64_t orders) {
    for (std::uint64_t sent = 0, burst = 1; sent < orders; burst = burst % 23 + 1) {
      const std::uint64_t now = std::min(burst, orders - sent);
      const std::uint64_t wanted = trader_application.reports + 2 * now;
      for (std::uint64_t i = 0; i < now; ++i) {
        if (!send_order(trader(), sent++)) return false;
      }
      if (!turn_until([&] { return trader_application.reports >= wanted; })) return false;
    }
    return true;
  }
  // Everything that one side sent has reached the other, even if a store holds it back.
  [[nodiscard]] bool delivered() {
    return venue().counters().messages_in == trader().counters().messages_out &&
           trader().counters().messages_in == venue().counters().messages_out;
  }
  // Silence long enough for heartbeats, and in one direction for a test request.
  [[nodiscard]] bool idle() {
    const std::uint64_t before = venue().counters().messages_in;
    for (int i = 0; i < 20; ++i) {
      clock_.shift += 1s;
      for (int k = 0; k < 4; ++k) turn();
      if (!turn_until([&] { return delivered(); })) return false;
    }
    clock_.shift += 7s;  // both sides find the other silent for too long
    return turn_until([&] { return venue().counters().messages_in > before + 5 && delivered(); });
  }
  // A message that the venue's session rejects for an invalid value, and one of a type that its application does not
  // support.
  [[nodiscard]] bool provoke_rejects() {
    const std::uint64_t rejects = trader_application.rejects, business = trader_application.business_rejects;
    const auto sent = trader().send({.msg_type = msg_type::new_order_single,
                                     .body = "11=x\x01"
                                             "55=A\x01"
                                             "54=1\x01"
                                             "38=many\x01"
                                             "40=1\x01"});
    const auto other = trader().send({.msg_type = "F",
                                      .body = "41=x\x01"
                                              "11=y\x01"
                                              "55=A\x01"
                                              "54=1\x01"
                                              "60=20240315-12:00:00\x01"
                                              "38=1\x01"});
    return sent && other && turn_until([&] {
             return trader_application.rejects > rejects && trader_application.business_rejects > business;
           });
  }
  // The trader loses the venue's messages and requests them again: the connection is cut after the venue's sends.
  [[nodiscard]] bool lose_the_answers(std::uint64_t orders) {
    for (std::uint64_t i = 0; i < orders; ++i) {
      if (!send_order(trader(), i)) return false;
    }
    trader_->turn(0ns);
    if (const JournalStore* journal = trader().journal(); journal != nullptr && journal->holds_back()) {
      for (int i = 0; i < most_turns && journal->durable() < journal->position(); ++i) std::this_thread::yield();
      trader_->turn(0ns);
    }
    const std::uint64_t wanted = venue_application.orders + orders;
    for (int i = 0; i < most_turns && venue_application.orders < wanted; ++i) venue_->turn(0ns);
    trader().drop_connection();  // with all the answers unread
    clock_.shift += 2s;
    return venue_application.orders == wanted;
  }

  void publish_figures() {
    venue_->figures(gathered_);
    figures_.publish(gathered_);
  }

  std::uint64_t turns_ = 0;
  std::vector<SessionFigures> gathered_;
  SnapshotBox<std::vector<SessionFigures>> figures_;
  ShiftedClock clock_;
  EngineConfig venue_config_, trader_config_;
  T& venue_transport_;
  T& trader_transport_;
  MessageTap venue_tap{0}, trader_tap{0};
  Venue venue_application;
  Trader trader_application;
  std::optional<PollLoop<T, ShiftedClock>> venue_;
  std::optional<PollLoop<T, ShiftedClock>> trader_;
};

}  // namespace nfx::test
