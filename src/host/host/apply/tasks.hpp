// The tasks of a host, as /proc shows them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/change_record.hpp"
#include "nexusfix/placement/machine.hpp"

namespace nfx::host {

struct Task {
  TaskState state;
  int parent = 0;
  bool kernel = false;  // a kernel thread
  bool bound = false;   // bound to its CPUs by the kernel: neither its mask nor its group can change
};

// Null if the task has ended or is exiting; an exiting task runs no more code of its own.
[[nodiscard]] std::optional<Task> read_task(const HostFiles& files, int pid, int tid);
// Omits tasks that end during the scan.
[[nodiscard]] std::vector<Task> read_tasks(const HostFiles& files);
// The task or process ids in a group's `tasks` or `cgroup.procs`.
[[nodiscard]] std::set<int> read_group(const HostFiles& files, const std::string& list);

// Threads of the engine have masks of their own and stay where they are.
[[nodiscard]] inline bool is_engine_thread(std::string_view name) noexcept { return name.starts_with("nfx-"); }
[[nodiscard]] inline bool is_poll_thread(std::string_view name) noexcept { return name.starts_with("nfx-poll-"); }

}  // namespace nfx::host
