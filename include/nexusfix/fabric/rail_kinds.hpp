// The rails: over shared memory between two processes of one host, over TCP, and over a network card by libfabric. Each
// meets the concept Rail.
// Thread: one owner, which also makes the rail, after it is pinned. Cost: as a Rail; see each class. Lifetime: regions
// outlive the rail. Errors: make() returns a text for what the operator can fix, such as an address that is in use or a
// package that is missing; afterwards as every Rail.
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

namespace nfx::fabric {

class Rendezvous;
struct ShmRing;

struct ShmRailOptions {
  RailAddress address;        // a path
  std::uint32_t slots = 256;  // a power of two from 128 to 65536; both ends may differ
};

// A rail between two processes of one host: a ring of writes in shared memory, and the receiver copies each of them
// from the sender's region into its own. A sender has no access to the receiver's regions for writing, so close() is a
// fence by itself, and a process that is killed leaves no half a page. Meets Rail. Thread: one owner. Cost: a write is
// one cache line, or a few for what is short and copied into the ring; no system call. Lifetime: regions outlive it.
// Errors: make() returns a text for what the operator can fix, such as an address that is in use.
class ShmRail {
 public:
  [[nodiscard]] static std::expected<std::unique_ptr<ShmRail>, std::string> make(const ShmRailOptions& options);
  ~ShmRail();
  ShmRail(const ShmRail&) = delete;
  ShmRail& operator=(const ShmRail&) = delete;

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

 private:
  struct PeerRegion {
    const std::byte* data = nullptr;
    std::uint64_t size = 0;
  };

  explicit ShmRail(const ShmRailOptions& options);
  [[nodiscard]] bool start();
  [[nodiscard]] bool map_peer();
  void unmap_peer() noexcept;
  [[nodiscard]] bool take_one(Completion& out) noexcept;

  const ShmRailOptions options_;
  std::string name_;
  std::string error_;
  std::unique_ptr<Rendezvous> rendezvous_;
  std::vector<const Region*> regions_;
  RailState state_ = RailState::closed;

  // The ring that this end takes from, in memory of its own.
  Region ring_memory_;
  ShmRing* ring_ = nullptr;
  std::uint64_t read_ = 0;

  // The ring that this end puts into, in the peer's memory.
  ShmRing* peer_ring_ = nullptr;
  std::uint64_t peer_ring_size_ = 0;
  std::uint32_t peer_slots_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t done_ = 0;
  std::vector<std::uint32_t> slots_;  // of writes, in their order
  std::vector<PeerRegion> peer_regions_;
  bool gone_ = false;
  int gone_code_ = 0;
};

static_assert(Rail<ShmRail>);

class Rendezvous;

struct TcpRailOptions {
  RailAddress address;        // "10.0.0.2:7000"; a Unix socket works too
  std::uint32_t slots = 256;  // a power of two from 64 to 65536
  // Of the socket, in bytes; 0: the kernel adapts them.
  std::uint32_t send_buffer = 0;
  std::uint32_t receive_buffer = 0;
};

// A rail over one TCP connection: writes are framed, gathered into few sends, and received directly into the region
// where they belong. For hosts without cards of the kind that write into remote memory. Meets Rail.
// Thread: one owner. Cost: a send for each write or batch of them, a receive for each poll; small frames are received
// many at a time. `done` means that the kernel has the bytes, not that they arrived. Lifetime: regions outlive it.
// Errors: make() returns a text for what the operator can fix. Nothing is encrypted or authenticated: for networks that
// are trusted.
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

struct LibfabricRailOptions {
  RailAddress address;   // where the two ends exchange what they need; a Unix socket for provider shm
  std::string provider;  // as `fi_info -l` names it; empty: the first of preferred_providers that this machine has
  std::string card;      // the beginning of a domain's name, such as "rdmap79s0"; empty: the first
  std::string bind;      // own IP address for providers over IP; empty: as in `address`, 127.0.0.1 for Unix sockets
  std::uint32_t slots = 128;      // writes without a completion, 1 to 4096
  std::uint32_t arrivals = 1024;  // numbers that wait for poll(), 1 to 65536
};

inline constexpr std::string_view preferred_providers[] = {"efa", "verbs;ofi_rxm", "tcp;ofi_rxm"};

// Whether this library was built with libfabric; and why not.
[[nodiscard]] bool libfabric_supported() noexcept;
inline constexpr std::string_view libfabric_unsupported =
    "built without libfabric: install the package libfabric-dev and build again, or use shm or tcp";

// A rail over libfabric: one card with a domain, an endpoint, a completion queue and an address vector of its own, used
// by one thread (FI_THREAD_DOMAIN) that also makes all progress.
// Thread: one owner, which also makes the rail, after it is pinned. Cost: try_write() and poll() are one call of the
// provider each; the software providers may allocate in it, and those over sockets call the kernel.
// Lifetime: regions outlive the rail. Errors: make() returns a text that names what is missing and what to install or
// write instead; afterwards as every Rail. Measured and tested over the providers shm, tcp;ofi_rxm and net; efa and
// verbs are chosen where libfabric finds such a card, and were not run.
//
// close() is a fence because the endpoint and the registrations end with it: software providers write into memory only
// from this end's poll(), cards refuse a key that is gone. Over shm a peer reads this process's memory by itself; a
// shared page states that the rail was closed, and the peer drops what it read afterwards.
class LibfabricRail {
 public:
  [[nodiscard]] static std::expected<std::unique_ptr<LibfabricRail>, std::string> make(
      const LibfabricRailOptions& options);
  ~LibfabricRail();
  LibfabricRail(const LibfabricRail&) = delete;
  LibfabricRail& operator=(const LibfabricRail&) = delete;

  [[nodiscard]] std::expected<RegionIndex, std::string> add_region(const Region& region);
  void open(MonotonicTime now) noexcept;
  void maintain(MonotonicTime now) noexcept;
  void close() noexcept;
  [[nodiscard]] WriteResult try_write(const Write& write) noexcept;
  [[nodiscard]] std::size_t poll(std::span<Completion> out) noexcept;
  [[nodiscard]] RailState state() const noexcept;
  [[nodiscard]] RailLimits limits() const noexcept;
  [[nodiscard]] std::string_view name() const noexcept;
  [[nodiscard]] std::string_view last_error() const noexcept;

  // The address with the port that was taken, where this end listens.
  [[nodiscard]] const std::string& place() const noexcept;
  // The choice of libfabric: "tcp;ofi_rxm" and "eth0".
  [[nodiscard]] const std::string& provider() const noexcept;
  [[nodiscard]] const std::string& card() const noexcept;

 private:
  struct Parts;
  explicit LibfabricRail(std::unique_ptr<Parts> parts) noexcept;
  std::unique_ptr<Parts> parts_;
};
static_assert(Rail<LibfabricRail>);

}  // namespace nfx::fabric
