// What was changed on a host, and what was there before: one line of JSON per change, on the disk before the change is
// made, so that it can be undone whatever happens to the process that makes it.
// Thread: one owner; a lock excludes other processes. Cost: system calls and one fdatasync per change. Errors: those
// of the host are errno values; a record that cannot be used, or that another user may change, throws ApplyError, which
// names the file. Bounds: a record is read up to 256 MiB.
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

// All that is ever done to a host. Each returns 0 or an errno.
class HostWriter {
 public:
  virtual ~HostWriter() = default;
  virtual int write(std::string_view file, std::string_view bytes) = 0;  // a file of the kernel: one write(2)
  virtual int make_directory(std::string_view directory) = 0;
  virtual int remove_directory(std::string_view directory) = 0;
  virtual int move_task(std::string_view list, int id) = 0;  // into the group whose `tasks` or `cgroup.procs` it is
  virtual int set_affinity(int tid, const CpuSet& cpus) = 0;
  virtual int replace_file(std::string_view file, std::string_view bytes, std::uint32_t mode) = 0;  // whole or not
  virtual int remove_file(std::string_view file) = 0;
};

// This host. On a live host `write` reaches files of the kernel alone, and the rest only folders that root alone can
// have chosen (base/trusted_path.hpp), never through a symbolic link. In a copy below a root, links stay in it.
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

// A folder in place of a host, to rehearse on: does to plain files what the kernel does to its own, as far as
// placement goes. Control groups come with their files, moved tasks change lists and lose their masks.
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
  write_file,      // a file of the kernel
  make_group,      // a control group
  move_tasks,      // into that group
  set_affinities,  // of tasks, where there are no groups or a task cannot be moved
  install_file,    // a regular file
  make_directory,  // for an installed file
};

[[nodiscard]] std::string_view to_string(ChangeKind kind) noexcept;

// How two contents of a kernel file are compared: "0-1" and "0,1\n" are the same list.
enum class Compare : std::uint8_t { text, cpu_list, cpu_mask, contains_word };

enum class Outcome : std::uint8_t {
  accepted,
  pending,  // accepted, and takes effect at the next interrupt
  refused,
};

[[nodiscard]] std::string_view to_string(Outcome outcome) noexcept;

// A task's number can be given to another one; with the time it was started it cannot be confused.
struct TaskState {
  int pid = 0;
  int tid = 0;
  std::uint64_t start = 0;  // clock ticks since boot
  std::string name;
  CpuSet mask;
  bool moves = false;  // false: its mask is written down as the groups reach it, and it stays where it is
};

struct Change {
  ChangeKind kind = ChangeKind::write_file;
  std::string area;              // tasks, interrupts, workqueues, scheduler, memory, network, power, boot
  std::string path;              // the file; move_tasks: the list of the group that they are moved into
  std::string from;              // move_tasks: the list of the group that they come from
  std::string seen;              // the content before, byte for byte
  bool existed = true;           // false: there was no such file
  std::string wanted;            // what is written
  std::string undo;              // what is written to have `seen` back
  bool goes_with_group = false;  // a file of an own group: gone with it, nothing to undo
  Compare compare = Compare::text;
  bool may_refuse = false;       // the kernel may refuse: managed interrupts, per-CPU kernel threads
  std::uint32_t mode = 0644;     // install_file
  std::uint32_t seen_mode = 0;   // install_file
  std::vector<TaskState> tasks;  // masks before; those that are moved and all others that the groups reach
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
  std::string seen;                  // read back
  std::vector<RefusedTask> refused;  // move_tasks, set_affinities
};

// What a record states, without a last line that was cut off.
struct RecordContent {
  PlacementPlan plan;  // the latest: hash, sets and threads
  std::string boot_id;
  std::vector<Change> changes;
  std::map<std::size_t, RecordedOutcome> outcomes;  // by index into changes; none where the process ended before
  std::size_t bytes = 0;                            // of whole lines
};

// Prevents two processes from changing one host at the same time. Throws ApplyError, which names the other.
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
  // Null: there is none. Throws ApplyError when it cannot be read or is not a record.
  [[nodiscard]] static std::optional<RecordContent> load(const std::filesystem::path& file);

  // Continues the record `before` of this file, or begins one with the first append. Throws nothing yet.
  ChangeRecord(std::filesystem::path file, const RecordContent* before);
  ~ChangeRecord();
  ChangeRecord(const ChangeRecord&) = delete;
  ChangeRecord& operator=(const ChangeRecord&) = delete;

  // The plan that the following changes are for, once it is needed: a record without changes is not written.
  void set_plan(PlacementPlan plan, std::string boot_id);
  // Writes it down without a change: the host happens to follow it already.
  void add_plan();
  // On the disk when it returns. The change's index. Throws ApplyError.
  std::size_t add(const Change& change);
  void add(std::size_t index, const RecordedOutcome& outcome);

  // Back to what it was before this object, and no file if there was none.
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
