// One thing that the engine reports, and the forms that its line may have: for people, as JSON, or for systemd's
// journal.
//
//   text      20240315-12:00:00.123 FIX.4.4:ME->YOU logged out: the peer's text
//   json      {"time":"2024-03-15T12:00:00.123Z","level":"info","what":"logged out","session":"FIX.4.4:ME->YOU",
//              "text":"logged out: the peer's text","fields":{"reason":"the peer's text"}}   (one line)
//   journald  <6>FIX.4.4:ME->YOU logged out: the peer's text
//
// Thread: values. Cost: allocates; no part of a hot path. Lifetime: views borrow. Errors: none; all that a peer may
// have written is escaped.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "nexusfix/base/time.hpp"
#include "nexusfix/observe/line_format.hpp"
#include "nexusfix/observe/log_level.hpp"
#include "nexusfix/observe/safe_text.hpp"

namespace nfx {

struct LogField {
  std::string_view name;  // "next_in"
  std::variant<std::string_view, std::uint64_t> value;
};

struct LogEntry {
  UtcTime time{};
  LogLevel level = LogLevel::info;
  std::string_view what = "engine";       // the same for every line of its kind, for filters
  std::string_view session{};             // its identity; empty: of the engine
  std::string_view text{};                // for people; what follows the session in the line
  std::span<const LogField> fields = {};  // what `text` has, for programs
};

// One line, with its line feed.
void append_entry(SafeText& out, LineFormat format, const LogEntry& entry);

}  // namespace nfx
