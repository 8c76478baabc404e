// After Logon nothing allocates, locks, throws or calls the kernel but to receive and send: receive, parse, validate,
// session, callback, encode, store, send. Both ends of a conversation run in this thread, so that the acceptor's and
// the initiator's paths are both in the trap: orders answered with two messages, heartbeats and test requests, a gap
// with its resend, rejects of either level. No test framework: it would allocate. Prints a line per check; exit status
// 1 if any fails.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "checks.hpp"
#include "engine/poll_loop_impl.hpp"
#include "engine/session_stores.hpp"
#include "nexusfix/concurrent/snapshot_box.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/observe/event_log.hpp"
#include "nexusfix/observe/message_log.hpp"
#include "nexusfix/transport/epoll_transport.hpp"
#include "nexusfix/transport/loopback_transport.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "trap.hpp"

namespace nfx::test {
namespace {

using namespace std::chrono_literals;

// A transport that counts how often it is asked to send.
template <Transport Inner>
class Counted {
 public:
  template <class... Arguments>
  explicit Counted(Arguments&&... arguments) : inner_(std::forward<Arguments>(arguments)...) {}
  auto listen(const Endpoint& endpoint, const SocketOptions& options = {}) { return inner_.listen(endpoint, options); }
  auto local_endpoint(ListenerId id) const { return inner_.local_endpoint(id); }
  void close_listener(ListenerId id) noexcept { inner_.close_listener(id); }
  auto connect(const Endpoint& endpoint, const SocketOptions& options = {}) {
    return inner_.connect(endpoint, options);
  }
  SendResult try_send(ConnectionId id, std::span<const char> bytes) noexcept {
    ++sends;
    return inner_.try_send(id, bytes);
  }
  void close(ConnectionId id) noexcept { inner_.close(id); }
  void hold(ConnectionId id, bool held) noexcept { inner_.hold(id, held); }
  std::size_t lingering() const noexcept { return inner_.lingering(); }
  template <TransportSink Sink>
  std::size_t poll(Sink& sink, Duration max_wait) {
    return inner_.poll(sink, max_wait);
  }
  [[nodiscard]] std::optional<UtcTime> received_at() const noexcept { return inner_.received_at(); }
  void wake() noexcept { inner_.wake(); }

  std::uint64_t sends = 0;

