// What the kernel counts of a thread and of the CPUs, from files of /proc that stay open, for frequent samples.
// Thread: one owner. Cost: one system call for each file, mostly; opening one takes longer than reading it. No
// allocation once the buffers fit. Errors: what the kernel does not show counts as 0. Lifetime: views and spans until
// the next read(). Source: proc(5): stat, interrupts, and stat, sched, status and schedstat of a task.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/placement/machine.hpp"

namespace nfx {

class KeptFile {
 public:
  explicit KeptFile(std::filesystem::path path) : path_(std::move(path)) {}
  ~KeptFile() { close(); }
  KeptFile(KeptFile&& from) noexcept
      : path_(std::move(from.path_)), fd_(std::exchange(from.fd_, -1)), content_(std::move(from.content_)) {}
  KeptFile& operator=(KeptFile&&) = delete;

  // From its beginning, up to 4 MiB; empty where it cannot be read, which the next call tries again. Valid until then.
  [[nodiscard]] std::string_view read();

 private:
  void close() noexcept;

  std::filesystem::path path_;
  int fd_ = -1;
  std::vector<char> content_;
};

struct CpuInterruptions {
  int cpu = 0;
  std::uint64_t stolen_ticks = 0;  // clock ticks, as /proc/stat has them
  std::uint64_t interrupts = 0;    // of every kind
};

class CpuCounterFiles {
 public:
  explicit CpuCounterFiles(const HostFiles& files);

  // Of the CPUs that are online.
  [[nodiscard]] std::span<const CpuInterruptions> read();

 private:
  void read_interrupts();

  KeptFile stat_, interrupts_;
  std::vector<CpuInterruptions> cpus_;
  std::vector<int> columns_;                         // CPU numbers
  std::vector<std::uint64_t> of_line_, of_columns_;  // as columns_
};

struct ThreadCounters {
  int cpu = 0;
  std::uint64_t run_ns = 0;  // to the last timer tick; without what was stolen, with CONFIG_PARAVIRT_TIME_ACCOUNTING
  std::uint64_t wait_ns = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t migrations = 0;
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
};

class ThreadCounterFiles {
 public:
  ThreadCounterFiles(const HostFiles& files, int pid, int tid);

  // Empty: the thread is gone, or may not be read.
  [[nodiscard]] std::optional<ThreadCounters> read();

 private:
  KeptFile stat_, sched_, status_, schedstat_;
};

}  // namespace nfx
