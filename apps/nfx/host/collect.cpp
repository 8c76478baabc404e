// nfx host collect: copies the files that the other commands read, so that a host can be examined elsewhere.
#include <string>
#include <utility>

#include "command.hpp"
#include "host/host.hpp"
#include "nexusfix/host/doctor.hpp"
#include "output.hpp"

namespace nfx::app::host {
namespace {

struct CollectOptions {
  std::string folder;
  std::string root;
  bool list = false;
};

int list_patterns() {
  SafeText out;
  for (const std::string_view pattern : collected_patterns()) out.add("{}\n", pattern);
  print(out);
  return exit_done;
}

int collect(const CollectOptions& options) {
  const HostFiles from{options.root.empty() ? "/" : options.root};
  const Collected done = collect_host(from, options.folder);
  SafeText out = made("{} files, {} KiB in {}", done.files, (done.bytes + 1023) / 1024, options.folder);
  if (done.unreadable != 0) out.add("; {} could not be read (try as root)", done.unreadable);
  if (!done.complete) out += "; there was more than the limit, which is not copied";
  out.add("\nnfx host doctor --root {} examines them.\n", options.folder);
  print(out);
  return std::to_underlying(done.unreadable != 0 || !done.complete ? HostExit::cannot_tell : HostExit::ok);
}

}  // namespace

cli::Command collect_command() {
  static CollectOptions options;
  return {
      .name = "collect",
      .summary = "Copy this host's settings, to examine them elsewhere",
      .run =
          [] {
            if (options.list) return list_patterns();
            if (options.folder.empty()) throw cli::UsageError("DIR is required");
            return collect(options);
          },
      .options = {{.names = "DIR",
                   .target = &options.folder,
                   .help = "A folder that is empty or does not exist",
                   .kind = cli::Kind::folder},
                  {.names = "--root",
                   .target = &options.root,
                   .help = "Copy from such a folder instead of this host",
                   .kind = cli::Kind::existing_folder},
                  {.names = "--list",
                   .target = &options.list,
                   .help = "Print which files would be copied, and copy nothing"}},
      .details =
          "Copies settings and counters below /proc and /sys, names and CPU masks of tasks, and what ethtool "
          "reports; no command lines or environments of processes. Every user can read the copy.",
      .exit_codes = "0 ok, 2 wrong usage, 3 some files could not be read",
      .examples = {{.line = "sudo nfx host collect /tmp/$(hostname)"}},
  };
}

}  // namespace nfx::app::host
