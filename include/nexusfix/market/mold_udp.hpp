// MoldUDP64: packets of numbered messages over two multicast lines, and an arbiter that makes one stream of them.
// Thread: one owner. Cost: a packet in sequence is one pass over its messages, without a copy; a duplicate is a
// compare. The arbiter takes its memory when it is made. Lifetime: a message borrows the packet's bytes, or the
// buffer's, during the call of the sink. Errors: what the network does is a counter and a state, never an exception.
//
//            0         10         18      20
//   packet  | session | sequence | count | length | message | length | message ...
//   request | session | sequence | count |
//   A count of 0 is a heartbeat, 0xFFFF the end of the session; both have the sequence number of the next message.
//
//   live ----- a gap ----> recovering ----- not filled in time, or larger than the buffer ----> stale
//     ^---- every message has come ---'                                                           |
//     '--------------- a snapshot was loaded, or the missing messages came late ------------------'
//
// The sink has three functions:
//   message(std::uint64_t sequence, std::span<const std::byte>)   each number once, in order, without a gap
//   request(const MoldRequest&)                                   to be sent to the re-request server
//   session(const MoldSession&)                                   a session begins: what was built before is void
// and may have expect(std::span<const std::byte>): a message of a packet in sequence, some messages before it is given.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/page_array.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/market/frames_ahead.hpp"
#include "nexusfix/market/itch_bytes.hpp"
#include "nexusfix/market/mold_counters.hpp"

namespace nfx::market {

using MoldSession = std::array<char, 10>;

inline constexpr std::size_t mold_header_size = 20;
inline constexpr std::uint16_t mold_end_of_session = 0xFFFF;

struct MoldHeader {
  MoldSession session{};
  std::uint64_t sequence = 0;  // of the first message
  std::uint16_t count = 0;

