// Reads the kernel's settings for its CPUs, from a live host or a copy.
#include "nexusfix/placement/machine.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <optional>
#include <system_error>

#include "placement/proc_text.hpp"

namespace nfx {
namespace {

// Reads facts and remembers which files were not readable.
class Reader {
 public:
  Reader(const HostFiles& files, HostFacts& facts) : files_(files), facts_(facts) {}

  std::optional<std::string> text(const std::string& file) {
    auto content = files_.text(file);
    if (content) return *std::move(content);
    // On some kernels, the affinity of an interrupt without a handler is EIO; no information is missing then.
    if (content.error() == EACCES || content.error() == EPERM)
      facts_.unreadable.push_back(file + ": " + std::generic_category().message(content.error()));
    return std::nullopt;
  }

  std::optional<CpuSet> list(const std::string& file) {
    const auto content = text(file);
    if (!content) return std::nullopt;
    auto set = CpuSet::parse_list(*content);
    if (set) return *std::move(set);
    // Kernels without nohz_full= print "(null)".
    return std::nullopt;
  }

  std::optional<long long> integer(const std::string& file) {
    const auto content = text(file);
    if (!content) return std::nullopt;
    long long value = 0;
    const auto [end, error] = std::from_chars(content->data(), content->data() + content->size(), value);
    if (error != std::errc{} || end != content->data() + content->size()) return std::nullopt;
    return value;
  }

