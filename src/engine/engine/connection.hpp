// Everything of a session that ends with its connection, in one value: ending it is one assignment,
// `connection = Connection{memory}`.
// Thread: one owner. Cost: the memory is mapped once for a session, takes pages when it is used, and is used by one
// connection after the other.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "engine/oversized_message.hpp"
#include "engine/partial_message.hpp"
#include "engine/send_gate.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/memory.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/time.hpp"
#include "transport/transport.hpp"

namespace nfx {

struct ConnectionMemoryOptions {
  std::size_t send_buffer_size = 0;
  std::size_t max_message_size = 0;
};

class ConnectionMemory {
 public:
  static constexpr std::size_t parking_space = 128 * 1024;
  // So many parked bytes are followed by no more reads, where there are reads at all.
  static constexpr std::size_t most_parked = 32 * 1024;

  explicit ConnectionMemory(const ConnectionMemoryOptions& options)
      : output_size_(options.send_buffer_size),
        partial_size_(options.max_message_size),
        output_(map_array<char>(output_size_, "what a session sends; lower send_buffer_size")),
        partial_(map_array<char>(partial_size_, "what a session receives; lower max_message_size")),
        unhandled_(map_array<char>(partial_size_, "a message that is delivered again; lower max_message_size")) {}

  // Before the first connection: parking allocates nothing after it.
  void prepare() { parked_.reserve(parking_space); }

  [[nodiscard]] std::span<char> output() noexcept { return {output_.get(), output_size_}; }
  [[nodiscard]] std::span<char> partial() noexcept { return {partial_.get(), partial_size_}; }
  [[nodiscard]] std::span<char> unhandled() noexcept { return {unhandled_.get(), partial_size_}; }
  [[nodiscard]] std::string& parked() noexcept { return parked_; }

 private:
  std::size_t output_size_;
  std::size_t partial_size_;
  PageArray<char> output_;
  PageArray<char> partial_;
  PageArray<char> unhandled_;
  std::string parked_;
};

// Received, but held back by throttle, journal or application until a time; the transport holds the connection
// meanwhile, unless the disk is full and few bytes are parked.
class ParkedBytes {
 public:
  explicit ParkedBytes(std::string& memory) noexcept : memory_(&memory) {}

  [[nodiscard]] bool held() const noexcept { return until_ != MonotonicTime::max(); }
  [[nodiscard]] MonotonicTime until() const noexcept { return until_; }
  [[nodiscard]] std::size_t size() const noexcept { return memory_->size(); }

  void park(std::string_view bytes, MonotonicTime until) {
    NFX_ASSERT(!held());
    NFX_ASSERT(until != MonotonicTime::max());
    memory_->assign(bytes);
    until_ = until;
  }
  void hurry(MonotonicTime until) noexcept {
    NFX_ASSERT(held());
    until_ = std::min(until_, until);
  }
  // Bytes received after the message.
  void add(std::string_view bytes) {
    NFX_ASSERT(held());
    memory_->append(bytes);
  }
  // Copies to `into`, so that both keep their reserved capacity.
  void take(std::string& into) {
    NFX_ASSERT(held());
    into = *memory_;
    until_ = MonotonicTime::max();
  }

 private:
  std::string* memory_;
  MonotonicTime until_ = MonotonicTime::max();
};

// A message that the application did not handle: it is delivered again, first, until it is. At most one.
class UnhandledMessage {
 public:
  static constexpr Duration shortest_wait = std::chrono::microseconds{100},
                            longest_wait = std::chrono::milliseconds{10};

  explicit UnhandledMessage(std::span<char> memory) noexcept : memory_(memory.data()) {}

  [[nodiscard]] bool held() const noexcept { return size_ != 0; }
  [[nodiscard]] std::string_view bytes() const noexcept { return {memory_, size_}; }
  [[nodiscard]] SeqNum seq() const noexcept { return seq_; }
  [[nodiscard]] Instant since() const noexcept { return since_; }

  // Returns how long it waits now: longer each time.
  Duration keep(std::string_view bytes, SeqNum seq, Instant now) noexcept {
    if (!held()) {
      std::ranges::copy(bytes, memory_);
      size_ = bytes.size();
      seq_ = seq;
      since_ = now;
      wait_ = shortest_wait;
    }
    NFX_ASSERT(seq_ == seq && size_ == bytes.size());
    return std::exchange(wait_, std::min(wait_ * 2, longest_wait));
  }
  void clear() noexcept { size_ = 0; }

 private:
  char* memory_;
  std::size_t size_ = 0;
  SeqNum seq_{};
  Instant since_{};
  Duration wait_{};
};

// The peer's address as text, "192.0.2.7:51234"; cut where it is longer than addresses are.
class PeerName {
 public:
  PeerName() = default;
  explicit PeerName(std::string_view peer) noexcept : size_(static_cast<std::uint8_t>(std::min(peer.size(), most))) {
    std::copy_n(peer.begin(), size_, text_.begin());
  }
  [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }

 private:
  static constexpr std::size_t most = 71;  // IPv6 with the name of an interface, and a port

  std::uint8_t size_ = 0;
  std::array<char, most> text_{};
};

// Received data that is not handled yet.
struct Inbound {
  explicit Inbound(ConnectionMemory& memory) noexcept
      : partial(memory.partial()), parked(memory.parked()), unhandled(memory.unhandled()) {}

  PartialMessage partial;
  OversizedMessage oversized;  // in the memory of `partial`, which is empty meanwhile
  ParkedBytes parked;
  UnhandledMessage unhandled;  // while this is set, later messages are parked
  bool resuming = false;       // what was parked is handled again: nothing has arrived
};

struct Connection {
  explicit Connection(ConnectionMemory& memory) noexcept : out(memory.output()), in(memory) {}

  [[nodiscard]] bool exists() const noexcept { return id != no_connection; }

  ConnectionId id = no_connection;
  bool connecting = false;  // connect() has begun and has not ended yet
  SendGate out;
  Inbound in;
  MonotonicTime connect_deadline = MonotonicTime::max();
  PeerName peer;                            // of an acceptor
  std::size_t logon_end = 0;                // of the output's memory, where our Logons were
  ConnectionId challenger = no_connection;  // has sent a second Logon, and waits while this peer has time to answer
  MonotonicTime challenge_at = MonotonicTime::max();
  MonotonicTime next_challenge{};  // a second Logon before this is refused without a TestRequest
};
static_assert(std::is_trivially_copyable_v<Connection>);

}  // namespace nfx
