// The exchange's side of a NASDAQ ITCH feed: messages in packets of MoldUDP64 on two lines, a server of missed
// messages, a GLIMPSE server of snapshots, and the faults that a network has, on purpose. Thread: one owner; the time
// is an argument. Cost: a system call per line and packet, the publisher's own books, and a copy into the history.
// Errors: the constructor throws UdpError or std::runtime_error for an address that cannot be used; afterwards
// counters. Bounds: `history` messages are stored for requests, the newest ones.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "nexusfix/market/feed_books.hpp"
#include "nexusfix/market/itch_parser.hpp"
#include "nexusfix/market/itch_transport.hpp"
#include "nexusfix/transport/udp.hpp"
#include "publish/stream_server.hpp"

namespace nfx::market {

// Numbers per 10,000 packets of a line.
struct LineFaults {
  unsigned lost = 0;
  unsigned duplicated = 0;
  unsigned reordered = 0;  // sent after the next one
};

struct ItchPublisherOptions {
  std::vector<UdpAddress> lines;       // one or two
  std::array<LineFaults, 2> faults{};  // of each line
  std::uint64_t seed = 1;              // of the faults
  std::optional<UdpAddress> requests;  // where requests are received
  std::optional<Endpoint> snapshots;   // where the snapshot server listens
  std::string session = "NEXUS00001";  // at most 10 characters
  UtcTime midnight{};                  // at which the times of messages begin
  std::size_t history = 1u << 20;      // messages
  std::size_t packet_bytes = 1400;
  Duration heartbeat{1'000'000'000};
  FeedBooksOptions books{.limits = itch_book_limits};
};

struct ItchPublisherCounters {
  std::uint64_t messages = 0;
  std::uint64_t packets = 0;   // of both lines, as sent
  std::uint64_t lost = 0;      // on purpose
  std::uint64_t refused = 0;   // by the kernel
  std::uint64_t requests = 0;  // answered
  std::uint64_t too_old = 0;   // requests beyond the history
  std::uint64_t snapshots = 0;
};

class ItchPublisher {
 public:
  explicit ItchPublisher(const ItchPublisherOptions& options);

  // The next message of the session, whose time becomes `at`. It is sent when a packet is full, or by flush().
  void add(std::span<const std::byte> message, UtcTime at);
  void flush(MonotonicTime now);
  // Answers requests and connections, and sends heartbeats. Returns how much happened.
  std::size_t serve(MonotonicTime now);
  // The session is over: heartbeats state it.
  void end(MonotonicTime now);

  [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_; }
  [[nodiscard]] const ItchPublisherCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] const FeedBooks& books() const noexcept { return books_; }
  [[nodiscard]] std::uint16_t request_port() const noexcept;
  [[nodiscard]] std::uint16_t snapshot_port() const noexcept { return snapshots_ ? snapshots_->port() : 0; }

  // Called by the snapshot server's connections.
  void opened(ConnectionId id);
  void received(ConnectionId id, std::string_view bytes);
  void closed(ConnectionId id);

 private:
  struct Line {
    UdpSender sender;
    LineFaults faults;
    std::string held;  // sent after the next packet
  };
  struct Kept {
    std::uint16_t size = 0;
    std::array<char, 54> bytes;
  };

  void begin_packet();
  void send(const std::string& packet, MonotonicTime now);
  void send_on(Line& line, const std::string& packet);
  void send_now(Line& line, const std::string& packet);
  void answer(const UdpDatagram& datagram);
  [[nodiscard]] std::string snapshot_bytes() const;
  [[nodiscard]] bool happens(unsigned of_10000) { return of_10000 != 0 && random_() % 10'000 < of_10000; }

  ItchPublisherOptions options_;
  MoldSession session_{};
  std::vector<Line> lines_;
  std::optional<UdpReceiver> requests_;
  std::optional<StreamServer> snapshots_;
  std::unordered_map<std::uint64_t, std::string> logins_;  // received so far, by connection
  std::mt19937_64 random_;
  ItchParser parser_;
  FeedBooks books_;
  std::vector<Kept> history_;  // message n is at n modulo its size
  std::string packet_;
  std::uint16_t packet_messages_ = 0;
  std::uint64_t next_ = 1;
  MonotonicTime sent_{};
  bool ended_ = false;
  ItchPublisherCounters counters_;
};

}  // namespace nfx::market