 private:
  const HostFiles& files_;
  HostFacts& facts_;
};

KernelVersion version_of(std::string_view release) {
  KernelVersion version;
  const char* const end = release.data() + release.size();
  const auto major = std::from_chars(release.data(), end, version.major);
  if (major.ec == std::errc{} && major.ptr != end && *major.ptr == '.')
    std::from_chars(major.ptr + 1, end, version.minor);
  return version;
}

bool starts_with_digit(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0;
}

// isolcpus=[flag,...,]cpulist
IsolCpus parse_isolcpus(std::string_view text, const CpuSet& present) {
  IsolCpus result;
  while (!text.empty() && !starts_with_digit(text) && text != "all" && text.front() != 'N') {
    const std::size_t comma = text.find(',');
    result.flags.emplace_back(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  if (auto set = parse_boot_cpus(text, present)) result.cpus = *std::move(set);
  return result;
}

CpuSet boot_cpus(const HostFacts& facts, std::string_view name, const CpuSet& present) {
  const auto found = facts.parameters.find(name);
  if (found == facts.parameters.end()) return {};
  return parse_boot_cpus(found->second, present).value_or(CpuSet{});
}

// Finds "0000:00:02.0" in a chip's name such as "PCI-MSIX-0000:00:02.0".
std::string pci_address_in(std::string_view text) {
  for (std::size_t i = 0; i + 12 <= text.size(); ++i) {
    const std::string_view part = text.substr(i, 12);
    const auto hex = [&](std::size_t from, std::size_t count) {
      return std::ranges::all_of(part.substr(from, count),
                                 [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
    };
    if (part[4] == ':' && part[7] == ':' && part[10] == '.' && hex(0, 4) && hex(5, 2) && hex(8, 2) && hex(11, 1))
      return std::string{part};
  }
  return {};
}

std::vector<std::string> comma_separated(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view word = text.substr(0, comma);
    while (word.starts_with(' ')) word.remove_prefix(1);
    if (!word.empty() && word != "(null)") words.emplace_back(word);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return words;
}

// Maps interrupts to PCI devices, from the devices' own lists.
std::map<int, std::string> interrupt_devices(const HostFiles& files) {
  std::map<int, std::string> devices;
  const std::string base = "/sys/bus/pci/devices/";
  for (const std::string& address : files.list(base)) {
    for (const std::string& number : files.list(base + address + "/msi_irqs")) {
      if (starts_with_digit(number)) devices.emplace(std::atoi(number.c_str()), address);
    }
  }
  return devices;
}

std::vector<Interrupt> read_interrupts(const HostFiles& files, Reader& reader) {
  std::map<int, std::string> devices = interrupt_devices(files);
  std::vector<Interrupt> interrupts;
  for (const std::string& name : files.list("/proc/irq")) {
    if (!starts_with_digit(name)) continue;
    Interrupt interrupt;
    interrupt.number = std::atoi(name.c_str());
    const std::string folder = "/proc/irq/" + name + '/';
    interrupt.allowed = reader.list(folder + "smp_affinity_list");
    interrupt.effective = reader.list(folder + "effective_affinity_list");
    const std::string kernel = "/sys/kernel/irq/" + name + '/';
    if (const auto actions = reader.text(kernel + "actions")) interrupt.actions = comma_separated(*actions);
    if (interrupt.actions.empty()) {
      // Without CONFIG_GENERIC_IRQ in sysfs, the handlers are folders.
      for (const std::string& entry : files.list(folder)) {
        std::error_code ignored;
        if (std::filesystem::is_directory(files.path(folder + entry), ignored)) interrupt.actions.push_back(entry);
      }
    }
    if (const auto found = devices.find(interrupt.number); found != devices.end()) interrupt.device = found->second;
    if (interrupt.device.empty()) {
      if (const auto chip = reader.text(kernel + "chip_name")) interrupt.device = pci_address_in(*chip);
    }
    interrupts.push_back(std::move(interrupt));
  }
  return interrupts;
}

// The kernel reports which CPUs really have no tick, or "(null)". Without CONFIG_NO_HZ_FULL the file does not exist,
// and the kernel ignores the parameter. A copy made by hand may have neither file; then the parameter counts.
CpuSet read_nohz_full(const HostFiles& files, Reader& reader, const HostFacts& facts, const CpuSet& present) {
  const std::string cpus = "/sys/devices/system/cpu/";
  if (const auto list = reader.list(cpus + "nohz_full")) return *list;
  if (files.exists(cpus + "nohz_full") || files.exists(cpus + "isolated")) return {};
  return boot_cpus(facts, "nohz_full", present);
}

// Whether the fair server takes time from real-time threads on any CPU. Kernels before 6.12 have none.
std::optional<bool> read_fair_server(const HostFiles& files, Reader& reader, const KernelVersion& kernel) {
  if (kernel < KernelVersion{6, 12}) return false;
  const std::string base = "/sys/kernel/debug/sched/fair_server/";
  bool seen = false;
  for (const std::string& cpu : files.list(base)) {
    const auto runtime = reader.integer(base + cpu + "/runtime");
    if (!runtime) continue;
    seen = true;
    if (*runtime > 0) return true;
  }
  if (!seen) return std::nullopt;
  return false;
}

CpuSet shielded_cpus(const HostFiles& files, const CpuSet& online) {
  const CpusetHierarchy hierarchy = find_cpusets(files);
  if (hierarchy.version == CpusetHierarchy::Version::none) return {};
  const std::string group = hierarchy.mount + '/' + std::string{housekeeping_group} + "/cpuset.cpus";
  const auto text = files.text(group);
  if (!text) return {};
  const auto house = CpuSet::parse_list(*text);
  if (!house || house->empty()) return {};
  return online - *house;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> split_command_line(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> words;
  std::string word;
  bool quoted = false;
  const auto finish = [&] {
    if (word.empty()) return;
    const std::size_t equals = word.find('=');
    words.emplace_back(word.substr(0, equals), equals == std::string::npos ? "" : word.substr(equals + 1));
    word.clear();
  };
  for (const char c : text) {
    if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && std::isspace(static_cast<unsigned char>(c)) != 0) {
      finish();
    } else {
      word += c;
    }
  }
  finish();
  return words;
}

std::expected<CpuSet, std::string> parse_boot_cpus(std::string_view text, const CpuSet& present) {
  std::string spelled;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool word_begins = i == 0 || text[i - 1] == ',' || text[i - 1] == '-';
    if (word_begins && text[i] == 'N') {
      spelled += std::to_string(std::max(present.last(), 0));
    } else if (word_begins && text.substr(i).starts_with("all")) {
      spelled += "0-" + std::to_string(std::max(present.last(), 0));
      i += 2;
    } else {
      spelled += text[i];
    }
  }
  return CpuSet::parse_list(spelled);
}

CpusetHierarchy find_cpusets(const HostFiles& files) {
  CpusetHierarchy v2;
  for (const Mount& mount : read_mounts(files).value_or(std::vector<Mount>{})) {
    if (mount.type == "cgroup" && mount.has_option("cpuset")) return {CpusetHierarchy::Version::v1, mount.folder};
    if (mount.type == "cgroup2") {
      const auto controllers = files.text(mount.folder + "/cgroup.controllers");
      if (controllers && (' ' + *controllers + ' ').contains(" cpuset "))
        v2 = {CpusetHierarchy::Version::v2, mount.folder};
    }
  }
  return v2;
}

HostFacts read_host_facts(const HostFiles& files) {
  HostFacts facts;
  Reader reader{files, facts};
  facts.command_line = reader.text("/proc/cmdline").value_or("");
  for (auto& [name, value] : split_command_line(facts.command_line)) {
    if (name == "--") break;  // the rest is for init
    // The kernel treats dashes and underscores in names as equal.
    std::ranges::replace(name, '-', '_');
    facts.parameters[name] = value;
  }
  facts.kernel_release = reader.text("/proc/sys/kernel/osrelease").value_or("");
  facts.kernel = version_of(facts.kernel_release);
  const std::string cpus = "/sys/devices/system/cpu/";
  facts.online = reader.list(cpus + "online").value_or(CpuSet{});
  const CpuSet present = reader.list(cpus + "present").value_or(facts.online);
  facts.isolated = reader.list(cpus + "isolated").value_or(CpuSet{});
  if (const auto found = facts.parameters.find("isolcpus"); found != facts.parameters.end())
    facts.isolcpus = parse_isolcpus(found->second, present);
  const CpusetHierarchy hierarchy = find_cpusets(files);
  if (hierarchy.version == CpusetHierarchy::Version::v2)
    facts.isolated |= reader.list(hierarchy.mount + "/cpuset.cpus.isolated").value_or(CpuSet{});
  facts.shielded = shielded_cpus(files, facts.online);
  facts.nohz_full = read_nohz_full(files, reader, facts, present);
  // nohz_full= implies rcu_nocbs= for the same CPUs.
  facts.rcu_nocbs = boot_cpus(facts, "rcu_nocbs", present) | facts.nohz_full;
  facts.interrupts = read_interrupts(files, reader);
  facts.rt_runtime_us = reader.integer("/proc/sys/kernel/sched_rt_runtime_us");
  facts.rt_period_us = reader.integer("/proc/sys/kernel/sched_rt_period_us");
  facts.fair_server = read_fair_server(files, reader, facts.kernel);
  if (const auto active = reader.integer(cpus + "smt/active")) facts.smt_active = *active != 0;
  return facts;
}

int wanted_timer_migration(const HostFacts& facts, const CpuSet& isolated_cpus) {
  return !isolated_cpus.empty() && facts.nohz_full.contains_all(isolated_cpus) ? 1 : 0;
}

}  // namespace nfx
