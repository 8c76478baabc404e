// A fixed number of peer addresses, each with the number of its place, in the order in which they were last used.
// Thread: one owner. Cost: constant on average, no allocation after the constructor. The hash is seeded at random, so
// that addresses whose search is long cannot be chosen. Full: insert() needs a place, so the owner erases one before.
// Errors: the constructor throws where the system has no random numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "transport/connection_places.hpp"

namespace nfx {

class AddressIndex {
 public:
  using Place = std::uint32_t;  // below the capacity

  explicit AddressIndex(std::size_t capacity);

  [[nodiscard]] std::optional<Place> find(const PeerAddress& address) const noexcept;
  // An address that it does not have. It is the one used last.
  Place insert(const PeerAddress& address) noexcept;
  void erase(Place place) noexcept;
  void use(Place place) noexcept;  // it becomes the one used last

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool full() const noexcept { return size_ == nodes_.size(); }
  // The one used longest ago, and the one that was used after `place`; nothing: there is none.
  [[nodiscard]] std::optional<Place> oldest() const noexcept { return some(oldest_); }
  [[nodiscard]] std::optional<Place> used_after(Place place) const noexcept { return some(nodes_[place].newer); }

 private:
  static constexpr Place none = UINT32_MAX;

  struct Node {
    PeerAddress address{};
    Place next = none;  // of the same bucket; of a free place, the next free one
    Place older = none;
    Place newer = none;
  };

  [[nodiscard]] static std::optional<Place> some(Place place) noexcept {
    return place == none ? std::nullopt : std::optional{place};
  }
  [[nodiscard]] std::size_t bucket(const PeerAddress& address) const noexcept;
  void append_newest(Place place) noexcept;
  void take_from_order(Place place) noexcept;

  std::vector<Node> nodes_;
  std::vector<Place> buckets_;
  std::array<std::uint64_t, 5> seed_{};
  std::size_t size_ = 0;
  Place free_ = none;
  Place oldest_ = none;
  Place newest_ = none;
};

}  // namespace nfx
