// Measures the cost of unused sessions with a journal each: seconds until they listen, disk and memory, compared with
// QuickFIX's acceptor with FileStores. Each row is a separate process. Exit status 1 if a limit is exceeded: 1,000
// sessions within 1.5 s, with 64 KiB of disk and 24 KiB of memory for each.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "harness/machine.hpp"
#include "harness/program.hpp"
#include "harness/scratch_folder.hpp"
#include "idle_stores/quickfix_idle.hpp"
#include "nexusfix/engine/engine.hpp"
#include "transport/loopback.hpp"

namespace {

using namespace nfx;
using namespace nfx::bench;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

struct Options {
  std::uint32_t most = 10000;
  fs::path folder;
};

class Nobody final : public Application {
 public:
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
};

// The results of one process, passed through a pipe.
struct Figures {
  double seconds = 0;
  std::uint64_t disk = 0;
  std::uint64_t memory = 0;  // anonymous memory, and shared memory whether it is mapped or not
  bool present = false;
  bool ended = false;  // the process ended before it listened
};

enum class Kind : std::uint8_t { first, again, quickfix };

// The size of all blocks of a folder and its content.
std::uint64_t blocks_of(const fs::path& folder) {
  const auto own = [](const fs::path& path) -> std::uint64_t {
    struct stat facts{};
    return ::lstat(path.c_str(), &facts) == 0 ? static_cast<std::uint64_t>(facts.st_blocks) * 512 : 0;
  };
  std::uint64_t sum = own(folder);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) sum += own(entry.path());
  return sum;
}

// Resident memory without shared memory and the pages of the program.
std::uint64_t private_memory() {
  std::uint64_t kib = 0;
  std::ifstream in{"/proc/self/status"};
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("RssAnon:")) kib += std::stoull(line.substr(9));
  }
  return kib * 1024;
}

EngineConfig config_for(std::uint32_t sessions, const fs::path& store, const fs::path& rings) {
  EngineConfig config;
  config.idle = IdleMode::block;
  config.sessions.reserve(sessions);
  for (std::uint32_t number = 0; number < sessions; ++number) {
    SessionSettings settings;
    settings.session.role = Role::acceptor;
    settings.session.sender_comp_id = "VENUE";
    settings.session.target_comp_id = "TRADER" + std::to_string(number);
    settings.listen = {"127.0.0.1", 0};
    settings.store_kind = StoreKind::journal;
    settings.journal.directory = store;
    settings.journal.ring_directory = rings;
    config.sessions.push_back(std::move(settings));
  }
  return config;
}

Figures measure_engine(std::uint32_t sessions, const fs::path& store, const fs::path& rings) {
  Figures figures{.present = true};
  Nobody nobody;
  const std::uint64_t before = private_memory();
  const auto begin = Clock::now();
  Engine engine{config_for(sessions, store, rings), nobody};
  engine.start();
  figures.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  for (const auto end = Clock::now() + 1s; Clock::now() < end;) engine.turn(50ms);
  figures.disk = blocks_of(store);
  figures.memory = private_memory() - before + blocks_of(rings);
  engine.stop();
  while (!engine.finished()) engine.turn(50ms);
  return figures;
}

Figures measure_quickfix(std::uint32_t sessions, const fs::path& store) {
  Figures figures;
  const std::uint64_t before = private_memory();
  const auto begin = Clock::now();
  const auto acceptor = make_quickfix_acceptor(store.string(), sessions, test::free_port());
  if (acceptor == nullptr) return figures;
  figures.present = true;
  figures.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::this_thread::sleep_for(1s);
  figures.disk = blocks_of(store);
  figures.memory = private_memory() - before;
  return figures;
}

// In a separate process, so that no row uses memory of another.
Figures in_child(Kind kind, std::uint32_t sessions, const fs::path& store, const fs::path& rings) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("cannot make a pipe");
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot start a process");
  if (child == 0) {
    int status = 1;
    try {
      allow_descriptors(4 * std::uint64_t{sessions} + 256, "a lower --most");
      const Figures figures =
          kind == Kind::quickfix ? measure_quickfix(sessions, store) : measure_engine(sessions, store, rings);
      status = ::write(ends[1], &figures, sizeof figures) == sizeof figures ? 0 : 1;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "bench_idle_stores: %s\n", error.what());
    }
    ::_exit(status);
  }
  ::close(ends[1]);
  Figures figures;
  const bool whole = ::read(ends[0], &figures, sizeof figures) == sizeof figures;
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  // QuickFIX waits with select(), which is limited to 1,024 descriptors.
  if (kind == Kind::quickfix && (!whole || status != 0)) return {.ended = true};
  if (!whole || status != 0) throw std::runtime_error("a row could not be measured");
  return figures;
}

void print(std::uint32_t sessions, const char* name, const Figures& figures) {
  if (figures.ended) std::printf("%8u  %-22s %10s\n", sessions, name, "does not start");
  if (!figures.present) return;
  const double kib = 1024.0 * sessions;
  std::printf("%8u  %-22s %10.3f %12.1f %12.1f\n", sessions, name, figures.seconds,
              static_cast<double>(figures.disk) / kib, static_cast<double>(figures.memory) / kib);
}

bool within_limits(std::uint32_t sessions, const Figures& figures) {
  if (sessions != 1000) return true;
  const bool within =
      figures.seconds <= 1.5 && figures.disk <= 64 * 1024 * sessions && figures.memory <= 24 * 1024 * sessions;
  if (!within)
    std::printf(
        "FAILED    1,000 sessions: more than 1.5 s, or for each more than 64 KiB of disk or 24 KiB of memory\n");
  return within;
}

int run(const Options& options) {
  const ScratchFolder disk{"idle-stores", options.folder};
  const ScratchFolder memory{"idle-rings", "/dev/shm"};
  std::printf("machine    %s\n", describe(this_machine()).c_str());
  std::printf("files      %s; rings in %s\n", disk.describe().c_str(), memory.path().c_str());
  std::printf("memory     resident, with the shared memory of the rings; disk: blocks, folders included\n\n");
  std::printf("%8s  %-22s %10s %12s %12s\n", "sessions", "store", "seconds", "disk, KiB", "memory, KiB");
  bool right = true;
  for (const std::uint32_t sessions : {1U, 100U, 1000U, 10000U}) {
    if (sessions > options.most) break;
    const fs::path store = disk.path() / "journals";
    const fs::path other = disk.path() / "quickfix";
    fs::create_directories(store);
    fs::create_directories(other);
    for (const Kind kind : {Kind::first, Kind::again}) {
      const Figures figures = in_child(kind, sessions, store, memory.path());
      print(sessions, kind == Kind::first ? "journal, new" : "journal, opened again", figures);
      right = within_limits(sessions, figures) && right;
    }
    print(sessions, "QuickFIX FileStore", in_child(Kind::quickfix, sessions, other, memory.path()));
    fs::remove_all(store);
    fs::remove_all(other);
  }
  std::printf("\ndisk and memory are for each session\n");
  return right ? 0 : wrong_answer;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::string folder;
  bool quick = false;
  const nfx::cli::Command program{
      .name = "bench_idle_stores",
      .summary = "Seconds, disk and memory of 1, 100, 1,000 and 10,000 sessions with journals that are not used",
      .options =
          {{.names = "--most", .target = &options.most, .help = "No row with more sessions", .range = {{1, 10000}}},
           folder_option(folder),
           {.names = "--quick", .target = &quick, .help = "Up to 100 sessions"}},
  };
  return run_program(program, argc, argv, [&] {
    options.folder = folder;
    if (quick) options.most = 100;
    return run(options);
  });
}
