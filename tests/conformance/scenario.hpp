// A parsed scenario file: the session's settings and the steps to run. README.md describes the format. Errors:
// ScenarioError names the file, the line and the error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/session/session_config.hpp"

namespace nfx::conformance {

class ScenarioError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class StepKind : std::uint8_t {
  connect,      // the transport connects
  cut,          // the network drops the connection
  say,          // > the peer sends a message
  raw,          // the peer sends bytes
  hear,         // < the session sends exactly this
  silence,      // nothing was sent or delivered since the last step
  disconnects,  // the session closes the connection
  delivers,     // the application gets this message
  reports,      // the application gets this Reject
  advance,      // time passes
  app_sends,
  app_rejects,
  app_logs_out,
  app_resets,
};

struct Step {
  StepKind kind{};
  int line = 0;
  std::string text{};  // the text after the word
  Duration time{};     // for advance
};

// The settings of the session under test.
struct Setup {
  SessionConfig config;    // our CompID: US, the peer's: PEER
  std::string dictionary;  // "FIX44" or "FIXT11+FIX50SP2"; empty: none
  ValidationChecks checks;
  ValidationMode validation = ValidationMode::strict;
  SeqNum next_inbound = first_seq_num;
  SeqNum next_outbound = first_seq_num;
  bool keep_messages = true;
};

struct Scenario {
  std::string name;  // the file's, without ".txt"
  Setup setup;
  std::vector<Step> steps;

  // The longest time that passes in one step, which a runner on the real clock would have to wait.
  [[nodiscard]] Duration longest_wait() const noexcept;
};

[[nodiscard]] Scenario parse_scenario(std::string_view text, std::string_view name);
[[nodiscard]] Scenario load_scenario(const std::filesystem::path& file);

}  // namespace nfx::conformance
