// The message taps of an engine, and the last messages of each session that is copied.
// Thread: read() from any thread but a poll thread. Cost: read() waits for the poll thread where copying begins or
// ends, and makes what was copied readable. Bounds: RecentMessages. Memory of sessions that are not requested any
// more is released by the next call for another one, or with the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/engine_control.hpp"
#include "engine/message_tap.hpp"
#include "engine/recent_messages.hpp"

namespace nfx {

class MessageTaps {
 public:
  // The messages after this number, at most `most` of them: the latest. `thread` serves the session.
  [[nodiscard]] RecentMessages read(PollThread& thread, std::size_t session, std::uint64_t after, std::size_t most,
                                    MonotonicTime now, Duration timeout);

 private:
  struct Tapped {
    explicit Tapped(PollThread& of, std::size_t session) : thread(of), tap(session) {}
    PollThread& thread;
    MessageTap tap;
    std::deque<RecentMessage> recent;
  };

  void release_old(std::size_t session, MonotonicTime now, Duration timeout);
  [[nodiscard]] Tapped* find(std::size_t session) noexcept;
  [[nodiscard]] static CommandStatus attach(Tapped& tapped, Duration timeout);
  void take(Tapped& tapped);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Tapped>> tapped_;
  std::uint64_t last_number_ = 0;
};

}  // namespace nfx
