// The two protocols that carry ITCH. MoldUDP64 sends packets of numbered messages over two multicast lines, and an
// arbiter makes one stream of them. SoupBinTCP 3.00, here its client, is how GLIMPSE sends a snapshot of all books.
// Thread: one owner each. Cost: a packet in sequence is one pass over its messages, without a copy; a duplicate is a
// compare. Arbiter and client take their memory when they are made. Lifetime: a message borrows the received bytes, or
// the buffer's, during the call of the sink. Errors: a fault of the network or a server is a counter and a state, never
// an exception.
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
// The arbiter's sink has three functions:
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
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/call_hook.hpp"
#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/base/memory.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/market/feed.hpp"
#include "nexusfix/market/itch.hpp"

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

// The state of one line, for an operator: which one is late, or dead.
struct MoldLineStatus {
  std::uint64_t packets = 0;
  std::uint64_t first = 0;  // packets with messages that no other line had brought
  std::uint64_t end = 0;    // one past the highest sequence number that it announced
  MonotonicTime heard{};    // its last packet
};

struct MoldCounters {
  std::uint64_t messages = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t malformed = 0;
  std::uint64_t other_session = 0;
  std::uint64_t implausible = 0;
  std::uint64_t gaps = 0;
  std::uint64_t buffered = 0;
  std::uint64_t dropped = 0;
  std::uint64_t too_long = 0;
  std::uint64_t requests = 0;
  std::uint64_t stale = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t snapshots_refused = 0;

  friend bool operator==(const MoldCounters&, const MoldCounters&) = default;
};

