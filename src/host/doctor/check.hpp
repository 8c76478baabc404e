// What a check of the doctor is made of: its description, and a function that looks and reports. One table per area.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/host/doctor.hpp"
#include "nexusfix/host/network_facts.hpp"
#include "nexusfix/placement/cpu_set.hpp"
#include "placement/proc_text.hpp"

namespace nfx::doctor {

// What `nfx host collect` could not read, so that its copy says "may not look" where the host did: lines of
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
  CpuSet quiet;  // what the checks are judged for
  bool has_cpus;
  bool virtual_machine;
  int real_time_priority;  // the highest of the plan; 0: none of its threads is real-time
  std::vector<NetworkDevice> network;
  std::vector<Task> tasks;  // not this process's own

  [[nodiscard]] const Task* process(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> parameter(std::string_view name) const;
};

// Where a check says what it found.
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
  // False after saying that no CPU is set apart, so that there is nothing to judge.
  bool set_apart(const Examination& e, CheckResult otherwise = CheckResult::info);
  [[nodiscard]] bool said_nothing() const { return out_.size() == before_; }

 private:
  const CheckInfo& check_;
  std::vector<DoctorFinding>& out_;
  std::size_t before_;
};

struct Check {
  CheckInfo info;
  void (*look)(const Examination&, Report&);
};

[[nodiscard]] std::span<const Check> isolation_checks() noexcept;
[[nodiscard]] std::span<const Check> neighbour_checks() noexcept;  // of the area isolation too
[[nodiscard]] std::span<const Check> scheduler_checks() noexcept;
[[nodiscard]] std::span<const Check> interrupt_checks() noexcept;
[[nodiscard]] std::span<const Check> network_checks() noexcept;
[[nodiscard]] std::span<const Check> power_checks() noexcept;
[[nodiscard]] std::span<const Check> memory_checks() noexcept;
[[nodiscard]] std::span<const Check> process_checks() noexcept;
[[nodiscard]] std::span<const Check> virtualisation_checks() noexcept;

// Text.

// "a, b, c and 4 more".
[[nodiscard]] std::string join(const std::vector<std::string>& words, std::size_t most = 8);
[[nodiscard]] std::vector<std::string> split(std::string_view text, char by);  // without empty words
// The word in brackets of "always [madvise] never"; the whole text when there is none.
[[nodiscard]] std::string chosen(std::string_view text);
// What stands behind "Key:" in a file of such lines.
[[nodiscard]] std::optional<std::string> line_value(std::string_view text, std::string_view key);
[[nodiscard]] std::optional<long long> number(std::string_view text) noexcept;
// "0.12 %"
[[nodiscard]] std::string percent(std::uint64_t part, std::uint64_t whole);

}  // namespace nfx::doctor
