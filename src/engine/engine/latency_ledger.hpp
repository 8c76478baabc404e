// The latencies of one poll thread and of its sessions, for readers on other threads.
// Thread: enter() and leave() from the poll thread; report() from any. Cost: a mutex when a session connects for the
// first time or leaves memory, and while a report collects the sessions; recording takes none. Lifetime: a session's
// latencies exist until leave() and no report reads them. Errors: enter() throws std::system_error without memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/slow_ring.hpp"
#include "engine/trace_sampler.hpp"
#include "nexusfix/base/memory.hpp"
#include "nexusfix/engine/latency.hpp"

namespace nfx {

// Zero pages, which are an empty set: a page takes memory when the first latency is recorded on it.
class LatencyPages {
 public:
  LatencyPages()
      : pages_(map_array<std::uint64_t>(sizeof(LatencySet) / sizeof(std::uint64_t),
                                        "a session's latencies; set [engine] latency = false")) {}
  [[nodiscard]] LatencySet& set() const noexcept { return *reinterpret_cast<LatencySet*>(pages_.get()); }
  void take() const noexcept { take_pages(std::span{pages_.get(), sizeof(LatencySet) / sizeof(std::uint64_t)}); }

 private:
  static_assert(sizeof(LatencySet) % sizeof(std::uint64_t) == 0);
  PageArray<std::uint64_t> pages_;
};

struct SessionBook {
  std::string session;
  std::uint64_t serial = 0;
  LatencyPages pages;
};

class LatencyLedger {
 public:
  // Until leave().
  [[nodiscard]] std::shared_ptr<SessionBook> enter(const std::string& session);
  // The session's latencies remain in the thread's sum.
  void leave(const std::shared_ptr<SessionBook>& book) noexcept;

  // Adds this thread and its sessions.
  void report(LatencyReport& into, std::uint32_t poll_thread, const LoopLatency& loop) const;

  [[nodiscard]] SlowRing& slow() const noexcept { return *slow_; }
  // Before the first message; null until then.
  TraceRing& make_traces() { return *(traces_ = std::make_unique<TraceRing>()); }
  [[nodiscard]] TraceRing* traces() const noexcept { return traces_.get(); }

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<SessionBook>> books_;
  LatencySet left_;  // of removed sessions
  std::unique_ptr<SlowRing> slow_ = std::make_unique<SlowRing>();
  std::unique_ptr<TraceRing> traces_;
};

}  // namespace nfx
