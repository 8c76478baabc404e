// Measures the cost of appending a session owner's frame to a replicated stream, compared with a raw acknowledged
// publish of the same bytes: bench_cluster --help. Three nats-servers on this host, all rows in turn (A B A B ...).
// Exit status 1 if the stream differs from the appended frames, 2 if the benchmark cannot run.
#include <poll.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "cluster/local_cluster.hpp"
#include "cluster/name_hash.hpp"
#include "cluster/raw_publisher.hpp"
#include "cluster/session_reader.hpp"
#include "harness/cycle_clock.hpp"
#include "harness/figures.hpp"
#include "harness/machine.hpp"
#include "harness/program.hpp"
#include "harness/report.hpp"
#include "load/stream_load.hpp"

namespace {

using namespace nfx;
using namespace nfx::bench;
using namespace nfx::app::cluster_tools;
using nfx::cluster::GatewayId;

struct Options {
  std::uint32_t repeats = 5;
  std::uint32_t round_trips = 2000;
  double seconds = 1;
  std::uint32_t bytes = 200;
  std::uint32_t window = 2048;
  std::string server;
  std::string folder;
  std::string only;
};

std::vector<std::string> names(const std::string& prefix, std::size_t count) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < count; ++i) list.push_back(prefix + "-" + std::to_string(i));
  return list;
}

// A frame with records of these messages, as an owner makes it.
std::string frame_of(const std::vector<std::string>& messages, std::size_t count) {
  std::string frame(sizeof(nfx::cluster::FrameHeader), '\0');
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& message = messages[i % messages.size()];
    const std::size_t at = frame.size();
    frame.resize(at + nfx::cluster::record_size(message.size()));
    nfx::cluster::write_record(std::span{frame}.subspan(at),
                               {.kind = nfx::cluster::RecordKind::outbound, .seq = SeqNum{i + 1}, .bytes = message});
  }
  nfx::cluster::FrameHeader header{.kind = nfx::cluster::FrameKind::records,
                                   .session = nfx::cluster::SessionId{1},
                                   .epoch = nfx::cluster::Epoch{1},
                                   .gateway = GatewayId{1},
                                   .number = nfx::cluster::FrameNumber{2},
                                   .first_inbound = SeqNum{1},
                                   .first_outbound = SeqNum{1},
                                   .outbound_limit = SeqNum{1}};
  seal_frame(frame, header, static_cast<std::uint32_t>(count));
  return frame;
}

class Bench {
 public:
  Bench(const Options& options, LocalCluster& cluster)
      : options_(options), client_(cluster.client("gateway")), messages_(make_messages(options.bytes, 1)) {
    // All rows use the same server, whether or not it is the leader; otherwise another hop would add a difference.
    client_.url = client_.url.substr(0, client_.url.find(','));
  }

  // Reads everything back once, independently of the timing.
  void check() {
    {
      SessionOwners owners{client_, {"check"}, GatewayId{1}};
      owners.own_all(patience);
      static_cast<void>(run_load(owners, {.bytes = options_.bytes, .window = 64, .seconds = 60, .records = 5000}));
      nats::NatsStream stream{client_};
      SessionReader reader{stream, "check"};
      std::uint64_t records = 0, digest = 0;
      for (const auto* frames = &reader.read(); !frames->empty(); frames = &reader.read()) {
        for (const nats::StoredFrame& stored : *frames) {
          nfx::cluster::FrameView view;
          static_cast<void>(decode_frame(stored.bytes, view));
          for (std::string_view rest = view.records; !rest.empty(); ++records)
            digest = nfx::cluster::mixed(nfx::cluster::name_hash(nfx::cluster::take_record(rest).bytes, digest));
        }
      }
      if (records != owners.session(0).released || digest != owners.session(0).digest)
        throw WrongAnswerError("owner: the stream has " + std::to_string(records) + " records and not the " +
                               std::to_string(owners.session(0).released) + " that were appended");
    }
    RawPublisher raw{client_, {"check-raw"}};
    const std::string frame = frame_of(messages_, 3);
    for (int i = 0; i < 10; ++i) publish_and_wait(raw, frame);
    nats::NatsStream stream{client_};
    const auto stored = stream.read_after("check-raw", 0, 256);
    if (stored.size() != 10)
      throw WrongAnswerError("raw publish: " + std::to_string(stored.size()) + " of 10 are stored");
    for (const nats::StoredFrame& each : stored)
      if (each.bytes != frame) throw WrongAnswerError("raw publish: other bytes are stored");
  }

