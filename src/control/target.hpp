// What the control plane controls: an engine, or a substitute of tests.
// Thread: the control plane's. Errors: a poll thread that does not answer is a status.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/engine/engine.hpp"
#include "nexusfix/observe/metrics.hpp"

namespace nfx::control {

struct EngineView {
  std::string version;
  int pid = 0;
  UtcTime started{};
  std::size_t poll_threads = 0;
  std::string idle;
  std::string transport;
  bool draining = false;
  bool stopping = false;
};

class Target {
 public:
  virtual ~Target() = default;
  virtual CommandOutcome command(std::size_t session, const SessionCommand& command) = 0;
  virtual Engine::SessionList sessions() = 0;
  // By its name, "FIX.4.4:DESK->VENUE".
  virtual std::optional<std::size_t> find(std::string_view name) = 0;
  virtual EngineView engine() = 0;
  virtual std::vector<ThreadReport> threads() = 0;
  virtual std::vector<std::string> placement_warnings() = 0;
  virtual bool add_metrics(MetricsPage& page) = 0;
  virtual void stop() = 0;
  virtual bool drain(std::string_view text) = 0;
  virtual bool end_drain() = 0;
  virtual std::vector<std::string> reload_tls() = 0;
};

}  // namespace nfx::control
