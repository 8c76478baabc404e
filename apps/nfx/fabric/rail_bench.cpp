// The parent process: forks both ends, waits, and makes the report from their shared memory.
#include "fabric/rail_bench.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "base/error_text.hpp"
#include "fabric/rail_bench_end.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "noisy_processes.hpp"

namespace nfx::app::fabric {
namespace {

class SharedMemory {
 public:
  SharedMemory() {
    void* const at = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::runtime_error("cannot map memory that the two ends share");
    shared_ = new (at) Shared;
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { ::munmap(shared_, sizeof(Shared)); }
  [[nodiscard]] Shared& operator*() const noexcept { return *shared_; }
  [[nodiscard]] Shared* operator->() const noexcept { return shared_; }

 private:
  Shared* shared_ = nullptr;
};

// A folder for the Unix sockets of the rails.
class SocketFolder {
 public:
  SocketFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "nfx-fabric-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error(cannot("make folder", name, errno));
    path_ = name;
  }
  SocketFolder(const SocketFolder&) = delete;
  SocketFolder& operator=(const SocketFolder&) = delete;
  ~SocketFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

class Child {
 public:
  Child(const BenchOptions& options, Shared& shared, const std::string& folder, Side side) {
    std::fflush(nullptr);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("cannot start a process for the " + std::string{to_string(side)});
    if (pid_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    run_end(options, shared, folder, side);
    ::_exit(shared.failed.load() ? 1 : 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }
  // Whether it has ended; remembers how.
  [[nodiscard]] bool ended() {
    if (pid_ <= 0) return true;
    if (::waitpid(pid_, &status_, WNOHANG) != pid_) return false;
    pid_ = 0;
    return true;
  }
  [[nodiscard]] bool well() const noexcept { return WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }
  [[nodiscard]] std::string how() const {
    return WIFSIGNALED(status_) ? "was ended by: " + std::string{::strsignal(WTERMSIG(status_))}
                                : "exited with status " + std::to_string(WEXITSTATUS(status_));
  }

 private:
  pid_t pid_ = 0;
  int status_ = 0;
};

// Noisy processes inherit the CPU mask of their creator.
std::unique_ptr<NoisyProcesses> make_noise(const BenchOptions& options) {
  if (options.noisy == 0) return nullptr;
  const CpuSet before = CpuAffinity::get();
  if (options.noise == Noise::confined) {
    CpuSet rest = before;
    rest.erase(before.last());
    if (rest.empty()) throw std::runtime_error("noise is confined to other CPUs than the last, and there is only one");
    static_cast<void>(CpuAffinity::set(rest));
  }
  auto noise = std::make_unique<NoisyProcesses>(options.noisy);
  static_cast<void>(CpuAffinity::set(before));
  return noise;
}

void check(const BenchOptions& options) {
  const auto refuse = [](const std::string& why) { throw std::runtime_error(why); };
  if (options.rails == 0 || options.rails > max_bench_rails) refuse("rails: expected 1 to 32");
  if (options.groups == 0 || options.groups > std::min<std::size_t>(max_bench_groups, options.rails))
    refuse("groups: expected 1 to 16, and at most the number of rails");
  if (options.page_bytes < 64 || options.page_bytes > (1U << 26U)) refuse("page: expected 64 bytes to 64 MiB");
  if (options.window == 0 || options.window > max_window) refuse("window: expected 1 to 128 pages");
  if (options.batch == 0) refuse("batch: expected at least 1 page");
}

BenchReport report_of(const BenchOptions& options, const Shared& shared) {
  BenchReport report;
  double slowest = 0;
  std::uint64_t pages = 0;
  const double bits = static_cast<double>(options.page_bytes) * 8;
  for (std::uint32_t g = 0; g < options.groups; ++g) {
    const SharedGroup& from = shared.groups[g];
    GroupReport group;
    group.seconds = from.seconds;
    group.sender = from.threads[0];
    group.receiver = from.threads[1];
    for (std::uint32_t r = g; r < options.rails; r += options.groups) {
      group.gbps += bits * static_cast<double>(shared.rails[r].pages) / from.seconds / 1e9;
      pages += shared.rails[r].pages;
    }
    slowest = std::max(slowest, from.seconds);
    report.groups.push_back(group);
  }
  for (std::uint32_t r = 0; r < options.rails; ++r) {
    const SharedRail& from = shared.rails[r];
    const double seconds = shared.groups[r % options.groups].seconds;
    report.rails.push_back(
        {.gbps = bits * static_cast<double>(from.pages) / seconds / 1e9, .pages = from.pages, .refused = from.refused});
  }
  report.pages_per_s = static_cast<double>(pages) / slowest;
  report.gbps = report.pages_per_s * bits / 1e9;
  report.page_ns = shared.page_ns;
  report.small_ns = shared.small_ns;
  return report;
}

}  // namespace

BenchReport run_bench(const BenchOptions& options) {
  check(options);
  const SharedMemory shared;
  const SocketFolder folder;
  const std::unique_ptr<NoisyProcesses> noise = make_noise(options);
  Child receiver{options, *shared, folder.path(), Side::receiver};
  Child sender{options, *shared, folder.path(), Side::sender};
  const auto give_up_at = std::chrono::steady_clock::now() +
                          std::chrono::duration<double>(60 + 10 * options.seconds + options.round_trips * 0.01);
  bool both = false;
  while (!both) {
    const bool sender_ended = sender.ended(), receiver_ended = receiver.ended();
    both = sender_ended && receiver_ended;
    if (shared->failed.load() && (sender_ended || receiver_ended)) break;
    for (const auto& [child, is_over, side] :
         {std::tuple{&sender, sender_ended, Side::sender}, std::tuple{&receiver, receiver_ended, Side::receiver}}) {
      if (is_over && !child->well() && !shared->failed.load())
        throw std::runtime_error("the process of the " + std::string{to_string(side)} + ' ' + child->how());
    }
    if (std::chrono::steady_clock::now() > give_up_at)
      throw std::runtime_error("the two ends did not finish in time; the last step was: " +
                               std::string{shared->step()});
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  if (shared->failed.load()) throw std::runtime_error(shared->error.data());
  return report_of(options, *shared);
}

}  // namespace nfx::app::fabric
