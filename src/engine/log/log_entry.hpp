// The line of a log entry, as text, JSON or for systemd's journal.
// Thread: any, no state. Cost: allocates; no part of a hot path. Errors: none; what a peer may have written is escaped.
#pragma once

#include "log/print.hpp"
#include "nexusfix/log/line_log.hpp"

namespace nfx {

// One line, with its line feed.
void append_entry(SafeText& out, LineFormat format, const LogEntry& entry);

}  // namespace nfx
