// Slows an engine's messages on purpose, one way after the other, and checks that the slowest moments have that cause:
// a callback that is busy, a process on the poll thread's CPU, a disk's interrupts on that CPU (the thread is put where
// they arrive), a peer that does not read, a disk whose syncs are slow. A run that the hypervisor or other work
// disturbs is repeated, at most as many as there are runs. Exit status 1 when a run has a moment of another cause and
// --needed does not allow for it, 77 with fewer than two CPUs, and when too few runs were left undisturbed. Without a
// disk whose interrupts are seen, that disturbance is left out, with a line.
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/clocks.hpp"
#include "cli/command_line.hpp"
#include "engine/engine_placement.hpp"
#include "engine/latency_monitor.hpp"
#include "engine/poll_thread.hpp"
#include "engine/session_stores.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "nexusfix/session/composer.hpp"
#include "placement/cpu_counters.hpp"
#include "store/flusher_thread.hpp"
#include "store/forwarding_disk.hpp"
#include "transport/loopback.hpp"

namespace {

using namespace nfx;
using namespace std::chrono_literals;

constexpr Duration planted = 20ms;

// Other tasks of this host are not what is looked for.
void before_other_tasks() {
  const sched_param priority{.sched_priority = 10};
  ::sched_setscheduler(0, SCHED_FIFO, &priority);
}

Duration cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

void await(const char* what, const std::function<bool()>& is_so) {
  const MonotonicTime give_up = read_monotonic() + 20s;
  while (!is_so()) {
    if (read_monotonic() > give_up) throw std::runtime_error(std::string{"in 20 s: "} + what + " did not happen");
    std::this_thread::sleep_for(1ms);
  }
}

// Answers each order; one order in busy_every takes the callback's CPU for `planted`.
class Venue final : public Application {
 public:
  void on_logon(SessionHandle&) override { logged_on = true; }
  Handled on_message(SessionHandle& session, const MessageView&) override {
    if (busy_every != 0 && ++orders_ % busy_every == 0) {
      const Duration until = cpu_time() + planted;
      while (cpu_time() < until) {
      }
    }
    static_cast<void>(session.send({.msg_type = "8", .body = "37=1\x01", .header_fields = {}}));
    return Handled::done;
  }

  std::atomic<bool> logged_on{false};
  std::uint32_t busy_every = 0;

 private:
  std::uint32_t orders_ = 0;
};

class SlowDisk final : public ForwardingDisk {
 public:
  explicit SlowDisk(Duration sync) : ForwardingDisk(posix_disk()), sync_(sync) {}
  DiskResult<std::unique_ptr<DiskFile>> open(const std::filesystem::path& path, OpenMode mode) override {
    auto file = ForwardingDisk::open(path, mode);
    if (!file) return file;
    return std::make_unique<File>(*std::move(file), sync_);
  }

 private:
  class File final : public ForwardingFile {
   public:
    File(std::unique_ptr<DiskFile> inner, Duration sync) : ForwardingFile(std::move(inner)), sync_(sync) {}
    DiskResult<void> sync() override {
      std::this_thread::sleep_for(sync_);
      return ForwardingFile::sync();
    }

   private:
    Duration sync_;
  };
  Duration sync_;
};

// A poll thread on a thread of its own.
class Running {
 public:
  Running(PollThread& thread, std::function<void()> begin) : thread_(thread) {
    runner_ = std::thread{[this, begin = std::move(begin)] {
      begin();
      thread_.begin();
      thread_.run();
    }};
  }
  ~Running() {
    thread_.stop = true;
    thread_.wake();
    runner_.join();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  PollThread& thread_;
  std::thread runner_;
};

// A blocking client that logs on, sends orders, and reads only when read() is called.
class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    SessionConfig config;
    config.role = Role::initiator;
    config.sender_comp_id = "TRADER";
    config.target_comp_id = "VENUE";
    composer_ = std::make_unique<Composer>(config);
    const int small = 16 * 1024;
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    sockaddr_in address = test::loopback(port);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("the venue accepts no connection");
    send("A",
         "98=0\x01"
         "108=30\x01"
         "141=Y\x01");
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(std::string_view type, std::string_view body) {
    std::array<char, 1024> out;
    const auto size = composer_->compose({.msg_type = type, .seq = SeqNum{seq_++}, .body = body}, read_utc(), out);
    if (!size || ::send(socket_, out.data(), *size, MSG_NOSIGNAL) < 0)
      throw std::runtime_error("the client cannot send");
  }
  // Everything that is there.
  void read() {
    std::array<char, 65536> in;
    while (::recv(socket_, in.data(), in.size(), MSG_DONTWAIT) > 0) {
    }
  }

