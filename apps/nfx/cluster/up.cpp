// nfx cluster up: a cluster of nats-servers on this host, with TLS, users and the streams, until a signal ends
// it.
#include <algorithm>
#include <csignal>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "cluster/local_cluster.hpp"
#include "cluster/options.hpp"
#include "command.hpp"
#include "output.hpp"

namespace nfx::app::cluster_tools {
namespace {

struct UpOptions {
  std::uint32_t local = 3;
  std::string folder;
  std::uint16_t port = 4222;
  std::string server;
  std::string stream = "NEXUSFIX";
  std::uint64_t bytes_max = std::uint64_t{1} << 30;
  std::uint32_t lease_s = 5;
  double start_timeout_s = 90;
};

constexpr std::uint64_t space_beside_frames = std::uint64_t{256}
                                              << 20;  // leases, and what servers write about their peers

// The signals that end the command, and the signals of servers that ended; wait() takes them one at a time. They are
// blocked before any other thread exists, so that no thread is interrupted by one.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set_, number);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~Signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Waits for a signal. True when one has come that ends the command, now or earlier.
  bool wait(Duration most) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(most);
    const timespec limit{.tv_sec = seconds.count(), .tv_nsec = (most - seconds).count()};
    const int number = sigtimedwait(&set_, nullptr, &limit);
    if (number > 0 && number != SIGCHLD) ended_ = true;
    return ended_;
  }

 private:
  sigset_t set_{}, before_{};
  bool ended_ = false;
};

void print_settings(const LocalCluster& cluster, const ServerProgram& program, const UpOptions& options) {
  SafeText out;
  out.add("nats-server {}, {} servers with TLS in {}\n", program.version, cluster.servers().size(),
          cluster.folder().string());
  for (const LocalServer& server : cluster.servers())
    out.add("  {}  127.0.0.1:{}  pid {}  log {}\n", server.name, server.port, server.pid,
            cluster.log_of(server).string());
  out.add("streams {} and KV_{}, {} replicas\n\nfor the configuration of each gateway:\n\n", options.stream,
          options.stream, std::min<std::uint32_t>(3, options.local));
  out += "[cluster]\nservers = [";
  for (const LocalServer& server : cluster.servers())
    out.add("{}\"tls://127.0.0.1:{}\"", &server == &cluster.servers().front() ? "" : ", ", server.port);
  out.add("]\nstream = \"{}\"\nca = \"{}\"\ncredentials = \"{}\"\ngateway = \"a\"\ngateways = [\"a\", \"b\"]\n",
          options.stream, cluster.authority(), cluster.credentials("gateway"));
  out.add("lease_s = {}\n\n", options.lease_s);
  const std::string reach =
      " --url " + cluster.url() + " --stream " + options.stream + " --ca " + cluster.authority() + " --credentials ";
  out.add("nfx cluster check{}{}\n", reach, cluster.credentials("gateway"));
  out.add("nfx cluster ls{}{}\n", reach, cluster.credentials("reader"));
  out.add("nfx cluster tail --session SESSION --json --follow{}{}\n\n", reach, cluster.credentials("reader"));
  out += "ready; SIGINT (Ctrl-C) or SIGTERM ends it\n";
  print(out);
}

int run_up(const UpOptions& options) {
  if (!nats::missing_package().empty()) throw nats::NatsError{std::string{nats::missing_package()}};
  const ServerProgram program = find_nats_server(options.server);
  Signals signals;
  LocalCluster cluster{{.program = program,
                        .folder = options.folder,
                        .servers = options.local,
                        .port = options.port,
                        .stream = options.stream,
                        .store_bytes_max = options.bytes_max + options.bytes_max / 4 + space_beside_frames}};
  const nats::StreamLimits limits{.replicas = std::min<std::uint32_t>(3, options.local),
                                  .bytes_max = options.bytes_max,
                                  .lease = std::chrono::seconds{options.lease_s}};
  const MonotonicTime began = std::chrono::steady_clock::now();
  print("starting {} of nats-server {} in {}, for at most {} s\n",
        options.local == 1 ? "one" : std::to_string(options.local), program.version, cluster.folder().string(),
        static_cast<std::uint64_t>(options.start_timeout_s));
  // Each reason once, after a time in which a cluster is mostly ready.
  std::string told;
  const auto tell = [&](const std::string& why) {
    const auto waited = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - began);
    if (waited < std::chrono::seconds{5} || why == told) return;
    told = why;
    print("not ready after {} s: {}\n", waited.count(), why);
  };
  const auto is_ended = [&] { return signals.wait(std::chrono::milliseconds{100}); };
  if (!cluster.make_streams(limits, seconds_of(options.start_timeout_s), is_ended, tell)) return exit_done;
  print_settings(cluster, program, options);
  for (;;) {
    const bool wanted = signals.wait(std::chrono::seconds{60});
    while (const auto ended = cluster.take_ended())
      print_error("nfx: server {}; {} of {} run; its log is {}\n", ended->text, cluster.running(), options.local,
                  cluster.log_of(*ended->server).string());
    if (wanted) return exit_done;
    if (cluster.running() == 0) throw std::runtime_error("all servers have ended");
  }
}

}  // namespace

cli::Command up_command() {
  static UpOptions options;
  return {
      .name = "up",
      .summary = "Run a cluster of nats-servers on this host, for trials",
      .run = [] { return run_up(options); },
      .options =
          {{.names = "--local",
            .target = &options.local,
            .help = "Number of servers on loopback",
            .value = "COUNT",
            .range = cli::Range{1, 5}},
           {.names = "--folder",
            .target = &options.folder,
            .help = "Folder for stores, logs, certificates and users; kept at the end",
            .kind = cli::Kind::folder,
            .default_text = "a temporary one, removed at the end"},
           {.names = "--port",
            .target = &options.port,
            .help = "Port of the first server; the other ports follow it. 0: free ports",
            .range = cli::Range{0, 65535}},
           {.names = "--server",
            .target = &options.server,
            .help = "The program nats-server, 2.12 or later",
            .value = "FILE",
            .default_text = "the first one of that version in PATH or ~/go/bin"},
           {.names = "--stream", .target = &options.stream, .help = "Name of the stream to create", .value = "NAME"},
           {.names = "--max-bytes",
            .target = &options.bytes_max,
            .help = "Maximum stream size; publishing fails when the stream is full",
            .value = "BYTES",
            .range = cli::Range{4096, 1e15}},
           {.names = "--lease",
            .target = &options.lease_s,
            .help = "Lifetime of a lost gateway's lease",
            .value = "SECONDS",
            .range = cli::Range{1, 3600}},
           {.names = "--start-timeout",
            .target = &options.start_timeout_s,
            .help = "Longest wait until the servers have elected a leader and created the streams",
            .value = "SECONDS",
            .range = cli::Range{1, 3600}}},
      .details =
          "The servers listen on loopback, with TLS and three users: admin makes streams, gateway writes sessions, "
          "reader reads them. The settings and commands to use them are printed when the cluster is ready. With fewer "
          "than 3 servers the streams have one replica per server, and nfx cluster check reports that. A server that "
          "ends is reported in one line, and the others continue; when all have ended, the exit code is 1. The servers "
          "end with this command, even if it is killed.",
      .examples = {{.line = "nfx cluster up --local 3", .about = "on ports 4222 to 4227, until Ctrl-C"},
                   {.line = "nfx cluster up --local 3 --folder trial --port 0",
                    .about = "free ports, and the sessions are there at the next start"}},
  };
}

}  // namespace nfx::app::cluster_tools
