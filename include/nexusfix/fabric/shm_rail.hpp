// A rail between two processes of one host: a ring of writes in shared memory, and the receiver copies each of them
// from the sender's region into its own. A sender has no access to the receiver's regions for writing, so close() is a
// fence by itself, and a process that is killed leaves no half a page. Meets Rail. Thread: one owner. Cost: a write is
// one cache line, or a few for what is short and copied into the ring; no system call. Lifetime: regions outlive it.
// Errors: make() returns a text for what the operator can fix, such as an address that is in use.
#pragma once

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
struct ShmRing;

struct ShmRailOptions {
  RailAddress address;        // a path
  std::uint32_t slots = 256;  // a power of two from 128 to 65536; both ends may differ
};

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

}  // namespace nfx::fabric
