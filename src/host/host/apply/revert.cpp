// Undoes the recorded changes of apply, last first.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "base/error_text.hpp"
#include "host/apply.hpp"
#include "host/apply/known_paths.hpp"
#include "host/apply/restore.hpp"
#include "host/apply/tasks.hpp"

namespace nfx {
namespace host {
namespace {

// Tasks fork while they are moved; each pass finds the children of tasks that the previous pass moved. A task that is
// exiting cannot be moved, and a large one takes a while to free its memory on a busy host.
constexpr int passes_at_once = 4;
constexpr int max_passes = 500;
constexpr std::chrono::milliseconds between_passes{10};

void wait_before(int pass) {
  if (pass >= passes_at_once) std::this_thread::sleep_for(between_passes);
}

class Restorer {
 public:
  Restorer(const HostFiles& files, HostWriter& writer, bool everything, RevertReport& report)
      : files_(files), writer_(writer), everything_(everything), report_(report) {}

  void undo(const Change& change) {
    const std::size_t left = report_.left.size();
    switch (change.kind) {
      case ChangeKind::write_file: content(change); break;
      case ChangeKind::make_group: group(change); break;
      case ChangeKind::move_tasks:
        members(change);
        masks(change);
        break;
      case ChangeKind::set_affinities:
        masks(change);
        descendants(change);
        break;
      case ChangeKind::install_file: file(change); break;
      case ChangeKind::make_directory: directory(change); break;
    }
    if (report_.left.size() == left) ++report_.restored;
  }

 private:
  void left(const std::string& what, const std::string& why) { report_.left.push_back(what + ": " + why); }
  void left(std::string_view action, const Change& change, int error) {
    report_.left.push_back(cannot(action, change.path, error));
  }

  void content(const Change& change) {
    if (change.goes_with_group && everything_) return;
    auto now = files_.read(change.path);
    if (!now && (now.error() == ENOENT || now.error() == ENODEV || now.error() == ENOTDIR)) return;  // device is gone
    if (now && *now == change.seen) return;
    if (const int error = writer_.write(change.path, change.undo); error != 0) return left("write", change, error);
    now = files_.read(change.path);
    if (!now) return left("read", change, now.error());
    const bool same = *now == change.seen ||
                      (change.compare != Compare::contains_word && same_content(change.compare, *now, change.seen));
    if (!same) left(change.path, "reads \"" + files_.text(change.path).value_or("") + "\" after it was written");
  }

  // Moves all tasks out until no new one appears. Returns the tasks that could not be moved.
  std::string empty_group(const std::string& list, const std::string& to) {
    std::string refused;
    for (int pass = 0; pass < max_passes; ++pass) {
      const std::set<int> inside = read_group(files_, list);
      if (inside.empty()) return {};
      wait_before(pass);
      refused.clear();
      for (const int id : inside) {
        const int error = writer_.move_task(to, id);
        if (error == 0) ++report_.tasks_restored;
        if (error != 0 && error != ESRCH) refused += ' ' + std::to_string(id) + ": " + system_text(error);
      }
      // Tasks that were refused once will be refused again.
      if (!refused.empty() && pass >= passes_at_once) break;
    }
    const std::set<int> inside = read_group(files_, list);
    if (inside.empty()) return {};
    return refused.empty() ? "task " + std::to_string(*inside.begin()) + " does not leave it" : "not moved:" + refused;
  }

  void members(const Change& change) {
    if (everything_) {
      const std::string stays = empty_group(change.path, change.from);
      if (!stays.empty()) left(change.path, stays);
      return;
    }
    const std::set<int> inside = read_group(files_, change.path);
    const bool threads = change.path.ends_with("/tasks");
    for (const TaskState& task : change.tasks) {
      const int id = threads ? task.tid : task.pid;
      if (!task.moves || !inside.contains(id)) continue;
      const int error = writer_.move_task(change.from, id);
      if (error == 0) ++report_.tasks_restored;
      if (error != 0 && error != ESRCH) left(task.name + " (" + std::to_string(task.tid) + ")", system_text(error));
    }
  }

  void give_mask(const Task& task, const CpuSet& mask) {
    const int error = writer_.set_affinity(task.state.tid, mask);
    if (error == 0) ++report_.tasks_restored;
    if (error != 0 && error != ESRCH)
      left(task.state.name + " (" + std::to_string(task.state.tid) + ")",
           "its mask " + mask.to_list() + " is refused: " + system_text(error));
  }

  // Sets no mask where it is already right: the kernel would remember it as the task's own choice.
  void masks(const Change& change) {
    for (const TaskState& before : change.tasks) {
      const auto now = read_task(files_, before.pid, before.tid);
      if (!now || now->state.start != before.start || now->state.mask == before.mask) continue;
      give_mask(*now, before.mask);
    }
  }

