// Checks owners and modes along a path with openat() and fstat(), and corrects the modes of the user's own files.
#include "base/private_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <utility>

#include "base/error_text.hpp"

namespace nfx {
namespace {

namespace fs = std::filesystem;

// Owns a descriptor.
class Opened {
 public:
  explicit Opened(int fd) noexcept : fd_(fd) {}
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

[[nodiscard]] std::string octal(unsigned mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", mode & 07777U);
  return text.data();
}

[[nodiscard]] bool is_ours(const struct stat& facts) noexcept {
  return facts.st_uid == ::geteuid() || facts.st_uid == 0;
}

[[nodiscard]] bool is_sticky(const struct stat& facts) noexcept { return (facts.st_mode & S_ISVTX) != 0; }

[[nodiscard]] std::string mode_problem(const fs::path& folder, int fd) {
  struct stat facts{};
  if (::fstat(fd, &facts) != 0) return cannot("read", folder, errno);
  if (!is_ours(facts)) return owned_by_other(folder, facts.st_uid);
  const bool is_open = (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !is_sticky(facts);
  return is_open ? open_to_others(folder, facts.st_mode, "change it", "go-w") : std::string{};
}

// A user who may write to a folder can replace the folders in it.
[[nodiscard]] std::string parents_problem(const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(fs::absolute(folder, error), error);
  if (error) return {};
  for (fs::path above = whole.parent_path(); !above.empty(); above = above.parent_path()) {
    struct stat facts{};
    if (::stat(above.c_str(), &facts) == 0 && (facts.st_mode & S_IWOTH) != 0 && !is_sticky(facts))
      return open_to_others(above, facts.st_mode, "replace " + folder.string(), "o-w");
    if (above == above.parent_path()) break;
  }
  return {};
}

}  // namespace

std::string open_to_others(const fs::path& path, unsigned mode, std::string_view what, std::string_view chmod) {
  return path.string() + ": mode " + octal(mode) + " lets other users " + std::string{what} + ": run 'chmod " +
         std::string{chmod} + ' ' + path.string() + '\'';
}

std::string owned_by_other(const fs::path& path, unsigned owner) {
  return path.string() + " belongs to user " + std::to_string(owner) + ", who can change it: run 'chown " +
         std::to_string(::geteuid()) + ' ' + path.string() + "', or choose another";
}

std::string folder_problem(const fs::path& folder, FolderLink link) {
  const int no_link = link == FolderLink::refused ? O_NOFOLLOW : 0;
  const fs::path path = folder.empty() ? fs::path{"."} : folder;
  const Opened opened{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | no_link)};
  if (opened.fd() < 0) {
    if (errno == ENOENT) return {};
    struct stat facts{};
    if (no_link != 0 && ::lstat(path.c_str(), &facts) == 0 && S_ISLNK(facts.st_mode)) {
      return path.string() +
             " is a symbolic link: make it a folder, or move the whole store and link the folder that holds it";
    }
    return cannot("read", path, errno);
  }
  if (std::string problem = mode_problem(path, opened.fd()); !problem.empty()) return problem;
  return parents_problem(path);
}

FileCheck make_private(int fd, const fs::path& path, unsigned most) {
  struct stat facts{};
  if (::fstat(fd, &facts) != 0) return {cannot("read", path, errno), {}};
  if (!S_ISREG(facts.st_mode)) return {path.string() + " is not a regular file: remove it", {}};
  if (!is_ours(facts)) return {owned_by_other(path, facts.st_uid), {}};
  if ((facts.st_mode & 07777U & ~most) == 0) return {};
  if (::fchmod(fd, 0600) != 0) return {cannot("change the mode of", path, errno), {}};
  return {{}, path.string() + ": mode changed from " + octal(facts.st_mode) + " to 0600, as it let other users in"};
}

FolderCheck make_files_private(const fs::path& folder) {
  FolderCheck check{folder_problem(folder, FolderLink::refused), {}};
  if (!check.problem.empty()) return check;
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) {
    if (errno != ENOENT) check.problem = cannot("read", folder, errno);
    return check;
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(fd), ::closedir);
  if (stream == nullptr) {
    check.problem = cannot("read", folder, errno);
    ::close(fd);
    return check;
  }
  while (const dirent* const entry = ::readdir(stream.get())) {
    if (entry->d_type != DT_REG && entry->d_type != DT_UNKNOWN) continue;
    const fs::path path = folder / entry->d_name;
    const Opened file{::openat(fd, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    struct stat facts{};
    if (file.fd() < 0 || ::fstat(file.fd(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;  // refused when used
    FileCheck each = make_private(file.fd(), path);
    if (!each.problem.empty()) {
      check.problem = std::move(each.problem);
      return check;
    }
    if (!each.corrected.empty()) check.corrected.push_back(std::move(each.corrected));
  }
  return check;
}

}  // namespace nfx