  // One frame at a time; its records are appended together.
  Figures owner_round_trips(std::uint32_t records) {
    SessionOwners owners{client_, names("trip" + std::to_string(++runs_), 1), GatewayId{1}};
    owners.own_all(patience);
    LatencyHistogram ns;
    for (std::uint32_t i = 0; i < options_.round_trips + warm_up; ++i) {
      const MonotonicTime before = std::chrono::steady_clock::now();
      for (std::uint32_t j = 0; j < records; ++j) owners.append(0, messages_[(i + j) % messages_.size()], true);
      owners.end_group(0);
      while (owners.session(0).released < owners.session(0).state.appended) {
        owners.wait(longest_wait);
        owners.poll([](std::size_t, std::uint64_t) {});
        require_progress(before);
      }
      if (i >= warm_up) ns.record(nanoseconds_since(before));
    }
    return figures_of(ns, 1000);
  }
  Figures raw_round_trips(std::uint32_t records) {
    RawPublisher raw{client_, names("raw" + std::to_string(++runs_), 1)};
    std::vector<std::string> frames;
    for (std::size_t i = 0; i < 100; ++i) frames.push_back(frame_of(make_messages(options_.bytes, i), records));
    LatencyHistogram ns;
    for (std::uint32_t i = 0; i < options_.round_trips + warm_up; ++i) {
      const MonotonicTime before = std::chrono::steady_clock::now();
      publish_and_wait(raw, frames[i % frames.size()]);
      if (i >= warm_up) ns.record(nanoseconds_since(before));
    }
    return figures_of(ns, 1000);
  }

  struct Rate {
    double records_per_s = 0, frames_per_s = 0, records_per_frame = 0, release_p50_ms = 0;
  };
  Rate owner_rate(std::size_t sessions) {
    SessionOwners owners{client_, names("rate" + std::to_string(++runs_), sessions), GatewayId{1}};
    owners.own_all(patience);
    const LoadResult result =
        run_load(owners, {.bytes = options_.bytes, .window = options_.window, .seconds = options_.seconds});
    const auto records = static_cast<double>(result.records), frames = static_cast<double>(result.frames);
    return {records / result.seconds, frames / result.seconds, records / frames,
            static_cast<double>(result.latency_us.percentile(50)) / 1000};
  }
  // The rate of the servers alone with frames of this size, one in flight for each subject.
  Rate raw_rate(std::size_t sessions, double records_per_frame) {
    RawPublisher raw{client_, names("bare" + std::to_string(++runs_), sessions)};
    const auto records = std::max<std::size_t>(1, static_cast<std::size_t>(records_per_frame + 0.5));
    const std::string frame = frame_of(messages_, records);
    const MonotonicTime begin = std::chrono::steady_clock::now();
    const MonotonicTime end = begin + Duration{static_cast<std::int64_t>(options_.seconds * 1e9)};
    for (std::size_t i = 0; i < sessions; ++i) raw.publish(i, frame);
    std::uint64_t frames = 0;
    for (std::size_t in_flight = sessions; in_flight > 0;) {
      const auto& acknowledged = raw.take_acknowledged(std::chrono::seconds{30});
      if (acknowledged.empty()) throw std::runtime_error("no publish was acknowledged for half a minute");
      const bool is_open = std::chrono::steady_clock::now() < end;
      for (const std::size_t subject : acknowledged) {
        ++frames;
        if (is_open)
          raw.publish(subject, frame);
        else
          --in_flight;
      }
    }
    const double seconds = static_cast<double>(nanoseconds_since(begin)) / 1e9;
    const double per_s = static_cast<double>(frames) / seconds;
    return {per_s * static_cast<double>(records), per_s, static_cast<double>(records), 0};
  }

