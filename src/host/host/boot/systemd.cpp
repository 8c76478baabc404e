// systemd drop-ins: the CPUs of PID 1 and everything it starts, and the CPUs of the engine.
#include <algorithm>

#include "host/boot/families.hpp"

namespace nfx::boot {
namespace {

constexpr const char* reload = "systemctl daemon-reload";

void add_group(const Context& context, Artefacts& artefacts, const std::string& unit, const char* section,
               const char* what) {
  artefacts.push_back({.path = "/etc/systemd/system/" + unit + ".d/50-nexusfix.conf",
                       .content = heading(context) + "# " + what +
                                  " Takes effect on hosts with cgroup v2; the empty line forgets former lists.\n[" +
                                  section + "]\nAllowedCPUs=\nAllowedCPUs=" + context.housekeeping + '\n',
                       .mode = 0644,
                       .purpose = "Keeps " + unit + " on the housekeeping CPUs.",
                       .next = reload});
}

int highest_priority(const PlacementPlan& plan) {
  int highest = 0;
  for (const ThreadPlacement& thread : plan.threads) highest = std::max(highest, thread.priority);
  return highest;
}

std::string service_drop_in(const Context& context) {
  std::string text = heading(context) +
                     "# For an engine that runs as nexusfix.service; for another name, copy this folder to its name.\n"
                     "# Its threads set their own masks, within these.\n"
                     "[Service]\nSlice=nexusfix.slice\nCPUAffinity=\nCPUAffinity=" +
                     context.engine.to_list() + '\n';
  if (const int priority = highest_priority(context.plan); priority > 0)
    text += "LimitRTPRIO=" + std::to_string(priority) + '\n';
  return text;
}

}  // namespace

void add_systemd(const Context& context, Artefacts& artefacts) {
  artefacts.push_back(
      {.path = "/etc/systemd/system.conf.d/50-nexusfix.conf",
       .content = heading(context) +
                  "# PID 1 and everything that it starts, unless a unit sets another mask. The empty line "
                  "forgets former lists.\n[Manager]\nCPUAffinity=\nCPUAffinity=" +
                  context.housekeeping + '\n',
       .mode = 0644,
       .purpose = "Starts every service on the housekeeping CPUs, on cgroup v1 too.",
       .next = "systemctl daemon-reexec"});
  artefacts.push_back(
      {.path = "/etc/systemd/system/nexusfix.slice",
       .content = heading(context) +
                  "# Next to system.slice, not in it, so that the engine may use what the others may not. The SMT "
                  "siblings of\n# the busy-polling threads are left out: they stay idle.\n"
                  "[Unit]\nDescription=NexusFIX engines\nBefore=slices.target\n\n[Slice]\nAllowedCPUs=" +
                  context.engine.to_list() + '\n',
       .mode = 0644,
       .purpose = "Where the engine runs: its own CPUs, and the housekeeping ones for threads that sleep.",
       .next = reload});
  artefacts.push_back({.path = "/etc/systemd/system/nexusfix.service.d/50-nexusfix.conf",
                       .content = service_drop_in(context),
                       .mode = 0644,
                       .purpose = "Puts the engine's service into that slice.",
                       .next = reload});
  add_group(context, artefacts, "system.slice", "Slice", "Services.");
  add_group(context, artefacts, "user.slice", "Slice", "Login sessions.");
  add_group(context, artefacts, "machine.slice", "Slice", "Virtual machines and containers.");
  add_group(context, artefacts, "init.scope", "Scope", "PID 1 itself.");
}

}  // namespace nfx::boot
