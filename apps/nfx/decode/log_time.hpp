// The time that a log wrote before a message, in the forms that engines use: 20240102-12:00:00.123, 2024-01-02
// 12:00:00,123, 2024/01/02 12:00:00.123456, 2024-01-02T12:00:00Z or with an offset such as +01:00, 01/02/2024 12:00:00,
// and seconds since 1970 in milliseconds, microseconds or nanoseconds.
// Thread: any, no state. Cost: one pass over the text. Errors: none.
#pragma once

#include <optional>
#include <string_view>

#include "nexusfix/base/time.hpp"

namespace nfx::app {

struct LogTime {
  UtcTime time{};
  bool zone_known = false;  // otherwise the time is local to the log
};

// The first time in this text.
[[nodiscard]] std::optional<LogTime> time_in(std::string_view text);

// A time or a part of one, as people type it: all forms above, a date alone, or a time of day alone.
struct TypedTime {
  UtcTime time{};  // since midnight if only_of_day
  bool only_of_day = false;
};
[[nodiscard]] std::optional<TypedTime> read_typed_time(std::string_view text);

}  // namespace nfx::app
