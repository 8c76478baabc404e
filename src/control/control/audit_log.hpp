// One line of JSON for each change that was requested, before it is carried out, and one for what became of it.
// Thread: one owner. Cost: a check of the file's name and a write, no sync. A file that was moved away or removed is
// made again. Errors: the constructor throws ConfigError; a line that cannot be written is false, and the change is
// refused.
#pragma once

#include <string>
#include <string_view>

#include "control/access.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx::control {

class AuditLog {
 public:
  AuditLog() = default;  // of tests: writes nothing
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
  [[nodiscard]] std::string open();  // empty, or why not
  [[nodiscard]] bool is_in_place() const noexcept;

  const std::string file_;
  int fd_ = -1;
  bool torn_ = false;  // the last line could be written in part only
};

}  // namespace nfx::control