 private:
  int socket_;
  std::unique_ptr<Composer> composer_;
  std::uint64_t seq_ = 1;
};

struct Scene {
  const char* name;
  SlowCause cause;
  Duration at_least;  // moments this slow are the planted ones
  std::size_t moments;
};

constexpr std::array scenes{
    Scene{"application", SlowCause::application, planted, 3},
    Scene{"scheduler", SlowCause::scheduler, 2ms, 3},  // slices of two tasks; shorter ones are the host's own
    Scene{"interrupt", SlowCause::interrupt, 15us, 3},
    Scene{"peer", SlowCause::peer, 100ms, 1},
    Scene{"disk", SlowCause::disk, 15ms, 3},
};

void orders(Client& client, int count, Duration pace) {
  for (int i = 0; i < count; ++i) {
    client.send("D",
                "11=ORDER\x01"
                "55=MSFT\x01"
                "54=1\x01"
                "60=20261121-12:00:00.123\x01"
                "38=100\x01"
                "40=1\x01");
    std::this_thread::sleep_for(pace);
    client.read();
  }
}

// Two busy processes on this CPU while it lives.
class Noise {
 public:
  explicit Noise(int cpu) {
    for (pid_t& each : pids_) {
      each = ::fork();
      if (each == 0) {
        static_cast<void>(CpuAffinity::set(CpuSet{cpu}));
        for (;;) {
        }
      }
    }
  }
  ~Noise() {
    for (const pid_t each : pids_) {
      ::kill(each, SIGKILL);
      ::waitpid(each, nullptr, 0);
    }
  }
  Noise(const Noise&) = delete;
  Noise& operator=(const Noise&) = delete;

 private:
  std::array<pid_t, 2> pids_{};
};

// Where a disk's interrupts arrive, and reads past the page cache that cause them.
class DiskInterrupts {
 public:
  explicit DiskInterrupts(const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / "read";
    std::vector<char> content(file_size);
    std::ranges::generate(content, std::minstd_rand{1});
    std::ofstream{path, std::ios::binary}.write(content.data(), static_cast<std::streamsize>(content.size()));
    file_ = ::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (file_ < 0 || ::fsync(file_) != 0) return;
    for (int tries = 0; tries < 5 && !cpu_; ++tries) find();
  }
  ~DiskInterrupts() {
    stop_ = true;
    readers_.clear();
    if (file_ >= 0) ::close(file_);
  }
  DiskInterrupts(const DiskInterrupts&) = delete;
  DiskInterrupts& operator=(const DiskInterrupts&) = delete;

  // Nothing where none are seen.
  std::optional<int> cpu() const { return cpu_; }

  // Until the end, from the other CPUs.
  void begin() {
    for (unsigned seed = 1; seed <= 4; ++seed) {
      readers_.emplace_back([this, seed] {
        CpuSet others = CpuAffinity::get();
        others.erase(*cpu_);
        static_cast<void>(CpuAffinity::set(others));
        before_other_tasks();
        read(seed, [this] { return stop_.load(); });
      });
    }
  }

 private:
  static constexpr std::size_t block = 4096, file_size = 16 * 1024 * 1024;
  static constexpr std::uint64_t enough = 100;  // in the 100 ms of find()

