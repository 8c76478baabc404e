// Rings of writes in shared memory: the sender fills a slot, the receiver copies the named bytes and advances.
//
//   a ring   | consumed, by the receiver | revoked, by the sender | slot | slot | ...
//   a slot   | filled | offsets | length | number | regions | payload, if it is short |
#include "nexusfix/fabric/rail_kinds.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error_text.hpp"
#include "fabric/rendezvous.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/memory.hpp"

namespace nfx::fabric {
namespace {

constexpr std::size_t inline_bytes = 216;

struct alignas(cache_line) ShmSlot {
  std::atomic<std::uint64_t> filled{0};  // the write's sequence number, from 1 on
  std::uint64_t local_offset = 0;
  std::uint64_t remote_offset = 0;
  std::uint32_t length = 0;
  std::uint32_t number = 0;
  std::uint8_t local_region = 0;
  std::uint8_t remote_region = 0;
  std::uint8_t inlined = 0;  // not bool, because the peer may write any byte
  std::array<std::byte, inline_bytes> payload{};
};
static_assert(sizeof(ShmSlot) == 256 && std::atomic<std::uint64_t>::is_always_lock_free);

struct ShmCard {
  std::uint32_t slots = 0;
  std::uint32_t regions = 0;
  std::array<std::uint64_t, max_regions> sizes{};
};

// Memory of the peer, which cannot shrink. Its pages belong to the peer: unallocated ones are not allocated here
// either, except the pages that a write names.
void* map_shared(int file, std::uint64_t size, int protection) noexcept {
  struct stat facts{};
  if (::fstat(file, &facts) != 0 || static_cast<std::uint64_t>(facts.st_size) < size) return nullptr;
  const int seals = ::fcntl(file, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return nullptr;
  constexpr std::uint64_t block = 512;
  const bool is_allocated = static_cast<std::uint64_t>(facts.st_blocks) * block >= size;
  void* const data = ::mmap(nullptr, size, protection, MAP_SHARED | (is_allocated ? MAP_POPULATE : 0), file, 0);
  return data == MAP_FAILED ? nullptr : data;
}

}  // namespace

struct ShmRing {
  alignas(cache_line) std::atomic<std::uint64_t> consumed{0};
  alignas(cache_line) std::atomic<std::uint32_t> revoked{0};  // the sender's memory must no longer be read

