// Interrupt affinities: a script that sets them, and the unit that runs it. The script finds interrupts by device and
// handler, because interrupt numbers change from boot to boot.
#include <algorithm>
#include <map>

#include "host/boot/families.hpp"

namespace nfx::boot {
namespace {

constexpr const char* script_path = "/usr/local/lib/nexusfix/steer-interrupts";

// Housekeeping CPUs on the device's node. Empty if the node has none or the device does not report its location.
CpuSet local_housekeeping(const Context& context, const std::string& address) {
  const auto device = std::ranges::find(context.topology.devices, address, &Device::pci_address);
  if (address.empty() || device == context.topology.devices.end()) return {};
  CpuSet local = device->local_cpus;
  const auto node = std::ranges::find(context.topology.nodes, device->numa_node, &NumaNode::number);
  if (local.empty() && device->numa_node >= 0 && node != context.topology.nodes.end()) local = node->cpus;
  return local & context.plan.housekeeping;
}

// The branches of a shell `case` over "DEVICE HANDLER". Queues of NICs near busy-polling threads are spread over the
// housekeeping CPUs of their node, one each. Other devices may use all CPUs of that set. A device that may use any
// housekeeping CPU gets no branch.
std::string branches(const Context& context, const HostFacts& facts) {
  const std::vector<NearNic> nics = near_nics(context);
  std::map<std::string, std::size_t> queues;
  std::map<std::string, std::string> devices;
  std::string text;
  for (const Interrupt& interrupt : facts.interrupts) {
    if (!printable(interrupt.device) || interrupt.actions.empty() || !printable(interrupt.actions.front())) continue;
    const auto near = std::ranges::find(nics, interrupt.device, &NearNic::pci_address);
    if (near != nics.end()) {
      const std::vector<int> cpus = near->housekeeping.members();
      const std::size_t queue = queues[interrupt.device]++;
      text += "    " + shell_quoted(interrupt.device + ' ' + interrupt.actions.front()) +
              ") wanted=" + std::to_string(cpus[queue % cpus.size()]) + " ;;\n";
    } else if (const CpuSet local = local_housekeeping(context, interrupt.device);
               !local.empty() && local != context.plan.housekeeping) {
      devices[interrupt.device] = local.to_list();
    }
  }
  // The blank after the device is quoted too, so that an address cannot match as the prefix of another one.
  for (const auto& [device, cpus] : devices)
    text += "    " + shell_quoted(device + ' ') + "*) wanted=" + cpus + " ;;\n";
  return text;
}

// "2-7 10-10", for comparisons of ranges.
std::string ranges_of(const CpuSet& cpus) {
  std::string text;
  const std::vector<int> members = cpus.members();
  for (std::size_t i = 0; i < members.size();) {
    std::size_t last = i;
    while (last + 1 < members.size() && members[last + 1] == members[last] + 1) ++last;
    text += (text.empty() ? "" : " ") + std::to_string(members[i]) + '-' + std::to_string(members[last]);
    i = last + 1;
  }
  return text;
}

constexpr const char* script_contract = R"(# Sends interrupts to the housekeeping CPUs:
#   steer-interrupts [--dry-run]
# They are looked up by PCI address and by the name of their handler, never by number. Those that are away from the
# isolated CPUs already stay where they are, unless they are named below. Interrupts that refuse, because their driver
# manages them or because they belong to one CPU, are listed and left alone.
# Exit: 0 all are away from the isolated CPUs; 1 some refuse; 2 wrong usage; 3 not allowed to look or to write.
# NEXUSFIX_ROOT is put before all paths, for trials.
set -u
)";

constexpr const char* script_body = R"SH(
# True when a list such as 0-3,8 has an isolated CPU.
touches_isolated() {
  rest=$1
  while [ -n "$rest" ]; do
    range=${rest%%,*}
    case $rest in *,*) rest=${rest#*,} ;; *) rest= ;; esac
    first=${range%-*} last=${range#*-}
    for each in $isolated; do
      if [ "$first" -le "${each#*-}" ] && [ "${each%-*}" -le "$last" ]; then return 0; fi
    done
  done
  return 1
}

content() {
  text=
  [ ! -r "$1" ] || IFS= read -r text <"$1" || :
}

# The PCI device that an interrupt comes from, "-" when there is none.
device_of() {
  device=-
  for entry in "$root"/sys/bus/pci/devices/*/msi_irqs/"$1"; do
    [ -e "$entry" ] || continue
    device=${entry%/msi_irqs/*}
    device=${device##*/}
    return
  done
  content "$root/sys/kernel/irq/$1/chip_name"
  case $text in
    *????:??:??.?) device=${text##*-} ;;
  esac
}

# Its handlers, separated by commas.
handlers_of() {
  handlers=
  if [ -r "$root/sys/kernel/irq/$1/actions" ]; then
    IFS= read -r handlers <"$root/sys/kernel/irq/$1/actions" || :
    return
  fi
  for entry in "$root/proc/irq/$1"/*/; do
    [ -d "$entry" ] || continue
    entry=${entry%/}
    handlers=${handlers:+$handlers,}${entry##*/}
  done
}

write() {
  { printf '%s\n' "$2" >"$1"; } 2>/dev/null
}

moved=0 refused=0 there=0

