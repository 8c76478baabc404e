// A read-only audit of a host: which settings of it disturb its CPUs.
// Thread: any. Cost: reads some hundred small files; allocates; writes nothing. Errors: none, a check whose files
// may not be read reports `cannot_tell` and why. Source: each check names the kernel's file and documentation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/base/language.hpp"
#include "nexusfix/placement/machine.hpp"
#include "nexusfix/placement/plan.hpp"

namespace nfx {

// Exit codes of `nfx host` commands. Where several apply, combine() chooses.
enum class HostExit : std::uint8_t {
  ok = 0,
  warnings = 1,
  failures = 2,
  cannot_tell = 3,
  reboot_pending = 4,
  policy_invalid = 5,
  partly_applied = 6,
};

// The worse of two: partly applied, then an invalid policy, failures, cannot tell, reboot pending, warnings, ok.
[[nodiscard]] constexpr HostExit combine(HostExit a, HostExit b) noexcept {
  constexpr auto rank = [](HostExit exit) {
    switch (exit) {
      case HostExit::ok: return 0;
      case HostExit::warnings: return 1;
      case HostExit::reboot_pending: return 2;
      case HostExit::cannot_tell: return 3;
      case HostExit::failures: return 4;
      case HostExit::policy_invalid: return 5;
      case HostExit::partly_applied: return 6;
    }
    return 6;
  };
  return rank(a) < rank(b) ? b : a;
}

enum class CheckResult : std::uint8_t {
  good,
  info,  // reported, nothing is wanted: mitigations, for example
  warning,
  failure,
  cannot_tell,  // exists, but it may not be read
  not_here,     // this machine has no such thing
};

[[nodiscard]] std::string_view to_string(CheckResult result) noexcept;

// The part of a check that is the same on every host; `explain ID` prints it.
struct CheckInfo {
  std::string_view id = {};    // "isolation.isolcpus"
  std::string_view area = {};  // the id up to its point
  std::string_view title = {};
  std::string_view source = {};       // the files or interfaces read
  std::string_view why = {};          // with the measured effect
  std::string_view fix_runtime = {};  // empty: needs a reboot
  std::string_view fix_boot = {};     // empty: run time is enough
  std::string_view risk = "None.";    // what the fix costs
};

struct DoctorFinding {
  const CheckInfo* check = nullptr;
  CheckResult result = CheckResult::good;
  std::string subject;  // "cpu3", "eth0", empty for the host
  std::string seen;
  std::string wanted;
};

struct DoctorInput {
  const HostFiles& files;
  const Topology& topology;
  const HostFacts& facts;
  const PlacementPlan* plan = nullptr;  // null: the checks are about the CPUs that the host itself has isolated, if any
};

[[nodiscard]] std::span<const CheckInfo> doctor_checks() noexcept;
[[nodiscard]] const CheckInfo* find_check(std::string_view id) noexcept;

// In the order of doctor_checks(); at least one finding per check.
[[nodiscard]] std::vector<DoctorFinding> examine(const DoctorInput& input);

// 0 ok, 1 warnings, 2 failures, 3 cannot tell; failures take precedence over what could not be read.
[[nodiscard]] HostExit exit_of(std::span<const DoctorFinding> findings) noexcept;

// Without `everything`: warnings, failures and what could not be seen.
[[nodiscard]] std::string to_text(std::span<const DoctorFinding> findings, bool everything);
[[nodiscard]] std::string to_json(std::span<const DoctorFinding> findings);

// What `nfx host collect` copies, as patterns of fnmatch(3) per part of the path.
[[nodiscard]] std::span<const std::string_view> collected_patterns();

struct Collected {
  std::size_t files = 0;
  std::size_t bytes = 0;
  std::size_t unreadable = 0;
  bool complete = true;  // false: there was more than the bounds of 100,000 files and 128 MiB allow
};

// Copies every file that the doctor and the topology read into a folder that is empty or does not exist yet. examine()
// of the copy reports the same as here, including what may not be read. Every user can read all of these files. The
// copy has no command lines, environments or memory of processes. Throws std::runtime_error when the folder cannot be
// written.
Collected collect_host(const HostFiles& from, const std::filesystem::path& to);

}  // namespace nfx
