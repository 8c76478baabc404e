// The host's tasks with their CPU masks, for apply and verify.
#include "host/apply/tasks.hpp"

#include "placement/proc_text.hpp"

namespace nfx::host {
namespace {

int number_of(std::string_view text) { return number<int>(text).value_or(-1); }

}  // namespace

std::optional<Task> read_task(const HostFiles& files, int pid, int tid) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid);
  const auto stat = files.text(folder + "/stat");
  const auto status = files.text(folder + "/status");
  if (!stat || !status) return std::nullopt;
  const auto parsed = parse_task_stat(*stat);
  // The kernel accepts the move of an exiting task but does not carry it out: the task is freeing its memory or is a
  // zombie.
  if (!parsed || (parsed->flags & TaskStat::exiting) != 0) return std::nullopt;
  auto mask = CpuSet::parse_list(value_of(*status, "Cpus_allowed_list").value_or(""));
  if (!mask) return std::nullopt;
  Task task;
  task.state = {.pid = pid,
                .tid = tid,
                .start = parsed->start_ticks,
                .name = parsed->name,
                .mask = *std::move(mask),
                .moves = false};
  task.parent = parsed->parent;
  task.kernel = (parsed->flags & TaskStat::kernel_thread) != 0;
  task.bound = (parsed->flags & TaskStat::no_set_affinity) != 0;
  return task;
}

std::vector<Task> read_tasks(const HostFiles& files) {
  std::vector<Task> tasks;
  for (const std::string& process : files.list("/proc")) {
    const int pid = number_of(process);
    if (pid <= 0) continue;
    for (const std::string& thread : files.list("/proc/" + process + "/task")) {
      const int tid = number_of(thread);
      if (tid <= 0) continue;
      if (auto task = read_task(files, pid, tid)) tasks.push_back(*std::move(task));
    }
  }
  return tasks;
}

std::set<int> read_group(const HostFiles& files, const std::string& list) {
  std::set<int> members;
  const auto content = files.text(list);
  if (!content) return members;
  std::string_view rest = *content;
  while (!rest.empty()) {
    if (const int id = number_of(next_line(rest)); id > 0) members.insert(id);
  }
  return members;
}

}  // namespace nfx::host
