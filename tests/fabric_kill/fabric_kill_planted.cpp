// Checks that the kills find defects: removes protections of links and rails in turn. Prints one line for each; status
// 1 if one is not found.
//   build/release/tests/fabric_kill/fabric_kill_planted --kills 100
#include <string>

#include "fabric_kill/kills.hpp"
#include "plants/find_bugs.hpp"

int main(int argc, char** argv) {
  nfx::fabric_kill::KillOptions options{.rails = "shm,tcp", .kills = 100, .seed = 1};
  std::string only;
  const nfx::cli::Command program{
      .name = "fabric_kill_planted",
      .summary = "Whether kills find each protection of links and rails that is taken away",
      .options = {{.names = "--kills", .target = &options.kills, .help = "Processes to kill, at most, for each"},
                  {.names = "--seed", .target = &options.seed, .help = "Of the moments"},
                  nfx::plants::only_option(only)},
  };
  if (const auto exit_code = nfx::cli::parse(program, argc, argv)) return *exit_code;
  const auto find = [&options] {
    const auto result = nfx::fabric_kill::run_kills(options);
    const std::string after = "after " + std::to_string(result.kills) + " kills";
    return result.finding.empty() ? nfx::plants::Search{false, after}
                                  : nfx::plants::Search{true, after + ": " + result.finding};
  };
  return nfx::plants::find_bugs(nfx::plants::planted_bugs("kill", find), only);
}
