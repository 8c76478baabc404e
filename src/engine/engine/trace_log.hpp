// Traces of messages as files for OpenTelemetry: each line is one export request in OTLP's JSON encoding, as the
// collector's file receiver reads it.
// Thread: one, a housekeeping thread. Cost: allocates, formats and writes a file. When a line cannot be written, its
// traces are lost and counted, and the alert is called once per outage. Errors: the constructor throws ConfigError for
// a folder that cannot be used.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include "engine/trace_sampler.hpp"
#include "log/log_file.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx {

struct NamedTrace {
  TraceRecord record;
  std::string session;
  std::uint32_t poll_thread = 0;
};

// A trace is a span of the whole way and one inside it for each stage, named as in docs/latency.md. `now` relates the
// clocks. `random` makes the identifiers.
[[nodiscard]] std::string otlp_line(std::span<const NamedTrace> traces, Instant now, std::mt19937_64& random);

class TraceLog {
 public:
  using Alert = std::function<void(std::string_view)>;

  TraceLog(const LogConfig& config, Alert alert);

  void write(std::span<const NamedTrace> traces, Instant now);
  // From any thread: traces that could not be written.
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

 private:
  LogFile file_;
  Alert alert_;
  std::mt19937_64 random_;
  bool failing_ = false;
  std::atomic<std::uint64_t> lost_{0};
};

}  // namespace nfx
