// Receives what the publisher sends, on a thread placed by the plan, until everything came or nothing comes any more.
#include "t2m/run.hpp"
#include "store/disk.hpp"
#include "store/journal_flusher.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>

#include "demo/venue_process.hpp"
#include "isolation.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/live/live_feed.hpp"
#include "nexusfix/live/websocket_handler.hpp"
#include "nexusfix/placement/plan.hpp"
#include "nexusfix/transport/udp.hpp"
#include "noisy_processes.hpp"
#include "placement/place_thread.hpp"
#include "store/flusher_thread.hpp"
#include "t2m/receive.hpp"
#include "t2m/replay.hpp"

namespace nfx::app::t2m {
namespace {

using namespace std::chrono_literals;
using strategy::Stage;

constexpr Duration patience = 2s;                  // for the publisher's report
constexpr std::uint32_t most_requests = 1u << 20;  // that the venue takes

// Where the receiving thread runs, and everything else.
struct Placed {
  CpuSet receiver;
  CpuSet rest;    // what watches, and what records
  CpuSet others;  // the publisher and the venue
  std::string text = "not pinned";
  std::vector<std::string> warnings;
};

Placed place(const RunOptions& options, const Isolation* isolation) {
  Placed placed;
  PlacementRequest request;
  request.enabled = options.pin || options.isolate;
  // One thread reads, calls the models and sends; another one samples what the host does to it.
  RoleRequest& feed = request.role(ThreadRole::feed);
  feed.threads = 1;
  feed.wait = options.mode == WaitMode::spin ? ThreadWait::spin : ThreadWait::block;
  request.role(ThreadRole::ui).threads = 1;
  request.role(ThreadRole::recorder).threads = options.record.empty() ? 0 : 1;
  if (isolation != nullptr) {
    request.housekeeping = isolation->housekeeping();
    feed.cpus = {isolation->cpus()[0]};
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
  if (!request.enabled) return placed;
  for (const ThreadPlacement& each : plan.threads)
    (each.role == ThreadRole::feed ? placed.receiver : placed.rest) = each.cpus;
  placed.others = plan.housekeeping;
  placed.text = "CPU " + placed.receiver.to_list() + (options.isolate ? ", isolated" : ", pinned");
  return placed;
}

void add_figures(RunResult& result, Receiver& receiver, HostWatch& watch) {
  Measurement& measurement = receiver.measurement();
  const strategy::StageRecorder<>& stages = measurement.stages();
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
  result.packets_stamped_by_kernel = measurement.by_kernel();
  result.host = watch.total();
  receiver.add_to(result);
}

nfx::market::FeedSocketsOptions stream_of(std::uint16_t port) {
  using nfx::market::WebsocketLines;
  nfx::market::FeedSocketsOptions options;
  for (const std::uint16_t line : {WebsocketLines::stream, WebsocketLines::snapshot})
    options.tcp.push_back({.line = line, .server = {"127.0.0.1", port}});
  return options;
}

void warn_of_host(RunResult& result) {
  if (result.host.steal_ticks != 0) {
    result.warnings.push_back("the hypervisor gave the receiver's CPU to others for " +
                              std::to_string(result.host.steal_ticks * 10) +
                              " ms (steal): the highest percentiles measure this host, not the engine");
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
  // The publisher busy-polls shortly before each message, also where it is the only other CPU. Before the isolation,
  // which leaves this process the other CPUs.
  if (options.mode == WaitMode::spin && CpuAffinity::get().size() < 2) {
    throw ConfigError("two busy-polling threads, publisher and receiver, would share one CPU; use --mode block");
  }
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
  std::optional<nfx::market::FeedSockets> sockets;
  nfx::market::FeedSocketsOptions datagrams;
  datagrams.udp.push_back({.udp = {.name = "A", .address = {"127.0.0.1", 0, ""}, .receive_buffer = 8 << 20}});
  sockets.emplace(datagrams);
  const FeedKind feed = options.messages.feed;
  PublisherProcess publisher{messages, options.messages, sockets->udp()->lines()[0].address, placed.others};
  if (feed == FeedKind::ws) sockets.emplace(stream_of(publisher.port()));
  std::optional<demo::VenueProcess> venue;
  if (options.orders && feed != FeedKind::fix) {
    venue.emplace(demo::VenueOptions{
        .session = demo::demo_session(Role::acceptor), .idle = IdleMode::block, .max_requests = most_requests});
  }

  const CpuSet before = CpuAffinity::get();
  std::uint64_t received = 0;
  JournalFlusher flusher;
  std::optional<nfx::market::Recorder> recorder;
  if (!options.record.empty()) {
    const UtcTime now = read_clocks().utc;
    recorder.emplace(posix_disk(), nfx::market::RecorderOptions{.folder = options.record}, flusher, now);
    recorder->describe({now, StampSource::none, nfx::market::session_line},
                       describe(options.messages, messages.midnight()));
  }
  {
    std::optional<FlusherThread> writer;
    if (recorder) {
      writer.emplace(flusher, FlusherThreadOptions{
                                  .begin = [&] { (void)place_thread(placed.rest.empty() ? before : placed.rest); }});
    }
    HostWatch watch{::gettid(), placed.rest};
    if (!placed.receiver.empty()) {
      if (const AffinityResult pinned = place_thread(placed.receiver); !pinned)
        throw std::runtime_error("the receiver cannot be pinned: " + pinned.message());
    }
    const ReceiverParts parts{options, messages, *sockets, recorder ? &*recorder : nullptr};
    const auto receiver = options.raw ? make_raw_receiver(parts) : make_receiver(parts);
    receiver->receive(publisher, venue ? &*venue : nullptr);
    receiver->measurement().finish();
    (void)CpuAffinity::set(before);
    watch.stop();
    add_figures(result, *receiver, watch);
    received = receiver->measurement().scheduled();
  }
  const MonotonicTime end = read_clocks().monotonic + patience;
  while (!publisher.ended() && read_clocks().monotonic < end) ::usleep(1000);
  if (!publisher.report()) throw std::runtime_error("the publisher ended without its report");
  result.publisher = *publisher.report();
  // Not every datagram of ITCH has an event.
  if (publisher.port() == 0 && !options.raw) received = sockets->udp()->counters(0).datagrams;
  result.missing = result.publisher.sent - std::min(result.publisher.sent, received);
  if (recorder && recorder->counters().dropped != 0) {
    result.warnings.push_back(std::to_string(recorder->counters().dropped) +
                              " inputs were not recorded: " + recorder->trouble());
  }
  warn_of_host(result);
  return result;
}

}  // namespace nfx::app::t2m
