// The datagrams of a recorded ITCH feed to order books, through the code that a live feed passes. Time is that of the
// packets.
// Thread: one owner. Cost: as the feed and its books. Errors: what the network did is the feed's state and counters; no
// request and no snapshot is made.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "market/book_replay.hpp"
#include "nexusfix/market/itch_feed.hpp"
#include "nexusfix/observe/safe_text.hpp"
#include "nexusfix/recording/format.hpp"

namespace nfx::app::market {

class ItchReplay {
 public:
  // The hash of all books is printed again after this number of events.
  explicit ItchReplay(std::uint64_t every) : every_(every) {}

  // Line 0 is A, line 1 is B; others are left out.
  void take(const nfx::market::RecordedPacket& packet, SafeText& out);
  void print_end(SafeText& out) const;

 private:
  struct Output {
    ItchReplay& replay;
    void event(const nfx::market::Event& event) { replay.take_event(event); }
    void request(const nfx::market::MoldRequest&) {}
    void snapshot_connect() {}
    void snapshot_send(std::span<const std::byte>) {}
    void snapshot_close() {}
  };

  // A number of an order is of one stock alone.
  [[nodiscard]] static ReplayOptions book_options() {
    ReplayOptions options{.hash_best_prices = false};
    options.limits.orders_unique = true;
    return options;
  }
  void take_event(const nfx::market::Event& event);
  [[nodiscard]] std::uint64_t hash() const noexcept;

  std::uint64_t every_;
  BookReplay books_{book_options()};
  Output output_{*this};
  std::optional<nfx::market::ItchFeed<Output>> feed_;
  SafeText* out_ = nullptr;  // during take()
  std::uint64_t left_out_ = 0;
};

}  // namespace nfx::app::market
