// nfx host collect: copies what the other commands look at, so that a host can be examined elsewhere.
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "command.hpp"
#include "host/host.hpp"
#include "nexusfix/host/doctor.hpp"

namespace nfx::app::host {
namespace {

struct CollectOptions {
  std::string folder;
  std::string root;
  bool list = false;
};

int list_patterns() {
  for (const std::string_view pattern : collected_patterns()) std::cout << pattern << '\n';
  std::cout << std::flush;
  return std::cout ? exit_done : exit_failed;
}

int collect(const CollectOptions& options) {
  const HostFiles from{options.root.empty() ? "/" : options.root};
  const Collected done = collect_host(from, options.folder);
  std::cout << done.files << " files, " << (done.bytes + 1023) / 1024 << " KiB in " << options.folder;
  if (done.unreadable != 0) std::cout << "; " << done.unreadable << " could not be read (try as root)";
  if (!done.complete) std::cout << "; there was more than is copied at most";
  std::cout << "\nnfx host doctor --root " << options.folder << " examines them.\n" << std::flush;
  if (!std::cout) return exit_failed;
  return std::to_underlying(done.unreadable != 0 || !done.complete ? HostExit::cannot_tell : HostExit::ok);
}

}  // namespace

void add_host_collect(CLI::App& host, int& exit_code) {
  CLI::App* command = host.add_subcommand("collect", "Copy this host's settings, to examine them elsewhere");
  auto options = std::make_shared<CollectOptions>();
  command->add_option("DIR", options->folder, "a folder that is empty or not there yet");
  command->add_option("--root", options->root, "copy from such a folder instead of this host")
      ->check(CLI::ExistingDirectory);
  command->add_flag("--list", options->list, "Print which files would be copied, and copy nothing");
  command->footer(
      "Copied are settings and counters below /proc and /sys, names and CPU masks of tasks, and what ethtool says;\n"
      "no command lines or environments of processes. The copy can be read by everybody. Exit codes: 0 ok, 3 some\n"
      "files could not be read.");
  command->callback([options, &exit_code] {
    if (options->list) {
      exit_code = list_patterns();
    } else if (options->folder.empty()) {
      throw CLI::RequiredError("DIR");
    } else {
      exit_code = collect(*options);
    }
  });
}

}  // namespace nfx::app::host
