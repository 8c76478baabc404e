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

namespace nfx::fabric {

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
    "unsupported: this build has no libfabric; install the package libfabric-dev and build again, or use shm or tcp";

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