 private:
  static constexpr std::uint32_t warm_up = 100;
  static constexpr Duration patience = std::chrono::seconds{60};
  static constexpr Duration longest_wait = std::chrono::milliseconds{5};

  static std::uint64_t nanoseconds_since(MonotonicTime before) {
    return static_cast<std::uint64_t>((std::chrono::steady_clock::now() - before).count());
  }
  static void require_progress(MonotonicTime since) {
    if (std::chrono::steady_clock::now() - since > patience)
      throw std::runtime_error("no frame was acknowledged for a minute");
  }
  static void publish_and_wait(RawPublisher& raw, std::string_view bytes) {
    raw.publish(0, bytes);
    if (raw.take_acknowledged(patience).empty()) throw std::runtime_error("no publish was acknowledged for a minute");
  }

  const Options& options_;
  nats::NatsOptions client_;
  std::vector<std::string> messages_;
  std::uint32_t runs_ = 0;
};

struct RateRow {
  std::size_t sessions = 0;
  std::vector<Bench::Rate> owner{}, raw{};
};

void print_rates(const std::vector<RateRow>& rows, const Options& options) {
  std::printf("\nsustained, records of %u bytes, at most %u of each session not released\n", options.bytes,
              options.window);
  std::printf("%-34s%12s%12s%14s%16s%12s\n", "", "records/s", "frames/s", "records/frame", "release p50 ms", "x raw");
  for (const RateRow& row : rows) {
    const auto print = [&](const char* what, const std::vector<Bench::Rate>& rates, double ratio) {
      std::printf("%-4zu %-29s%12.0f%12.0f%14.1f", row.sessions, what, middle(rates, &Bench::Rate::records_per_s),
                  middle(rates, &Bench::Rate::frames_per_s), middle(rates, &Bench::Rate::records_per_frame));
      const double release = middle(rates, &Bench::Rate::release_p50_ms);
      release > 0 ? std::printf("%16.2f", release) : std::printf("%16s", "-");
      std::printf("%12.2f\n", ratio);
    };
    print("sessions, raw publishes", row.raw, 1);
    print("sessions, frames of owners", row.owner, middle_ratio(row.owner, row.raw, &Bench::Rate::records_per_s));
  }
}

// Kills a server that is no leader and that no row uses, and returns its name.
std::string lose_follower(LocalCluster& cluster) {
  const std::string leader = nats::NatsStream{cluster.client("gateway")}.state().leader;
  const auto& servers = cluster.servers();
  const auto follower =
      std::find_if(servers.begin() + 1, servers.end(), [&](const LocalServer& each) { return each.name != leader; });
  ::kill(follower->pid, SIGKILL);
  return follower->name;
}

void start_again(LocalCluster& cluster, const std::string& name) {
  constexpr int most_checks = 600, between_checks_ms = 100;
  for (int i = 0; !cluster.take_ended(); ++i) {
    if (i == most_checks) throw std::runtime_error("server " + name + " does not end");
    ::poll(nullptr, 0, between_checks_ms);
  }
  cluster.start_again(name);
  nats::NatsStream stream{cluster.client("gateway")};
  for (int i = 0; !stream.state().behind.empty(); ++i) {
    if (i == most_checks) throw std::runtime_error("server " + name + " does not get the frames that it lacks");
    ::poll(nullptr, 0, between_checks_ms);
  }
}

