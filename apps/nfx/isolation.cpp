// Isolates CPUs with the code of nfx host apply --runtime; restores them at the end, also after Ctrl-C and SIGTERM.
#include "isolation.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "host/apply.hpp"
#include "nexusfix/placement/machine.hpp"
#include "nexusfix/placement/plan.hpp"
#include "output.hpp"

namespace nfx::app {
namespace {

constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};
std::atomic<bool> signalled{false};
std::array<struct sigaction, signals.size()> before;

void take_signals() {
  signalled = false;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    struct sigaction action{};
    action.sa_handler = [](int) { signalled = true; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(signals[i], &action, &before[i]);
  }
}

void give_signals_back() {
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before[i], nullptr);
}

std::filesystem::path record() { return std::filesystem::path{runtime_state_folder} / runtime_record; }

PlacementPlan plan_for(std::uint32_t threads, const HostFacts& facts) {
  const Topology topology = load_this_machine();
  PlacementRequest request;
  request.enabled = true;
  RoleRequest& poll = request.role(ThreadRole::poll);
  poll.wait = ThreadWait::spin;
  poll.threads = threads;
  PlacementPlan plan = make_plan(topology, facts, request);
  if (!plan.refused()) return plan;
  poll.threads = 1;
  plan = make_plan(topology, facts, request);
  std::string refusals;
  for (const PlanFinding& finding : plan.findings) {
    if (finding.severity == Severity::refusal) refusals += (refusals.empty() ? "" : "; ") + finding.text;
  }
  if (!refusals.empty()) throw std::runtime_error("no CPU can be isolated here: " + refusals);
  return plan;
}

std::vector<int> cpus_of(const PlacementPlan& plan, std::uint32_t threads) {
  std::vector<int> cpus;
  for (std::uint32_t i = 0; i < threads; ++i)
    cpus.push_back(plan.threads[std::min<std::size_t>(i, plan.threads.size() - 1)].cpus.first());
  return cpus;
}

void restore() {
  LiveWriter writer{HostFiles{}};
  try {
    const RevertReport report = revert(HostFiles{}, writer, record());
    for (const std::string& left : report.left) print_error("nfx: not restored: {}\n", left);
  } catch (const ApplyError& error) {
    print_error("nfx: {}; 'nfx host revert' tries again\n", error.what());
  }
  give_signals_back();
}

class HostIsolation final : public Isolation {
 public:
  HostIsolation(std::vector<int> cpus, CpuSet housekeeping) : Isolation(std::move(cpus), std::move(housekeeping)) {}
  ~HostIsolation() override { restore(); }
  bool interrupted() const noexcept override { return signalled; }
};

}  // namespace

std::unique_ptr<Isolation> isolate(std::uint32_t spinning_threads) {
  if (::geteuid() != 0) throw std::runtime_error("--isolate moves other tasks and interrupts: run it as root");
  const HostFacts facts = read_host_facts(HostFiles{});
  const PlacementPlan plan = plan_for(spinning_threads, facts);
  if (ChangeRecord::load(record())) {
    throw std::runtime_error("--isolate: a plan is applied to this host already (" + record().string() +
                             "): 'nfx host revert' undoes it");
  }
  LiveWriter writer{HostFiles{}};
  take_signals();
  const ApplyReport report = apply_runtime(plan, facts, HostFiles{}, writer,
                                           {.record = record(), .while_trading = false, .keep_going = false});
  if (report.exit != HostExit::ok && report.exit != HostExit::warnings) {
    restore();
    throw std::runtime_error("--isolate: " + report.error);
  }
  return std::make_unique<HostIsolation>(cpus_of(plan, spinning_threads), plan.housekeeping);
}

std::vector<int> cpus_to_isolate(std::uint32_t spinning_threads) {
  return cpus_of(plan_for(spinning_threads, read_host_facts(HostFiles{})), spinning_threads);
}

}  // namespace nfx::app
