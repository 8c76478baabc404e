// What idle sessions cost: one poll thread serves N of them, with a heartbeat each way every second, over TCP on this
// host. The counterparty is a second process with N initiators on one poll thread, so that it costs this one nothing.
// Prints the serving thread's share of a core, memory per session and the heartbeats; exit status 1 when a session was
// lost or heartbeats are missing.

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "cli/command_line.hpp"
#include "harness/machine.hpp"
#include "nexusfix/base/enum_values.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/engine/engine.hpp"

namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

struct Options {
  std::size_t sessions = 1000;
  int seconds = 60;
  bool quick = false;
  std::string idle = "block";
};

class Silent final : public nfx::Application {
 public:
  nfx::Handled on_message(nfx::SessionHandle&, const nfx::MessageView&) override { return nfx::Handled::done; }
  void on_logon(nfx::SessionHandle&) override { ++up; }
  void on_logout(nfx::SessionHandle&, std::string_view) override { --up; }
  std::size_t up = 0;
};

nfx::SessionSettings settings_for(std::size_t number, nfx::Role role, const nfx::Endpoint& endpoint,
                                  const std::shared_ptr<const nfx::Dictionary>& dictionary) {
  nfx::SessionSettings settings;
  settings.session.role = role;
  settings.session.heartbeat_interval = 1s;
  settings.dictionary = dictionary;
  settings.session.sender_comp_id = "VENUE";
  settings.session.target_comp_id = "TRADER" + std::to_string(number);
  if (role == nfx::Role::acceptor) {
    settings.listen = endpoint;
    return settings;
  }
  std::swap(settings.session.sender_comp_id, settings.session.target_comp_id);
  settings.connect = {endpoint};
  settings.reconnect_delay = 20ms;
  settings.reconnect_delay_max = 500ms;
  return settings;
}

nfx::EngineConfig config_for(const Options& options, nfx::Role role, const nfx::Endpoint& endpoint,
                             const std::shared_ptr<const nfx::Dictionary>& dictionary) {
  nfx::EngineConfig config;
  config.idle = *nfx::parse_enum<nfx::IdleMode>(role == nfx::Role::acceptor ? options.idle : "block");
  config.sessions.reserve(options.sessions);
  for (std::size_t i = 0; i < options.sessions; ++i)
    config.sessions.push_back(settings_for(i, role, endpoint, dictionary));
  return config;
}

nfx::Engine* counterparty = nullptr;

// The other process: receives the port, then serves until it is stopped.
int run_counterparty(const Options& options, int port_pipe) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  nfx::Endpoint endpoint{"127.0.0.1", 0};
  if (::read(port_pipe, &endpoint.port, sizeof endpoint.port) != sizeof endpoint.port) return 1;
  Silent application;
  nfx::Engine engine{config_for(options, nfx::Role::initiator, endpoint, nullptr), application};
  counterparty = &engine;
  std::signal(SIGTERM, [](int) { counterparty->stop(); });
  engine.run();
  return 0;
}

struct Memory {
  long rss_kib = 0;
  long pss_kib = 0;
};

Memory memory_now() {
  Memory memory;
  std::ifstream in{"/proc/self/smaps_rollup"};
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("Rss:")) memory.rss_kib = std::stol(line.substr(4));
    if (line.starts_with("Pss:")) memory.pss_kib = std::stol(line.substr(4));
  }
  return memory;
}

struct Reading {
  SteadyClock::time_point time;
  rusage usage{};
  std::uint64_t in = 0, out = 0, disconnects = 0;
};

