// The NICs near busy-polling threads: a script that sets their queues and coalescing through ethtool.

#include "host/boot/families.hpp"

namespace nfx::boot {
namespace {

constexpr const char* script_contract =
    R"(# Sets up the network interfaces that are near the engine's busy-polling threads:
#   tune-nics
# Interrupt coalescing off: every packet is announced immediately. As many queues as there are housekeeping CPUs for them,
# so that no two share one. What a driver does not have is listed and left alone. Changing the number of queues takes
# the link down for a moment on most drivers, so it is done only when the number differs.
# Exit: 0 done, as far as the drivers can; 3 there is no ethtool.
# NEXUSFIX_ROOT is put before all paths, for trials.
set -u
root=${NEXUSFIX_ROOT-}
)";

constexpr const char* script_body = R"SH(
set_coalescing() {
  for setting in adaptive-rx=off adaptive-tx=off rx-usecs=0 tx-usecs=0; do
    ethtool -C "$1" "${setting%=*}" "${setting#*=}" >/dev/null 2>&1
    # 80: it was so already.
    case $? in
      0 | 80) ;;
      *) echo "$1: its driver does not take $setting" ;;
    esac
  done
}

# The maximum and the present number of combined queues.
set_queues() {
  # shellcheck disable=SC2046
  set -- "$1" "$2" $(ethtool -l "$1" 2>/dev/null | sed -n 's/^Combined:[^0-9]*\([0-9][0-9]*\).*/\1/p')
  if [ $# -ne 4 ]; then
    echo "$1: its driver has no combined queues to set"
    return
  fi
  queues=$2
  [ "$queues" -le "$3" ] || queues=$3
  [ "$queues" -ne "$4" ] && [ "$queues" -ge 1 ] || return
  ethtool -L "$1" combined "$queues" >/dev/null 2>&1 || echo "$1: its driver refused $queues combined queues"
}

tune() {
  [ -e "$root/sys/class/net/$1" ] || return
  set_coalescing "$1"
  set_queues "$1" "$2"
  echo "$1: done"
}

# By PCI address: names of interfaces change.
tune_device() {
  for entry in "$root/sys/bus/pci/devices/$1/net"/* "$root/sys/bus/pci/devices/$1"/virtio*/net/*; do
    [ -e "$entry" ] && tune "${entry##*/}" "$2"
  done
}

if ! command -v ethtool >/dev/null 2>&1; then
  echo "there is no ethtool: install the package ethtool" >&2
  exit 3
fi
)SH";

std::string tune_script(const Context& context, const std::vector<NearNic>& nics) {
  std::string text = "#!/bin/sh\n" + heading(context) + script_contract + script_body;
  for (const NearNic& nic : nics) {
    const std::string queues = std::to_string(nic.housekeeping.size());
    if (!nic.pci_address.empty()) {
      text += "# " + nic.name + "\ntune_device " + shell_quoted(nic.pci_address) + ' ' + queues + '\n';
    } else {
      text += "tune " + shell_quoted(nic.name) + ' ' + queues + '\n';
    }
  }
  return text + "exit 0\n";
}

}  // namespace

void add_network(const Context& context, Artefacts& artefacts) {
  const std::vector<NearNic> nics = near_nics(context);
  if (nics.empty()) return;
  artefacts.push_back({.path = "/usr/local/lib/nexusfix/tune-nics",
                       .content = tune_script(context, nics),
                       .mode = 0755,
                       .purpose = "Coalescing and queues of the network interfaces near busy-polling threads.",
                       .next = ""});
}

}  // namespace nfx::boot
