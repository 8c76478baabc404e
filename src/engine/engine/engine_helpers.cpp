// Starts the helper threads, each in its place, and ends them in order: workers before flushers.
#include "engine/engine_helpers.hpp"

#include <chrono>
#include <latch>
#include <string>
#include <utility>

#include "engine/clock.hpp"
#include "engine/engine_metrics.hpp"
#include "placement/thread_name.hpp"

namespace nfx {

EngineHelpers::EngineHelpers(const EngineConfig& config, EnginePlacement& placement, Disk& disk,
                             std::function<void()> durable)
    : placement_(placement),
      flushers_(helper_threads(config, ThreadRole::flusher)),
      workers_(helper_threads(config, ThreadRole::deferred)),
      handshakers_(helper_threads(config, ThreadRole::handshake)),
      stores_(disk, std::move(durable), {.flushers = flushers_.threads, .workers = workers_.threads},
              {.stores = config.max_dynamic_stores,
               .bytes = config.max_dynamic_store_bytes,
               .age = config.dynamic_store_age}) {}

void EngineHelpers::begin() {
  const std::lock_guard lock{mutex_};
  add_all(ThreadRole::flusher, flushers_.threads);
  add_all(ThreadRole::deferred, workers_.threads);
}

void EngineHelpers::begin_handshakes() {
  const std::lock_guard lock{mutex_};
  add_all(ThreadRole::handshake, handshakers_.threads);
}

// Threads that could not be started the last time are tried again.
void EngineHelpers::add_all(ThreadRole role, std::uint32_t threads) {
  helpers_.reserve(helpers_.size() + threads);
  const auto running = static_cast<std::uint32_t>(std::ranges::count(helpers_, role, &Helper::role));
  for (std::uint32_t i = running; i < threads; ++i) add(role, i);
}

void EngineHelpers::add(ThreadRole role, std::uint32_t index) {
  auto watch = std::make_unique<HelperWatch>();
  std::latch in_place{1};
  std::thread thread{[this, role, index, &its_watch = *watch, &in_place] {
    placement_.enter_role(role, index);
    in_place.count_down();
    serve(role, index, its_watch);
    placement_.leave();
  }};
  in_place.wait();
  helpers_.push_back({role, index, std::move(watch), std::move(thread)});
}

void EngineHelpers::serve(ThreadRole role, std::uint32_t index, HelperWatch& watch) {
  switch (role) {
    case ThreadRole::flusher: return flush(index, watch);
    case ThreadRole::deferred: return stores_.run_jobs(index, workers_.idle, &watch);
    case ThreadRole::handshake: return handshakes_.run(handshakers_.idle, watch);
    case ThreadRole::poll:
    case ThreadRole::log:
    case ThreadRole::feed:
    case ThreadRole::model:
    case ThreadRole::orders:
    case ThreadRole::recorder:
    case ThreadRole::ui: break;  // not helpers of this class
  }
}

void EngineHelpers::flush(std::uint32_t index, HelperWatch& watch) {
  JournalFlusher& flusher = stores_.flusher(index);
  const IdleStrategy idle{flushers_.idle};
  SystemClock clock;
  flusher.wait_for_memory_elsewhere(
      [this](const std::function<void()>& run) { placement_.run_on_housekeeping("nfx-memory", run); });
  while (!stop_.load(std::memory_order_acquire)) {
    const Instant now = clock.now();
    watch.turn_began(now.monotonic);
    const Duration due = flusher.turn(now);
    const bool nothing = due > Duration::zero();
    watch.turn_ended(clock.monotonic(), nothing && idle.mode() == IdleMode::spin);
    if (!nothing) continue;
    if (idle.mode() == IdleMode::block) {
      flusher.wait(due);
    } else {
      idle.idle(0);
    }
  }
}

void EngineHelpers::join(ThreadRole role) noexcept {
  for (Helper& helper : helpers_) {
    if (helper.role == role && helper.thread.joinable()) helper.thread.join();
  }
}

void EngineHelpers::end_jobs() noexcept {
  stores_.end_jobs();
  join(ThreadRole::deferred);
  // Runs the jobs of workers that have no thread; a worker with a thread has finished its own.
  for (std::uint32_t i = 0; i < stores_.workers(); ++i) stores_.run_jobs(i);
}

void EngineHelpers::end() noexcept {
  end_jobs();
  stop_.store(true, std::memory_order_release);
  for (std::uint32_t i = 0; i < stores_.flushers(); ++i) stores_.flusher(i).wake();
  join(ThreadRole::flusher);
  handshakes_.end();
  join(ThreadRole::handshake);
}

Duration EngineHelpers::worst_gap(std::string_view thread) const {
  const std::lock_guard lock{mutex_};
  for (const Helper& helper : helpers_) {
    if (thread_name(helper.role, helper.index) == thread) return helper.watch->worst_gap();
  }
  return Duration::zero();
}

void EngineHelpers::add_metrics(MetricsPage& page) {
  const std::lock_guard lock{mutex_};
  for (const Helper& helper : helpers_) {
    const std::string name = thread_name(helper.role, helper.index);
    HelperFigures figures{.longest_turn = helper.watch->longest_turn(), .journals = {}, .syncs = {}};
    if (helper.role == ThreadRole::flusher) {
      const JournalFlusher& flusher = stores_.flusher(helper.index);
      figures.journals = flusher.journals();
      figures.syncs = flusher.syncs();
    }
    add_helper(page, name, figures);
  }
}

}  // namespace nfx
