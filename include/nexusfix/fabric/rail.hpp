// One network card, or its stand-in, as the fabric uses it: it writes into the peer's memory with a number, and reports
// whether the write was done. A rail is one end of a connection between one card here and one of the peer's, with
// registrations and queues of its own; rail_kinds.hpp has those over shared memory, TCP and libfabric. A Region is the
// memory that rails write from and into.
// Thread: one owner, which also makes the rail and its regions, after it is pinned, so that all of it is on that
// thread's node; a region is plain memory then. Cost: try_write() and poll() never wait, allocate, lock or throw, and
// make no system calls but send and receive. Region::make(), add_region(), open(), maintain() and close() are not for
// the path of a page. Lifetime: regions outlive the rail. Errors: what the peer or the network causes is a Completion
// of the kinds `failed` and `down`; what the operator can fix is a text from Region::make(), add_region(), or
// last_error().
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "nexusfix/base/language.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx::fabric {

struct RegionOptions {
  std::string use;         // for error texts and the kernel's lists: "standby-journal"
  std::uint64_t size = 0;  // bytes, rounded up to whole pages
  int node = -1;           // -1: the node of the CPU that the thread runs on
  bool huge_pages = true;
};

enum class PageKind : std::uint8_t {
  small,
  transparent,  // requested; the kernel may give huge ones (/sys/kernel/mm/transparent_hugepage/shmem_enabled)
  huge,         // from the pool of the kernel (vm.nr_hugepages)
};
[[nodiscard]] std::string_view to_string(PageKind kind) noexcept;

// Pages of their own, on a chosen node, in huge pages where the kernel has them, and shareable with a process of this
// host, which a rail over shared memory needs. Cost: make() writes to every page, so that none is missing later; the
// rest is inline. Errors: make() returns a text that names the region and what to change. Missing huge pages, or
// another node than requested, are no error: page_kind() and node() report what the memory has.
class Region {
 public:
  [[nodiscard]] static std::expected<Region, std::string> make(const RegionOptions& options);

  Region() noexcept = default;
  Region(Region&& other) noexcept;
  Region& operator=(Region&& other) noexcept;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region();

  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {data_, size_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] const std::string& use() const noexcept { return use_; }
  [[nodiscard]] PageKind page_kind() const noexcept { return page_kind_; }
  // Where the first page is; -1: the kernel does not report it.
  [[nodiscard]] int node() const noexcept { return node_; }
  // The file of the memory, sealed against another size; the region owns it.
  [[nodiscard]] int file() const noexcept { return file_; }

  // Whether `length` bytes from `offset` on are inside.
  [[nodiscard]] bool contains(std::uint64_t offset, std::uint64_t length) const noexcept {
    return offset <= size_ && length <= size_ - offset;
  }

 private:
  void release() noexcept;

  std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
  int file_ = -1;
  int node_ = -1;
  PageKind page_kind_ = PageKind::small;
  std::string use_;
};

// Where the two ends of a rail find each other: one listens, the other connects, again after every end of the rail.
enum class RailEnd : std::uint8_t { listens, connects };
[[nodiscard]] std::string_view to_string(RailEnd end) noexcept;

// "/run/nfx/standby.0": a Unix socket, for two processes of this host. "10.0.0.2:7000" or "[::1]:7000": TCP, an address
// and not a name, because nothing here may wait for a name server.
struct RailAddress {
  RailEnd end = RailEnd::connects;
  std::string place;
};

// What is wrong with it; empty: nothing.
[[nodiscard]] std::string check_address(std::string_view place);

// A region's place in the order in which it was added to the rail; the peer addresses it by the same index.
enum class RegionIndex : std::uint8_t {};
inline constexpr std::size_t max_regions = 16;

enum class WriteResult : std::uint8_t {
  ok,      // taken: one `done` or `failed` follows for its slot, or the rail goes down
  again,   // full; nothing was done. Poll, then try again
  failed,  // the rail is not up, or the write is outside of a region; nothing was done
};

// A one-sided write into a region of the peer. All of its bytes are in the peer's memory before its number arrives
// there. Writes of one rail are in no order among each other.
struct Write {
  std::uint64_t local_offset = 0;
  std::uint64_t remote_offset = 0;
  std::uint32_t length = 0;  // from 0 to RailLimits::longest_write; with 0 the number alone arrives
  std::uint32_t number = 0;  // the peer's poll() returns it
  std::uint32_t slot = 0;    // below RailLimits::slots, and not in use: this end's poll() returns it
  RegionIndex local_region{};
  RegionIndex remote_region{};
  bool more = false;  // another write follows before the next poll(): this one may wait for it
};
static_assert(sizeof(Write) == 32);

enum class CompletionKind : std::uint8_t {
  done,     // `value` is the slot of a write: its local bytes may change, its slot is free. Not yet that it arrived
  arrived,  // `value` is the number of a peer's write, all of whose bytes are here
  failed,   // `value` is the slot of a write that failed. The rail is of no use until it is opened again
  down,     // the connection ended. Writes without a completion have none any more
};

struct Completion {
  CompletionKind kind = CompletionKind::done;
  std::int32_t code = 0;     // of `failed` and `down`: an errno value, 0 when none is known
  std::uint32_t value = 0;   // of `done` and `failed` a slot, of `arrived` the number
  std::uint32_t length = 0;  // of `arrived`: the bytes that were written, where the transport reports them, otherwise 0
};
static_assert(sizeof(Completion) == 16);

