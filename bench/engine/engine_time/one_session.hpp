// One engine with one logged-on session, whose transport is this benchmark. It delivers an order, the program answers
// each with a report, and the time is read where the message passes. The engine is not modified: the points are its
// calls of transport, clock and program.
// Thread: the calling one. Errors: WrongAnswerError if an order has no answer.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "engine/counter_clock.hpp"
#include "engine/poll_loop_impl.hpp"
#include "engine/session_stores.hpp"
#include "harness/cycle_clock.hpp"
#include "harness/figures.hpp"
#include "harness/random.hpp"
#include "nexusfix/engine/observer.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "nexusfix/session/session.hpp"
#include "store/flusher_thread.hpp"
#include "transport/transport.hpp"

namespace nfx::bench {

inline constexpr std::size_t order_size = 176;
inline constexpr std::size_t report_size = 253;
inline constexpr std::uint32_t corpus_size = 1000;

// In the order in which a message passes them.
enum class Point : std::uint8_t {
  bytes_in,      // the transport delivers the order
  time_read,     // the engine has found the connection, and reads its clock
  message_read,  // on_traffic: the order is framed and indexed
  delivered,     // on_message: it is validated, in sequence, and passed to the program
  send_begins,   // the program calls send()
  encoded,       // on_traffic: the report is encoded and stored
  send_ends,     // send() has returned
  handed_over,   // the transport receives the report
};
inline constexpr std::size_t point_count = static_cast<std::size_t>(Point::handed_over) + 1;

// Readings of one message. A reading costs tens of cycles and prevents the processor from overlapping the work around
// it, so readings between the ends are taken only for an account.
struct Marks {
  std::array<std::uint64_t, point_count> ticks{};
  std::uint64_t iteration = 0;  // ticks of the engine's whole iteration, from call to return
  std::uint64_t idle = 0;       // and of the next one, which finds no work
  std::size_t handed_bytes = 0;
  bool account = false;
  bool long_read = false;  // for many messages: only the iteration is read

  void end(Point point) noexcept { ticks[static_cast<std::size_t>(point)] = ticks_after(); }
  void begin(Point point) noexcept { ticks[static_cast<std::size_t>(point)] = ticks_before(); }
  void pass(Point point) noexcept {
    if (account) end(point);
  }
  [[nodiscard]] std::uint32_t between(Point from, Point to) const noexcept {
    return static_cast<std::uint32_t>(ticks[static_cast<std::size_t>(to)] - ticks[static_cast<std::size_t>(from)]);
  }
};

// Replaces the network: delivers the benchmark's bytes, and takes everything that is sent.
class HandTransport {
 public:
  explicit HandTransport(Marks& marks) : marks_(marks) {}

  std::expected<ListenerId, TransportError> listen(const Endpoint&, const SocketOptions& = {}) { return ListenerId{1}; }
  std::optional<Endpoint> local_endpoint(ListenerId) const { return Endpoint{"venue", 1}; }
  void close_listener(ListenerId) noexcept {}
  std::expected<ConnectionId, TransportError> connect(const Endpoint&, const SocketOptions& = {}) {
    return std::unexpected(TransportError{1, "connect"});
  }
  SendResult try_send(ConnectionId id, std::span<const char> out) noexcept {
    if (id != peer) return {0, true};
    marks_.end(Point::handed_over);
    marks_.handed_bytes = out.size();
    return {out.size(), false};
  }
  void close(ConnectionId) noexcept {}
  void hold(ConnectionId, bool) noexcept {}
  std::size_t lingering() const noexcept { return 0; }
  std::optional<UtcTime> received_at() const noexcept { return std::nullopt; }
  void wake() noexcept {}
  template <TransportSink Sink>
  std::size_t poll(Sink& sink, Duration) {
    if (!std::exchange(accepted_, true)) sink.on_accept(ListenerId{1}, peer, "192.0.2.1:1");
    if (arriving.empty()) return 0;
    const std::span<const char> in = std::exchange(arriving, {});
    marks_.begin(Point::bytes_in);
    sink.on_receive(peer, in);
    return 1;
  }