// Makes one stream of two lines.
class MoldArbiter {
 public:
  // The maximum size of a buffered message.
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
  trace_call();
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

//    0        2      3
//   | length | type | payload ...       length: of type and payload
//
// The client's sink has two functions:
//   message(std::uint64_t sequence, std::span<const std::byte>)
//   send(std::span<const std::byte>)      to the server
inline constexpr std::size_t soup_header_size = 3;
inline constexpr std::size_t soup_max_packet_size = 2 + 65535;

// Types of packets.
namespace soup {
inline constexpr char debug = '+';
inline constexpr char login_accepted = 'A';
inline constexpr char login_rejected = 'J';
inline constexpr char sequenced = 'S';
inline constexpr char unsequenced = 'U';
inline constexpr char server_heartbeat = 'H';
inline constexpr char end_of_session = 'Z';
inline constexpr char login_request = 'L';
inline constexpr char client_heartbeat = 'R';
inline constexpr char logout_request = 'O';
inline constexpr std::size_t login_request_size = soup_header_size + 46;
inline constexpr std::size_t login_accepted_size = soup_header_size + 30;

// A number as SoupBinTCP and GLIMPSE write it: 20 characters, digits with spaces before them. Empty: it is not one.
[[nodiscard]] std::optional<std::uint64_t> read_number(std::span<const std::byte, 20> text) noexcept;
void write_number(std::uint64_t number, std::span<std::byte, 20> out) noexcept;
// The two bytes of length, and the type.
void write_header(char type, std::size_t payload_size, std::span<std::byte, soup_header_size> out) noexcept;
}  // namespace soup

struct SoupLogin {
  std::string username;        // at most 6 characters
  std::string password;        // at most 10
  std::string session;         // at most 10; empty: the current one
  std::uint64_t sequence = 1;  // the first message wanted; 0: the next one to be sent
};

struct SoupOptions {
  Duration heartbeat{1'000'000'000};         // the client sends one when it has sent nothing for this time
  Duration silence_timeout{15'000'000'000};  // the server is given up when nothing comes for this time
};

enum class SoupState : std::uint8_t {
  closed,      // not connected
  logging_in,  // the login was sent
  logged_in,
  ended,   // the server has ended the session
  failed,  // see failure(): close the connection
};
[[nodiscard]] std::string_view to_string(SoupState state) noexcept;

enum class SoupFailure : std::uint8_t {
  none,
  not_authorised,       // the server does not know the user or the password
  session_unavailable,  // the server does not have the session
  rejected,             // another reason, that the protocol does not define
  malformed,            // a packet without a type, of a wrong length, or with an invalid number
  unexpected,           // a packet that a server does not send, or not now
  silence,              // nothing came for the timeout
};
[[nodiscard]] std::string_view to_string(SoupFailure failure) noexcept;

class SoupClient {
 public:
  explicit SoupClient(const SoupOptions& options = {});

  // The connection is open: sends the login. Bytes received on an earlier connection are forgotten.
  template <class Sink>
  void connected(const SoupLogin& login, MonotonicTime now, Sink&& sink) {
    sink.send(begin(login, now));
  }

  // Bytes as they come, in any pieces.
  template <class Sink>
  void received(std::span<const std::byte> bytes, MonotonicTime now, Sink&& sink);

  // Heartbeats and the timeout. As often as the poll loop runs.
  template <class Sink>
  void tick(MonotonicTime now, Sink&& sink) {
    if (now >= due_ && heartbeat_due(now)) sink.send(heartbeat_bytes());
  }

  // tick() does nothing before.
  [[nodiscard]] MonotonicTime due_at() const noexcept { return due_; }

  template <class Sink>
  void logout(Sink&& sink) {
    if (state_ == SoupState::logged_in) sink.send(logout_bytes());
  }

  // The connection is closed, by whichever side. A failure stays to be read.
  void disconnected() noexcept;

  [[nodiscard]] SoupState state() const noexcept { return state_; }
  [[nodiscard]] SoupFailure failure() const noexcept { return failure_; }
  [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_; }
  // The session of the accepted login, with its padding.
  [[nodiscard]] std::string_view session() const noexcept { return {session_.data(), session_.size()}; }

 private:
  [[nodiscard]] std::span<const std::byte> begin(const SoupLogin& login, MonotonicTime now) noexcept;
  [[nodiscard]] bool heartbeat_due(MonotonicTime now) noexcept;
  [[nodiscard]] static std::span<const std::byte> heartbeat_bytes() noexcept;
  [[nodiscard]] static std::span<const std::byte> logout_bytes() noexcept;
  // Takes bytes for the packet that the buffer has the beginning of. Returns how many; the packet is whole when it has
  // its full size.
  [[nodiscard]] std::size_t complete_kept(std::span<const std::byte> bytes) noexcept;
  void keep(std::span<const std::byte> bytes) noexcept;
  [[nodiscard]] bool kept_is_whole() const noexcept {
    return kept_size_ >= 2 && kept_size_ == 2U + load_big_endian<std::uint16_t>(kept_.get());
  }
  // Every packet but sequenced ones.
  void take_control(std::span<const std::byte> packet) noexcept;
  void accept(std::span<const std::byte> payload) noexcept;
  void reject(std::span<const std::byte> payload) noexcept;
  void fail(SoupFailure failure) noexcept;

  [[nodiscard]] bool reads() const noexcept {
    return state_ == SoupState::logging_in || state_ == SoupState::logged_in;
  }

  // `packet` with its length.
  template <class Sink>
  void take(std::span<const std::byte> packet, Sink& sink) {
    const bool sequenced = packet.size() >= soup_header_size && static_cast<char>(packet[2]) == soup::sequenced;
    if (!sequenced || state_ != SoupState::logged_in) [[unlikely]]
      return take_control(packet);
    sink.message(next_++, packet.subspan(soup_header_size));
  }

  SoupOptions options_;
  SoupState state_ = SoupState::closed;
  SoupFailure failure_ = SoupFailure::none;
  std::uint64_t next_ = 1;
  std::array<char, 10> session_{};
  MonotonicTime heard_{};
  MonotonicTime sent_{};
  MonotonicTime due_ = MonotonicTime::max();
  std::array<std::byte, soup::login_request_size> login_{};
  std::size_t kept_size_ = 0;
  std::unique_ptr<std::byte[]> kept_;
};

template <class Sink>
void SoupClient::received(std::span<const std::byte> bytes, MonotonicTime now, Sink&& sink) {
  heard_ = now;
  if (reads() && kept_size_ != 0) {
    bytes = bytes.subspan(complete_kept(bytes));
    if (!kept_is_whole()) return;
    const std::size_t size = std::exchange(kept_size_, 0);
    take({kept_.get(), size}, sink);
  }
  while (reads() && bytes.size() >= 2) {
    const std::size_t size = 2U + load_big_endian<std::uint16_t>(bytes.data());
    if (bytes.size() < size) break;
    take(bytes.first(size), sink);
    bytes = bytes.subspan(size);
  }
  if (reads()) keep(bytes);
}

}  // namespace nfx::market

namespace nfx {

template <>
inline constexpr auto counter_rows<market::MoldCounters> = std::to_array<CounterRow<market::MoldCounters>>({
    {&market::MoldCounters::messages, "nfx_mold_messages_total", "Messages given on, each sequence number once."},
    {&market::MoldCounters::duplicates, "nfx_mold_duplicates_total",
     "Packets that brought nothing new: the slower line of two, and repeated packets."},
    {&market::MoldCounters::malformed, "nfx_mold_malformed_total",
     "Packets that are too short for their header or their messages, or have bytes after them."},
    {&market::MoldCounters::other_session, "nfx_mold_other_session_total",
     "Packets of another session than the current one, ignored."},
    {&market::MoldCounters::implausible, "nfx_mold_implausible_total",
     "Packets too far ahead of the newest message, ignored until another one confirms them."},
    {&market::MoldCounters::gaps, "nfx_mold_gaps_total", "Gaps in the sequence numbers of both lines together."},
    {&market::MoldCounters::buffered, "nfx_mold_buffered_total", "Messages buffered after a gap."},
    {&market::MoldCounters::dropped, "nfx_mold_dropped_total",
     "Messages that left the buffer, or came too late for it, while a snapshot was awaited."},
    {&market::MoldCounters::too_long, "nfx_mold_too_long_total",
     "Messages after a gap that are longer than a place of the buffer, and count as lost."},
    {&market::MoldCounters::requests, "nfx_mold_requests_total", "Requests sent for missing messages."},
    {&market::MoldCounters::stale, "nfx_mold_stale_total", "Times that the feed became stale."},
    {&market::MoldCounters::snapshots, "nfx_mold_snapshots_total", "Snapshots after which the feed continued."},
    {&market::MoldCounters::snapshots_refused, "nfx_mold_snapshots_refused_total",
     "Snapshots that were older than the oldest buffered message."},
});
static_assert(rows_are_complete<market::MoldCounters>());

}  // namespace nfx
