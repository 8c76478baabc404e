// Finds contradictions between keys and missing keys, in a configuration whose values are well-formed. The same rules
// apply to a file and to a program that fills in the structs.
// Thread: any, before run.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "nexusfix/config/engine_config.hpp"

namespace nfx::config {

// The wrong key, and the value to use instead.
struct Problem {
  std::size_t session = 0;  // only for keys of a [[session]]
  std::string_view key;
  std::string text;
};

[[nodiscard]] std::optional<Problem> find_engine_problem(const EngineConfig& engine);      // of [engine]
[[nodiscard]] std::optional<Problem> find_log_problem(const LogConfig& log);               // of [log]
[[nodiscard]] std::optional<Problem> find_control_problem(const ControlConfig& control);   // of [control]
[[nodiscard]] std::optional<Problem> find_cluster_problem(const ClusterConfig& cluster);   // of [cluster]
[[nodiscard]] std::optional<Problem> find_log_thread_problem(const EngineConfig& engine);  // of [placement.log]
[[nodiscard]] std::optional<Problem> find_trace_problem(const EngineConfig& engine);       // of [log]
[[nodiscard]] std::optional<Problem> find_problem(const EngineConfig& engine);             // of its sessions

}  // namespace nfx::config