  static constexpr ConnectionId peer{(std::uint64_t{1} << 32) | 1};
  std::span<const char> arriving;

 private:
  Marks& marks_;
  bool accepted_ = false;
};
static_assert(Transport<HandTransport>);

// The engine's clock, which it reads when bytes arrive.
class MarkingClock {
 public:
  explicit MarkingClock(Marks& marks) noexcept : marks_(marks) {}
  [[nodiscard]] Instant now() const noexcept { return clock_.now(); }
  [[nodiscard]] MonotonicTime monotonic() const noexcept {
    const MonotonicTime time = clock_.monotonic();
    if (marks_.ticks[static_cast<std::size_t>(Point::time_read)] == 0) marks_.pass(Point::time_read);
    return time;
  }
  [[nodiscard]] Instant any_thread_now() const noexcept { return clock_.any_thread_now(); }

 private:
  CounterClock<> clock_;
  Marks& marks_;
};
static_assert(Clock<MarkingClock>);

class Answering final : public Application, public Observer {
 public:
  explicit Answering(Marks& marks, const std::vector<std::string>& reports) : marks_(marks), reports_(reports) {}
  Handled on_message(SessionHandle& session, const MessageView& message) override {
    if (!marks_.long_read) marks_.end(Point::delivered);
    order_id = message.get_view(Tag::ClOrdID);
    const std::string& body = reports_[next_];
    next_ = (next_ + 1) % reports_.size();
    if (!marks_.long_read) marks_.begin(Point::send_begins);
    sent += session.send({.msg_type = "8", .body = body, .header_fields = {}}).has_value() ? 1 : 0;
    marks_.pass(Point::send_ends);
    return Handled::done;
  }
  void on_rehearsal(SessionHandle& session, const MessageView& message) override {
    const Marks marks = marks_;
    const auto next = next_;
    const auto before = sent;
    std::ignore = on_message(session, message);
    marks_ = marks;
    next_ = next;
    sent = before;
  }
  void on_traffic(SessionHandle&, Direction direction, std::string_view) override {
    marks_.pass(direction == Direction::in ? Point::message_read : Point::encoded);
  }
  std::string_view order_id;
  std::uint32_t sent = 0;

 private:
  Marks& marks_;
  const std::vector<std::string>& reports_;
  std::size_t next_ = 0;
};

// p50, p99 and so on in nanoseconds, minus the cost of the readings; reorders the ticks. The mean excludes disturbed
// samples. The counter may step by 10 ns, so only a mean has fractions of a step.
[[nodiscard]] Figures figures_of_ticks(std::vector<std::uint32_t>& ticks, const CycleClock& clock, double own);

struct SessionChoice {
  std::string name;
  StoreKind store = StoreKind::memory;
  Durability durability = Durability::none;
  std::shared_ptr<const Dictionary> dictionary;  // null: only the header fields are validated
  std::filesystem::path folder;                  // for journals
  bool latency = true;                           // the engine times its stages
  bool observed = true;                          // the program sees the traffic, as an account requires
  Duration warm_up{};                            // silence after which the engine rehearses; zero: it does not
  Duration max_wait{};                           // of an iteration; zero if the poll thread busy-polls
  CpuSet helpers;                                // CPUs of the journal's flusher, not the measured one
};

class OneSession {
 public:
  explicit OneSession(const SessionChoice& choice);
  OneSession(const OneSession&) = delete;
  OneSession& operator=(const OneSession&) = delete;

