// Logs every requested change as a line of JSON, before it is carried out, and its outcome as another line.
// Thread: one owner. Cost: a check of the file's name and a write, no sync. A file that was moved away or removed is
// created again. Errors: the constructor throws ConfigError; if a line cannot be written, the function returns false
// and the change is refused.
#pragma once

#include <string>
#include <string_view>

#include "control/access.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx::control {

class AuditLog {
 public:
  AuditLog() = default;  // for tests: writes nothing
  explicit AuditLog(const std::string& file);
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;
  virtual ~AuditLog();

  struct Entry {
    UtcTime time{};
    const Caller& caller;
    std::string_view event;  // "requested", "done", "refused"
    std::string_view what;   // "POST /v1/sessions/..."
    std::string_view detail;
  };
  [[nodiscard]] virtual bool write(const Entry& entry);

 private:
  [[nodiscard]] std::string open();  // empty on success, otherwise the reason
  [[nodiscard]] bool is_in_place() const noexcept;

  const std::string file_;
  int fd_ = -1;
  bool torn_ = false;  // the last line was written only partly
};

}  // namespace nfx::control
