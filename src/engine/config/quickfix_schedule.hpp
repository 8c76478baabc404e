// Translates the schedule of a QuickFIX session to NexusFIX settings: times, days, zone and reset. QuickFIX/Go has
// neither ConnectionType nor NonStopSession: there, no StartTime means no schedule.
#pragma once

#include <vector>

#include "config/quickfix_session.hpp"

namespace nfx::quickfix {

// Throws ConfigError through `common`.
[[nodiscard]] std::vector<Setting> translate_schedule(Translation& common, const FileSection& section,
                                                      bool dynamic_template, const EntryLookup& find);

}  // namespace nfx::quickfix
