// Receives what the publisher sends, on a thread placed by the plan, until everything came or nothing comes any more.
#include "t2m/run.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>

#include "demo/venue_process.hpp"
#include "isolation.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/placement/place_thread.hpp"
#include "nexusfix/placement/plan.hpp"
#include "nexusfix/strategy/order_messages.hpp"
#include "nexusfix/strategy/quoter.hpp"
#include "nexusfix/transport/udp_receiver.hpp"
#include "noisy_processes.hpp"
#include "t2m/market_path.hpp"

namespace nfx::app::t2m {
namespace {

using namespace std::chrono_literals;
using strategy::Stage;
using strategy::StageRecorder;

constexpr Duration patience = 2s;                  // without a message before the last one came
constexpr std::uint32_t most_requests = 1u << 20;  // that the venue takes
constexpr Duration slow_model{50'000};

Instant read_clocks() noexcept {
  return {std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()),
          std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now())};
}

// The counter's rate, from how far it and the clock have come since the start.
class AnchorClock {
 public:
  AnchorClock() noexcept : first_(read()) {}
  [[nodiscard]] strategy::Anchor now() const noexcept {
    strategy::Anchor anchor = read();
    const auto ticks = static_cast<double>(anchor.ticks - first_.ticks);
    if (ticks > 0) anchor.ns_per_tick = static_cast<double>((anchor.utc - first_.utc).count()) / ticks;
    return anchor;
  }

 private:
  static strategy::Anchor read() noexcept {
    const std::uint64_t before = cycle_count();
    const UtcTime utc = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    const std::uint64_t after = cycle_count();
    return {.ticks = before + (after - before) / 2, .utc = utc};
  }
  strategy::Anchor first_;
};

// Orders to a session of the engine; nowhere without one.
class SessionOrders {
 public:
  explicit SessionOrders(StageRecorder<>& stages) : stages_(stages) {}
  void use(SessionHandle* session) noexcept { session_ = session; }

  bool send(const strategy::Intent& intent, const strategy::OwnOrder& order, Instant now) noexcept {
    if (session_ == nullptr) return false;
    const auto message = messages_.message(intent, order, now.utc);
    if (!message || !session_->send(*message)) return false;
    stages_.reached(Stage::encode);
    session_->flush();
    stages_.reached(Stage::send);
    return true;
  }

 private:
  StageRecorder<>& stages_;
  SessionHandle* session_ = nullptr;
  strategy::OrderMessages messages_{{.symbol = std::string{demo::symbols[0]}}};
};

// Takes a while, once in `every` events, as a model does that has something to compute.
struct SlowModel {
  std::uint32_t every = 0;
  std::uint32_t seen = 0;
  template <class Book>
  std::optional<strategy::Intent> on(const Book&, const market::Event&) noexcept {
    if (every != 0 && ++seen % every == 0) {
      const auto end = std::chrono::steady_clock::now() + slow_model;
      while (std::chrono::steady_clock::now() < end) {
      }
    }
    return std::nullopt;
  }
};

using Quotes = strategy::OnlyFor<strategy::Quoter>;
using Path = MarketPath<StageRecorder<>, SessionOrders, SlowModel, Quotes>;

strategy::PipelineOptions pipeline_options(std::uint16_t names) {
  return {.risk = {.orders_per_second = 50'000, .burst = 5'000},
          .instruments = std::vector<strategy::InstrumentLimits>(names + 1u)};
}

class Reader {
 public:
  Reader(const RunOptions& options, const Messages& messages, UdpReceiver& socket)
      : socket_(socket),
        last_(messages.last()),
        first_measured_(messages.first_measured()),
        path_({.feed = options.messages.feed, .names = options.messages.names, .midnight = messages.midnight()},
              stages_, orders_, pipeline_options(options.messages.names), SlowModel{options.slow_model_every},
              Quotes{market::InstrumentId{1}, strategy::Quoter{}}) {}

  // Whether something came.
  bool turn() {
    stages_.poll_begins();
    const std::span<const UdpDatagram> batch = socket_.receive(0);
    if (batch.empty()) {
      if (stages_.waiting()) stages_.collect(anchors_.now());
      return false;
    }
    stages_.read_returned(static_cast<std::uint32_t>(::sched_getcpu()));
    const Instant now = read_clocks();
    for (const UdpDatagram& datagram : batch) {
      by_kernel_ += datagram.stamp == StampSource::kernel ? 1 : 0;
      path_.packet(std::as_bytes(std::span{datagram.bytes}), datagram.received, now);
    }
    heard_ = now.monotonic;
    if (stages_.room() < 512) stages_.collect(anchors_.now());
    if (!measuring_ && path_.last_sequence() + 1 >= first_measured_) {
      measuring_ = true;
      stages_.collect(anchors_.now());
      stages_.clear();
    }
    path_.tick(now);
    return true;
  }
  // Everything came, or nothing comes any more.
  [[nodiscard]] bool over(MonotonicTime now) const noexcept {
    return path_.last_sequence() >= last_ || (heard_ != MonotonicTime{} && now - heard_ > patience);
  }