# What a refusal means depends on where the interrupt goes: many of them never fire on an isolated CPU.
report_refusal() {
  content "$folder/effective_affinity_list"
  if [ -n "$text" ] && ! touches_isolated "$text"; then
    there=$((there + 1))
    return
  fi
  # Without a handler nothing comes from it.
  [ -n "$handlers" ] || return
  refused=$((refused + 1))
  echo "irq $number ($device $handlers) stays on CPUs ${text:-$allowed}: managed by its driver or bound to a CPU"
}

steer() {
  number=${1##*/} folder=$1
  content "$folder/smp_affinity_list"
  allowed=$text
  [ -n "$allowed" ] || return
  device_of "$number"
  handlers_of "$number"
  cpus_for "$device" "${handlers%%,*}"
  if [ "$allowed" = "${wanted:-$housekeeping}" ] || { [ -z "$wanted" ] && ! touches_isolated "$allowed"; }; then
    there=$((there + 1))
    return
  fi
  wanted=${wanted:-$housekeeping}
  if [ -n "$dry_run" ]; then
    moved=$((moved + 1))
    echo "irq $number ($device $handlers): $allowed -> $wanted"
  elif write "$folder/smp_affinity_list" "$wanted"; then
    moved=$((moved + 1))
    echo "irq $number ($device $handlers): $allowed -> $wanted; takes effect when it fires"
  else
    report_refusal
  fi
}

dry_run=
case $#:${1-} in
  0:*) ;;
  1:--dry-run) dry_run=yes ;;
  *)
    echo "usage: steer-interrupts [--dry-run]" >&2
    exit 2
    ;;
esac
default=$root/proc/irq/default_smp_affinity
if [ ! -r "$default" ] || { [ -z "$dry_run" ] && [ ! -w "$default" ]; }; then
  echo "$default may not be written: run as root on the host itself" >&2
  exit 3
fi
[ -n "$dry_run" ] || write "$default" "$housekeeping_mask" || echo "$default refused $housekeeping_mask"
for interrupt in "$root"/proc/irq/[0-9]*; do
  [ -d "$interrupt" ] && steer "$interrupt"
done
echo "$moved moved, $there away from the isolated CPUs before, $refused refused"
[ "$refused" -eq 0 ]
)SH";

std::string steer_script(const Context& context, const HostFacts& facts) {
  return "#!/bin/sh\n" + heading(context) + script_contract + "root=${NEXUSFIX_ROOT-}\nhousekeeping='" +
         context.housekeeping + "'\nhousekeeping_mask='" + context.housekeeping_mask + "'\nisolated='" +
         ranges_of(context.plan.isolated_cpus) + R"('

# Where the interrupt of a device and handler has to go, "" for any housekeeping CPU.
cpus_for() {
  case "$1 $2" in
)" + branches(context, facts) +
         "    *) wanted= ;;\n  esac\n}\n" + script_body;
}

}  // namespace

void add_interrupts(const Context& context, const HostFacts& facts, Artefacts& artefacts) {
  artefacts.push_back({.path = script_path,
                       .content = steer_script(context, facts),
                       .mode = 0755,
                       .purpose = "Sends interrupts to the housekeeping CPUs, by device and handler.",
                       .next = ""});
  // A failure of the first command must not prevent the second. Exit code 1 of the second is not a failure: it lists
  // interrupts that cannot be moved.
  const char* const tune = near_nics(context).empty() ? "" : "ExecStart=-/usr/local/lib/nexusfix/tune-nics\n";
  artefacts.push_back(
      {.path = "/etc/systemd/system/nexusfix-interrupts.service",
       .content = heading(context) +
                  "[Unit]\nDescription=Queues and interrupts as the NexusFIX plan has them\n"
                  "Wants=network-online.target\nAfter=network-online.target irqbalance.service\n\n[Service]\n"
                  "Type=oneshot\n" +
                  tune + "ExecStart=" + script_path +
                  "\nSuccessExitStatus=1\n\n[Install]\nWantedBy=multi-user.target\n",
       .mode = 0644,
       .purpose = "Runs both scripts at boot, and when a network interface appears.",
       .next = "systemctl daemon-reload && systemctl enable nexusfix-interrupts.service"});
  artefacts.push_back(
      {.path = "/etc/udev/rules.d/50-nexusfix.rules",
       .content =
           heading(context) +
           "# A network interface that appears gets its queues and interrupts; those that it requests later, "
           "when it is\n# brought up, follow irqaffinity= of the kernel's command line.\n"
           R"(ACTION=="add", SUBSYSTEM=="net", TAG+="systemd", ENV{SYSTEMD_WANTS}+="nexusfix-interrupts.service")"
           "\n# Receive packet steering, where it is on, hands packets to the housekeeping CPUs only. Transmit "
           "steering (XPS) is\n# left alone: it is about the queue that a CPU sends through, and disturbs no other "
           "CPU.\n"
           R"(ACTION=="add", SUBSYSTEM=="queues", KERNEL=="rx-*", ATTR{rps_cpus}=="*[1-9a-f]*", ATTR{rps_cpus}=")" +
           context.housekeeping_mask + "\"\n",
       .mode = 0644,
       .purpose = "Does the same for network interfaces that appear later.",
       .next = "udevadm control --reload"});
}

}  // namespace nfx::boot
