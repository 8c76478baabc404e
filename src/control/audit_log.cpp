// Appends whole lines to a file that only its owner may read.
#include "control/audit_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "nexusfix/base/private_files.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx::control {
namespace {

constexpr std::size_t longest_detail = 4096;

std::string utc_text(UtcTime time) {
  std::array<char, max_utc_timestamp_size> text;
  return {text.data(), write_utc_timestamp(text.data(), time, 6)};
}

}  // namespace

AuditLog::AuditLog(const std::string& file)
    : fd_(::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
  if (fd_ < 0) {
    throw ConfigError("[control] audit: " + file + ": " + std::strerror(errno) +
                      "; name a file in a folder that exists and that this user may write to");
  }
  if (const FileCheck check = make_private(fd_, file, 0640); !check.problem.empty()) {
    ::close(fd_);
    throw ConfigError("[control] audit: " + check.problem);
  }
}

AuditLog::~AuditLog() {
  if (fd_ >= 0) ::close(fd_);
}

bool AuditLog::write(const Entry& entry) {
  if (fd_ < 0) return true;
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
