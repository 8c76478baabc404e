// The whole way of an order through one small engine, in which each technique can be switched off: received from a
// socket by io_uring, parsed and verified, eight fields read, a report encoded, stored by its MsgSeqNum and an earlier
// one looked up as a resend does, both logged, and the report sent.
// Thread: one owner; with `deferred` a worker on another CPU. Errors: WrongAnswerError; std::system_error from
// io_uring.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "harness/cycle_clock.hpp"

namespace nfx::bench {

struct PathTechniques {
  bool defer_taskrun = false;  // COOP_TASKRUN, SINGLE_ISSUER, DEFER_TASKRUN; off: a ring without flags
  bool vector_code = false;    // the best kernel; off: a byte at a time
  bool views = false;          // NexusFIX's MessageView; off: every value copied into a std::map
  bool dense_index = false;    // off: std::unordered_map
  bool deferred = false;       // log lines are formatted by a worker; off: by the thread that sends
  bool pinned = false;         // off: the threads run where the kernel puts them
};

struct PathPlaces {
  unsigned core = 0;
  unsigned other = 0;
};

class Path {
 public:
  Path() = default;
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;
  virtual ~Path() = default;

  // What the order's peer does before: its bytes are in the socket.
  virtual void deliver(std::string_view order) = 0;
  // From the first byte received to the last byte sent: this alone is timed. Gives the sum of the fields read.
  virtual std::uint64_t process(std::size_t order_size) = 0;
  // The report as its peer receives it.
  [[nodiscard]] virtual std::string_view collect() = 0;
  // Ends the deferred work. The bytes of all log lines so far.
  [[nodiscard]] virtual std::uint64_t finish() = 0;
};

// Also chooses the kernel and confines the calling thread, so that one path is measured at a time.
[[nodiscard]] std::unique_ptr<Path> make_path(const PathTechniques& on, const PathPlaces& places);

}  // namespace nfx::bench