  [[nodiscard]] std::array<std::byte, mold_header_size> bytes() const noexcept;
  [[nodiscard]] static MoldHeader read(std::span<const std::byte, mold_header_size> bytes) noexcept;
};

// To the re-request server, for `count` messages; it answers with as many as one packet holds.
using MoldRequest = MoldHeader;

enum class MoldLine : std::uint8_t {
  a,
  b,
  request,  // the answers of the re-request server
};
inline constexpr std::size_t mold_lines = 3;

enum class FeedState : std::uint8_t {
  waiting,     // nothing has come
  live,        // every message that is known of was given to the sink
  recovering,  // messages are missing; later ones are buffered
  stale,       // what was built is not current: messages are missing for too long, or nothing comes
  ended,       // the session ended, and every message of it was given to the sink
};
[[nodiscard]] std::string_view to_string(FeedState state) noexcept;

enum class StaleReason : std::uint8_t {
  none,
  gap_not_filled,  // not by the other line, nor by the re-request server
  gap_too_large,   // more messages than the buffer holds, from the gap to the newest
  snapshot,        // a snapshot is being loaded
  silence,         // no packet on either line, not even a heartbeat
};
[[nodiscard]] std::string_view to_string(StaleReason reason) noexcept;

struct MoldOptions {
  // A power of two: how far the newest message may be ahead of a gap. A packet that is further ahead is ignored until
  // another one continues it.
  std::size_t buffered_messages = 65536;
  std::uint16_t request_messages = 1000;    // of one request, at most
  unsigned request_attempts = 5;            // that get no answer, then the state is stale; 0: no request is made
  Duration reorder_wait{200'000};           // a gap is requested after this time
  Duration request_interval{1'000'000};     // from a request to the next one, at least
  Duration request_timeout{20'000'000};     // until a request without an answer is repeated
  Duration gap_timeout{2'000'000'000};      // for one gap, then the state is stale
  Duration silence_timeout{5'000'000'000};  // heartbeats come every second
};

// What one line does, for an operator: which one is late, or dead.
struct MoldLineStatus {
  std::uint64_t packets = 0;
  std::uint64_t first = 0;  // packets with messages that no other line had brought
  std::uint64_t end = 0;    // one past the highest sequence number that it announced
  MonotonicTime heard{};    // its last packet
};

class MoldArbiter {
 public:
  // Of a message that is buffered.
  static constexpr std::size_t max_buffered_size = 54;

  // Takes 64 bytes a buffered message. Throws what map_array() throws.
  explicit MoldArbiter(const MoldOptions& options = {});

  // One datagram. It may call every function of the sink.
  template <class Sink>
  void packet(MoldLine line, std::span<const std::byte> bytes, MonotonicTime now, Sink&& sink);

  // Requests, and what is due by time alone. As often as the poll loop runs; a compare if nothing is due.
  template <class Sink>
  void tick(MonotonicTime now, Sink&& sink) {
    if (now < due_) [[likely]]
      return;
    look_at_time(now);
    if (const std::optional<MoldRequest> wanted = next_request(now)) sink.request(*wanted);
  }

  // tick() does nothing before.
  [[nodiscard]] MonotonicTime due_at() const noexcept { return due_; }

  [[nodiscard]] FeedState state() const noexcept { return state_; }
  [[nodiscard]] StaleReason stale_reason() const noexcept { return reason_; }
  // Only a snapshot, or messages that come late, make the state live again.
  [[nodiscard]] bool snapshot_wanted() const noexcept {
    return state_ == FeedState::stale && reason_ != StaleReason::silence;
  }

  // A snapshot is about to replace what was built. From here on messages are buffered, the newest ones if they are too
  // many, until a snapshot has been loaded.
  void snapshot_begin(MonotonicTime now) noexcept;

  // Whether every message from `sequence` on is buffered, or may still come. False: some are no longer in the buffer,
  // and a newer snapshot is needed.
  [[nodiscard]] bool snapshot_fits(std::uint64_t sequence) noexcept;

  // It fits and has been loaded; messages from `sequence` on are not in it. The sink gets what is buffered.
  template <class Sink>
  void snapshot_end(std::uint64_t sequence, MonotonicTime now, Sink&& sink);

  [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_; }
  // One past the newest message that is known of.
  [[nodiscard]] std::uint64_t end_sequence() const noexcept { return end_; }
  [[nodiscard]] const MoldSession& session() const noexcept { return session_; }
  [[nodiscard]] const MoldLineStatus& line(MoldLine line) const noexcept { return lines_[place(line)]; }
  [[nodiscard]] const MoldCounters& counters() const noexcept { return counters_; }

 private:
  struct Slot {
    std::uint64_t sequence;  // 0: none
    std::uint16_t size;
    std::array<std::byte, max_buffered_size> bytes;
  };
  static_assert(sizeof(Slot) == 64);
  static constexpr std::uint64_t no_sequence = ~std::uint64_t{0};

  [[nodiscard]] static std::size_t place(MoldLine line) noexcept { return static_cast<std::size_t>(line); }
  [[nodiscard]] static bool has_messages(std::uint16_t count) noexcept {
    return count != 0 && count != mold_end_of_session;
  }
  [[nodiscard]] bool same_session(std::span<const std::byte> bytes) const noexcept {
    return std::memcmp(bytes.data(), session_.data(), session_.size()) == 0;
  }
  [[nodiscard]] Slot& slot(std::uint64_t sequence) const noexcept { return slots_[sequence & mask_]; }
  [[nodiscard]] bool is_buffered(std::uint64_t sequence) const noexcept { return slot(sequence).sequence == sequence; }

  enum class Taken : std::uint8_t { ignored, considered, session_began };
  [[gnu::cold, gnu::noinline]] Taken take(MoldLine line, std::span<const std::byte> bytes, MonotonicTime now);
  [[nodiscard]] bool is_plausible(const MoldHeader& header) noexcept;
  [[nodiscard]] bool adopt_session(MoldLine line, const MoldHeader& header, MonotonicTime now) noexcept;
  [[nodiscard]] bool buffer_messages(const MoldHeader& header, std::span<const std::byte> blocks) noexcept;
  [[nodiscard]] bool buffer_message(std::uint64_t sequence, std::span<const std::byte> message) noexcept;
  [[gnu::cold, gnu::noinline]] void settle(MonotonicTime now) noexcept;
  void look_at_gap(MonotonicTime now) noexcept;
  [[gnu::cold, gnu::noinline]] void look_at_time(MonotonicTime now) noexcept;
  [[gnu::cold, gnu::noinline]] std::optional<MoldRequest> next_request(MonotonicTime now) noexcept;
  void become_stale(StaleReason reason) noexcept;
  void go_on_from(std::uint64_t sequence) noexcept;
  void set_due(MonotonicTime now) noexcept;
  [[nodiscard]] MonotonicTime last_heard() const noexcept;

  template <class Sink>
  void give_packet(std::span<const std::byte> blocks, std::uint16_t count, MonotonicTime now, Sink& sink);
  template <class Sink>
  void give_buffered(Sink& sink);

  // Every packet in sequence.
  std::uint64_t next_ = 1;  // the first message that the sink has not got
  std::uint64_t end_ = 1;   // one past the newest that is known of; more than next_: messages are missing
  FeedState state_ = FeedState::waiting;
  StaleReason reason_ = StaleReason::none;
  bool held_ = false;  // the sink waits for a snapshot
  bool end_announced_ = false;
  MoldSession session_{};
  bool has_session_ = false;
  std::array<MoldLineStatus, mold_lines> lines_{};
  MoldCounters counters_;
  MonotonicTime due_{};  // when look_at_time() has something to do

  // Gaps.
  std::uint64_t base_ = 1;                      // the lowest number that the buffer may hold
  std::uint64_t gap_next_ = 0;                  // next_ when the gap was last checked
  std::uint64_t gap_end_ = 0;                   // the first buffered message after the gap, or the end; 0: no gap
  std::uint64_t first_buffered_ = no_sequence;  // of the last packet that brought something new
  MonotonicTime gap_since_{};
  MonotonicTime request_at_{};
  MonotonicTime requested_{};
  unsigned attempts_ = 0;
  std::uint64_t doubted_ = 0;  // the end of a packet that was too far ahead

  MoldOptions options_;
  std::uint64_t mask_;
  PageArray<Slot> slots_;
};

template <class Sink>
void MoldArbiter::packet(MoldLine line, std::span<const std::byte> bytes, MonotonicTime now, Sink&& sink) {
  if (bytes.size() >= mold_header_size && state_ == FeedState::live && same_session(bytes)) [[likely]] {
    const auto sequence = load_big_endian<std::uint64_t>(bytes.data() + 10);
    const auto count = load_big_endian<std::uint16_t>(bytes.data() + 18);
    MoldLineStatus& status = lines_[place(line)];
    if (sequence == next_ && has_messages(count)) [[likely]] {
      status = {status.packets + 1, status.first + 1, sequence + count, now};
      end_ = sequence + count;
      give_packet(bytes.subspan(mold_header_size), count, now, sink);
      return;
    }
    // A false sequence number may be near its maximum.
    if (sequence < next_ && next_ - sequence >= count && has_messages(count)) {
      status = {status.packets + 1, status.first, std::max(status.end, sequence + count), now};
      ++counters_.duplicates;
      return;
    }
  }
  const Taken taken = take(line, bytes, now);
  if (taken == Taken::ignored) return;
  if (taken == Taken::session_began) sink.session(session_);
  give_buffered(sink);
  settle(now);
  tick(now, sink);
}

template <class Sink>
void MoldArbiter::give_packet(std::span<const std::byte> blocks, std::uint16_t count, MonotonicTime now, Sink& sink) {
  const std::byte* at = blocks.data();
  const std::byte* const end = at + blocks.size();
  [[maybe_unused]] FramesAhead ahead{at, end};
  for (; count != 0; --count) {
    if constexpr (requires { sink.expect(blocks); }) {
      ahead.next([&](std::span<const std::byte> expected) { sink.expect(expected); });
    }
    if (end - at < 2) [[unlikely]]
      break;
    const std::size_t size = load_big_endian<std::uint16_t>(at);
    at += 2;
    if (static_cast<std::size_t>(end - at) < size) [[unlikely]]
      break;
    sink.message(next_, std::span<const std::byte>{at, size});
    ++next_;
    ++counters_.messages;
    at += size;
  }
  if (count == 0 && at == end) [[likely]]
    return;
  ++counters_.malformed;
  settle(now);
}

template <class Sink>
void MoldArbiter::give_buffered(Sink& sink) {
  while (!held_ && next_ < end_ && is_buffered(next_)) {
    const Slot& found = slot(next_);
    sink.message(next_, std::span<const std::byte>{found.bytes}.first(found.size));
    ++next_;
    ++counters_.messages;
  }
}

template <class Sink>
void MoldArbiter::snapshot_end(std::uint64_t sequence, MonotonicTime now, Sink&& sink) {
  go_on_from(sequence);
  give_buffered(sink);
  settle(now);
  tick(now, sink);
}

}  // namespace nfx::market
