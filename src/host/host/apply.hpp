// Makes a host follow a plan, checks whether it does, and restores everything.
// Thread: one owner. Cost: some hundred small files and every task of the host; allocates. Errors: the host's are in
// the reports; ApplyError for records and locks. Bounds: 10 passes over the tasks. Source:
// Documentation/admin-guide/cgroup-v1/cpusets.rst, cgroup-v2.rst, core-api/irq/irq-affinity.rst,
// core-api/workqueue.rst.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/boot_artefacts.hpp"
#include "host/change_record.hpp"
#include "nexusfix/host/doctor.hpp"
#include "nexusfix/placement/machine.hpp"
#include "nexusfix/placement/plan.hpp"

namespace nfx {

// Changes to a running host are lost at reboot, together with their record; installed files stay. Revert runs as root
// and follows the record, so no other user may write to these folders; the service must not own them.
inline constexpr std::string_view runtime_state_folder = "/run/nexusfix-host";
inline constexpr std::string_view boot_state_folder = "/var/lib/nexusfix-host";
inline constexpr std::string_view runtime_record = "changes.jsonl";
inline constexpr std::string_view boot_record = "installed.jsonl";

// The changes that are still needed, in the order in which they are made; empty on a host that follows the plan.
// `refused` (may be null) is a record: a change that the kernel refused once is not tried again. Only reads.
[[nodiscard]] std::vector<Change> runtime_changes(const PlacementPlan& plan, const HostFacts& facts,
                                                  const HostFiles& files, const RecordContent* record = nullptr,
                                                  std::vector<std::string>* notes = nullptr);
[[nodiscard]] std::vector<Change> install_changes(std::span<const BootArtefact> artefacts, const HostFiles& files);

struct ApplyOptions {
  std::filesystem::path record;  // file of the record
  bool while_trading = false;
  bool keep_going = false;  // a failed write is reported, and apply continues
};

struct ChangeResult {
  Change change;
  RecordedOutcome result;
  bool done = false;  // false: not tried, because an earlier change failed
};

struct ApplyReport {
  HostExit exit = HostExit::ok;
  std::string error;  // why nothing was done, or why everything was undone
  bool rolled_back = false;
  std::size_t tasks_moved = 0;
  std::vector<RefusedTask> refused_tasks;
  std::vector<ChangeResult> changes;
  std::vector<std::string> notes;
};

// Why the plan must not be applied to this host now, with the exit code: the plan is refused, there is no housekeeping
// CPU, or an engine is trading.
struct ApplyProblem {
  HostExit exit = HostExit::ok;
  std::string text;
};
[[nodiscard]] std::optional<ApplyProblem> find_apply_problem(const PlacementPlan& plan, const HostFacts& facts,
                                                             const HostFiles& files, bool while_trading);

[[nodiscard]] ApplyReport apply_runtime(const PlacementPlan& plan, const HostFacts& facts, const HostFiles& files,
                                        HostWriter& writer, const ApplyOptions& options);
[[nodiscard]] ApplyReport install(const PlacementPlan& plan, std::span<const BootArtefact> artefacts,
                                  const HostFiles& files, HostWriter& writer, const ApplyOptions& options);

struct RevertReport {
  HostExit exit = HostExit::ok;
  bool found = false;  // a record was found
  std::size_t changes = 0;
  std::size_t restored = 0;
  std::size_t tasks_restored = 0;  // moved back, or their mask restored
  std::vector<std::string> left;   // not restored, with the reason
  std::vector<std::string> notes;
};

// Restores the recorded state, last change first, and removes the record when everything is restored. May be repeated.
// Throws ApplyError if another user may change the record, or if it contains a change that apply never makes.
[[nodiscard]] RevertReport revert(const HostFiles& files, HostWriter& writer, const std::filesystem::path& record);

enum class VerifyResult : std::uint8_t {
  ok,
  pending,  // takes effect later by itself, or at the next boot
  refused,  // the kernel refuses to change it
  violated,
  unknown,  // exists but is not readable
};
[[nodiscard]] std::string_view to_string(VerifyResult result) noexcept;

struct VerifyItem {
  std::string id;  // "tasks.user", "interrupts.effective", "boot.plan"
  VerifyResult result = VerifyResult::ok;
  std::string seen;
  std::string wanted;
};

struct VerifyReport {
  HostExit exit = HostExit::ok;
  std::vector<VerifyItem> items;
};

struct VerifyInput {
  const PlacementPlan& plan;
  const HostFacts& facts;
  const HostFiles& files;
  const Topology& topology;
  const RecordContent* runtime = nullptr;    // null: the plan is not applied to the running host
  const RecordContent* installed = nullptr;  // null: the plan is not installed for the next boot
};

[[nodiscard]] VerifyReport verify(const VerifyInput& input);

[[nodiscard]] std::string to_text(std::span<const Change> changes);  // the planned changes
[[nodiscard]] std::string to_json(std::span<const Change> changes);
[[nodiscard]] std::string to_text(const ApplyReport& report);
[[nodiscard]] std::string to_json(const ApplyReport& report);
[[nodiscard]] std::string to_text(const RevertReport& report);
[[nodiscard]] std::string to_json(const RevertReport& report);
[[nodiscard]] std::string to_text(const VerifyReport& report);
[[nodiscard]] std::string to_json(const VerifyReport& report);

}  // namespace nfx
