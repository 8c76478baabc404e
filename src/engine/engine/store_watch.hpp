// Decides what becomes of a session whose journal is full or has failed. A full disk stops its messages: none is sent,
// and none is read that needs an answer. Its connection stays for full_timeout while heartbeats can be recorded; then
// it logs out. If an encoded message could not be recorded, the connection ends before it leaves, because its number
// would be used again. Thread: one owner. Cost: compares. Pure: the state of the journal and the time are arguments.
#pragma once

#include <cstdint>
#include <utility>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/time.hpp"
#include "store/journal_store.hpp"

namespace nfx {

struct StoreState {
  StoreCondition condition{};
  bool has_reserve = true;    // for sequence numbers, while the disk is full
  std::uint64_t refused = 0;  // records, since it was opened
};

enum class StoreVerdict : std::uint8_t { goes_on, logs_out, drops };

class StoreWatch {
 public:
  [[nodiscard]] bool in_trouble() const noexcept { return in_trouble_; }
  // When to check again; MonotonicTime::max() when nothing is due.
  [[nodiscard]] MonotonicTime at() const noexcept { return full_until_; }
  [[nodiscard]] bool has_refused_more(std::uint64_t refused) const noexcept { return refused != refused_; }

  [[nodiscard]] StoreVerdict check(const StoreState& state, MonotonicTime now, Duration full_timeout) noexcept {
    NFX_ASSERT(state.refused >= refused_);
    const bool lost = state.refused != std::exchange(refused_, state.refused);
    const bool failed = state.condition == StoreCondition::failed;  // for good, so there is nothing to wait for
    if (state.condition < StoreCondition::full && !lost) {
      in_trouble_ = waited_ = false;
      full_until_ = MonotonicTime::max();
      return StoreVerdict::goes_on;
    }
    if (!std::exchange(in_trouble_, true)) full_until_ = now + full_timeout;
    waited_ |= full_until_ <= now;
    if (waited_ || failed) full_until_ = MonotonicTime::max();
    if (lost || failed) return StoreVerdict::drops;
    return waited_ || !state.has_reserve ? StoreVerdict::logs_out : StoreVerdict::goes_on;
  }

 private:
  bool in_trouble_ = false;
  bool waited_ = false;  // for full_timeout
  MonotonicTime full_until_ = MonotonicTime::max();
  std::uint64_t refused_ = 0;
};

}  // namespace nfx
