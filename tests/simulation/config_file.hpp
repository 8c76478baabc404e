// The configuration file of a simulated process: its sections, its sessions and its text.
// Thread: values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/schedule_config.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx::simulation {

struct ConfigFile {
  EngineConfig engine;                     // without sessions
  std::optional<SessionSettings> session;  // with the peer
  std::vector<SessionSettings> others;     // to which no peer connects
  ScheduleTexts schedule;                  // of `session`, because settings have it in another form

  [[nodiscard]] std::string text() const;
};

// The [[session]] of these settings, as in a file: every key whose value is not the default. Settings with the same
// text are equal, except for their schedules.
[[nodiscard]] std::string session_text(const SessionSettings& settings, const ScheduleTexts& schedule = {});

}  // namespace nfx::simulation
