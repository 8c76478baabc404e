// Settings of network devices. The kernel reports them only through ethtool's ioctl; a copied host has them as text
// files.
#include "host/network_facts.hpp"

#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>

namespace nfx {
namespace {

// One socket for the queries of all devices.
class Ethtool {
 public:
  Ethtool() : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)), error_(socket_ < 0 ? errno : 0) {}
  ~Ethtool() {
    if (socket_ >= 0) ::close(socket_);
  }
  Ethtool(const Ethtool&) = delete;
  Ethtool& operator=(const Ethtool&) = delete;

  // False if the device does not support the query. `device` notes a query that is not permitted.
  template <class Question>
  bool ask(NetworkDevice& device, std::uint32_t command, std::string_view topic, Question& question) const {
    int error = error_;
    if (error == 0) {
      question.cmd = command;
      ifreq request{};
      device.name.copy(request.ifr_name, IFNAMSIZ - 1);
      request.ifr_data = reinterpret_cast<char*>(&question);
      if (::ioctl(socket_, SIOCETHTOOL, &request) == 0) return true;
      error = errno;
    }
    if (error != EOPNOTSUPP && error != ENODEV && error != EINVAL)
      device.ethtool[std::string{topic} + "_error"] = std::to_string(error);
    return false;
  }

 private:
  int socket_;
  int error_;
};

void ask_everything(const Ethtool& ethtool, NetworkDevice& device) {
  const auto say = [&](const char* key, std::uint64_t value) { device.ethtool[key] = std::to_string(value); };
  if (ethtool_drvinfo driver{}; ethtool.ask(device, ETHTOOL_GDRVINFO, "driver", driver))
    device.ethtool["driver"] = std::string{driver.driver, ::strnlen(driver.driver, sizeof driver.driver)};
  if (ethtool_channels channels{}; ethtool.ask(device, ETHTOOL_GCHANNELS, "channels", channels)) {
    say("channels_rx", channels.rx_count);
    say("channels_tx", channels.tx_count);
    say("channels_combined", channels.combined_count);
    say("channels_combined_max", channels.max_combined);
  }
  if (ethtool_coalesce coalesce{}; ethtool.ask(device, ETHTOOL_GCOALESCE, "coalesce", coalesce)) {
    say("rx_usecs", coalesce.rx_coalesce_usecs);
    say("rx_frames", coalesce.rx_max_coalesced_frames);
    say("tx_usecs", coalesce.tx_coalesce_usecs);
    say("tx_frames", coalesce.tx_max_coalesced_frames);
    say("adaptive_rx", coalesce.use_adaptive_rx_coalesce);
    say("adaptive_tx", coalesce.use_adaptive_tx_coalesce);
  }
  if (ethtool_ringparam ring{}; ethtool.ask(device, ETHTOOL_GRINGPARAM, "ring", ring)) {
    say("ring_rx", ring.rx_pending);
    say("ring_rx_max", ring.rx_max_pending);
    say("ring_tx", ring.tx_pending);
    say("ring_tx_max", ring.tx_max_pending);
  }
  if (ethtool_value gro{}; ethtool.ask(device, ETHTOOL_GGRO, "gro", gro)) say("gro", gro.data);
  if (ethtool_value flags{}; ethtool.ask(device, ETHTOOL_GFLAGS, "flags", flags)) {
    say("lro", (flags.data & ETH_FLAG_LRO) != 0 ? 1 : 0);
    say("ntuple", (flags.data & ETH_FLAG_NTUPLE) != 0 ? 1 : 0);
  }
  if (ethtool_ts_info stamps{}; ethtool.ask(device, ETHTOOL_GET_TS_INFO, "time_stamps", stamps)) {
    say("rx_hardware_time_stamps", (stamps.so_timestamping & SOF_TIMESTAMPING_RX_HARDWARE) != 0 ? 1 : 0);
    say("tx_hardware_time_stamps", (stamps.so_timestamping & SOF_TIMESTAMPING_TX_HARDWARE) != 0 ? 1 : 0);
  }
}

void read_text(const HostFiles& files, NetworkDevice& device) {
  const auto text = files.text(ethtool_file(device.name));
  if (!text) return;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) device.ethtool[std::string{line.substr(0, equals)}] = line.substr(equals + 1);
  }
}

bool is_pci_address(std::string_view text) {
  if (text.size() != 12 || text[4] != ':' || text[7] != ':' || text[10] != '.') return false;
  return std::ranges::all_of(
      text, [](char c) { return c == ':' || c == '.' || std::isxdigit(static_cast<unsigned char>(c)) != 0; });
}

// The PCI function nearest to the device: in its own description, or else on the path to it.
std::string pci_address_of(const HostFiles& files, const std::string& folder) {
  constexpr std::string_view key = "PCI_SLOT_NAME=";
  if (const auto uevent = files.text(folder + "/device/uevent")) {
    const std::size_t at = uevent->find(key);
    if (at != std::string::npos) return uevent->substr(at + key.size(), 12);
  }
  const auto target = files.link(folder);
  if (!target) return {};
  std::string found;
  std::string_view rest = *target;
  while (!rest.empty()) {
    const std::size_t slash = rest.find('/');
    if (is_pci_address(rest.substr(0, slash))) found = rest.substr(0, slash);
    rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
  }
  return found;
}

}  // namespace

std::optional<long long> NetworkDevice::setting(std::string_view key) const {
  const auto found = ethtool.find(key);
  if (found == ethtool.end()) return std::nullopt;
  long long value = 0;
  const char* const end = found->second.data() + found->second.size();
  const auto [stop, error] = std::from_chars(found->second.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::vector<NetworkDevice> read_network_facts(const HostFiles& files) {
  std::vector<NetworkDevice> devices;
  const Ethtool ethtool;
  const std::string base = "/sys/class/net/";
  for (const std::string& name : files.list(base)) {
    if (!files.exists(base + name + "/device")) continue;
    NetworkDevice device;
    device.name = name;
    device.pci_address = pci_address_of(files, base + name);
    if (const auto node = files.integer(base + name + "/device/numa_node")) {
      device.numa_node = static_cast<int>(*node);
    } else if (const auto of_function = files.integer("/sys/bus/pci/devices/" + device.pci_address + "/numa_node");
               of_function && !device.pci_address.empty()) {
      device.numa_node = static_cast<int>(*of_function);
    }
    if (files.live()) {
      ask_everything(ethtool, device);
    } else {
      read_text(files, device);
    }
    devices.push_back(std::move(device));
  }
  return devices;
}

std::string ethtool_file(std::string_view device) { return "/nexusfix/ethtool/" + std::string{device}; }

std::string ethtool_text(const NetworkDevice& device) {
  std::string text;
  for (const auto& [key, value] : device.ethtool) text += key + '=' + value + '\n';
  return text;
}

}  // namespace nfx
