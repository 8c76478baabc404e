// Whether the kills find what they are for: protections of links and rails are taken away in turn. One line for each;
// status 1 when one is not found.
//   build/release/tests/fabric_kill/fabric_kill_planted --kills 100
#include <cstdio>
#include <exception>
#include <string>

#include "cli/command_line.hpp"
#include "fabric_kill/kills.hpp"
#include "plants/planted.hpp"

int main(int argc, char** argv) {
  nfx::fabric_kill::KillOptions options{.rails = "shm,tcp", .kills = 100, .seed = 1};
  const nfx::cli::Command program{
      .name = "fabric_kill_planted",
      .summary = "Whether kills find each protection of links and rails that is taken away",
      .options = {{.names = "--kills", .target = &options.kills, .help = "Processes to kill, at most, for each"},
                  {.names = "--seed", .target = &options.seed, .help = "Of the moments"}},
  };
  if (const auto exit_code = nfx::cli::parse(program, argc, argv)) return *exit_code;
  int run = 0, missed = 0;
  try {
    const auto rows = nfx::plants::rows();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].program != "kill") continue;
      ++run;
      nfx::plants::planted = static_cast<int>(i);
      const auto result = nfx::fabric_kill::run_kills(options);
      if (result.finding.empty()) ++missed;
      std::printf("%-24s %s after %llu kills%s%s\n", std::string{rows[i].name}.c_str(),
                  result.finding.empty() ? "NOT FOUND" : "found", static_cast<unsigned long long>(result.kills),
                  result.finding.empty() ? "" : ": ", result.finding.c_str());
      std::fflush(stdout);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  std::printf("%d bugs, %d not found\n", run, missed);
  return missed == 0 ? 0 : 1;
}
