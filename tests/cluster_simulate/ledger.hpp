// The rules for a session on a stream, whatever its owners do, written independently of their code.
// Thread: one. Cost: constant per call, except for a map of sent numbers. Errors: a call returns the violation; an
// empty text otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/frame.hpp"
#include "cluster/owner.hpp"

namespace nfx::cluster_simulate {

using cluster::Counters;

// Combines the frames that are not obsolete; a reset makes all earlier ones obsolete.
[[nodiscard]] std::uint64_t chain_after(std::uint64_t chain, const cluster::FrameView& frame);

// An owner's frame in flight before a step: if the step has found it stored, its gateway has read it too.
class OwnFrame {
 public:
  explicit OwnFrame(const cluster::OwnerState& before);
  [[nodiscard]] std::uint64_t chain_after_step(std::uint64_t chain, const cluster::OwnerState& after) const;

 private:
  cluster::FrameNumber number_;
  std::string bytes_;  // empty: nothing is in flight, or it is not the owner
};

class Ledger {
 public:
  // The stream has stored this frame.
  [[nodiscard]] std::string stored(std::string_view bytes);
  // A gateway owns the session with this epoch; `chain` combines the frames that it has read.
  [[nodiscard]] std::string owns(std::uint64_t epoch, std::uint64_t gateway, const Counters& counters,
                                 std::uint64_t chain);
  // The owner of that epoch releases its records up to this one. `is_early`: before they are stored, which `async`
  // allows.
  [[nodiscard]] std::string released(std::uint64_t epoch, std::uint64_t count, bool is_early, std::uint64_t most_early);
  // The owner of that epoch sent a message with that number. `resets` is the number of earlier resets.
  [[nodiscard]] std::string sent(std::uint64_t epoch, std::uint64_t resets, std::uint64_t seq,
                                 std::string_view content);

  // An operator has removed frames; `chain` combines the remaining ones, as chain_after() does starting from 0, and
  // `first` is the first of them.
  [[nodiscard]] std::string removed(std::string_view first, std::uint64_t chain) const;

  // The number of resets of both sequence numbers before this epoch; 0 if the epoch was not stored.
  [[nodiscard]] std::uint64_t resets_before(std::uint64_t epoch) const noexcept {
    return epoch != 0 && epoch <= epochs_.size() ? epochs_[epoch - 1].resets : 0;
  }
  [[nodiscard]] std::uint64_t frames() const noexcept { return frames_; }

 private:
  struct EpochRow {
    std::uint64_t gateway = 0;
    std::uint64_t records = 0;  // number of stored records
    std::uint64_t chain = 0;    // up to its first frame
    Counters start;
    std::uint64_t resets = 0;  // before this epoch
    bool started = false;
  };

  std::vector<EpochRow> epochs_;  // [0] is epoch 1
  std::uint64_t frames_ = 0;
  std::uint64_t chain_ = 0;
  std::uint64_t resets_ = 0;  // number of stored resets
  Counters end_;
  std::uint64_t limit_ = 1;
  struct SentRow {
    std::uint64_t content = 0;
    std::uint64_t epoch = 0;
  };
  std::map<std::uint64_t, SentRow> sent_;  // by sequence number, with the resets in the upper bits
};

}  // namespace nfx::cluster_simulate