 private:
  Inner inner_;
};
static_assert(Transport<Counted<LoopbackTransport>>);

// The real time, moved forward by the test: timers fire without waiting, and both sides agree what time it is.
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

// Answers an order with an acknowledgement and a fill.
class Venue final : public Application {
 public:
  void on_message(SessionHandle& session, const MessageView& message) override {
    if (message.msg_type() != msg_type::new_order_single) {
      session.reject_business(message, BusinessRejectReason::unsupported_message_type, "not traded here");
      return;
    }
    ++orders;
    for (const char status : {'0', '2'}) {
      std::array<char, 512> buffer;
      FieldWriter body{buffer};
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
      session.send({.msg_type = msg_type::execution_report, .body = body.view()});
    }
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
  void on_message(SessionHandle&, const MessageView& message) override {
    ++(message.msg_type() == msg_type::execution_report ? reports : business_rejects);
  }
  void on_reject(SessionHandle&, const MessageView&) override { ++rejects; }
  std::uint64_t reports = 0, rejects = 0, business_rejects = 0;
};

bool send_order(SessionHandle& session, std::uint64_t number) {
  std::array<char, 512> buffer;
  FieldWriter body{buffer};
  body.append(Tag::ClOrdID, number).append(Tag::Symbol, "MSFT").append(Tag::Side, number % 2 == 0 ? '1' : '2');
  body.append(Tag::TransactTime, session.now().utc).append(Tag::OrderQty, 100 + number % 900).append(Tag::OrdType, '2');
  body.append(Tag::Price, Decimal{static_cast<std::int64_t>(10'000 + number % 1000), 2});
  return session.send({.msg_type = msg_type::new_order_single, .body = body.view()}).has_value();
}

// What lies around the loops of both sides: nothing, or journals and logs with a thread of their own behind them.
class Around {
 public:
  Around() = default;
  explicit Around(const std::filesystem::path& folder) : stores_(posix_disk(), {}) {
    journal.directory = folder / "store";
    journal.ring_directory = folder / "ring";
    // Room for all of it, however long the disk takes: a loop whose journal is full waits, which is no part of this.
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
  Conversation(T& venue_transport, T& trader_transport, const std::shared_ptr<const Dictionary>& dictionary,
               Endpoint listen, Around& around)
      : venue_transport_(venue_transport), trader_transport_(trader_transport) {
    SessionSettings settings;
    settings.dictionary = dictionary;
    settings.session.dictionary = dictionary.get();
    settings.session.heartbeat_interval = 5s;
    settings.session.sender_comp_id = "VENUE";
    settings.session.target_comp_id = "TRADER";
    settings.listen = listen;
    settings.journal = around.journal;
    settings.store_kind = around.logs_and_keeps() ? StoreKind::journal : StoreKind::memory;
    settings.prefault = true;
    venue_config_.sessions = {settings};
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
    // As a poll thread does before it serves: the first figures find no room to be copied into.
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
  // Turns until `done`; false when that takes absurdly long.
  template <class Done>
  [[nodiscard]] bool turn_until(Done&& done) {
    for (int i = 0; i < 200'000; ++i) {
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
  // Silence long enough for heartbeats, in one direction for a test request.
  [[nodiscard]] bool idle() {
    const std::uint64_t before = venue().counters().messages_in;
    for (int i = 0; i < 20; ++i) {
      clock_.shift += 1s;
      for (int k = 0; k < 4; ++k) turn();
    }
    clock_.shift += 7s;  // both sides find the other silent for longer than it may be
    return turn_until([&] { return venue().counters().messages_in > before + 5; });
  }
  // A session message the venue rejects (a value that is none), and an application message nobody trades.
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
  // The trader loses what the venue sends and asks for it again: the connection is cut behind the venue's sends.
  [[nodiscard]] bool lose_the_answers(std::uint64_t orders) {
    for (std::uint64_t i = 0; i < orders; ++i) {
      if (!send_order(trader(), i)) return false;
    }
    trader_->turn(0ns);
    const std::uint64_t wanted = venue_application.orders + orders;
    for (int i = 0; i < 100'000 && venue_application.orders < wanted; ++i) venue_->turn(0ns);
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
  Venue venue_application;
  Trader trader_application;
  std::optional<PollLoop<T, ShiftedClock>> venue_;
  std::optional<PollLoop<T, ShiftedClock>> trader_;
};

void check_that_the_trap_works() {
  TrapCounts counts;
  {
    Trap trap;
    const auto number = std::make_unique<int>(1);
    asm volatile("" : : "r"(number.get()) : "memory");
    counts = trap.counts();
  }
  check(counts.allocations == 1, "the trap sees operator new");
  {
    Trap trap;
    std::string text(100, 'x');
    asm volatile("" : : "r"(text.data()) : "memory");
    counts = trap.counts();
  }
  check(counts.allocations == 1, "the trap sees the standard library allocate");
  std::mutex mutex;
  {
    Trap trap;
    const std::lock_guard lock{mutex};
    counts = trap.counts();
  }
  check(counts.locks == 1, "the trap sees a mutex");
  {
    Trap trap;
    try {
      throw 1;
    } catch (int) {
      counts = trap.counts();
    }
  }
  check(counts.throws == 1, "the trap sees an exception");
  if (!system_calls_available()) {
    std::printf("       system calls are not counted: this kernel or processor cannot hand them over\n");
    return;
  }
  {
    Trap trap;
    static_cast<void>(::getppid());
    counts = trap.counts();
  }
  check(counts.system_calls == 1 && counts.first_call == SYS_getppid, "the trap sees a system call");
}

template <class T>
void run(const char* name, T& venue_transport, T& trader_transport, const Endpoint& listen, Around& around) {
  std::printf("%s\n", name);
  const auto dictionary = std::make_shared<const Dictionary>(load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX44.xml"));
  Conversation<T> talk{venue_transport, trader_transport, dictionary, listen, around};
  check(talk.log_on(), "both sides log on");
  const std::uint64_t recorded_before = around.recorded();

  constexpr std::uint64_t orders = 5000, lost = 300;
  bool done = false;
  TrapCounts counts;
  const std::uint64_t sends_before = venue_transport.sends, out_before = talk.venue().counters().messages_out;
  {
    Trap trap;
    done = talk.trade(orders);
    counts = trap.counts();
  }
  check(done && talk.venue_application.orders == orders && talk.trader_application.reports == 2 * orders,
        "5,000 orders are answered twice each");
  check_counts(counts, "orders and their answers");
  if (around.logs_and_keeps()) {
    // 5,000 orders and 10,000 answers, each on its way out and on its way in.
    check(around.recorded() - recorded_before >= 30'000, "all of them were logged");
    std::vector<SessionFigures> figures;
    talk.venue_->figures(figures);
    check(figures.size() == 1 && figures[0].journal && figures[0].journal->bytes > 10'000 * 100, "and kept");
  }
  const std::uint64_t sends = venue_transport.sends - sends_before,
                      out = talk.venue().counters().messages_out - out_before;
  std::printf("       %llu messages left in %llu sends\n", static_cast<unsigned long long>(out),
              static_cast<unsigned long long>(sends));
  check(2 * sends <= out, "the answers to one message, at least, leave in one send");

  {
    Trap trap;
    done = talk.idle();
    counts = trap.counts();
  }
  check(done && talk.venue().logged_on() && talk.trader().logged_on(),
        "heartbeats and test requests keep the session up");
  check_counts(counts, "heartbeats and test requests");

  {
    Trap trap;
    done = talk.provoke_rejects();
    counts = trap.counts();
  }
  check(done, "a malformed and an unsupported message are rejected");
  check_counts(counts, "rejects");

  check(talk.lose_the_answers(lost), "300 orders are answered into a connection that is lost");
  check(talk.log_on(), "the session is back");  // connecting may allocate; from Logon on nothing does
  const std::uint64_t wanted = 2 * (orders + lost);
  {
    Trap trap;
    done = talk.turn_until([&] { return talk.trader_application.reports == wanted; });
    counts = trap.counts();
  }
  check(done && talk.venue_application.resends > 0, "what was lost is sent again");
  check_counts(counts, "the resend");
  {
    Trap trap;
    done = talk.trade(100);
    counts = trap.counts();
  }
  check(done, "trading goes on");
  check_counts(counts, "orders on the second connection");
}

int main_of_test() {
  if (!Trap::works()) {
    std::printf("SKIPPED: the sanitizer of this build owns the functions that the trap replaces\n");
    return 0;
  }
  check_that_the_trap_works();
  check_side_paths();
  Around nothing;
  {
    LoopbackNetwork network;
    Counted<LoopbackTransport> venue{network}, trader{network};
    run("loopback", venue, trader, {"venue", 9000}, nothing);
  }
  {
    Counted<EpollTransport> venue{EpollOptions{}}, trader{EpollOptions{}};
    run("TCP, asking each socket", venue, trader, {"127.0.0.1", 0}, nothing);
  }
  {
    Counted<EpollTransport> venue{EpollOptions{.direct_receive_limit = 0}},
        trader{EpollOptions{.direct_receive_limit = 0}};
    run("TCP, asking epoll", venue, trader, {"127.0.0.1", 0}, nothing);
  }
  {
    const TemporaryFolder folder;
    Around journals_and_logs{folder.path};
    Counted<EpollTransport> venue{EpollOptions{}}, trader{EpollOptions{}};
    run("TCP, with journals, message log, event log and figures", venue, trader, {"127.0.0.1", 0}, journals_and_logs);
  }
  return all_right ? 0 : 1;
}

}  // namespace
}  // namespace nfx::test

int main() { return nfx::test::main_of_test(); }
