// nfx host revert: undoes the changes of apply.
#include <unistd.h>

#include <memory>
#include <string>

#include "command.hpp"
#include "host/apply.hpp"
#include "host/host.hpp"
#include "output.hpp"

namespace nfx::app::host {
namespace {

struct RevertCommand {
  Place place;
  bool runtime = false;
  bool boot = false;
  std::string state;
  std::string format = "text";
};

void add(RevertReport& sum, const RevertReport& part) {
  sum.exit = combine(sum.exit, part.exit);
  sum.found = sum.found || part.found;
  sum.changes += part.changes;
  sum.restored += part.restored;
  sum.tasks_restored += part.tasks_restored;
  sum.left.insert(sum.left.end(), part.left.begin(), part.left.end());
  sum.notes.insert(sum.notes.end(), part.notes.begin(), part.notes.end());
}

int revert_host(const RevertCommand& command) {
  const HostFiles files{command.place.root.empty() ? "/" : command.place.root};
  if (files.live() && ::geteuid() != 0) {
    print_error("nfx: restoring this host needs root, and only root may read the record; 'sudo nfx host revert'\n");
    return static_cast<int>(HostExit::cannot_tell);
  }
  std::unique_ptr<HostWriter> writer;
  if (files.live()) {
    writer = std::make_unique<LiveWriter>(files);
  } else {
    writer = std::make_unique<FolderWriter>(files);
  }
  const bool both = command.runtime == command.boot;
  RevertReport sum;
  if (both || command.runtime)
    add(sum, revert(files, *writer, state_folder(command.state, files, runtime_state_folder) / runtime_record));
  if (both || command.boot) {
    const RevertReport part =
        revert(files, *writer, state_folder(command.state, files, boot_state_folder) / boot_record);
    if (part.found)
      sum.notes.push_back("boot files are removed: run update-grub, or this host's equivalent, and reboot");
    add(sum, part);
  }
  print(SafeText::lines(command.format == "json" ? to_json(sum) : to_text(sum)));
  return static_cast<int>(sum.exit);
}

}  // namespace

cli::Command revert_command() {
  static RevertCommand options;
  return {
      .name = "revert",
      .summary = "Restore everything that apply has changed, byte for byte",
      .run = [] { return revert_host(options); },
      .options = {{.names = "--runtime",
                   .target = &options.runtime,
                   .help = "Only what was changed on the running host"},
                  {.names = "--boot", .target = &options.boot, .help = "Only the installed files"},
                  state_option(options.state),
                  root_option(options.place),
                  format_option(options.format)},
      .details =
          "Works after a crash or kill -9 of apply, and may be repeated. The record is removed when all is "
          "restored.",
      .exit_codes = "0 restored, or nothing to restore, 3 needs root, 6 some of it could not be restored",
      .examples = {{.line = "sudo nfx host revert"}},
  };
}

}  // namespace nfx::app::host
