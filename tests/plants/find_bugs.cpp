// Forks, and reads the verdict from the exit status.
#include "plants/find_bugs.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <exception>

namespace nfx::plants {
namespace {

enum Status : int { found, not_found, not_tried };

Status find_here(const Bug& bug) {
  try {
    const Search search = bug.find();
    std::printf("%-24s %s %s\n", bug.name.c_str(), search.found ? "found" : "NOT FOUND", search.text.c_str());
    return search.found ? found : not_found;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", bug.name.c_str(), error.what());
    return not_tried;
  }
}

Status find_in_child(const Bug& bug) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    const Status status = find_here(bug);
    std::fflush(stdout);
    ::_exit(status);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) {
    std::fprintf(stderr, "%s: no process for it\n", bug.name.c_str());
    return not_tried;
  }
  if (WIFEXITED(status)) return static_cast<Status>(WEXITSTATUS(status));
  std::printf("%-24s found: the process ended with %s\n", bug.name.c_str(), ::strsignal(WTERMSIG(status)));
  return found;
}

}  // namespace

int find_bugs(const std::vector<Bug>& bugs, std::string_view only) {
  int run = 0, missed = 0;
  bool all_tried = true;
  for (const Bug& bug : bugs) {
    if (!only.empty() && only != bug.name) continue;
    ++run;
    const Status status = find_in_child(bug);
    if (status != found) ++missed;
    all_tried = all_tried && (status == found || status == not_found);
  }
  if (run == 0) {
    std::fprintf(stderr, "--only %.*s: write one of", static_cast<int>(only.size()), only.data());
    for (const Bug& bug : bugs) std::fprintf(stderr, " %s", bug.name.c_str());
    std::fprintf(stderr, "\n");
    return cli::exit_wrong_usage;
  }
  std::printf("%d bugs, %d not found\n", run, missed);
  if (!all_tried) return 2;
  return missed == 0 ? 0 : 1;
}

}  // namespace nfx::plants