  [[nodiscard]] ShmSlot* slots() noexcept { return reinterpret_cast<ShmSlot*>(this + 1); }
  [[nodiscard]] static std::uint64_t size(std::uint32_t slots) noexcept {
    return sizeof(ShmRing) + slots * sizeof(ShmSlot);
  }
};

ShmRail::ShmRail(const ShmRailOptions& options)
    : options_(options),
      name_("shm " + options.address.place),
      rendezvous_(std::make_unique<Rendezvous>(CardKind::shm, options.address)),
      slots_(options.slots) {}

std::expected<std::unique_ptr<ShmRail>, std::string> ShmRail::make(const ShmRailOptions& options) {
  if (!options.address.place.starts_with('/'))
    return std::unexpected("shm rail: \"" + options.address.place + "\" is not a path; write /run/nfx/NAME");
  if (!std::has_single_bit(options.slots) || options.slots < 128 || options.slots > 65536)
    return std::unexpected("shm rail " + options.address.place + ": " +
                           out_of_range("slots", options.slots, "a power of two from 128 to 65536"));
  std::unique_ptr<ShmRail> rail{new ShmRail(options)};
  if (const auto listening = rail->rendezvous_->listen(); !listening)
    return std::unexpected("shm rail: " + listening.error());
  return rail;
}

ShmRail::~ShmRail() { close(); }

RailLimits ShmRail::limits() const noexcept {
  return {.slots = options_.slots, .arrivals = options_.slots, .longest_write = std::uint64_t{1} << 30};
}

std::expected<RegionIndex, std::string> ShmRail::add_region(const Region& region) {
  if (regions_.size() == max_regions) return std::unexpected("a rail has at most 16 regions");
  if (region.file() < 0) return std::unexpected("region " + region.use() + " has no memory");
  regions_.push_back(&region);
  return RegionIndex{static_cast<std::uint8_t>(regions_.size() - 1)};
}

// A new ring for each connection, so that it contains nothing from the previous one.
bool ShmRail::start() {
  auto memory = Region::make({.use = "fabric-ring", .size = ShmRing::size(options_.slots), .huge_pages = false});
  if (!memory) {
    error_ = memory.error();
    return false;
  }
  ring_memory_ = *std::move(memory);
  ring_ = new (ring_memory_.data()) ShmRing;
  for (std::uint32_t i = 0; i < options_.slots; ++i) new (ring_->slots() + i) ShmSlot;
  read_ = written_ = done_ = 0;
  gone_ = false;
  ShmCard card{.slots = options_.slots, .regions = static_cast<std::uint32_t>(regions_.size())};
  std::vector<int> files{ring_memory_.file()};
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    card.sizes[i] = regions_[i]->size();
    files.push_back(regions_[i]->file());
  }
  rendezvous_->begin(std::as_bytes(std::span{&card, 1}), files);
  return true;
}

void ShmRail::open(MonotonicTime) noexcept {
  NFX_REQUIRE(state_ == RailState::closed);
  if (start()) state_ = RailState::opening;
}

bool ShmRail::map_peer() {
  Rendezvous::PeerCard& peer = rendezvous_->peer();
  ShmCard card;
  if (peer.bytes.size() != sizeof card) return false;
  std::memcpy(&card, peer.bytes.data(), sizeof card);
  const bool fits = std::has_single_bit(card.slots) && card.slots <= 65536 && card.regions <= max_regions &&
                    peer.files.size() == card.regions + 1;
  if (!fits) return false;
  peer_slots_ = card.slots;
  peer_ring_size_ = ShmRing::size(card.slots);
  peer_ring_ = static_cast<ShmRing*>(map_shared(peer.files[0], peer_ring_size_, PROT_READ | PROT_WRITE));
  if (peer_ring_ == nullptr) return false;
  for (std::uint32_t i = 0; i < card.regions; ++i) {
    const auto* data = static_cast<const std::byte*>(map_shared(peer.files[i + 1], card.sizes[i], PROT_READ));
    if (data == nullptr) return false;
    peer_regions_.push_back({.data = data, .size = card.sizes[i]});
  }
  for (int& file : peer.files) ::close(std::exchange(file, -1));
  return true;
}

void ShmRail::unmap_peer() noexcept {
  if (peer_ring_ != nullptr) ::munmap(std::exchange(peer_ring_, nullptr), peer_ring_size_);
  for (const PeerRegion& each : peer_regions_) ::munmap(const_cast<std::byte*>(each.data), each.size);
  peer_regions_.clear();
}

void ShmRail::maintain(MonotonicTime now) noexcept {
  if (state_ == RailState::opening) {
    rendezvous_->advance(now);
    if (!rendezvous_->complete()) {
      if (!rendezvous_->error().empty()) error_ = rendezvous_->error();
      return;
    }
    if (!map_peer()) {
      error_ = name_ + ": the peer's memory cannot be mapped";
      return close();
    }
    state_ = RailState::up;
  } else if (state_ == RailState::up && !gone_ && rendezvous_->peer_is_gone()) {
    gone_ = true;  // earlier writes are still taken
    gone_code_ = ECONNRESET;
    error_ = name_ + ": the peer ended the connection";
  }
}

void ShmRail::close() noexcept {
  if (peer_ring_ != nullptr) {
    peer_ring_->revoked.store(1, std::memory_order_relaxed);
    // Before anything else is written into memory that the peer may be copying.
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  rendezvous_->end();
  unmap_peer();
  ring_ = nullptr;
  ring_memory_ = Region{};
  state_ = RailState::closed;
}

WriteResult ShmRail::try_write(const Write& write) noexcept {
  const auto local = static_cast<std::size_t>(write.local_region);
  const auto remote = static_cast<std::size_t>(write.remote_region);
  if (state_ != RailState::up || local >= regions_.size() || remote >= peer_regions_.size()) [[unlikely]]
    return WriteResult::failed;
  const std::uint64_t remote_size = peer_regions_[remote].size;
  if (!regions_[local]->contains(write.local_offset, write.length) || write.remote_offset > remote_size ||
      write.length > remote_size - write.remote_offset) [[unlikely]]
    return WriteResult::failed;
  const std::uint32_t capacity = std::min(peer_slots_, options_.slots);
  if (written_ - done_ >= capacity) return WriteResult::again;
  ShmSlot& slot = peer_ring_->slots()[written_ & (peer_slots_ - 1)];
  slot.local_offset = write.local_offset;
  slot.remote_offset = write.remote_offset;
  slot.length = write.length;
  slot.number = write.number;
  slot.local_region = static_cast<std::uint8_t>(local);
  slot.remote_region = static_cast<std::uint8_t>(remote);
  slot.inlined = write.length <= inline_bytes ? 1 : 0;
  if (write.length <= inline_bytes && write.length != 0)
    std::memcpy(slot.payload.data(), regions_[local]->data() + write.local_offset, write.length);
  slots_[written_ & (options_.slots - 1)] = write.slot;
  ++written_;
  slot.filled.store(written_, std::memory_order_release);
  return WriteResult::ok;
}

bool ShmRail::take_one(Completion& out) noexcept {
  ShmSlot& slot = ring_->slots()[read_ & (options_.slots - 1)];
  if (slot.filled.load(std::memory_order_acquire) != read_ + 1) return false;
  // Copied first, because the peer could change them between check and use.
  const std::uint64_t from = slot.local_offset, to = slot.remote_offset;
  const std::uint32_t length = slot.length;
  const std::size_t region = slot.remote_region, peer_region = slot.local_region;
  const bool inlined = slot.inlined != 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // prevents the compiler from reading them again
  const bool fits = region < regions_.size() && regions_[region]->contains(to, length) &&
                    (inlined ? length <= inline_bytes
                             : peer_region < peer_regions_.size() && from <= peer_regions_[peer_region].size &&
                                   length <= peer_regions_[peer_region].size - from);
  if (!fits || ring_->revoked.load(std::memory_order_acquire) != 0) [[unlikely]] {
    gone_ = true;
    gone_code_ = fits ? ECONNRESET : EPROTO;
    return false;
  }
  const std::byte* const bytes = inlined ? slot.payload.data() : peer_regions_[peer_region].data + from;
  if (length != 0) std::memcpy(regions_[region]->data() + to, bytes, length);
  // If the sender closed its end meanwhile, the copied bytes may have changed.
  std::atomic_thread_fence(std::memory_order_acquire);
  if (ring_->revoked.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    gone_ = true;
    gone_code_ = ECONNRESET;
    return false;
  }
  out = {.kind = CompletionKind::arrived, .value = slot.number, .length = length};
  ++read_;
  return true;
}

std::size_t ShmRail::poll(std::span<Completion> out) noexcept {
  if (state_ != RailState::up) return 0;
  std::size_t count = 0;
  const std::uint64_t read_before = read_;
  const bool was_gone = gone_;
  while (count < out.size() && take_one(out[count])) ++count;
  if (read_ != read_before) ring_->consumed.store(read_, std::memory_order_release);
  if (count == out.size()) return count;
  const std::uint64_t consumed = peer_ring_->consumed.load(std::memory_order_acquire);
  if (consumed > written_ || consumed < done_) {
    gone_ = true;
    gone_code_ = EPROTO;
  } else {
    while (done_ != consumed && count < out.size()) {
      out[count++] = {.kind = CompletionKind::done, .value = slots_[done_ & (options_.slots - 1)]};
      ++done_;
    }
  }
  // One poll after the end was noticed, so that everything before it has been taken.
  if (gone_ && (was_gone || gone_code_ == EPROTO) && count < out.size()) {
    out[count++] = {.kind = CompletionKind::down, .code = gone_code_};
    if (gone_code_ == EPROTO) error_ = name_ + ": the peer wrote outside of a region";
    close();
  }
  return count;
}

}  // namespace nfx::fabric