int run(const Options& options) {
  const ServerProgram program = find_nats_server(options.server);
  LocalCluster cluster{{.program = program,
                        .folder = options.folder,
                        .port = 0,
                        .stream = "BENCH",
                        .store_bytes_max = std::uint64_t{16} << 30}};
  const auto never = [] {
    ::poll(nullptr, 0, 100);
    return false;
  };
  cluster.make_streams({.bytes_max = std::uint64_t{12} << 30}, std::chrono::seconds{120}, never);
  std::printf("# %s\n# %s\n", describe(this_machine()).c_str(), describe_state(this_machine()).c_str());
  std::printf("# nats-server %s, three with TLS on loopback, 3 replicas on files in %s\n", program.version.c_str(),
              cluster.folder().c_str());
  std::printf("# median of %u repeats; what is stored is read back and compared before anything is timed\n\n",
              options.repeats);
  Bench bench{options, cluster};
  bench.check();

  RepeatedGroup trips{.name = "round trip",
                      .title = "from append or publish to acknowledgement, one at a time, records of " +
                               std::to_string(options.bytes) + " bytes",
                      .rows = {}};
  const std::vector<std::uint32_t> batches{1, 16, 256};
  for (const std::uint32_t batch : batches) {
    const std::string section = std::to_string(batch) + (batch == 1 ? " record" : " records");
    trips.rows.push_back(empty_row(section, "raw publish of the same bytes", true));
    trips.rows.push_back(empty_row(section, "frame of an owner"));
  }
  for (RepeatedRow& row : trips.rows) row.unit = "us";
  RepeatedGroup loss{.name = "loss", .title = "the same, frames of an owner with 1 record", .rows = {}};
  loss.rows.push_back(empty_row("servers", "all three", true));
  loss.rows.push_back(empty_row("servers", "a follower is killed when the row begins"));
  for (RepeatedRow& row : loss.rows) row.unit = "us";
  std::vector<RateRow> rates{{.sessions = 1}, {.sessions = 64}};
  const auto is_wanted = [&](std::string_view group) { return options.only.empty() || options.only == group; };
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    for (std::size_t i = 0; i < batches.size() && is_wanted("trips"); ++i) {
      trips.rows[2 * i].repeats.push_back(bench.raw_round_trips(batches[i]));
      trips.rows[2 * i + 1].repeats.push_back(bench.owner_round_trips(batches[i]));
    }
  }
  for (std::uint32_t repeat = 0; repeat < options.repeats && is_wanted("loss"); ++repeat) {
    loss.rows[0].repeats.push_back(bench.owner_round_trips(1));
    const std::string lost = lose_follower(cluster);
    loss.rows[1].repeats.push_back(bench.owner_round_trips(1));
    start_again(cluster, lost);
  }
  // Done at the end, because the servers are still writing when such a row has ended.
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    for (RateRow& row : rates) {
      if (!is_wanted("rates")) continue;
      row.owner.push_back(bench.owner_rate(row.sessions));
      row.raw.push_back(bench.raw_rate(row.sessions, row.owner.back().records_per_frame));
    }
  }
  if (is_wanted("trips")) print_table(stdout, trips);
  if (is_wanted("loss")) print_table(stdout, loss);
  if (is_wanted("rates")) print_rates(rates, options);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  bool quick = false;
  const nfx::cli::Command program{
      .name = "bench_cluster",
      .summary = "Frames of owners of sessions on three nats-servers, compared with raw publishes of the same bytes",
      .options = {repeats_option(options.repeats),
                  {.names = "--round-trips",
                   .target = &options.round_trips,
                   .help = "Of each row and repeat",
                   .range = {{10, 1'000'000}}},
                  {.names = "--seconds",
                   .target = &options.seconds,
                   .help = "Of each sustained row and repeat",
                   .range = {{0.1, 60}}},
                  {.names = "--bytes", .target = &options.bytes, .help = "Of a record", .range = {{64, 4096}}},
                  {.names = "--window",
                   .target = &options.window,
                   .help = "Records of a session that are not released, in the sustained rows",
                   .range = {{1, 4096}}},
                  {.names = "--server",
                   .target = &options.server,
                   .help = "The program nats-server, 2.12 or later",
                   .value = "FILE",
                   .default_text = "the first one of that version in PATH or ~/go/bin"},
                  {.names = "--folder",
                   .target = &options.folder,
                   .help = "Where the servers store",
                   .kind = nfx::cli::Kind::folder,
                   .default_text = "a temporary one, removed at the end"},
                  {.names = "--only",
                   .target = &options.only,
                   .help = "One group of rows",
                   .one_of = {"trips", "loss", "rates"},
                   .default_text = "all"},
                  {.names = "--quick", .target = &quick, .help = "One repeat of 100 round trips and 0.2 s"}},
  };
  return run_program(program, argc, argv, [&] {
    if (quick) options.repeats = 1, options.round_trips = 100, options.seconds = 0.2;
    return run(options);
  });
}
