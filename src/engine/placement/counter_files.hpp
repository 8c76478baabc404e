// The kernel's counters of a thread and of the CPUs, from files of /proc that stay open, for frequent samples.
// Thread: one owner. Cost: usually one system call per file, because opening takes longer than reading. No allocation
// once the buffers fit. Errors: values that the kernel does not report count as 0. Lifetime: views and spans until the
// next read(). Source: proc(5): stat, interrupts, and stat, sched, status and schedstat of a task.
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

  // The file from its beginning, up to 4 MiB. Empty if it cannot be read; the next call tries again. Valid until the
  // next call.
  [[nodiscard]] std::string_view read();

 private:
  void close() noexcept;

  std::filesystem::path path_;
  int fd_ = -1;
  std::vector<char> content_;
};

struct CpuInterruptions {
  int cpu = 0;
  std::uint64_t stolen_ticks = 0;  // clock ticks, as in /proc/stat
  std::uint64_t interrupts = 0;    // of every kind
};

class CpuCounterFiles {
 public:
  explicit CpuCounterFiles(const HostFiles& files);

  // One entry per online CPU.
  [[nodiscard]] std::span<const CpuInterruptions> read();

 private:
  void read_interrupts();

  KeptFile stat_, interrupts_;
  std::vector<CpuInterruptions> cpus_;
  std::vector<int> columns_;                         // CPU numbers
  std::vector<std::uint64_t> of_line_, of_columns_;  // in the order of columns_
};

struct ThreadCounters {
  int cpu = 0;
  std::uint64_t run_ns = 0;  // up to the last timer tick; CONFIG_PARAVIRT_TIME_ACCOUNTING excludes stolen time
  std::uint64_t wait_ns = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t migrations = 0;
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
};

class ThreadCounterFiles {
 public:
  ThreadCounterFiles(const HostFiles& files, int pid, int tid);

  // Empty if the thread has ended or is not readable.
  [[nodiscard]] std::optional<ThreadCounters> read();

 private:
  KeptFile stat_, sched_, status_, schedstat_;
};

}  // namespace nfx
