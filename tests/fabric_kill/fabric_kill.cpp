// Kills a sender and a receiver with SIGKILL at random moments and restarts them. Everything that the sender reported
// as complete or acknowledged must be in the receiver's account, and the receiver may only have reported intact data.
//   build/release/tests/fabric_kill/fabric_kill --rails shm,tcp --kills 200
#include <cstdio>
#include <exception>

#include "cli/command_line.hpp"
#include "fabric_kill/kills.hpp"

int main(int argc, char** argv) {
  nfx::fabric_kill::KillOptions options;
  const nfx::cli::Command program{
      .name = "fabric_kill",
      .summary = "Two processes that move pages over real rails, killed at random",
      .options = {{.names = "--rails",
                   .target = &options.rails,
                   .help = "shm and tcp, each as often as wanted",
                   .value = "LIST"},
                  {.names = "--kills", .target = &options.kills, .help = "Processes to kill"},
                  {.names = "--seed", .target = &options.seed, .help = "Of the moments"}},
  };
  if (const auto exit_code = nfx::cli::parse(program, argc, argv)) return *exit_code;
  try {
    const auto result = nfx::fabric_kill::run_kills(options);
    const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    std::printf(
        "%llu kills, %llu sessions of the sender, %llu of the receiver, %llu transfers received completely, "
        "%llu reported as failed, %llu links lost: %s\n",
        number(result.kills), number(result.sender_sessions), number(result.receiver_sessions), number(result.complete),
        number(result.failed), number(result.losses),
        result.finding.empty() ? "what was reported is whole" : result.finding.c_str());
    return result.finding.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
