// A rail over one TCP connection: writes are framed, gathered into few sends, and received directly into the region
// where they belong. For hosts without cards of the kind that write into remote memory. Meets Rail.
// Thread: one owner. Cost: a send for each write or batch of them, a receive for each poll; small frames are received
// many at a time. `done` means that the kernel has the bytes, not that they arrived. Lifetime: regions outlive it.
// Errors: make() returns a text for what the operator can fix. Nothing is encrypted or authenticated: for networks that
// are trusted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "nexusfix/fabric/rail.hpp"
#include "nexusfix/fabric/region.hpp"

namespace nfx::fabric {

class Rendezvous;

struct TcpRailOptions {
  RailAddress address;        // "10.0.0.2:7000"; a Unix socket works too
  std::uint32_t slots = 256;  // a power of two from 64 to 65536
  // Of the socket, in bytes; 0: the kernel adapts them.
  std::uint32_t send_buffer = 0;
  std::uint32_t receive_buffer = 0;
};

class TcpRail {
 public:
  [[nodiscard]] static std::expected<std::unique_ptr<TcpRail>, std::string> make(const TcpRailOptions& options);
  ~TcpRail();
  TcpRail(const TcpRail&) = delete;
  TcpRail& operator=(const TcpRail&) = delete;

  [[nodiscard]] std::expected<RegionIndex, std::string> add_region(const Region& region);
  void open(MonotonicTime now) noexcept;
  void maintain(MonotonicTime now) noexcept;
  void close() noexcept;
  [[nodiscard]] WriteResult try_write(const Write& write) noexcept;
  [[nodiscard]] std::size_t poll(std::span<Completion> out) noexcept;
  [[nodiscard]] RailState state() const noexcept { return state_; }
  [[nodiscard]] RailLimits limits() const noexcept;
  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] std::string_view last_error() const noexcept { return error_; }
  // Where it listens: with port 0 in the options, the port that was chosen.
  [[nodiscard]] const std::string& place() const noexcept;

 private:
  struct Frame {
    std::uint64_t remote_offset = 0;
    std::uint32_t length = 0;
    std::uint32_t number = 0;
    std::uint32_t region = 0;
    std::uint32_t check = 0;  // of the others: a stream that lost its place is noticed
  };
  static_assert(sizeof(Frame) == 24);
  struct Pending {
    Frame frame;
    const std::byte* bytes = nullptr;
    std::uint32_t slot = 0;
  };

  explicit TcpRail(const TcpRailOptions& options);
  [[nodiscard]] static std::uint32_t check_of(const Frame& frame) noexcept;
  void begin_stream() noexcept;
  void flush() noexcept;
  void count_sent(std::size_t bytes) noexcept;
  [[nodiscard]] bool next_frame(Completion& out) noexcept;
  [[nodiscard]] bool receive_more() noexcept;
  [[nodiscard]] bool take_header() noexcept;
  void fail(int code, std::string_view what) noexcept;

  const TcpRailOptions options_;
  std::string name_;
  std::string error_;
  std::unique_ptr<Rendezvous> rendezvous_;
  std::vector<const Region*> regions_;
  std::vector<std::uint64_t> peer_sizes_;
  RailState state_ = RailState::closed;
  int socket_ = -1;
  bool gone_ = false;
  int gone_code_ = 0;

  std::vector<Pending> pending_;  // a ring
  std::uint64_t written_ = 0;     // taken by try_write()
  std::uint64_t sent_ = 0;        // completely given to the kernel
  std::uint64_t done_ = 0;        // returned by poll()
  std::size_t head_sent_ = 0;     // bytes of the first that is not completely sent

  std::unique_ptr<std::byte[]> staged_;  // bytes that were received and not read
  std::size_t staged_begin_ = 0;
  std::size_t staged_end_ = 0;
  Frame frame_;  // the one whose payload is being received
  bool in_payload_ = false;
  std::size_t payload_have_ = 0;
};

static_assert(Rail<TcpRail>);

}  // namespace nfx::fabric
