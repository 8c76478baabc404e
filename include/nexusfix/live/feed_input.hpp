// What a feed gets from outside, and what it wants of it: the seam between a feed's handler, which is a function of its
// inputs, and the sockets or the recording that they come from. A live feed records each input before its handler takes
// it, so that a replay gives the same inputs to the same code: events, books and states are equal by construction.
// Thread: one owner. Cost: values; FeedPorts is called when something is sent, not for each packet.
// Time: that of the inputs alone. Between packets the timers run at inputs of kind clock, which are recorded too.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "nexusfix/base/time.hpp"
#include "nexusfix/market/mold_udp.hpp"
#include "nexusfix/recording/format.hpp"
#include "nexusfix/recording/recorder.hpp"

namespace nfx::market {

enum class InputKind : std::uint8_t {
  clock,     // nothing but time: what is due runs
  datagram,  // of a UDP line
  opened,    // a connection of this line is open; bytes: random ones, which its handshake is made of
  received,  // the next bytes of a connection
  closed,    // it has ended, or could not be opened
};

struct FeedInput {
  InputKind kind = InputKind::clock;
  StampSource stamp = StampSource::none;
  std::uint16_t line = 0;
  std::uint32_t connection = 0;  // each connection of a line has the next number
  UtcTime at{};
  std::string_view bytes{};  // dead when the handler returns
};

// Timers compare times that never go back, whatever the clocks of lines and hosts do.
class FeedClock {
 public:
  [[nodiscard]] Instant at(UtcTime time) noexcept {
    last_ = std::max(last_, of(time));
    return {time, last_};
  }
  [[nodiscard]] static MonotonicTime of(UtcTime time) noexcept { return MonotonicTime{time.time_since_epoch()}; }

 private:
  MonotonicTime last_{};
};

// Where a handler sends. It does not call back.
class FeedPorts {
 public:
  virtual ~FeedPorts() = default;
  // An input opened or closed follows.
  virtual void connect(std::uint16_t line) noexcept = 0;
  // A datagram, or bytes of the line's connection. False: there was no space, or no connection; nothing is sent of it.
  virtual bool send(std::uint16_t line, std::string_view bytes) noexcept = 0;
  // No further input of this connection comes.
  virtual void close(std::uint16_t line) noexcept = 0;
  // For the masks of websocket frames.
  virtual void random(std::span<std::uint8_t> out) noexcept = 0;
};

// Sends nothing, as in a replay.
class NoPorts : public FeedPorts {
 public:
  void connect(std::uint16_t) noexcept override {}
  bool send(std::uint16_t, std::string_view) noexcept override { return true; }
  void close(std::uint16_t) noexcept override {}
  void random(std::span<std::uint8_t> out) noexcept override { std::ranges::fill(out, std::uint8_t{0}); }
};

//   take     one input; a handler first runs what is due at its time
//   due_at   when a clock input is wanted, if no other one comes before
//   state    of all instruments together: live only if each book is that of the venue
template <class H>
concept FeedHandler = requires(H& handler, const H& constant, const FeedInput& input) {
  handler.take(input);
  { constant.due_at() } -> std::same_as<MonotonicTime>;
  { constant.state() } -> std::same_as<FeedState>;
};

// The input that this record was; empty for others, such as a line's name.
[[nodiscard]] constexpr std::optional<FeedInput> input_of(const RecordedPacket& packet) noexcept {
  const auto made = [&](InputKind kind) {
    return FeedInput{kind, packet.from.stamp, packet.from.line, packet.from.connection, packet.from.at, packet.bytes};
  };
  switch (packet.kind) {
    case RecordingKind::datagram: return made(InputKind::datagram);
    case RecordingKind::stream: return made(InputKind::received);
    case RecordingKind::clock: return made(InputKind::clock);
    case RecordingKind::opened: return made(InputKind::opened);
    case RecordingKind::closed: return made(InputKind::closed);
    case RecordingKind::cut_datagram:
    case RecordingKind::line:
    case RecordingKind::dropped:
    case RecordingKind::kernel_dropped: break;
  }
  return std::nullopt;
}

// False: dropped, and counted by the recorder.
inline bool record(Recorder& recorder, const FeedInput& input) noexcept {
  const ReceivedFrom from{input.at, input.stamp, input.line, input.connection};
  switch (input.kind) {
    case InputKind::clock: return recorder.mark(RecordingKind::clock, from);
    case InputKind::datagram: return recorder.datagram(from, input.bytes);
    case InputKind::opened: return recorder.mark(RecordingKind::opened, from, input.bytes);
    case InputKind::received: return recorder.stream(from, input.bytes);
    case InputKind::closed: return recorder.mark(RecordingKind::closed, from);
  }
  return false;
}

}  // namespace nfx::market
