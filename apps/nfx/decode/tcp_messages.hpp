// The FIX messages in captured TCP connections. Segments are put into order; what was sent again, or overlaps, is taken
// once. Bytes that were not captured end a message, and are reported.
// Thread: one owner. Cost: memory for segments that wait for earlier ones. Lifetime: a message is valid until the next
// call. Bounds: max_streams directions of connections, of which the longest unused ones are forgotten;
// max_waiting_bytes and max_waiting_segments of each, after which the bytes before them count as missing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "decode/log_reader.hpp"
#include "decode/packet.hpp"

namespace nfx::app {

class TcpMessages {
 public:
  static constexpr std::size_t max_streams = 65536;
  static constexpr std::size_t max_waiting_bytes = 1024 * 1024;
  static constexpr std::size_t max_waiting_segments = 1024;

  // `on_gap`: of missing bytes, as a sentence.
  TcpMessages(std::string name, std::function<void(const std::string&)> on_gap)
      : name_(std::move(name)), on_gap_(std::move(on_gap)) {}

  // Take the messages before the next segment. `packet` is its number in the capture.
  void add(const TcpSegment& segment, UtcTime time, std::uint64_t packet);
  // No more segments will come. Take the messages after it until it returns false.
  [[nodiscard]] bool finish_next();
  [[nodiscard]] bool next(LogMessage& message);

 private:
  struct Waiting {
    std::string bytes;
    std::uint32_t missing = 0;
  };
  struct Stream {
    std::string name;
    MessageScanner scanner;
    std::uint64_t next = 0;  // number of the next byte; the low 32 bits are its sequence number
    std::map<std::uint64_t, Waiting> waiting;
    std::size_t waiting_bytes = 0;
    std::uint32_t first = 0;  // sequence number of the first byte
    std::uint64_t last_packet = 0;
    UtcTime last_time{};
  };
  using Streams = std::map<std::pair<Endpoint, Endpoint>, Stream>;

  [[nodiscard]] Stream& stream_of(const TcpSegment& segment);
  void take(Stream& stream, std::uint64_t begin, std::string_view bytes, std::uint32_t missing);
  void take_waiting(Stream& stream);
  void end_stream(Stream& stream);
  void skip_to(Stream& stream, std::uint64_t next);
  void forget_unused();

  std::string name_;
  std::function<void(const std::string&)> on_gap_;
  Streams streams_;
  Stream* current_ = nullptr;  // that the last segment belongs to
  std::uint64_t packet_ = 0;
  UtcTime time_{};
  bool finishing_ = false;
};

}  // namespace nfx::app
