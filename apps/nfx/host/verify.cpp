// nfx host verify: checks whether this host follows the plan now.
#include <optional>
#include <string>

#include "command.hpp"
#include "host/apply.hpp"
#include "host/host.hpp"
#include "output.hpp"

namespace nfx::app::host {
namespace {

struct VerifyCommand {
  Place place;
  std::string state;
  std::string format = "text";
};

int verify_host(const VerifyCommand& command) {
  const Situation seen = look(command.place);
  std::optional<RecordContent> runtime, installed;
  VerifyReport unreadable;
  // Only root may read the records; with a configuration most checks work without them.
  const auto load = [&](std::string_view usual, std::string_view name) -> std::optional<RecordContent> {
    try {
      return ChangeRecord::load(state_folder(command.state, seen.files, usual) / name);
    } catch (const ApplyError& error) {
      unreadable.exit = HostExit::cannot_tell;
      unreadable.items.push_back({"host.record", VerifyResult::unknown, error.what(), "may be read"});
      return std::nullopt;
    }
  };
  runtime = load(runtime_state_folder, runtime_record);
  installed = load(boot_state_folder, boot_record);
  const PlacementPlan* plan = seen.plan   ? &*seen.plan
                              : runtime   ? &runtime->plan
                              : installed ? &installed->plan
                                          : nullptr;
  if (plan == nullptr) {
    print_error("nfx: {}; name a configuration to compare with its plan\n",
                unreadable.items.empty() ? "nothing is applied to this host" : unreadable.items[0].seen);
    return static_cast<int>(HostExit::cannot_tell);
  }
  if (plan->refused()) {
    print_error("nfx: the plan of this configuration is refused ('nfx host plan' explains)\n");
    return static_cast<int>(HostExit::policy_invalid);
  }
  VerifyReport report = verify({.plan = *plan,
                                .facts = seen.facts,
                                .files = seen.files,
                                .topology = seen.topology,
                                .runtime = runtime ? &*runtime : nullptr,
                                .installed = installed ? &*installed : nullptr});
  report.exit = combine(report.exit, unreadable.exit);
  report.items.insert(report.items.end(), unreadable.items.begin(), unreadable.items.end());
  print(SafeText::lines(command.format == "json" ? to_json(report) : to_text(report)));
  return static_cast<int>(report.exit);
}

}  // namespace

cli::Command verify_command() {
  static VerifyCommand options;
  return {
      .name = "verify",
      .summary = "Check whether this host follows the plan now",
      .run = [] { return verify_host(options); },
      .options = {config_argument(options.place, false), state_option(options.state), topology_option(options.place),
                  root_option(options.place), format_option(options.format)},
      .details =
          "Without a configuration, checks the plan that was applied last. Prints one line per item: ok, pending, "
          "refused, violated or unknown.",
      .exit_codes =
          "0 all ok, 1 interrupts or tasks pending or refused, 2 violated, 3 cannot tell, 4 installed and "
          "waits for a reboot, 5 the plan is refused",
      .examples = {{.line = "nfx host verify"}, {.line = "nfx host verify engine.toml --format json"}},
  };
}

}  // namespace nfx::app::host
