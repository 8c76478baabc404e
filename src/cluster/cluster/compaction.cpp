// Which frames of a session are of no use.
#include "cluster/compaction.hpp"

#include "nexusfix/base/assert.hpp"

namespace nfx::cluster {

void Compaction::add(StreamSeq sequence, const FrameView& frame) noexcept {
  NFX_ASSERT(sequence > keep_from_);
  if (begins_with_reset(frame)) {
    if (sequence <= copied_) {
      keep_from_ = sequence;
      useless_ = all_;
    } else {
      waits_for_copy_ = true;
    }
  }
  ++all_.frames;
  all_.bytes += frame.bytes.size();
}

StreamSeq Compaction::keep_from() const noexcept {
  if (useless_.frames == 0) return {};
  return keep_from_;
}

}  // namespace nfx::cluster
