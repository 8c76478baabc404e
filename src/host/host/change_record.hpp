// The record of changes to a host: one line of JSON per change, with the previous content. The line is on disk before
// the change is made, so that the change can be undone if the process crashes.
// Thread: one owner; a lock excludes other processes. Cost: system calls and one fdatasync per change. Errors: the
// host's errors are errno values. A record that cannot be used, or that another user may change, throws ApplyError,
// which names the file. Bounds: a record is read up to 256 MiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/trusted_path.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "nexusfix/placement/machine.hpp"
#include "nexusfix/placement/plan.hpp"

namespace nfx {

class ApplyError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// All operations that change a host. Each returns 0 or an errno.
class HostWriter {
 public:
  virtual ~HostWriter() = default;
  virtual int write(std::string_view file, std::string_view bytes) = 0;  // a kernel file: one write(2)
  virtual int make_directory(std::string_view directory) = 0;
  virtual int remove_directory(std::string_view directory) = 0;
  virtual int move_task(std::string_view list, int id) = 0;  // into the group that owns this `tasks` or `cgroup.procs`
  virtual int set_affinity(int tid, const CpuSet& cpus) = 0;
  virtual int replace_file(std::string_view file, std::string_view bytes, std::uint32_t mode) = 0;  // atomically
  virtual int remove_file(std::string_view file) = 0;
};

// The real host. `write` reaches only files of the kernel. The other functions reach only folders that only root can
// have chosen (base/trusted_path.hpp), and follow no symbolic link. In a copy below a root, links stay in the copy.
class LiveWriter final : public HostWriter {
 public:
  explicit LiveWriter(HostFiles files) : files_(std::move(files)) {}
  int write(std::string_view file, std::string_view bytes) override;
  int make_directory(std::string_view directory) override;
  int remove_directory(std::string_view directory) override;
  int move_task(std::string_view list, int id) override;
  int set_affinity(int tid, const CpuSet& cpus) override;
  int replace_file(std::string_view file, std::string_view bytes, std::uint32_t mode) override;
  int remove_file(std::string_view file) override;

 private:
  HostFiles files_;
};

// A folder that stands in for a host in rehearsals. It imitates on plain files the kernel behaviour that placement
// needs: a new control group gets its files, and a moved task changes lists and loses its mask.
class FolderWriter final : public HostWriter {
 public:
  explicit FolderWriter(HostFiles files) : files_(files), plain_(std::move(files)) {}
  int write(std::string_view file, std::string_view bytes) override;
  int make_directory(std::string_view directory) override;
  int remove_directory(std::string_view directory) override;
  int move_task(std::string_view list, int id) override;
  int set_affinity(int tid, const CpuSet& cpus) override;
  int replace_file(std::string_view file, std::string_view bytes, std::uint32_t mode) override;
  int remove_file(std::string_view file) override;

 private:
  HostFiles files_;
  LiveWriter plain_;
};

enum class ChangeKind : std::uint8_t {
  write_file,      // a kernel file
  make_group,      // a control group
  move_tasks,      // into that control group
  set_affinities,  // of tasks, where there are no groups or a task cannot be moved
  install_file,    // a regular file
  make_directory,  // for an installed file
};

[[nodiscard]] std::string_view to_string(ChangeKind kind) noexcept;

// How two contents of a kernel file are compared: as lists, "0-1" and "0,1
// " are equal.
enum class Compare : std::uint8_t { text, cpu_list, cpu_mask, contains_word };

enum class Outcome : std::uint8_t {
  accepted,
  pending,  // accepted; takes effect at the next interrupt
  refused,
};

[[nodiscard]] std::string_view to_string(Outcome outcome) noexcept;

// A task id can be reused; together with the start time it is unique.
struct TaskState {
  int pid = 0;
  int tid = 0;
  std::uint64_t start = 0;  // clock ticks since boot
  std::string name;
  CpuSet mask;
  bool moves = false;  // false: only its mask is recorded, because the groups reach it, and it stays where it is
};

struct Change {
  ChangeKind kind = ChangeKind::write_file;
  std::string area;              // tasks, interrupts, workqueues, scheduler, memory, network, power, boot
  std::string path;              // the file; for move_tasks, the list of the group that receives the tasks
  std::string from;              // move_tasks: the list of the group they leave
  std::string seen;              // previous content, byte for byte
  bool existed = true;           // false: the file did not exist
  std::string wanted;            // new content
  std::string undo;              // content to write to restore `seen`
  bool goes_with_group = false;  // a file of our own group: removed with it, nothing to undo
  Compare compare = Compare::text;
  bool may_refuse = false;       // the kernel may refuse: managed interrupts, per-CPU kernel threads
  std::uint32_t mode = 0644;     // install_file
  std::uint32_t seen_mode = 0;   // install_file
  std::vector<TaskState> tasks;  // masks before the change, of moved tasks and of all others that the groups reach
  std::string why;
};

[[nodiscard]] bool same_content(Compare compare, std::string_view content, std::string_view wanted);

struct RefusedTask {
  TaskState task;
  int error = 0;
};

struct RecordedOutcome {
  Outcome outcome = Outcome::accepted;
  int error = 0;
  std::string seen;                  // content read back
  std::vector<RefusedTask> refused;  // move_tasks, set_affinities
};

// The contents of a record, without a last line that was cut off.
struct RecordContent {
  PlacementPlan plan;  // the latest one: hash, sets and threads
  std::string boot_id;
  std::vector<Change> changes;
  std::map<std::size_t, RecordedOutcome> outcomes;  // by index into changes; missing where the process ended before
  std::size_t bytes = 0;                            // in whole lines
};

// Prevents two processes from changing one host at the same time. Throws ApplyError, which names the other process.
class RecordLock {
 public:
  explicit RecordLock(const std::filesystem::path& folder);
  ~RecordLock();
  RecordLock(const RecordLock&) = delete;
  RecordLock& operator=(const RecordLock&) = delete;

 private:
  TrustedFolder folder_;
  std::filesystem::path file_;
  int fd_ = -1;
};

class ChangeRecord {
 public:
  // Null if there is no record. Throws ApplyError if the file cannot be read or is not a record.
  [[nodiscard]] static std::optional<RecordContent> load(const std::filesystem::path& file);

  // Continues the record `before` of this file, or starts a new one at the first append. Throws nothing yet.
  ChangeRecord(std::filesystem::path file, const RecordContent* before);
  ~ChangeRecord();
  ChangeRecord(const ChangeRecord&) = delete;
  ChangeRecord& operator=(const ChangeRecord&) = delete;

  // The plan of the following changes. It is written with the first change: a record without changes is not written.
  void set_plan(PlacementPlan plan, std::string boot_id);
  // Writes the plan without a change, for a host that already follows it.
  void add_plan();
  // Returns the change's index, when the change is on disk. Throws ApplyError.
  std::size_t add(const Change& change);
  void add(std::size_t index, const RecordedOutcome& outcome);

  // Restores the file to its state before this object, and removes it if there was none.
  void forget();
  [[nodiscard]] bool written() const noexcept { return fd_ >= 0; }

 private:
  void append(std::string line, bool sync);
  void open_file();

  std::filesystem::path file_;
  std::size_t bytes_before_ = 0;
  std::size_t next_ = 0;
  std::string plan_line_;
  int fd_ = -1;
};

}  // namespace nfx