  [[nodiscard]] Path& path() noexcept { return path_; }
  [[nodiscard]] SessionOrders& orders() noexcept { return orders_; }
  [[nodiscard]] StageRecorder<>& stages() noexcept { return stages_; }
  [[nodiscard]] const AnchorClock& anchors() const noexcept { return anchors_; }
  [[nodiscard]] std::uint64_t by_kernel() const noexcept { return by_kernel_; }

 private:
  UdpReceiver& socket_;
  std::uint64_t last_;
  std::uint64_t first_measured_;
  AnchorClock anchors_;
  StageRecorder<> stages_{{.pending = 4096}};
  SessionOrders orders_{stages_};
  Path path_;
  MonotonicTime heard_{};
  bool measuring_ = false;
  std::uint64_t by_kernel_ = 0;
};

// Reads market data in the poll loop of the session that its orders take.
class Trading final : public Application {
 public:
  explicit Trading(Reader& reader) : reader_(reader) {}
  void on_logon(SessionHandle& session) override {
    session_ = &session;
    reader_.orders().use(&session);
  }
  void on_logout(SessionHandle&, std::string_view) override {
    session_ = nullptr;
    reader_.orders().use(nullptr);
  }
  void on_message(SessionHandle&, const MessageView& message) override {
    if (const auto report = strategy::read_report(message)) reader_.path().pipeline().report(*report);
  }
  Duration on_turn(Instant) override {
    while (reader_.turn()) {
    }
    return Duration::max();
  }
  [[nodiscard]] SessionHandle* session() const noexcept { return session_; }

 private:
  Reader& reader_;
  SessionHandle* session_ = nullptr;
};

// Where the receiving thread runs, and everything else.
struct Placed {
  CpuSet receiver;
  CpuSet others;
  std::string text = "not pinned";
  std::vector<std::string> warnings;
};

Placed place(const RunOptions& options, const Isolation* isolation) {
  Placed placed;
  PlacementRequest request;
  request.enabled = options.pin || options.isolate;
  RoleRequest& poll = request.role(ThreadRole::poll);
  poll.threads = 1;
  poll.wait = options.mode == WaitMode::spin ? ThreadWait::spin : ThreadWait::block;
  if (isolation != nullptr) {
    request.housekeeping = isolation->housekeeping();
    poll.cpus = {isolation->cpus()[0]};
  }
  const Topology topology = load_this_machine();
  const PlacementPlan plan = make_plan(topology, read_host_facts(HostFiles{}), request);
  for (const PlanFinding& finding : plan.findings) {
    if (finding.severity == Severity::refusal) {
      throw ConfigError("the plan for this machine is refused: " + finding.id + ": " + finding.text + "; " +
                        finding.fix);
    }
    if (finding.severity == Severity::warning)
      placed.warnings.push_back(finding.id + " " + finding.subject + ": " + finding.text);
  }
  // The publisher busy-polls shortly before each message, also where it is the only other CPU.
  if (options.mode == WaitMode::spin && CpuAffinity::get().size() < 2) {
    throw ConfigError("two busy-polling threads, publisher and receiver, would share one CPU; use --mode block");
  }
  if (!request.enabled) return placed;
  placed.receiver = plan.threads.at(0).cpus;
  placed.others = plan.housekeeping;
  placed.text = "CPU " + placed.receiver.to_list() + (options.isolate ? ", isolated" : ", pinned");
  return placed;
}

void receive_alone(Reader& reader, UdpReceiver& socket, WaitMode mode, PublisherProcess& publisher) {
  publisher.begin();
  for (std::uint32_t turns = 1;; ++turns) {
    if (reader.turn()) continue;
    if (mode == WaitMode::block) {
      socket.wait(Duration{10ms});
    } else {
      cpu_pause();
    }
    if ((mode == WaitMode::block || turns % 4096 == 0) && reader.over(read_clocks().monotonic)) return;
  }
}

void receive_in_engine(Reader& reader, UdpReceiver& socket, WaitMode mode, PublisherProcess& publisher,
                       demo::VenueProcess& venue) {
  const auto port = venue.port();
  if (!port) throw std::runtime_error("the venue's process did not start");
  Trading trading{reader};
  EngineConfig config;
  config.idle = mode == WaitMode::spin ? IdleMode::spin : IdleMode::block;
  config.sessions = {demo::demo_session(Role::initiator)};
  config.sessions[0].connect = {{"127.0.0.1", *port}};
  Engine engine{config, trading};
  engine.wake_when_readable(socket.descriptor(0));
  const MonotonicTime begin = read_clocks().monotonic;
  while (trading.session() == nullptr) {
    engine.turn(Duration{10ms});
    if (read_clocks().monotonic - begin > 10s) throw std::runtime_error("the venue does not answer the Logon");
  }
  publisher.begin();
  for (std::uint32_t turns = 1;; ++turns) {
    engine.turn(Duration{10ms});
    if ((mode == WaitMode::block || turns % 4096 == 0) && reader.over(read_clocks().monotonic)) break;
  }
  engine.stop();
  while (!engine.finished()) engine.turn(Duration{10ms});
}

std::uint64_t hash_of(const market::OrderBooks& books) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < books.instruments(); ++i)
    sum = sum * 0x9E37'79B9'7F4A'7C15 + books.book(market::InstrumentIndex{i}).hash();
  return sum;
}

