// The only code that writes to a host, and its replacement that writes to a copy. All other code only computes changes.
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <set>
#include <utility>

#include "base/trusted_path.hpp"
#include "host/apply/tasks.hpp"
#include "host/change_record.hpp"

namespace nfx {
namespace {

int write_all(int fd, std::string_view bytes) {
  // A kernel file takes its content in one write; a regular file may need several.
  do {
    const ssize_t done = ::write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(done));
    if (done == 0) break;
  } while (!bytes.empty());
  return bytes.empty() ? 0 : EIO;
}

std::string_view folder_of(std::string_view file) { return file.substr(0, file.rfind('/')); }
std::string_view name_of(std::string_view file) { return file.substr(file.rfind('/') + 1); }

class OwnedFd {
 public:
  explicit OwnedFd(int fd) noexcept : fd_(fd) {}
  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;
  ~OwnedFd() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Follows symbolic links but stays in the copy, also for absolute links. Kernels before 5.6 cannot do that; there a
// link leads to the real host. Returns -1 and sets errno on failure.
int open_in_copy(const HostFiles& files, std::string_view file, std::uint64_t flags) {
  const OwnedFd root{::open(files.root().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (root.get() < 0) return -1;
  const std::string below{file.substr(std::min(file.find_first_not_of('/'), file.size()))};
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const long fd = ::syscall(SYS_openat2, root.get(), below.empty() ? "." : below.c_str(), &how, sizeof how);
  if (fd >= 0 || errno != ENOSYS) return static_cast<int>(fd);
  return ::open(files.path(file).c_str(), static_cast<int>(flags) | O_CLOEXEC);
}

// Opens the folder in a way that other users cannot have prepared, and runs `act` on the name in it.
template <class Act>
int in_folder_of(const HostFiles& files, std::string_view file, Act act) {
  const std::string name{name_of(file)};
  const std::string folder{file.starts_with('/') && folder_of(file).empty() ? "/" : folder_of(file)};
  if (name.empty() || name == "." || name == "..") return EINVAL;
  if (files.live()) {
    const TrustedFolder trusted{folder, TrustedFolder::Missing::error, TrustedFolder::GroupWrites::allowed};
    return trusted.fd() < 0 ? trusted.error() : act(trusted.fd(), name.c_str());
  }
  const OwnedFd opened{open_in_copy(files, folder, O_PATH | O_DIRECTORY)};
  return opened.get() < 0 ? errno : act(opened.get(), name.c_str());
}

bool is_of_kernel(int fd) {
  struct statfs facts{};
  if (::fstatfs(fd, &facts) != 0) return false;
  const auto type = static_cast<unsigned long>(facts.f_type);
  return type == PROC_SUPER_MAGIC || type == SYSFS_MAGIC || type == CGROUP_SUPER_MAGIC || type == CGROUP2_SUPER_MAGIC ||
         type == DEBUGFS_MAGIC;
}

}  // namespace

int LiveWriter::write(std::string_view file, std::string_view bytes) {
  OwnedFd fd{files_.live() ? ::open(files_.path(file).c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
                           : open_in_copy(files_, file, O_WRONLY | O_TRUNC | O_NONBLOCK)};
  if (fd.get() < 0) return errno;
  // Writes only to the kernel's own files, whatever links the path contains.
  if (files_.live() && !is_of_kernel(fd.get())) return EPERM;
  const int error = write_all(fd.get(), bytes);
  // Some kernel files report an error only at close().
  return ::close(fd.release()) != 0 && error == 0 ? errno : error;
}

int LiveWriter::make_directory(std::string_view directory) {
  return in_folder_of(files_, directory,
                      [](int folder, const char* name) { return ::mkdirat(folder, name, 0755) == 0 ? 0 : errno; });
}

int LiveWriter::remove_directory(std::string_view directory) {
  return in_folder_of(files_, directory, [](int folder, const char* name) {
    return ::unlinkat(folder, name, AT_REMOVEDIR) == 0 ? 0 : errno;
  });
}

int LiveWriter::move_task(std::string_view list, int id) { return write(list, std::to_string(id)); }

int LiveWriter::set_affinity(int tid, const CpuSet& cpus) {
  const std::size_t count = static_cast<std::size_t>(std::max(cpus.last(), 0)) + 1;
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set{CPU_ALLOC(count), [](cpu_set_t* s) { CPU_FREE(s); }};
  const std::size_t size = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(size, set.get());
  for (const int cpu : cpus.members()) CPU_SET_S(static_cast<std::size_t>(cpu), size, set.get());
  return ::sched_setaffinity(tid, size, set.get()) == 0 ? 0 : errno;
}

int LiveWriter::replace_file(std::string_view file, std::string_view bytes, std::uint32_t mode) {
  if ((mode & ~0777U) != 0) return EPERM;
  return in_folder_of(files_, file, [&](int folder, const char* name) {
    // Directories of configuration fragments ignore names like this one.
    const std::string beside = std::string{"."} + name + ".nexusfix-tmp";
    const OwnedFd fd{::openat(folder, beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (fd.get() < 0) return errno;
    int error = write_all(fd.get(), bytes);
    if (error == 0 && ::fchmod(fd.get(), mode) != 0) error = errno;
    if (error == 0 && ::fsync(fd.get()) != 0) error = errno;
    if (error == 0 && ::renameat(folder, beside.c_str(), folder, name) != 0) error = errno;
    if (error != 0) ::unlinkat(folder, beside.c_str(), 0);
    return error;
  });
}

int LiveWriter::remove_file(std::string_view file) {
  return in_folder_of(files_, file,
                      [](int folder, const char* name) { return ::unlinkat(folder, name, 0) == 0 ? 0 : errno; });
}

namespace {

// Rewrites one task's mask in its status file.
void set_mask(const HostFiles& files, LiveWriter& plain, const host::Task& task, const CpuSet& cpus) {
  const std::string file =
      "/proc/" + std::to_string(task.state.pid) + "/task/" + std::to_string(task.state.tid) + "/status";
  auto status = files.read(file);
  if (!status) return;
  constexpr std::string_view field = "Cpus_allowed_list:\t";
  const std::size_t begin = status->find(field);
  if (begin == std::string::npos) return;
  const std::size_t value = begin + field.size();
  status->replace(value, std::min(status->find('\n', value), status->size()) - value, cpus.to_list());
  (void)plain.write(file, *status);
}

std::string list_text(const std::set<int>& members) {
  std::string text;
  for (const int member : members) text += std::to_string(member) + '\n';
  return text;
}

// All group lists of the hierarchy that contains `list`.
std::vector<std::string> lists_of_hierarchy(const HostFiles& files, std::string_view list) {
  const std::string name{name_of(list)};
  std::string top{folder_of(list)};
  while (files.exists(std::string{folder_of(top)} + '/' + name)) top = folder_of(top);
  std::vector<std::string> lists, folders{top};
  while (!folders.empty()) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    lists.push_back(folder + '/' + name);
    for (const std::string& entry : files.list(folder)) {
      if (files.exists(folder + '/' + entry + '/' + name)) folders.push_back(folder + '/' + entry);
    }
  }
  return lists;
}

CpuSet cpus_of_group(const HostFiles& files, std::string_view folder) {
  for (; !folder.empty(); folder = folder_of(folder)) {
    const auto text = files.text(std::string{folder} + "/cpuset.cpus");
    const auto cpus = CpuSet::parse_list(text.value_or(""));
    if (text && cpus && !cpus->empty()) return *cpus;
  }
  return CpuSet::parse_list(files.text("/sys/devices/system/cpu/online").value_or("")).value_or(CpuSet{});
}

// Gives a task the mask of its group, as kernels before 6.2 do; they remember no other mask.
void confine(const HostFiles& files, LiveWriter& plain, std::string_view list, const std::set<int>& members) {
  const CpuSet cpus = cpus_of_group(files, folder_of(list));
  const bool threads = name_of(list) == "tasks";
  for (const host::Task& task : host::read_tasks(files)) {
    if (members.contains(threads ? task.state.tid : task.state.pid)) set_mask(files, plain, task, cpus);
  }
}

constexpr std::string_view cpuset_files[] = {"cpuset.cpus", "cpuset.mems"};

// cgroup v2: enabling a controller adds its files to the child groups, and disabling it removes them.
int control_subtree(const HostFiles& files, LiveWriter& plain, std::string_view file, std::string_view bytes) {
  const std::string top{folder_of(file)};
  std::string words = ' ' + files.text(file).value_or("") + ' ';
  const bool on = bytes.starts_with('+');
  const std::string word{bytes.substr(1)};
  if (words.contains(' ' + word + ' ') == on) return 0;
  if (on) {
    words += word + ' ';
  } else {
    words.replace(words.find(' ' + word + ' '), word.size() + 2, " ");
  }
  words = words.find_first_not_of(' ') == std::string::npos ? "" : words.substr(1, words.size() - 2);
  for (const std::string& entry : files.list(top)) {
    const std::string group = top + '/' + entry;
    if (!files.exists(group + "/cgroup.procs")) continue;
    for (const std::string_view name : cpuset_files) {
      const std::string path = group + '/' + std::string{name};
      if (on) {
        (void)plain.replace_file(path, "\n", 0644);
      } else {
        (void)plain.remove_file(path);
      }
    }
  }
  return plain.write(file, words + '\n');
}

}  // namespace

int FolderWriter::write(std::string_view file, std::string_view bytes) {
  if (name_of(file) == "cgroup.subtree_control" && (bytes.starts_with('+') || bytes.starts_with('-')))
    return control_subtree(files_, plain_, file, bytes);
  const int error = plain_.write(file, bytes);
  if (error == 0 && name_of(file) == "cpuset.cpus") {
    for (const char* name : {"/tasks", "/cgroup.procs"}) {
      const std::string list = std::string{folder_of(file)} + name;
      if (!files_.exists(list)) continue;
      confine(files_, plain_, list, host::read_group(files_, list));
      break;
    }
  }
  return error;
}

int FolderWriter::make_directory(std::string_view directory) {
  if (const int error = plain_.make_directory(directory); error != 0) return error;
  const std::string parent{folder_of(directory)}, group{directory};
  const bool v1 = files_.exists(parent + "/tasks");
  if (!v1 && !files_.exists(parent + "/cgroup.procs")) return 0;
  (void)plain_.replace_file(group + "/cgroup.procs", "", 0644);
  if (v1) (void)plain_.replace_file(group + "/tasks", "", 0644);
  if (v1 || (' ' + files_.text(parent + "/cgroup.subtree_control").value_or("") + ' ').contains(" cpuset ")) {
    for (const std::string_view name : cpuset_files)
      (void)plain_.replace_file(group + '/' + std::string{name}, "\n", 0644);
  }
  return 0;
}

int FolderWriter::remove_directory(std::string_view directory) {
  const std::string group{directory};
  if (!files_.exists(group)) return ENOENT;
  if (files_.exists(group + "/cgroup.procs")) {
    for (const char* name : {"/tasks", "/cgroup.procs"}) {
      if (!host::read_group(files_, group + name).empty()) return EBUSY;
    }
    for (const std::string& name : files_.list(group)) (void)plain_.remove_file(group + '/' + name);
  }
  return plain_.remove_directory(directory);
}

int FolderWriter::move_task(std::string_view list, int id) {
  const bool threads = name_of(list) == "tasks";
  bool found = false, bound = false;
  for (const host::Task& task : host::read_tasks(files_)) {
    if ((threads ? task.state.tid : task.state.pid) != id) continue;
    found = true;
    bound = bound || task.bound;
  }
  if (!found) return ESRCH;
  if (bound) return EINVAL;
  if (!files_.exists(list)) return ENOENT;
  for (const std::string& other : lists_of_hierarchy(files_, list)) {
    std::set<int> members = host::read_group(files_, other);
    const bool changed = other == list ? members.insert(id).second : members.erase(id) != 0;
    if (changed) (void)plain_.write(other, list_text(members));
  }
  confine(files_, plain_, list, {id});
  return 0;
}

int FolderWriter::set_affinity(int tid, const CpuSet& cpus) {
  for (const host::Task& task : host::read_tasks(files_)) {
    if (task.state.tid != tid) continue;
    if (task.bound) return EINVAL;
    set_mask(files_, plain_, task, cpus);
    return 0;
  }
  return ESRCH;
}

int FolderWriter::replace_file(std::string_view file, std::string_view bytes, std::uint32_t mode) {
  return plain_.replace_file(file, bytes, mode);
}

int FolderWriter::remove_file(std::string_view file) { return plain_.remove_file(file); }

}  // namespace nfx
