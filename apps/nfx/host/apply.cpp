// nfx host apply: makes this host follow a configuration's plan, now or from the next boot on.
#include <unistd.h>

#include <fstream>
#include <memory>
#include <set>
#include <string>

#include "base/error_text.hpp"
#include "command.hpp"
#include "host/apply.hpp"
#include "host/host.hpp"
#include "output.hpp"

namespace nfx::app::host {
namespace {

struct ApplyCommand {
  Place place;
  bool runtime = false;
  bool boot = false;
  std::string output;
  bool install = false;
  bool dry_run = false;
  std::string state;
  bool while_trading = false;
  bool keep_going = false;
  std::string format = "text";
};

int leave(HostExit exit, const std::string& text) {
  print(SafeText::lines(text));
  return static_cast<int>(exit);
}

int refuse(HostExit exit, const std::string& text) {
  print_error("nfx: {}\n", text);
  return static_cast<int>(exit);
}

bool may_change(const HostFiles& files) { return !files.live() || ::geteuid() == 0; }

constexpr const char* needs_root =
    "nfx host apply needs root to change this host: use sudo, or --dry-run to list the changes";

std::unique_ptr<HostWriter> writer_for(const HostFiles& files) {
  if (files.live()) return std::make_unique<LiveWriter>(files);
  return std::make_unique<FolderWriter>(files);
}

int apply_now(const ApplyCommand& command, const Situation& seen) {
  const bool json = command.format == "json";
  const PlacementPlan& plan = *seen.plan;
  ApplyOptions options{.record = state_folder(command.state, seen.files, runtime_state_folder) / runtime_record,
                       .while_trading = command.while_trading,
                       .keep_going = command.keep_going};
  if (command.dry_run) {
    if (const auto problem = find_apply_problem(plan, seen.facts, seen.files, command.while_trading))
      return refuse(problem->exit, problem->text);
    std::optional<RecordContent> record;
    // Only its owner can read it. Without it, changes that were refused before are listed again.
    if (may_change(seen.files)) record = ChangeRecord::load(options.record);
    std::vector<std::string> notes;
    const auto changes = runtime_changes(plan, seen.facts, seen.files, record ? &*record : nullptr, &notes);
    std::string text = json ? to_json(changes) : to_text(changes);
    for (const std::string& note : notes) text += json ? "" : "note: " + note + '\n';
    return leave(HostExit::ok, text);
  }
  if (!may_change(seen.files)) return refuse(HostExit::cannot_tell, needs_root);
  const auto writer = writer_for(seen.files);
  const ApplyReport report = apply_runtime(plan, seen.facts, seen.files, *writer, options);
  if (!report.error.empty() && report.changes.empty()) return refuse(report.exit, report.error);
  return leave(report.exit, json ? to_json(report) : to_text(report));
}

std::string next_steps(const std::vector<BootArtefact>& artefacts) {
  std::string text;
  std::set<std::string> printed;
  for (const BootArtefact& artefact : artefacts) {
    if (!artefact.next.empty() && printed.insert(artefact.next).second) text += "run: " + artefact.next + '\n';
  }
  return text;
}

int write_below(const std::filesystem::path& folder, const std::vector<BootArtefact>& artefacts) {
  std::string text;
  for (const BootArtefact& artefact : artefacts) {
    const std::filesystem::path file = folder / std::filesystem::path{artefact.path}.relative_path();
    std::filesystem::create_directories(file.parent_path());
    std::ofstream out{file, std::ios::binary | std::ios::trunc};
    out << artefact.content << std::flush;
    if (!out) return refuse(HostExit::failures, cannot("write", file, errno));
    std::filesystem::permissions(file, static_cast<std::filesystem::perms>(artefact.mode));
    append_printable(text, file.string());
    text += "  " + artefact.purpose + '\n';
  }
  return leave(HostExit::ok, text + next_steps(artefacts));
}

int apply_at_boot(const ApplyCommand& command, const Situation& seen) {
  const PlacementPlan& plan = *seen.plan;
  const bool json = command.format == "json";
  // Files for the next boot do not affect an engine that is trading now.
  if (const auto problem = find_apply_problem(plan, seen.facts, seen.files, true))
    return refuse(problem->exit, problem->text);
  const std::vector<BootArtefact> artefacts = boot_artefacts(plan, seen.topology, seen.facts);
  if (!command.output.empty() && !command.dry_run) return write_below(command.output, artefacts);
  if (!command.install || command.dry_run) {
    const auto changes = install_changes(artefacts, seen.files);
    return leave(HostExit::ok, json ? to_json(changes) : to_text(changes));
  }
  if (!may_change(seen.files)) return refuse(HostExit::cannot_tell, needs_root);
  const ApplyOptions options{.record = state_folder(command.state, seen.files, boot_state_folder) / boot_record,
                             .keep_going = command.keep_going};
  const auto writer = writer_for(seen.files);
  ApplyReport report = install(plan, artefacts, seen.files, *writer, options);
  const auto booted = seen.facts.parameters.find(plan_parameter);
  if (booted == seen.facts.parameters.end() || booted->second != plan.hash)
    report.exit = combine(report.exit, HostExit::reboot_pending);
  if (!report.error.empty() && report.changes.empty()) return refuse(report.exit, report.error);
  return leave(report.exit, json ? to_json(report) : to_text(report) + next_steps(artefacts));
}

int apply(const ApplyCommand& command) {
  if (command.runtime == command.boot)
    return refuse(HostExit::failures, "nfx host apply: give either --runtime or --boot");
  if (command.runtime && (command.install || !command.output.empty()))
    return refuse(HostExit::failures, "nfx host apply: --output and --install belong to --boot");
  const Situation seen = look(command.place);
  return command.runtime ? apply_now(command, seen) : apply_at_boot(command, seen);
}

}  // namespace

std::filesystem::path state_folder(const std::string& option, const HostFiles& files, std::string_view usual) {
  return option.empty() ? files.path(usual) : std::filesystem::path{option};
}

cli::Command apply_command() {
  static ApplyCommand options;
  return {
      .name = "apply",
      .summary = "Make this host follow the plan; 'revert' undoes it",
      .run = [] { return apply(options); },
      .options =
          {config_argument(options.place, true),
           {.names = "--runtime",
            .target = &options.runtime,
            .help = "Change the running host: tasks, interrupts, workqueues, sysctls, governor"},
           {.names = "--boot",
            .target = &options.boot,
            .help = "Write boot files, which apply from the next boot; without --output or --install only list them"},
           {.names = "--output",
            .target = &options.output,
            .help = "With --boot: write the files below this folder",
            .kind = cli::Kind::folder},
           {.names = "--install",
            .target = &options.install,
            .help = "With --boot: write the files to their final paths, recorded for revert"},
           {.names = "--dry-run",
            .target = &options.dry_run,
            .help = "Print every change, old and wanted, and write nothing"},
           state_option(options.state),
           root_option(options.place),
           {.names = "--while-trading",
            .target = &options.while_trading,
            .help = "Apply while an engine runs; its orders may be delayed"},
           {.names = "--keep-going",
            .target = &options.keep_going,
            .help = "Continue after a failed write instead of undoing everything"},
           format_option(options.format)},
      .details =
          "Every old value is on disk before a new one is written, so 'nfx host revert' works also after kill "
          "-9. With --root, plain files replace the kernel's: a rehearsal on a copied host.",
      .exit_codes =
          "0 done, 1 done but some interrupts or tasks are pending or refused, 2 failed and undone, 3 needs "
          "root, 4 installed and waits for a reboot, 5 the plan is refused, 6 partly applied",
      .examples = {{.line = "nfx host apply engine.toml --runtime --dry-run"},
                   {.line = "nfx host apply engine.toml --runtime && nfx host verify"},
                   {.line = "nfx host apply engine.toml --boot --output /tmp/boot"}},
  };
}

}  // namespace nfx::app::host
