// What a check of the doctor is made of: its description, and a setting to compare or a function that looks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "host/network_facts.hpp"
#include "nexusfix/host/doctor.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "placement/proc_text.hpp"

namespace nfx::doctor {

// What `nfx host collect` could not read, so that its copy reports "may not be read" where the host did: lines of
// "errno path".
inline constexpr std::string_view unreadable_file = "/nexusfix/unreadable";
[[nodiscard]] std::map<std::string, int, std::less<>> collected_errors(const HostFiles& files);

// Host files that remember of a copy what could not be read when it was made.
class Probe {
 public:
  explicit Probe(const HostFiles& files) : files_(files), errors_(collected_errors(files)) {}

  [[nodiscard]] std::expected<std::string, int> text(const std::string& file) const;
  [[nodiscard]] std::expected<long long, int> integer(const std::string& file) const;
  [[nodiscard]] std::vector<std::string> list(const std::string& directory) const { return files_.list(directory); }
  [[nodiscard]] bool exists(const std::string& file) const { return files_.exists(file); }
  // 0 when the directory can be listed.
  [[nodiscard]] int directory_error(const std::string& directory) const;
  [[nodiscard]] const HostFiles& files() const noexcept { return files_; }

 private:
  const HostFiles& files_;
  std::map<std::string, int, std::less<>> errors_;
};

struct Task {
  int process = 0;
  int id = 0;
  std::string name;
  char state = '?';
  bool kernel = false;
  CpuSet allowed;
};

// Where our own control group is, from the hierarchy's mount downwards: "/sys/fs/cgroup/a/b", "/sys/fs/cgroup/a", ...
struct OwnGroup {
  bool v2 = false;
  std::vector<std::string> folders;  // the innermost first, the mount last; empty: none
};
[[nodiscard]] OwnGroup own_group(const HostFiles& files, std::string_view controller);

// Everything that checks share; read once.
struct Examination {
  explicit Examination(const DoctorInput& input);

  const DoctorInput& input;
  const HostFacts& facts;
  const PlacementPlan* plan;
  Probe files;
  CpuSet isolated_cpus;  // the CPUs that the checks are about
  bool has_cpus;
  bool virtual_machine;
  int real_time_priority;  // the highest of the plan; 0: none of its threads is real-time
  std::vector<NetworkDevice> network;
  std::vector<Task> tasks;  // not this process's own

  [[nodiscard]] const Task* process(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> parameter(std::string_view name) const;
};

// Where a check reports what it found.
class Report {
 public:
  Report(const CheckInfo& check, std::vector<DoctorFinding>& out) : check_(check), out_(out), before_(out.size()) {}

  void add(CheckResult result, std::string seen, std::string wanted = {}, std::string subject = {});
  void good(std::string seen, std::string subject = {}) {
    add(CheckResult::good, std::move(seen), {}, std::move(subject));
  }
  void info(std::string seen, std::string subject = {}) {
    add(CheckResult::info, std::move(seen), {}, std::move(subject));
  }
  void warning(std::string seen, std::string wanted, std::string subject = {}) {
    add(CheckResult::warning, std::move(seen), std::move(wanted), std::move(subject));
  }
  void failure(std::string seen, std::string wanted, std::string subject = {}) {
    add(CheckResult::failure, std::move(seen), std::move(wanted), std::move(subject));
  }
  void cannot_tell(std::string seen, std::string subject = {}) {
    add(CheckResult::cannot_tell, std::move(seen), {}, std::move(subject));
  }
  void not_here(std::string seen, std::string subject = {}) {
    add(CheckResult::not_here, std::move(seen), {}, std::move(subject));
  }

  // A file that was not there, or that we may not read.
  void missing(const std::string& file, int error, std::string subject = {});
  // The content, or empty after missing() has been reported.
  std::optional<std::string> text(const Examination& e, const std::string& file, std::string subject = {});
  std::optional<long long> integer(const Examination& e, const std::string& file, std::string subject = {});
  std::optional<CpuSet> mask(const Examination& e, const std::string& file, std::string subject = {});
  // A device's answer under `key`; empty after reporting why there is none.
  std::optional<long long> setting(const NetworkDevice& device, std::string_view key, std::string_view topic);
  // False after reporting that no CPU is isolated, so that there is nothing to check.
  bool set_apart(const Examination& e, CheckResult otherwise = CheckResult::info);
  // True after reporting that there is no network device.
  bool no_network(const Examination& e);
  [[nodiscard]] bool said_nothing() const { return out_.size() == before_; }

 private:
  const CheckInfo& check_;
  std::vector<DoctorFinding>& out_;
  std::size_t before_;
};

// A check with code of its own, of the host or of each of its network devices.
using Look = void(const Examination&, Report&);
using DeviceLook = void(const Examination&, const NetworkDevice&, Report&);
// Why any value of a setting is right on this host; empty: it is not.
using Excuse = std::string_view(const Examination&);

// What a value means: `when` is a value, "!=value", "<=number", ">=number", or "" for any; "{}" in `seen` is the value.
struct Outcome {
  std::string_view when = {};
  CheckResult result = CheckResult::good;
  std::string_view seen = {};
  std::string_view wanted = {};
};

// The ordinary check: one value, of the host or of each network device. The first outcome that fits is reported.
struct Setting {
  struct Ethtool {
    std::string_view topic = {}, key = {};
  };
  std::string_view file = {};  // a number, a word, or words with the chosen one in brackets
  Ethtool ethtool = {};        // where there is no file
  std::array<Outcome, 3> outcomes = {};
  Excuse* excuse = nullptr;
};

// One row of the table, which is all that the doctor, its text and its JSON know of a check.
struct Check {
  CheckInfo info;
  std::variant<Look*, DeviceLook*, Setting> how;
};

[[nodiscard]] std::span<const Check> checks() noexcept;  // in the order in which their findings are reported
void look_at(const Setting& setting, const Examination& e, Report& report);

// Text.

// "a, b, c and 4 more".
[[nodiscard]] std::string join(const std::vector<std::string>& words, std::size_t most = 8);
[[nodiscard]] std::vector<std::string> split(std::string_view text, char by);  // without empty words
// The word in brackets of "always [madvise] never"; the whole text when there is none.
[[nodiscard]] std::string chosen(std::string_view text);
// What follows "Key:" in a file of such lines.
[[nodiscard]] std::optional<std::string> line_value(std::string_view text, std::string_view key);
[[nodiscard]] std::optional<long long> number(std::string_view text) noexcept;
// "0.12 %"
[[nodiscard]] std::string percent(std::uint64_t part, std::uint64_t whole);

}  // namespace nfx::doctor