  // Tasks started in the meantime have inherited a narrowed mask.
  void descendants(const Change& change) {
    const CpuSet housekeeping = CpuSet::parse_list(change.wanted).value_or(CpuSet{});
    std::map<int, const TaskState*> recorded;
    for (const TaskState& task : change.tasks) recorded[task.tid] = &task;
    const std::vector<Task> tasks = read_tasks(files_);
    std::map<int, const Task*> leaders;
    for (const Task& task : tasks) {
      if (task.state.pid == task.state.tid) leaders[task.state.pid] = &task;
    }
    for (const Task& task : tasks) {
      if (task.bound || recorded.contains(task.state.tid)) continue;
      // Checks the task's own process first, then its ancestors.
      int pid = task.state.pid;
      for (int depth = 0; depth < 64 && pid > 0 && !recorded.contains(pid); ++depth) {
        const auto leader = leaders.find(pid);
        pid = leader == leaders.end() ? 0 : leader->second->parent;
      }
      const auto ancestor = recorded.find(pid);
      if (ancestor == recorded.end()) continue;
      const CpuSet& before = ancestor->second->mask;
      const CpuSet narrowed = (before & housekeeping).empty() ? housekeeping : before & housekeeping;
      if (task.state.mask == narrowed && narrowed != before) give_mask(task, before);
    }
  }

  void group(const Change& change) {
    const std::string parent = change.path.substr(0, change.path.rfind('/'));
    for (int pass = 0; pass < max_passes; ++pass) {
      wait_before(pass);
      const int error = writer_.remove_directory(change.path);
      if (error == 0 || error == ENOENT) return;
      if (error != EBUSY && error != ENOTEMPTY) return left("remove folder", change, error);
      const char* const list = files_.exists(change.path + "/tasks") ? "/tasks" : "/cgroup.procs";
      const std::string stays = empty_group(change.path + list, parent + list);
      if (!stays.empty()) return left(change.path, stays);
    }
    left("remove folder", change, ENOTEMPTY);
  }

  void file(const Change& change) {
    const auto now = files_.read(change.path);
    if (!change.existed) {
      if (!now && now.error() == ENOENT) return;
      if (now && *now != change.wanted) report_.notes.push_back(change.path + ": was changed after it was installed");
      if (const int error = writer_.remove_file(change.path); error != 0 && error != ENOENT)
        left("remove", change, error);
      return;
    }
    std::error_code error;
    const auto mode =
        static_cast<std::uint32_t>(std::filesystem::status(files_.path(change.path), error).permissions()) & 07777;
    if (now && *now == change.seen && mode == change.seen_mode) return;
    if (now && *now != change.wanted && *now != change.seen)
      report_.notes.push_back(change.path + ": was changed after it was installed");
    if (const int failed = writer_.replace_file(change.path, change.seen, change.seen_mode); failed != 0)
      left("write", change, failed);
  }

  void directory(const Change& change) {
    const int error = writer_.remove_directory(change.path);
    if (error == ENOTEMPTY || error == EEXIST) {
      report_.notes.push_back(change.path + ": not removed, as other programs have put files into it");
    } else if (error != 0 && error != ENOENT) {
      left("remove folder", change, error);
    }
  }

  const HostFiles& files_;
  HostWriter& writer_;
  bool everything_;
  RevertReport& report_;
};

}  // namespace

std::string boot_id(const HostFiles& files) { return files.text("/proc/sys/kernel/random/boot_id").value_or(""); }

void restore(const HostFiles& files, HostWriter& writer, const RecordContent& record, std::size_t first,
             RevertReport& report) {
  const std::string boot = boot_id(files);
  const bool same_boot = boot.empty() || record.boot_id.empty() || boot == record.boot_id;
  if (!same_boot) report.notes.push_back("the host was booted since, which has undone the changes to the running host");
  Restorer restorer{files, writer, first == 0, report};
  for (std::size_t i = record.changes.size(); i > first; --i) {
    const Change& change = record.changes[i - 1];
    ++report.changes;
    const bool lasts = change.kind == ChangeKind::install_file || change.kind == ChangeKind::make_directory;
    if (same_boot || lasts) {
      restorer.undo(change);
    } else {
      ++report.restored;
    }
  }
  if (!report.left.empty()) report.exit = HostExit::partly_applied;
}

}  // namespace host

RevertReport revert(const HostFiles& files, HostWriter& writer, const std::filesystem::path& record) {
  RevertReport report;
  std::error_code error;
  if (std::filesystem::symlink_status(record, error).type() == std::filesystem::file_type::not_found) return report;
  const RecordLock lock{record.parent_path()};
  const auto content = ChangeRecord::load(record);
  if (!content) return report;
  if (const auto path = host::foreign_path(files, *content)) {
    throw ApplyError(record.string() + ": names \"" + *path +
                     "\", which nfx host apply never changes, so nothing is reverted; move the record away if the host "
                     "is as it should be");
  }
  report.found = true;
  host::restore(files, writer, *content, 0, report);
  if (report.left.empty() && !std::filesystem::remove(record, error)) {
    report.left.push_back(cannot("remove", record, error.value()));
    report.exit = HostExit::partly_applied;
  }
  return report;
}

}  // namespace nfx
