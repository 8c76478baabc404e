// Finds the useless frames of a session: all before its last frame that begins with a reset of both sequence numbers. A
// replay may begin with that frame, and no ResendRequest reaches messages before it.
// Thread: any; pure. Cost: constant for each frame. Lifetime: keeps no bytes. Errors: none; if a server does not return
// its last frames, fewer frames count as useless, never more.
#pragma once

#include <cstdint>

#include "cluster/frame.hpp"

namespace nfx::cluster {

struct FrameCount {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const FrameCount&, const FrameCount&) = default;
};

class Compaction {
 public:
  // Frames after this sequence make none useless: a copy of the stream does not have them yet.
  explicit Compaction(StreamSeq copied = StreamSeq{UINT64_MAX}) noexcept : copied_(copied) {}

  // The next frame of the session.
  void add(StreamSeq sequence, const FrameView& frame) noexcept;

  // Frames with a lower sequence are of no use. 0: all are of use.
  [[nodiscard]] StreamSeq keep_from() const noexcept;
  [[nodiscard]] const FrameCount& useless() const noexcept { return useless_; }
  [[nodiscard]] const FrameCount& all() const noexcept { return all_; }
  // Whether one was added that begins with a reset, and whether one did after `copied`.
  [[nodiscard]] bool has_reset() const noexcept { return keep_from_ != StreamSeq{}; }
  [[nodiscard]] bool waits_for_copy() const noexcept { return waits_for_copy_; }

 private:
  StreamSeq copied_;
  StreamSeq keep_from_{};
  FrameCount useless_, all_;
  bool waits_for_copy_ = false;
};

}  // namespace nfx::cluster