Reading read_now(nfx::Engine& engine) {
  Reading reading;
  for (std::size_t i = 0; i < engine.config().sessions.size(); ++i) {
    const nfx::SessionCounters& counters = engine.session(i)->counters();
    reading.in += counters.messages_in;
    reading.out += counters.messages_out;
    reading.disconnects += counters.disconnects;
  }
  ::getrusage(RUSAGE_THREAD, &reading.usage);
  reading.time = SteadyClock::now();
  return reading;
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

void print_memory(const char* when, const Memory& before, const Memory& after, std::size_t sessions) {
  const auto each = [&](long from, long to) { return static_cast<double>(to - from) / static_cast<double>(sessions); };
  std::printf("memory per session %.1f KiB RSS, %.1f KiB PSS %s\n", each(before.rss_kib, after.rss_kib),
              each(before.pss_kib, after.pss_kib), when);
}

// Prints the result; false when it is invalid because sessions or heartbeats were lost.
bool report(const Options& options, const Reading& begin, const Reading& end, std::size_t up) {
  const double elapsed = std::chrono::duration<double>(end.time - begin.time).count();
  const double user = seconds_of(end.usage.ru_utime) - seconds_of(begin.usage.ru_utime);
  const double system = seconds_of(end.usage.ru_stime) - seconds_of(begin.usage.ru_stime);
  const double expected = elapsed * static_cast<double>(options.sessions);
  const std::uint64_t received = end.in - begin.in, sent = end.out - begin.out,
                      lost = end.disconnects - begin.disconnects;
  std::printf("serving thread     %.2f %% of a core (%.2f %% user, %.2f %% system) over %.1f s, idle = %s\n",
              100 * (user + system) / elapsed, 100 * user / elapsed, 100 * system / elapsed, elapsed,
              options.idle.c_str());
  std::printf("heartbeats         %llu sent, %llu received, %.0f due each way\n", static_cast<unsigned long long>(sent),
              static_cast<unsigned long long>(received), expected);
  std::printf("context switches   %ld involuntary, %ld voluntary\n", end.usage.ru_nivcsw - begin.usage.ru_nivcsw,
              end.usage.ru_nvcsw - begin.usage.ru_nvcsw);
  std::printf("disconnects        %llu, %zu of %zu sessions up at the end\n", static_cast<unsigned long long>(lost), up,
              options.sessions);
  const bool complete = static_cast<double>(received) > 0.8 * expected && static_cast<double>(sent) > 0.8 * expected;
  if (!complete) std::printf("FAILED             more than a fifth of the heartbeats is missing\n");
  if (lost != 0 || up != options.sessions) std::printf("FAILED             sessions were lost\n");
  return complete && lost == 0 && up == options.sessions;
}

bool measure(const Options& options, int port_pipe) {
  const auto dictionary =
      std::make_shared<const nfx::Dictionary>(nfx::load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX44.xml"));
  Silent application;
  const Memory before = memory_now();
  nfx::Engine engine{config_for(options, nfx::Role::acceptor, {"127.0.0.1", 0}, dictionary), application};
  engine.start();
  const Memory constructed = memory_now();
  const std::uint16_t port = engine.local_endpoint(0)->port;
  if (::write(port_pipe, &port, sizeof port) != sizeof port)
    throw std::runtime_error("the counterparty process is gone");

  const auto turn_until = [&](auto&& done, SteadyClock::time_point deadline) {
    while (!done() && SteadyClock::now() < deadline) engine.turn(50ms);
    return done();
  };
  if (!turn_until([&] { return application.up == options.sessions; }, SteadyClock::now() + 60s)) {
    throw std::runtime_error("only " + std::to_string(application.up) + " sessions have logged on within 60 s");
  }
  // The storm of connects is over; what follows is the steady state.
  turn_until([] { return false; }, SteadyClock::now() + 2s);
  const Reading begin = read_now(engine);
  turn_until([] { return false; }, begin.time + std::chrono::seconds{options.seconds});
  const Reading end = read_now(engine);
  const Memory after = memory_now();
  const std::size_t up = application.up;

  std::printf("machine            %s\n", nfx::bench::describe(nfx::bench::this_machine()).c_str());
  std::printf("sessions           %zu, one heartbeat a second each way\n", options.sessions);
  print_memory("once constructed", before, constructed, options.sessions);
  print_memory("after the run", before, after, options.sessions);
  const bool right = report(options, begin, end, up);
  engine.stop();
  turn_until([&] { return engine.finished(); }, SteadyClock::now() + 5s);
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const nfx::cli::Command program{
      .name = "bench_idle_sessions",
      .summary = "CPU and memory of idle FIX sessions on one poll thread",
      .options =
          {{.names = "--sessions", .target = &options.sessions, .help = "How many", .range = {{1, 100'000}}},
           {.names = "--seconds", .target = &options.seconds, .help = "How long to measure", .range = {{1, 3600}}},
           {.names = "--idle",
            .target = &options.idle,
            .help = "What the serving thread does when nothing happens",
            .one_of = {"spin", "yield", "block"}},
           {.names = "--quick", .target = &options.quick, .help = "Measure for 5 seconds"}},
  };
  if (const auto exit_code = nfx::cli::parse(program, argc, argv)) return *exit_code;
  if (options.quick) options.seconds = 5;
  pid_t child = -1;
  bool right = false;
  try {
    nfx::bench::allow_descriptors(2 * options.sessions + 256, "fewer --sessions");
    int pipe_ends[2];
    if (::pipe(pipe_ends) != 0) throw std::runtime_error("cannot make a pipe");
    child = ::fork();  // before anything is constructed, so that neither process counts pages of the other
    if (child < 0) throw std::runtime_error("cannot start the counterparty process");
    if (child == 0) {
      ::close(pipe_ends[1]);
      return run_counterparty(options, pipe_ends[0]);
    }
    ::close(pipe_ends[0]);
    right = measure(options, pipe_ends[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_idle_sessions: %s\n", error.what());
  }
  if (child > 0) {
    ::kill(child, SIGTERM);
    ::waitpid(child, nullptr, 0);
  }
  return right ? 0 : 1;
}