  void read(unsigned seed, const std::function<bool()>& is_enough) const {
    std::minstd_rand random{seed};
    const std::unique_ptr<void, decltype(&std::free)> into{std::aligned_alloc(block, block), &std::free};
    while (!is_enough()) {
      const auto at = static_cast<off_t>(random() % (file_size / block) * block);
      if (::pread(file_, into.get(), block, at) < 0) return;
    }
  }
  // Where the reads cause interrupts.
  void find() {
    const HostFiles files;
    const CounterSample before = sample_counters(files);
    const MonotonicTime until = read_monotonic() + 100ms;
    read(0, [&] { return read_monotonic() > until; });
    const CounterSample counted = difference(before, sample_counters(files));
    std::uint64_t most = enough;
    for (const InterruptCounter& each : counted.interrupts) {
      for (std::size_t i = 0; i < each.per_cpu.size(); ++i) {
        if (each.per_cpu[i] < most) continue;
        most = each.per_cpu[i];
        cpu_ = counted.cpus[i].cpu;
      }
    }
  }

  int file_ = -1;
  std::optional<int> cpu_;
  std::atomic<bool> stop_{false};
  std::vector<std::jthread> readers_;
};

// The slowest moments of a run with this disturbance. Nothing where this host cannot have it.
std::optional<std::vector<SlowMoment>> play(const Scene& scene, int cpu, const std::filesystem::path& folder) {
  const bool noise = scene.cause == SlowCause::scheduler, disk = scene.cause == SlowCause::disk;
  std::optional<DiskInterrupts> interrupts;
  if (scene.cause == SlowCause::interrupt) {
    interrupts.emplace(folder);
    if (!interrupts->cpu()) return {};
    cpu = *interrupts->cpu();
  }
  Venue application;
  if (scene.cause == SlowCause::application) application.busy_every = 100;
  EngineConfig config;
  SessionSettings settings;
  settings.session.role = Role::acceptor;
  settings.session.sender_comp_id = "VENUE";
  settings.session.target_comp_id = "TRADER";
  settings.listen = {"127.0.0.1", 0};
  settings.store_kind = disk ? StoreKind::journal : StoreKind::memory;
  settings.journal.directory = folder;
  settings.journal.durability = Durability::group;
  if (scene.cause == SlowCause::peer) settings.socket.send_buffer = 16 * 1024;
  config.sessions.push_back(settings);
  SlowDisk slow{planted};
  std::atomic<PollThread*> woken{nullptr};
  JournalStores stores{slow, [&woken] {
                         if (PollThread* const thread = woken.load()) thread->wake();
                       }};
  const auto venue = make_poll_thread({}, {.config = config,
                                           .number = 0,
                                           .idle = noise ? IdleMode::spin : IdleMode::block,
                                           .callbacks = application,
                                           .stores = stores});
  woken = venue.get();
  std::optional<FlusherThread> flusher;
  if (disk) flusher.emplace(stores.flusher());
  venue->start();
  const std::uint16_t port = venue->local_endpoint(config.sessions[0].listen)->port;
  LatencyMonitor monitor{{venue.get()}, nullptr};
  EnginePlacement none{config, [] { return Topology{}; }, [] { return HostFacts{}; }};
  {
    const Running running{*venue, [&] {
                            if (noise || interrupts) static_cast<void>(CpuAffinity::set(CpuSet{cpu}));
                            if (noise) return;
                            before_other_tasks();
                          }};
    Client client{port};
    await("the Logon", [&] { return application.logged_on.load(); });
    if (interrupts) interrupts->begin();
    monitor.begin(none);
    orders(client, 100, 1ms);
    if (noise) {
      const Noise neighbours{cpu};
      orders(client, 300, 1ms);
    } else if (scene.cause == SlowCause::peer) {
      const std::string body = "58=" + std::string(1000, 'x') + '\x01';
      for (int i = 0; i < 300; ++i)
        static_cast<void>(venue->submit(0, {.msg_type = "8", .body = body, .header_fields = {}}, {}));
      std::this_thread::sleep_for(300ms);
      for (int i = 0; i < 100; ++i) {
        client.read();
        std::this_thread::sleep_for(2ms);
      }
    } else if (disk) {
      orders(client, 60, 5ms);
    } else {
      // Where an interrupt takes some microseconds only, few orders have one or two of them in a stage.
      orders(client, interrupts ? 1500 : 500, 1ms);
    }
    std::this_thread::sleep_for(LatencyMonitor::period);
    monitor.end();
  }
  woken = nullptr;
  flusher.reset();
  return monitor.slowest(LatencyWindow::since_start);
}

enum class Verdict { right, wrong, disturbed };

// How many threads of this host run or want to, this one included.
std::size_t threads_that_run() {
  std::ifstream file{"/proc/stat"};
  std::size_t count = 0;
  for (std::string word; file >> word && word != "procs_running";) file.ignore(1 << 16, '\n');
  file >> count;
  return count;
}

// Disturbed: all moments that do not have the planted cause have the hypervisor, which took time in the same 100 ms; or
// other work wants more than the CPUs there are.
Verdict verdict(const Scene& scene, const std::vector<SlowMoment>& moments, std::size_t cpus, bool print) {
  std::size_t found = 0, other = 0, stolen = 0;
  for (const SlowMoment& each : moments) {
    if (each.took < scene.at_least) continue;
    ++found;
    const bool as_planted = each.cause == scene.cause;
    if (!as_planted || print) std::printf("  %s\n", to_string(each).c_str());
    if (as_planted) continue;
    ++other;
    if (each.cause == SlowCause::steal && each.host.stolen > Duration::zero()) ++stolen;
  }
  if (found < scene.moments) std::printf("  %zu moments of %zu\n", found, scene.moments);
  if (found < scene.moments || other > stolen) return threads_that_run() > cpus ? Verdict::disturbed : Verdict::wrong;
  return other == 0 ? Verdict::right : Verdict::disturbed;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint32_t runs = 10;
  std::uint32_t needed = 0;
  bool print = false;
  std::string only;
  const cli::Command program{
      .name = "latency_causes",
      .summary = "Slows messages on purpose and checks the causes that are found",
      .options = {{.names = "--runs", .target = &runs, .help = "Of each disturbance", .range = {{1, 1000}}},
                  {.names = "--needed",
                   .target = &needed,
                   .help = "So many of each disturbance's runs have to be right; 0: all. For hosts that disturb it too",
                   .range = {{0, 1000}}},
                  {.names = "--only", .target = &only, .help = "application, scheduler, interrupt, peer or disk"},
                  {.names = "--print", .target = &print, .help = "Print every planted moment"}},
  };
  if (const auto status = cli::parse(program, argc, argv)) return *status;
  const CpuSet cpus = CpuAffinity::get();
  if (cpus.size() < 2) {
    std::puts("SKIPPED: it needs two CPUs");
    return 77;
  }
  bool all = true, shown = true;
  for (const Scene& scene : scenes) {
    if (!only.empty() && only != scene.name) continue;
    std::uint32_t right = 0, wrong = 0, disturbed = 0;
    bool possible = true;
    const std::uint32_t enough = needed == 0 ? runs : std::min(needed, runs);
    for (std::uint32_t run = 0; run < runs + disturbed; ++run) {
      if (needed != 0 && (right >= enough || wrong > runs - enough)) break;  // the others cannot change that
      const auto folder = std::filesystem::temp_directory_path() /
                          ("nfx-causes-" + std::to_string(::getpid()) + '-' + std::to_string(run));
      std::filesystem::create_directories(folder);
      const auto moments = play(scene, cpus.first(), folder);
      std::filesystem::remove_all(folder);
      if (!moments) {
        possible = false;
        break;
      }
      const Verdict found = verdict(scene, *moments, cpus.size(), print);
      if (found == Verdict::right) ++right;
      if (found == Verdict::wrong) ++wrong;
      if (found == Verdict::disturbed && disturbed < runs) ++disturbed;
    }
    if (!possible) {
      std::printf("%-12s left out: no disk of this host interrupts a CPU of it, as seen in /proc/interrupts\n",
                  scene.name);
      continue;
    }
    std::printf("%-12s %u of %u runs", scene.name, right, right + wrong);
    if (disturbed != 0) std::printf("; %u more, in which the hypervisor or other work took time", disturbed);
    std::printf("\n");
    all = all && wrong <= runs - enough;
    shown = shown && right >= enough;
  }
  if (all && !shown) {
    std::puts("SKIPPED: the hypervisor or other work took time in too many of the runs");
    return 77;
  }
  return all ? 0 : 1;
}
