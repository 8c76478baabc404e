// Shared by the commands of nfx cluster that use a stream: how to reach it.
// Thread: one, at the start of a program. Errors: nats::NatsError in one line.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "nats/nats_stream.hpp"

namespace nfx::app::cluster_tools {

struct StreamOptions {
  std::string url = "nats://127.0.0.1:4222";
  std::string credentials;
  std::string certificate_authority;
  std::string stream = "NEXUSFIX";
  double timeout_s = 5;
};

[[nodiscard]] Duration seconds_of(double seconds);
[[nodiscard]] nats::NatsOptions nats_options(const StreamOptions& options);
[[nodiscard]] nats::NatsStream open_stream(const StreamOptions& options);
// The options of a command line whose values go to `options`.
[[nodiscard]] std::vector<cli::Option> options_of(StreamOptions& options);

// The commands with files of their own.
[[nodiscard]] cli::Command up_command();
[[nodiscard]] cli::Command secrets_command();
[[nodiscard]] cli::Command tail_command();
[[nodiscard]] cli::Command compact_command();
[[nodiscard]] cli::Command repair_command();
[[nodiscard]] std::vector<cli::Command> operator_commands();

}  // namespace nfx::app::cluster_tools