void add_figures(RunResult& result, Reader& reader, HostWatch& watch) {
  const StageRecorder<>& stages = reader.stages();
  for (const strategy::StageRow& row : strategy::stage_rows) {
    const LatencyHistogram& histogram = *stages.histogram(row.stage);
    if (histogram.count() != 0) result.stages.push_back(figures_of(row.stage, histogram));
  }
  result.messages = stages.histogram(Stage::tick_to_model)->count();
  for (const strategy::SlowMessage& slow : stages.slowest()) {
    const UtcTime end = slow.kernel + Duration{static_cast<std::int64_t>(slow.total_ns)};
    result.slowest.push_back({slow, watch.during(slow.kernel, end)});
  }
  result.not_kept = stages.lost();
  result.anomalies = reader.path().books().anomalies();
  result.book_hash = hash_of(reader.path().books());
  result.orders = reader.path().pipeline().gate().counters();
  result.packets_stamped_by_kernel = reader.by_kernel();
  result.host = watch.total();
}

void warn_of_host(RunResult& result) {
  if (result.host.steal_ticks != 0) {
    result.warnings.push_back("the hypervisor gave the receiver's CPU to others for " +
                              std::to_string(result.host.steal_ticks * 10) +
                              " ms (steal): the highest percentiles are those of this host");
  }
  if (result.options.mode == WaitMode::spin && result.host.involuntary_switches >= 10) {
    result.warnings.push_back("the busy-polling receiver was interrupted by other tasks " +
                              std::to_string(result.host.involuntary_switches) + " times");
  }
}

}  // namespace

StageFigures figures_of(Stage stage, const LatencyHistogram& histogram) {
  StageFigures figures{
      .stage = stage, .count = histogram.count(), .max_ns = histogram.max(), .mean_ns = histogram.mean()};
  for (std::size_t i = 0; i < percentile_rows.size(); ++i) {
    if (histogram.count() >= percentile_rows[i].messages)
      figures.ns[i] = histogram.percentile(percentile_rows[i].percent);
  }
  return figures;
}

const StageFigures* RunResult::find(Stage stage) const noexcept {
  const auto found = std::ranges::find(stages, stage, &StageFigures::stage);
  return found == stages.end() ? nullptr : &*found;
}

RunResult run_once(const RunOptions& options) {
  RunResult result;
  result.options = options;
  std::optional<NoisyProcesses> noise;
  if (options.noise > 0) noise.emplace(options.noise);
  std::unique_ptr<Isolation> isolation;
  if (options.isolate) isolation = isolate(1);
  const Placed placed = place(options, isolation.get());
  result.where = placed.text;
  result.warnings = placed.warnings;

  Messages messages{options.messages};
  messages.set_midnight(std::chrono::floor<std::chrono::days>(read_clocks().utc));
  UdpReceiver socket{{{.name = "A", .address = {"127.0.0.1", 0, ""}, .receive_buffer = 8 << 20}}};
  PublisherProcess publisher{messages, socket.lines()[0].address, placed.others};
  std::optional<demo::VenueProcess> venue;
  if (options.orders) venue.emplace(demo::demo_session(Role::acceptor), IdleMode::block, most_requests);

  const CpuSet before = CpuAffinity::get();
  {
    HostWatch watch{::gettid(), placed.others};
    if (!placed.receiver.empty()) {
      if (const AffinityResult pinned = place_thread(placed.receiver); !pinned)
        throw std::runtime_error("the receiver cannot be pinned: " + pinned.message());
    }
    const auto reader = std::make_unique<Reader>(options, messages, socket);
    if (venue) {
      receive_in_engine(*reader, socket, options.mode, publisher, *venue);
    } else {
      receive_alone(*reader, socket, options.mode, publisher);
    }
    reader->stages().collect(reader->anchors().now());
    (void)CpuAffinity::set(before);
    watch.stop();
    add_figures(result, *reader, watch);
  }
  const MonotonicTime end = read_clocks().monotonic + patience;
  while (!publisher.ended() && read_clocks().monotonic < end) ::usleep(1000);
  if (!publisher.report()) throw std::runtime_error("the publisher ended without its report");
  result.publisher = *publisher.report();
  socket.read_drops(0);
  result.missing = result.publisher.sent - std::min(result.publisher.sent, socket.counters(0).datagrams);
  warn_of_host(result);
  return result;
}

}  // namespace nfx::app::t2m
