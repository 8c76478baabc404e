// Messages that other threads pass to a poll thread, and the sessions that those threads may name.
// Thread: submit(), find() and counters() from any; the rest from the poll thread, except add(), which a session made
// elsewhere calls there. A mutex among the producers; the poll thread takes it when a session comes or goes and never
// for a message. Cost: drain() of an empty queue is one load. Bounds: submit_queue_bytes; submit() refuses and counts
// messages that do not fit.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

#include "base/shared_counters.hpp"
#include "engine/engine_counter_rows.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/concurrent/spsc_queue.hpp"
#include "nexusfix/engine/engine_counters.hpp"
#include "nexusfix/engine/submit.hpp"

namespace nfx {

// One message in a queue: this header and the three texts, one after the other.
struct Submission {
  struct Header {
    std::uint64_t ticket = 0;
    std::uint64_t session = 0;
    std::uint32_t msg_type_size = 0;
    std::uint32_t body_size = 0;
    bool keep = false;
    bool report = false;
    std::optional<SendError> fault{};  // seen when it was submitted
  };

  Header header;
  Outgoing message;  // borrows the record

  // `record` is one that was pushed.
  [[nodiscard]] static Submission of(std::span<const char> record) noexcept;
};

// A session's state that other threads read while the poll thread changes it.
struct SubmitState {
  std::atomic<bool> logged_on{false};
  // Bytes of messages to be held: queued ones, and ones that wait for the Logon. Producers add, the poll thread
  // subtracts.
  std::atomic<std::size_t> keep_bytes{0};
};

class Submissions {
 public:
  // Bytes of the queue, and of messages that are held for each session.
  struct Limits {
    std::size_t queue_bytes = std::size_t{2} << 20;
    std::size_t keep_bytes = std::size_t{1} << 20;
    std::size_t max_message_size = 64 * 1024;
  };

  // Throws std::invalid_argument for a size that no queue can have.
  explicit Submissions(const Limits& limits);

  // The queue of held messages for one session: it has space for everything that submit() accepts.
  [[nodiscard]] std::unique_ptr<SpscQueue> make_keep() const;
  // The part of keep_bytes that a record takes.
  [[nodiscard]] static constexpr std::size_t charge(std::size_t record_size) noexcept {
    return (record_size + sizeof(std::size_t) + slot_size - 1) / slot_size * slot_size;
  }

  // A session that exists from now on; it outlives its remove().
  void add(std::size_t number, const SessionConfig& config, SubmitState& state);
  void remove(std::size_t number) noexcept;
  // The loop has ended: later calls of submit() are refused. Queued messages still have to be drained.
  void close() noexcept;
  [[nodiscard]] std::optional<std::size_t> find(const SessionId& id);

  [[nodiscard]] SubmitResult submit(std::size_t session, const Outgoing& message, SubmitOptions options) noexcept;

  // Calls visitor(record) for each queued record, at most one queue's worth.
  template <class Visitor>
  void drain(Visitor&& visitor) {
    for (std::size_t left = queue_.slot_count(); left != 0; --left) {
      if (!queue_.try_pop(visitor)) return;
    }
  }

  [[nodiscard]] PollLoopCounters counters() const noexcept { return read_shared(counters_); }
  // Any thread: bytes of the queue in use.
  [[nodiscard]] std::size_t queued_bytes() const noexcept { return queue_.size() * slot_size; }

 private:
  static constexpr std::size_t slot_size = 128;

  struct Listed {
    const SessionConfig* config = nullptr;
    SubmitState* state = nullptr;
  };

  [[nodiscard]] SubmitStatus push(std::size_t session, const Outgoing& message, SubmitOptions options,
                                  std::optional<SendError> fault) noexcept;
  void count(SubmitStatus status) noexcept;
  [[nodiscard]] static std::size_t longest(std::size_t bytes, std::size_t max_message_size) noexcept;

  const Limits limits_;
  std::mutex mutex_;
  std::map<std::size_t, Listed> sessions_;  // by number
  std::uint64_t tickets_ = 0;
  bool closed_ = false;
  PollLoopCounters counters_;  // with count_shared(), under the mutex
  SpscQueue queue_;
};

}  // namespace nfx