enum class RailState : std::uint8_t {
  closed,   // at first, after close(), and after `down` was returned by poll()
  opening,  // open() was called, and the peer is not there yet
  up,       // writes are taken
};

[[nodiscard]] std::string_view to_string(WriteResult result) noexcept;
[[nodiscard]] std::string_view to_string(CompletionKind kind) noexcept;
[[nodiscard]] std::string_view to_string(RailState state) noexcept;

// Constant from the construction on.
struct RailLimits {
  std::uint32_t slots = 0;          // writes that may be without a completion
  std::uint32_t arrivals = 0;       // numbers that may wait at the receiver's end for its poll(): the sender's credits
  std::uint64_t longest_write = 0;  // bytes
};

//   add_region  registers a region for writes from it and into it; before the first open(). Both ends add their regions
//               in the same order: an index names the same use at both
//   open        begins to connect. Never waits: maintain() and poll() continue with it. Only in state closed
//   maintain    connects, and finds that the peer's process has ended. Called every few milliseconds, with the clock.
//               poll() reports the result.
//   close       the fence. When it returns, no write of the peer over that connection changes local memory any more,
//               and no number of it is returned. No own write reads local memory for a number that still arrives at
//               the peer. Slots are free. Any state; a closed rail stays closed
//   try_write   state up only
//   poll        fills `out` from the front and returns how many; also moves writes along. After `down` the state is
//               closed. An end whose completions do not fit returns the rest with the next call
//   name        for people: "shm /run/nfx/standby.0", "tcp 10.0.0.2:7000"
//   last_error  why the last open() failed or the rail went down; empty: nothing did
template <class R>
concept Rail = requires(R& rail, const R& constant, const Region& region, const Write& write, std::span<Completion> out,
                        MonotonicTime now) {
  { rail.add_region(region) } -> std::same_as<std::expected<RegionIndex, std::string>>;
  { rail.open(now) } noexcept;
  { rail.maintain(now) } noexcept;
  { rail.close() } noexcept;
  { rail.try_write(write) } noexcept -> std::same_as<WriteResult>;
  { rail.poll(out) } noexcept -> std::same_as<std::size_t>;
  { constant.state() } noexcept -> std::same_as<RailState>;
  { constant.limits() } noexcept -> std::same_as<RailLimits>;
  { constant.name() } noexcept -> std::same_as<std::string_view>;
  { constant.last_error() } noexcept -> std::same_as<std::string_view>;
};

// A reference to a rail of any kind, so that the fabric's code is compiled once; a write costs one indirect call.
// Lifetime: the rail outlives it, at the same address.
class RailRef {
 public:
  template <Rail R>
    requires(!std::same_as<R, RailRef>)
  explicit RailRef(R& rail) noexcept : rail_(&rail), calls_(&calls_of<R>) {}

  [[nodiscard]] std::expected<RegionIndex, std::string> add_region(const Region& region) const {
    return calls_->add_region(rail_, region);
  }
  void open(MonotonicTime now) const noexcept { calls_->open(rail_, now); }
  void maintain(MonotonicTime now) const noexcept { calls_->maintain(rail_, now); }
  void close() const noexcept { calls_->close(rail_); }
  [[nodiscard]] WriteResult try_write(const Write& write) const noexcept { return calls_->try_write(rail_, write); }
  [[nodiscard]] std::size_t poll(std::span<Completion> out) const noexcept { return calls_->poll(rail_, out); }
  [[nodiscard]] RailState state() const noexcept { return calls_->state(rail_); }
  [[nodiscard]] RailLimits limits() const noexcept { return calls_->limits(rail_); }
  [[nodiscard]] std::string_view name() const noexcept { return calls_->name(rail_); }
  [[nodiscard]] std::string_view last_error() const noexcept { return calls_->last_error(rail_); }

 private:
  struct Calls {
    std::expected<RegionIndex, std::string> (*add_region)(void*, const Region&);
    void (*open)(void*, MonotonicTime) noexcept;
    void (*maintain)(void*, MonotonicTime) noexcept;
    void (*close)(void*) noexcept;
    WriteResult (*try_write)(void*, const Write&) noexcept;
    std::size_t (*poll)(void*, std::span<Completion>) noexcept;
    RailState (*state)(const void*) noexcept;
    RailLimits (*limits)(const void*) noexcept;
    std::string_view (*name)(const void*) noexcept;
    std::string_view (*last_error)(const void*) noexcept;
  };

  template <Rail R>
  static constexpr Calls calls_of{
      .add_region = [](void* rail, const Region& region) { return static_cast<R*>(rail)->add_region(region); },
      .open = [](void* rail, MonotonicTime now) noexcept { static_cast<R*>(rail)->open(now); },
      .maintain = [](void* rail, MonotonicTime now) noexcept { static_cast<R*>(rail)->maintain(now); },
      .close = [](void* rail) noexcept { static_cast<R*>(rail)->close(); },
      .try_write = [](void* rail, const Write& write) noexcept { return static_cast<R*>(rail)->try_write(write); },
      .poll = [](void* rail, std::span<Completion> out) noexcept { return static_cast<R*>(rail)->poll(out); },
      .state = [](const void* rail) noexcept { return static_cast<const R*>(rail)->state(); },
      .limits = [](const void* rail) noexcept { return static_cast<const R*>(rail)->limits(); },
      .name = [](const void* rail) noexcept { return static_cast<const R*>(rail)->name(); },
      .last_error = [](const void* rail) noexcept { return static_cast<const R*>(rail)->last_error(); },
  };

  void* rail_;
  const Calls* calls_;
};

}  // namespace nfx::fabric
