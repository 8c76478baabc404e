// Reads counters from open files of /proc.
#include "placement/counter_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "placement/proc_text.hpp"

namespace nfx {
namespace {

constexpr std::size_t first_size = 4096, largest_size = 4U << 20;

std::string task_folder(int pid, int tid) {
  return "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + '/';
}

}  // namespace

void KeptFile::close() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

std::string_view KeptFile::read() {
  if (fd_ < 0) fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) return {};
  if (content_.empty()) content_.resize(first_size);
  for (std::size_t size = 0;;) {
    const ssize_t got = ::pread(fd_, content_.data() + size, content_.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      close();
      return {};
    }
    size += static_cast<std::size_t>(got);
    // The kernel fills the buffer with whole lines, so there may be more if less than a line of it is free.
    if (got == 0 || content_.size() == largest_size) return {content_.data(), size};
    if (size > content_.size() / 2) content_.resize(std::min(2 * content_.size(), largest_size));
  }
}

CpuCounterFiles::CpuCounterFiles(const HostFiles& files)
    : stat_(files.path("/proc/stat")), interrupts_(files.path("/proc/interrupts")) {}

std::span<const CpuInterruptions> CpuCounterFiles::read() {
  cpus_.clear();
  std::string_view rest = stat_.read();
  while (rest.starts_with("cpu")) {
    std::string_view line = next_line(rest);
    const auto cpu = cpu_number(next_word(line));
    if (!cpu) continue;  // "cpu" alone is the sum of all CPUs
    // user nice system idle iowait irq softirq steal
    for (int i = 0; i < 7; ++i) static_cast<void>(next_word(line));
    cpus_.push_back({.cpu = *cpu, .stolen_ticks = number<std::uint64_t>(next_word(line)).value_or(0), .interrupts = 0});
  }
  read_interrupts();
  return cpus_;
}

void CpuCounterFiles::read_interrupts() {
  std::string_view rest = interrupts_.read();
  columns_.clear();
  std::string_view head = next_line(rest);
  for (std::string_view word = next_word(head); !word.empty(); word = next_word(head)) {
    if (const auto cpu = cpu_number(word)) columns_.push_back(*cpu);
  }
  of_columns_.assign(columns_.size(), 0);
  while (!rest.empty()) {
    std::string_view line = next_line(rest);
    line.remove_prefix(std::min(line.find(':') + 1, line.size()));
    of_line_.clear();
    while (of_line_.size() < columns_.size()) {
      const auto value = number<std::uint64_t>(next_word(line));
      if (!value) break;
      of_line_.push_back(*value);
    }
    // "ERR: 0" is a sum over all CPUs.
    if (of_line_.size() < columns_.size()) continue;
    for (std::size_t i = 0; i < columns_.size(); ++i) of_columns_[i] += of_line_[i];
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto cpu = std::ranges::find(cpus_, columns_[i], &CpuInterruptions::cpu);
    if (cpu != cpus_.end()) cpu->interrupts = of_columns_[i];
  }
}

ThreadCounterFiles::ThreadCounterFiles(const HostFiles& files, int pid, int tid)
    : stat_(files.path(task_folder(pid, tid) + "stat")),
      sched_(files.path(task_folder(pid, tid) + "sched")),
      status_(files.path(task_folder(pid, tid) + "status")),
      schedstat_(files.path(task_folder(pid, tid) + "schedstat")) {}

std::optional<ThreadCounters> ThreadCounterFiles::read() {
  const auto stat = parse_task_stat(stat_.read());
  if (!stat || stat->cpu < 0) return std::nullopt;
  ThreadCounters counters{.cpu = stat->cpu, .minor_faults = stat->minor_faults, .major_faults = stat->major_faults};
  const std::string_view sched = sched_.read();
  counters.migrations = count_of(sched, "se.nr_migrations").value_or(0);
  // A kernel without CONFIG_SCHED_DEBUG has no sched file.
  const auto switches = count_of(sched, "nr_involuntary_switches");
  counters.involuntary_switches =
      switches ? *switches : count_of(status_.read(), "nonvoluntary_ctxt_switches").value_or(0);
  std::string_view times = schedstat_.read();
  counters.run_ns = number<std::uint64_t>(next_word(times)).value_or(0);
  counters.wait_ns = number<std::uint64_t>(next_word(times)).value_or(0);
  return counters;
}

}  // namespace nfx
