// Starts the thread of a group in the order that placement needs: name it, pin it, create its objects.
#include "nexusfix/fabric/groups.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>

#include "nexusfix/placement/cpu_affinity.hpp"
#include "placement/place_thread.hpp"

namespace nfx::fabric {
namespace {

void place(const GroupOptions& options) {
  CpuAffinity::name_thread(options.name);
  if (options.cpus.empty()) return;
  const AffinityResult placed = place_thread(options.cpus);
  if (!placed) {
    throw std::runtime_error("fabric group " + options.name + ": cannot run on CPUs " + options.cpus.to_list() + ": " +
                             placed.message());
  }
}

}  // namespace

GroupThread::GroupThread(const GroupOptions& options, std::function<std::unique_ptr<GroupProgram>()> make) {
  const auto start = [this, &options, &make] {
    place(options);
    program_ = make();
    if (!program_) throw std::runtime_error("fabric group " + options.name + ": there is no program to run");
  };
  // A peer that keeps sending must not keep a stopping thread alive.
  const auto step = [this]() -> std::size_t {
    return stopping_.load(std::memory_order_relaxed) ? 0 : program_->step(std::chrono::steady_clock::now());
  };
  thread_ = std::make_unique<WorkerThread>(
      signal_, WorkerThread::Work{.step = step, .has_work = {}},
      WorkerOptions{.idle = options.idle, .longest_sleep = options.longest_sleep, .on_start = start});
}

GroupThread::~GroupThread() { stop(); }

void GroupThread::stop() noexcept {
  stopping_.store(true, std::memory_order_relaxed);
  thread_.reset();
}

}  // namespace nfx::fabric
