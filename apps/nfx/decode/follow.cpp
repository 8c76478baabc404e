// Watches the folders of the logs, and compares each path with the file that is open.
#include "decode/follow.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "base/error_text.hpp"

namespace nfx::app {
namespace {

constexpr std::uint32_t folder_events = IN_MODIFY | IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR;
constexpr int settle_ms = 200;   // after which a message that seems complete does not wait for more bytes
constexpr int network_ms = 250;  // between looks where the kernel does not notify

bool is_network(const std::string& folder) {
  struct statfs status{};
  if (::statfs(folder.c_str(), &status) != 0) return false;
  constexpr std::array<std::uint32_t, 4> networks{NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, SMB2_SUPER_MAGIC, FUSE_SUPER_MAGIC};
  return std::ranges::find(networks, static_cast<std::uint32_t>(status.f_type)) != networks.end();
}

bool is_compressed(std::string_view name) {
  constexpr std::array<std::string_view, 6> endings{".gz", ".zst", ".bz2", ".xz", ".zip", ".lz4"};
  return std::ranges::any_of(endings, [name](std::string_view ending) { return name.ends_with(ending); });
}

}  // namespace

FollowSource::Generation::~Generation() {
  if (file >= 0) ::close(file);
}

FollowSource::FollowSource(std::vector<LogFile> files, LogReaderOptions options) : options_(std::move(options)) {
  notify_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (notify_ < 0) throw std::runtime_error("cannot follow: " + system_text(errno));
  for (const LogFile& each : files) {
    const std::filesystem::path path{each.path};
    Log log{.path = each.path,
            .folder = path.parent_path().string(),
            .base = path.filename().string(),
            .known = {},
            .generations = {}};
    if (log.folder.empty()) log.folder = ".";
    on_network_ = on_network_ || is_network(log.folder);
    // Before the folder is read, so that nothing is missed in between.
    if (::inotify_add_watch(notify_, log.folder.c_str(), folder_events) < 0)
      throw std::runtime_error(cannot("follow", log.folder, errno));
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator{log.folder, error}) {
      struct stat status{};
      if (entry.path().filename().string().starts_with(log.base) && ::stat(entry.path().c_str(), &status) == 0)
        log.known.insert(status.st_ino);
    }
    static_cast<void>(add_generation(log, log.path));
    logs_.push_back(std::move(log));
  }
}

FollowSource::~FollowSource() {
  if (notify_ >= 0) ::close(notify_);
}

bool FollowSource::add_generation(Log& log, const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (file < 0 || ::fstat(file, &status) != 0) return false;
  log.known.insert(status.st_ino);
  log.generations.push_back(std::make_unique<Generation>(file, status.st_ino));
  // It may be moved to another folder while it is written to.
  ::inotify_add_watch(notify_, path.c_str(), IN_MODIFY);
  return true;
}

// Whether the path names another file than it did, or a shorter one.
bool FollowSource::look(Log& log) {
  struct stat status{};
  if (::stat(log.path.c_str(), &status) != 0) return false;
  Generation* last = log.generations.empty() ? nullptr : log.generations.back().get();
  if (last != nullptr && last->inode == status.st_ino) {
    if (static_cast<std::uint64_t>(status.st_size) >= last->offset) return false;
    last->offset = 0;
    last->scanner = MessageScanner{};
    return true;
  }
  add_missed(log, status.st_ino);
  return add_generation(log, log.path);
}

// Generations that were created and renamed since, oldest first.
void FollowSource::add_missed(Log& log, std::uint64_t current) {
  std::vector<std::tuple<std::int64_t, std::int64_t, std::string>> missed;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator{log.folder, error}) {
    const std::string name = entry.path().filename().string();
    struct stat status{};
    if (!name.starts_with(log.base) || is_compressed(name) || ::stat(entry.path().c_str(), &status) != 0) continue;
    if (!S_ISREG(status.st_mode) || status.st_ino == current || log.known.contains(status.st_ino)) continue;
    missed.emplace_back(status.st_mtim.tv_sec, status.st_mtim.tv_nsec, entry.path().string());
  }
  std::ranges::sort(missed);
  for (const auto& [seconds, nanoseconds, path] : missed) static_cast<void>(add_generation(log, path));
}

bool FollowSource::read_more(Log& log, Generation& generation) {
  ssize_t size;
  do {
    size = ::pread(generation.file, buffer_.data(), buffer_.size(), static_cast<off_t>(generation.offset));
  } while (size < 0 && errno == EINTR);
  if (size < 0) throw std::runtime_error(cannot("read", log.path, errno));
  if (size == 0) return false;
  generation.offset += static_cast<std::uint64_t>(size);
  generation.settled = false;
  generation.scanner.feed({buffer_.data(), static_cast<std::size_t>(size)});
  return true;
}

bool FollowSource::next(LogMessage& message) {
  for (;;) {
    for (; log_ < logs_.size(); ++log_, generation_ = 0) {
      Log& log = logs_[log_];
      for (; generation_ < log.generations.size(); ++generation_) {
        Generation& generation = *log.generations[generation_];
        do {
          if (const auto found = generation.scanner.next()) {
            const bool wanted = options_.times == Times::yes;
            message = {*found, log.path, wanted ? generation.times.of(*found) : std::nullopt, false};
            return progressed_ = true;
          }
        } while (read_more(log, generation) && (progressed_ = true));
      }
    }
    log_ = generation_ = 0;
    const bool progressed = std::exchange(progressed_, false);
    for (Log& log : logs_) progressed_ = look(log) || progressed_;
    if (progressed || progressed_) continue;
    for (Log& log : logs_) {
      if (log.generations.size() <= max_retired + 1) continue;
      Generation& oldest = *log.generations.front();
      // What it ends with is shown first.
      if (std::exchange(oldest.finished, true)) {
        log.generations.pop_front();
      } else {
        oldest.scanner.finish();
      }
      progressed_ = true;
    }
    if (progressed_) continue;
    if (options_.hooks.before_waiting) options_.hooks.before_waiting();
    wait();
  }
}

void FollowSource::wait() {
  bool waiting = false;
  for (Log& log : logs_) {
    for (auto& each : log.generations) waiting = waiting || (each->scanner.waiting() && !each->settled);
  }
  pollfd event{notify_, POLLIN, 0};
  const int timeout = waiting ? settle_ms : on_network_ ? network_ms : -1;
  const int result = ::poll(&event, 1, timeout);
  if (result > 0) {
    std::array<char, 64 * 1024> events;
    while (::read(notify_, events.data(), events.size()) > 0) {
    }
  }
  if (result != 0 || !waiting) return;
  for (Log& log : logs_) {
    for (auto& each : log.generations) {
      if (std::exchange(each->settled, true)) continue;
      each->scanner.settle();
    }
  }
}

}  // namespace nfx::app
