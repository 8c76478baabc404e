// UDP lines: addresses as an operator writes them, a sender, and a receiver of several lines.
// Thread: one owner. Errors: parse_udp_address() and the constructors throw UdpError, which names the text or the line
// and the fix; afterwards nothing throws.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/base/language.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

// A mistake that the operator has to correct: an address, an interface, rights.
class UdpError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// 10.0.0.5:5000, 239.1.1.1:5000@eth0, [ff15::1]:5000@eth0
struct UdpAddress {
  std::string host;  // a literal IPv4 or IPv6 address
  std::uint16_t port = 0;
  std::string interface;  // by name or by one of its addresses, for multicast; empty: the one of the route

  friend bool operator==(const UdpAddress&, const UdpAddress&) = default;
};

[[nodiscard]] UdpAddress parse_udp_address(std::string_view text);
[[nodiscard]] std::string to_string(const UdpAddress& address);
// 224.0.0.0/4 and ff00::/8.
[[nodiscard]] bool is_multicast(const UdpAddress& address);

enum class UdpSent : std::uint8_t {
  sent,
  busy,     // the socket's send buffer is full: wait() and send it again
  refused,  // nothing receives there, or it is too long, or the network is down; dropped
};

// Sends datagrams to one address or multicast group: for replays and generators. Cost: one system call per datagram, no
// allocation after construction. Errors: send() returns what became of the datagram.
class UdpSender {
 public:
  // Multicast leaves by the address's interface, one hop, and reaches receivers on this host too.
  explicit UdpSender(const UdpAddress& to);
  ~UdpSender();
  UdpSender(UdpSender&& other) noexcept;
  UdpSender& operator=(UdpSender&&) = delete;

  [[nodiscard]] UdpSent send(std::string_view datagram) noexcept;
  void wait(Duration longest) noexcept;  // until the send buffer has space

 private:
  int fd_ = -1;
};

// Receives UDP datagrams from one or more lines, multicast groups or addresses of this host, with the time at which the
// network card or the kernel received each.
// Thread: one owner, which polls. Cost: poll() is one recvmmsg per line, of at most `batch` datagrams, into memory made
// by the constructor; no allocation. Lifetime: a datagram is dead when the sink returns. Errors: the constructor throws
// UdpError, which names the line and the fix; afterwards nothing throws, and receives that the kernel refuses are
// counted. A datagram that does not fit into a line's receive buffer is lost and counted: kernel_drops.
struct UdpLineOptions {
  std::string name;        // "A"
  UdpAddress address;      // a multicast group and the interface to join it on, or an address of this host; port 0: any
  int receive_buffer = 0;  // bytes of SO_RCVBUF; 0: the kernel's default
};

struct UdpReceiverOptions {
  std::uint32_t batch = 64;             // datagrams of a line per poll, 1 to 1024
  std::uint32_t datagram_bytes = 9216;  // a longer one is cut to this size: 64 to 65536
};

struct UdpDatagram {
  std::string_view bytes;
  UtcTime received{};
  StampSource stamp = StampSource::none;
  bool truncated = false;             // it was longer than datagram_bytes
  std::uint16_t line = 0;             // in the order of the options
  std::span<const std::byte> sender;  // as the kernel has it; sender_of() is its text
};

[[nodiscard]] std::string sender_of(const UdpDatagram& datagram);  // "10.0.0.7:4711"

// Where a line sends to.
struct UdpDestination {
  std::array<std::byte, 28> bytes{};  // as the kernel wants it
  std::uint32_t size = 0;
};
[[nodiscard]] UdpDestination destination_of(const UdpAddress& address);             // throws UdpError
[[nodiscard]] UdpDestination destination_of(const UdpDatagram& datagram) noexcept;  // its sender

// The counters of one line.
struct UdpCounters {
  std::uint64_t datagrams = 0;
  std::uint64_t bytes = 0;
  std::uint64_t truncated = 0;
  std::uint64_t kernel_drops = 0;
  std::uint64_t unstamped = 0;
  std::uint64_t errors = 0;

  friend bool operator==(const UdpCounters&, const UdpCounters&) = default;
};

template <>
inline constexpr auto counter_rows<UdpCounters> = std::to_array<CounterRow<UdpCounters>>({
    {&UdpCounters::datagrams, "nfx_udp_datagrams_total", "Datagrams received."},
    {&UdpCounters::bytes, "nfx_udp_bytes_total", "Bytes of the datagrams received."},
    {&UdpCounters::truncated, "nfx_udp_truncated_total", "Datagrams longer than the receive buffer of one; cut."},
    {&UdpCounters::kernel_drops, "nfx_udp_kernel_drops_total",
     "Datagrams that the kernel dropped because the socket's receive buffer was full."},
    {&UdpCounters::unstamped, "nfx_udp_unstamped_total",
     "Datagrams without a time stamp of card or kernel; their time is that of the read."},
    {&UdpCounters::errors, "nfx_udp_errors_total", "Receives that the kernel refused."},
});
static_assert(rows_are_complete<UdpCounters>());

// An open line.
struct UdpLine {
  std::string name;
  UdpAddress address;                 // with the port that was chosen
  int receive_buffer = 0;             // bytes that the kernel gave
  std::vector<std::string> warnings;  // what this host refuses, with the fix; the line works without it
};

class UdpReceiver {
 public:
  explicit UdpReceiver(const std::vector<UdpLineOptions>& lines, const UdpReceiverOptions& options = {});
  ~UdpReceiver();
  UdpReceiver(UdpReceiver&&) noexcept;
  UdpReceiver& operator=(UdpReceiver&&) = delete;

  // Passes what has arrived to `sink`, at most `batch` datagrams of each line. Returns how many.
  template <std::invocable<const UdpDatagram&> Sink>
  std::size_t poll(Sink&& sink) {
    std::size_t count = 0;
    for (std::uint16_t line = 0; line < lines_.size(); ++line) {
      const std::span<const UdpDatagram> batch = receive(line);
      for (const UdpDatagram& datagram : batch) sink(datagram);
      count += batch.size();
    }
    return count;
  }
  // One line's part of a poll; dead with the next receive().
  [[nodiscard]] std::span<const UdpDatagram> receive(std::uint16_t line) noexcept;

  // From a line's socket: a request whose answer comes back to the line, or an answer to a sender.
  UdpSent send(std::uint16_t line, const UdpDestination& to, std::string_view datagram) noexcept;
  // The descriptor of a line's socket: readable when it has a datagram. The receiver closes it.
  [[nodiscard]] int descriptor(std::uint16_t line) const noexcept;

  // Sleeps until a line has a datagram, a signal arrives, or `longest` has passed.
  void wait(Duration longest) noexcept;

  [[nodiscard]] const std::vector<UdpLine>& lines() const noexcept { return lines_; }
  // Every received datagram states what the kernel dropped before it. This includes what it dropped since: a system
  // call.
  void read_drops(std::uint16_t line) noexcept;
  [[nodiscard]] const UdpCounters& counters(std::uint16_t line) const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::vector<UdpLine> lines_;
};

}  // namespace nfx
