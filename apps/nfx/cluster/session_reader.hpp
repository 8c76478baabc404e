// The frames of a session in their order, each once, whatever replica answers: a repeated frame is dropped, a hole is
// read again, and frames that were removed before a reset are passed. Thread: one. Cost: a request for up to 256
// frames. Errors: nats::NatsError for what servers do; std::runtime_error for frames that no owner writes, which names
// their sequence in the stream.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "cluster/frame.hpp"
#include "nats/nats_stream.hpp"

namespace nfx::app::cluster_tools {

// The place of a frame after the last one that was taken.
enum class FramePlace : std::uint8_t {
  next,
  repeated,
  hole,  // frames before it are missing: the answer came from a replica that does not have them
  // Frames before it are missing, and it begins with a reset of both sequence numbers: nfx cluster compact has removed
  // them, or a replica does not have them.
  after_removed,
};

struct TakenFrame {
  std::uint64_t number = 0;  // 0: none was taken yet
  std::uint64_t epoch = 0;
  std::uint64_t gateway = 0;
  nfx::cluster::Counters end;     // after its records
  nfx::cluster::Counters resume;  // after what may have been sent without a record
};

// Where this frame belongs. Throws for a frame that contradicts the last one, or has another session's id.
[[nodiscard]] FramePlace place_of(const nfx::cluster::FrameView& frame, const TakenFrame& last,
                                  nfx::cluster::SessionId session);

// Gives each message of a session's subject to each(const nats::StoredFrame&), in order, as the replicas that answer
// have them; false: there is none. Throws for a server that repeats one.
template <class Each>
bool for_each_stored(nats::NatsStream& stream, const std::string& session, Each&& each) {
  constexpr std::uint32_t of_a_read = 256;
  for (std::uint64_t last = 0;;) {
    const std::vector<nats::StoredFrame> stored = stream.read_after(session, last, of_a_read);
    if (stored.empty()) return last != 0;
    for (const nats::StoredFrame& one : stored) {
      if (one.sequence <= last) throw std::runtime_error("the server repeats sequence " + std::to_string(last));
      last = one.sequence;
      each(one);
    }
  }
}

// That the stream has nothing of this session.
[[nodiscard]] std::runtime_error no_frames(const std::string& stream, const std::string& session);

class SessionReader {
 public:
  SessionReader(nats::NatsStream& stream, std::string session);

  // So that the first frame is this one. By default number 1, or the first one after a reset, before which an operator
  // may have removed frames.
  void start_at(std::uint64_t number);

  // The next frames; empty when the stream has no more of them now. Valid until the next call.
  [[nodiscard]] const std::vector<nats::StoredFrame>& read();

 private:
  // Takes the frames of the answer that are next. False: a frame is missing.
  [[nodiscard]] bool take(std::vector<nats::StoredFrame> answer);

  nats::NatsStream& stream_;
  std::string session_;
  std::uint64_t first_ = 1;     // the number to start with
  std::uint64_t sequence_ = 0;  // of the last frame that was read
  TakenFrame last_;
  std::vector<nats::StoredFrame> frames_;
};

}  // namespace nfx::app::cluster_tools
