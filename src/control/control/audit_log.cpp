// Appends whole lines to a file that only its owner may read.
#include "control/audit_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/error_text.hpp"
#include "base/private_files.hpp"
#include "base/regular_file.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx::control {
namespace {

constexpr std::size_t longest_detail = 4096;

std::string utc_text(UtcTime time) {
  std::array<char, max_utc_timestamp_size> text;
  return {text.data(), write_utc_timestamp(text.data(), time, 6)};
}

}  // namespace

AuditLog::AuditLog(const std::string& file) : file_(file) {
  if (const std::string problem = open(); !problem.empty()) throw ConfigError("[control] audit: " + problem);
}

AuditLog::~AuditLog() {
  if (fd_ >= 0) ::close(fd_);
}

std::string AuditLog::open() {
  // Opening must not block on a FIFO, because this thread answers every operator.
  const auto opened = open_regular_file(file_, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW);
  if (!opened)
    return cannot("write", file_, opened.error().why) + "; name a file in a folder that this user may write to";
  const int fd = *opened;
  if (const FileCheck check = make_private(fd, file_, 0640); !check.problem.empty()) {
    ::close(fd);
    return check.problem;
  }
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
  torn_ = false;
  return {};
}

// Detects a file that was moved away, for example by logrotate, or removed.
bool AuditLog::is_in_place() const noexcept {
  struct stat named{}, opened{};
  return ::lstat(file_.c_str(), &named) == 0 && ::fstat(fd_, &opened) == 0 && named.st_dev == opened.st_dev &&
         named.st_ino == opened.st_ino;
}

bool AuditLog::write(const Entry& entry) {
  if (fd_ < 0) return true;
  if (!is_in_place() && !open().empty()) return false;
  nlohmann::ordered_json line{{"time", utc_text(entry.time)}, {"event", entry.event},
                              {"user", entry.caller.name},    {"role", to_string(entry.caller.role)},
                              {"via", entry.caller.via},      {"what", entry.what.substr(0, longest_detail)}};
  if (!entry.detail.empty()) line["detail"] = entry.detail.substr(0, longest_detail);
  std::string text = line.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  text += '\n';
  if (torn_) text.insert(0, 1, '\n');
  const ssize_t written = ::write(fd_, text.data(), text.size());
  if (written > 0) torn_ = written != static_cast<ssize_t>(text.size());
  return written == static_cast<ssize_t>(text.size());
}

}  // namespace nfx::control
