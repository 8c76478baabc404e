// The kernel command line, as distributions store it: in GRUB's configuration, or in boot loader entries (BLS) that
// grubby or kernel-install write.
#include "host/boot/families.hpp"

namespace nfx::boot {
namespace {

constexpr const char* grub_path = "/etc/default/grub.d/50-nexusfix.cfg";
constexpr const char* entry_path = "/etc/nexusfix/boot-entry.conf";
constexpr const char* script_path = "/usr/local/lib/nexusfix/boot-entries";

// "isolcpus=* | nohz_full=* | ..."
std::string patterns() {
  std::string text;
  for (const std::string& name : parameter_names()) text += (text.empty() ? "" : " | ") + name + "=*";
  return text;
}

std::string joined_names() {
  std::string text;
  for (const std::string& name : parameter_names()) text += (text.empty() ? "" : " ") + name;
  return text;
}

// A shell function that prints its first argument without the parameters that NexusFIX sets.
std::string without_former_function() {
  return R"(nexusfix_without_former() {
  # In a subshell, where set -f keeps a * among the words from being taken for file names.
  (
    set -f
    remaining=
    # The words are meant to be split.
    # shellcheck disable=SC2086
    for word in $1; do
      case $word in
        )" +
         patterns() +
         R"() ;;
        *) remaining="${remaining:+$remaining }$word" ;;
      esac
    done
    printf %s "$remaining"
  )
}
)";
}

std::string grub_drop_in(const Context& context) {
  return "# shellcheck shell=sh\n" + heading(context) +
         R"(# Kernel parameters for GRUB as Debian, Ubuntu and their relatives have it: grub-mkconfig reads this file after
# /etc/default/grub. Former parameters of the same names are taken out first: the kernel ignores a second isolcpus= or
# nohz_full= that disagrees with the first. So reading this file twice does no harm either.
#   isolcpus     no tasks are balanced onto the isolated CPUs (domain), and the interrupts that a driver spreads by itself
#                keep away from them as long as another CPU of the queue is there (managed_irq)
#   nohz_full    no tick while one task runs; it also takes the isolated CPUs out of the soft lockup watchdog, so
#                nosoftlockup is not needed
#   rcu_nocbs    RCU callbacks run elsewhere; rcu_nocb_poll is left out, it would wake the housekeeping CPUs all the time
#   irqaffinity  where interrupts go that are requested later
#   skew_tick    the ticks of the CPUs do not come at the same instant
# Mitigations are not touched.
)" + without_former_function() +
         R"(GRUB_CMDLINE_LINUX_DEFAULT=$(nexusfix_without_former "${GRUB_CMDLINE_LINUX_DEFAULT-}")
GRUB_CMDLINE_LINUX=$(nexusfix_without_former "${GRUB_CMDLINE_LINUX-}")
GRUB_CMDLINE_LINUX="${GRUB_CMDLINE_LINUX:+$GRUB_CMDLINE_LINUX })" +
         context.parameters + "\"\nunset -f nexusfix_without_former\n";
}

std::string boot_entry(const Context& context) {
  return heading(context) +
         R"(# A fragment of a boot loader entry (BLS type 1). There is no folder for such fragments: the script
# )" + script_path +
         R"( adds the line to what grubby or kernel-install keep; with systemd-boot and entries
# written by hand, put it into them, next to the line "options" that is there.
options )" +
         context.parameters + '\n';
}

std::string boot_entries_script(const Context& context) {
  return "#!/bin/sh\n" + heading(context) + R"SH(# Puts the kernel parameters of )SH" + entry_path +
         R"SH( into the boot loader entries, or takes them out again:
#   boot-entries add | remove
# Through grubby where it is there (Fedora, RHEL), otherwise in /etc/kernel/cmdline, which kernel-install reads for the
# entries that it makes. Exit: 0 done, 1 this host has neither, 2 wrong usage or a failure.
# NEXUSFIX_ROOT is put before all paths, for trials.
set -eu
root=${NEXUSFIX_ROOT-}
names=')SH" +
         joined_names() +
         R"SH('

)SH" + without_former_function() +
         R"SH(
case ${1-} in
  add) parameters=$(sed -n 's/^options //p' "$root)SH" +
         entry_path + R"SH(") || exit 2 ;;
  remove) parameters= ;;
  *)
    echo "usage: boot-entries add | remove" >&2
    exit 2
    ;;
esac
if [ "$1" = add ] && [ -z "$parameters" ]; then
  echo "$root)SH" +
         entry_path + R"SH( has no line 'options ...'" >&2
  exit 2
fi

if command -v grubby >/dev/null 2>&1; then
  grubby --update-kernel=ALL --remove-args="$names" || exit 2
  if [ -n "$parameters" ]; then
    grubby --update-kernel=ALL --args="$parameters" || exit 2
  fi
  exit 0
fi

file=$root/etc/kernel/cmdline
if [ ! -f "$file" ]; then
  echo "neither grubby nor /etc/kernel/cmdline is here: nothing was changed" >&2
  exit 1
fi
line=$(nexusfix_without_former "$(cat "$file")")
line=${line:+$line }$parameters
printf '%s\n' "${line% }" >"$file.nexusfix" || exit 2
mv "$file.nexusfix" "$file" || exit 2
echo "$file is written; the entries follow when kernel-install runs for each kernel"
)SH";
}

}  // namespace

const std::vector<std::string>& parameter_names() {
  static const std::vector<std::string> names{"isolcpus",    "nohz_full", "rcu_nocbs",
                                              "irqaffinity", "skew_tick", std::string{plan_parameter}};
  return names;
}

void add_kernel(const Context& context, Artefacts& artefacts) {
  artefacts.push_back({.path = grub_path,
                       .content = grub_drop_in(context),
                       .mode = 0644,
                       .purpose = "Kernel parameters for hosts with GRUB (Debian, Ubuntu).",
                       .next = "update-grub"});
  artefacts.push_back({.path = entry_path,
                       .content = boot_entry(context),
                       .mode = 0644,
                       .purpose = "The same kernel parameters as a fragment of a boot loader entry (BLS).",
                       .next = ""});
  artefacts.push_back({.path = script_path,
                       .content = boot_entries_script(context),
                       .mode = 0755,
                       .purpose = "Puts that fragment where grubby or kernel-install keep it (Fedora, RHEL).",
                       .next = std::string{script_path} + " add"});
}

}  // namespace nfx::boot