  // One order after the other, `pace_ns` apart; calls `each(marks)` when the report has been sent.
  template <class Each>
  void exchange(std::uint32_t count, std::uint32_t pace_ns, const CycleClock& clock, bool account, Each&& each) {
    const auto pace = static_cast<std::uint64_t>(pace_ns * clock.ticks_per_ns);
    std::uint64_t due = ticks_before();
    for (std::uint32_t i = 0; i < count; ++i) {
      next_order();
      // A poll thread iterates until the next message arrives, or waits for it.
      due += pace;
      while (ticks_before() < due) {
        if (max_wait_ == Duration::zero()) loop_->turn(max_wait_);
      }
      answer(i, account);
      each(marks_);
    }
  }

  // One order after each silence of `silence_ns`. Between the iterations of a silence calls `meanwhile(passed)` with
  // the part that has passed, from 0 to 1, and at least until it returns true; calls `each(marks)` when the report has
  // been sent.
  template <class Meanwhile, class Each>
  void exchange_after_silence(std::uint32_t count, double silence_ns, const CycleClock& clock, Meanwhile&& meanwhile,
                              Each&& each) {
    const double ticks = silence_ns * clock.ticks_per_ns;
    for (std::uint32_t i = 0; i < count; ++i) {
      next_order();
      const std::uint64_t begin = ticks_before();
      for (bool over = false; !over;) {
        const double passed = std::min(1.0, static_cast<double>(ticks_before() - begin) / ticks);
        over = meanwhile(passed) && passed >= 1;
        loop_->turn(max_wait_);
      }
      bytes_ = std::string{bytes_};  // as the kernel does, which copies an order when it is read
      answer(i, false);
      each(marks_);
    }
  }

  // Reads with `count` orders each, one after the other; calls `each(marks)` when their reports have been sent.
  template <class Each>
  void exchange_reads(std::uint32_t reads, std::uint32_t orders, Each&& each) {
    for (std::uint32_t i = 0; i < reads; ++i) {
      std::string bytes;
      for (std::uint32_t order = 0; order < orders; ++order) {
        next_order();
        bytes += bytes_;
      }
      bytes_ = std::move(bytes);
      answer(i, false, orders);
      each(marks_);
    }
  }

  // The next whole order in sequence; the engine does not see it.
  [[nodiscard]] std::string_view peek_order();
  [[nodiscard]] const std::string& report_body(std::uint32_t i) const noexcept { return reports_[i % reports_.size()]; }
  // Another store of the same kind and limits.
  [[nodiscard]] SessionStore open_second_store();
  void close_second_store(SessionStore store) { stores_.close("second", std::move(store)); }

  [[nodiscard]] std::uint64_t rehearsals() const noexcept { return loop_->warm_up().rehearsals(); }
  [[nodiscard]] std::size_t order_bytes() const noexcept { return bytes_.size(); }
  [[nodiscard]] std::size_t report_bytes() const noexcept { return marks_.handed_bytes; }
  [[nodiscard]] const SessionSettings& settings() const noexcept { return config_.sessions[0]; }

 private:
  using Loop = PollLoop<HandTransport, MarkingClock>;

  struct Waited {
    bool done;
    std::string text;  // otherwise, how long it waited and why
  };
  [[nodiscard]] Waited turn_until(const std::function<bool()>& done);
  [[nodiscard]] std::string obstacle() const;
  std::string composed(Composer& composer, std::string_view type, std::string_view body, std::uint64_t seq);
  void next_order();
  void answer(std::uint32_t number, bool account, std::uint32_t orders = 1);

  std::string name_;
  Duration max_wait_;
  Marks marks_;
  std::vector<std::string> orders_, reports_;
  EngineConfig config_;
  MarkingClock clock_{marks_};
  JournalStores stores_;
  Answering application_;
  HandTransport transport_;
  std::unique_ptr<Composer> composer_;
  std::optional<FlusherThread> flusher_;  // ends after the loop, which gives it the last records
  std::unique_ptr<Loop> loop_;
  std::uint64_t seq_ = 1;
  std::string bytes_;
  Random random_{11};
};

}  // namespace nfx::bench
