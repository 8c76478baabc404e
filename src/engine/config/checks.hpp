// What is wrong with a configuration whose values can each be read: contradictions between keys, and missing ones.
// The same rules for a file and for a program that fills in the structs. Thread: any, before run.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "nexusfix/config/engine_config.hpp"

namespace nfx::config {

// The key that is wrong, and what to write instead.
struct Problem {
  std::size_t session = 0;  // of a [[session]] alone
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
