// A check of the doctor: its description, and either a setting to compare or a function.
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

// Lists the files that `nfx host collect` could not read, as lines of "errno path". The copy then reports "not
// readable" for the same files as the host.
inline constexpr std::string_view unreadable_file = "/nexusfix/unreadable";
[[nodiscard]] std::map<std::string, int, std::less<>> collected_errors(const HostFiles& files);

// Host files that know which files could not be read when a copy was made.
class Probe {
 public:
  explicit Probe(const HostFiles& files) : files_(files), errors_(collected_errors(files)) {}

  [[nodiscard]] std::expected<std::string, int> text(const std::string& file) const;
  [[nodiscard]] std::expected<long long, int> integer(const std::string& file) const;
  [[nodiscard]] std::vector<std::string> list(const std::string& directory) const { return files_.list(directory); }
  [[nodiscard]] bool exists(const std::string& file) const { return files_.exists(file); }
  // 0 if the directory can be listed.
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

// Our own control group, from the hierarchy's mount down: "/sys/fs/cgroup/a/b", "/sys/fs/cgroup/a", ...
struct OwnGroup {
  bool v2 = false;
  std::vector<std::string> folders;  // innermost first, the mount last; empty: none
};
[[nodiscard]] OwnGroup own_group(const HostFiles& files, std::string_view controller);

// Everything that checks share, read once.
struct Examination {
  explicit Examination(const DoctorInput& input);

  const DoctorInput& input;
  const HostFacts& facts;
  const PlacementPlan* plan;
  Probe files;
  CpuSet isolated_cpus;  // the CPUs that the checks are about
  bool has_cpus;
  bool virtual_machine;
  int real_time_priority;  // the highest priority in the plan; 0: no thread is real-time
  std::vector<NetworkDevice> network;
  std::vector<Task> tasks;  // without this process's own

  [[nodiscard]] const Task* process(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> parameter(std::string_view name) const;
};

// Collects the findings of a check.
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

  // Reports a file that is missing or not readable.
  void missing(const std::string& file, int error, std::string subject = {});
  // The content; if it cannot be read, calls missing() and returns nothing.
  std::optional<std::string> text(const Examination& e, const std::string& file, std::string subject = {});
  std::optional<long long> integer(const Examination& e, const std::string& file, std::string subject = {});
  std::optional<CpuSet> mask(const Examination& e, const std::string& file, std::string subject = {});
  // A device's setting `key`; if there is none, reports why and returns nothing.
  std::optional<long long> setting(const NetworkDevice& device, std::string_view key, std::string_view topic);
  // Returns false, and reports `otherwise`, if no CPU is isolated and there is nothing to check.
  bool set_apart(const Examination& e, CheckResult otherwise = CheckResult::info);
  // Returns true, and reports it, if there is no network device.
  bool no_network(const Examination& e);
  [[nodiscard]] bool said_nothing() const { return out_.size() == before_; }

 private:
  const CheckInfo& check_;
  std::vector<DoctorFinding>& out_;
  std::size_t before_;
};

// A check with code of its own, for the host or for each network device.
using Look = void(const Examination&, Report&);
using DeviceLook = void(const Examination&, const NetworkDevice&, Report&);
// The reason why any value of a setting is right on this host; empty: there is none.
using Excuse = std::string_view(const Examination&);

// The meaning of a value. `when` is a value, "!=value", "<=number", ">=number", or "" for any; "{}" in `seen` is the
// value.
struct Outcome {
  std::string_view when = {};
  CheckResult result = CheckResult::good;
  std::string_view seen = {};
  std::string_view wanted = {};
};

// The ordinary check: one value, of the host or of each network device. The first outcome that matches is reported.
struct Setting {
  struct Ethtool {
    std::string_view topic = {}, key = {};
  };
  std::string_view file = {};  // contains a number, a word, or words with the chosen one in brackets
  Ethtool ethtool = {};        // used if there is no file
  std::array<Outcome, 3> outcomes = {};
  Excuse* excuse = nullptr;
};

// One row of the table: everything that the doctor, its text and its JSON know about a check.
struct Check {
  CheckInfo info;
  std::variant<Look*, DeviceLook*, Setting> how;
};

[[nodiscard]] std::span<const Check> checks() noexcept;  // in the order of their findings
void look_at(const Setting& setting, const Examination& e, Report& report);

// Text.

// "a, b, c and 4 more".
[[nodiscard]] std::string join(const std::vector<std::string>& words, std::size_t most = 8);
[[nodiscard]] std::vector<std::string> split(std::string_view text, char by);  // without empty words
// The word in brackets of "always [madvise] never", or the whole text if there is none.
[[nodiscard]] std::string chosen(std::string_view text);
// The text after "Key:" in a file with such lines.
[[nodiscard]] std::optional<std::string> line_value(std::string_view text, std::string_view key);
[[nodiscard]] std::optional<long long> number(std::string_view text) noexcept;
// "0.12 %"
[[nodiscard]] std::string percent(std::uint64_t part, std::uint64_t whole);

}  // namespace nfx::doctor
