// The demonstration's venue with its order books published over FIX, and with orders of its own that move them. Any
// session may subscribe to market data, and send orders whose ClOrdIDs are numbers up to `client_orders`.
// Thread: one owner, which calls step() and serve(). Cost: as an engine. Errors: the constructor throws ConfigError.
// Bounds: at most 1,000 own orders rest; EngineConfig::max_dynamic_sessions limits the sessions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "demo/book_listener.hpp"
#include "demo/market.hpp"
#include "demo/venue.hpp"
#include "nexusfix/engine/engine.hpp"
#include "publish/fix_publisher.hpp"

namespace nfx::app::market {

struct FixVenueOptions {
  Endpoint listen;
  std::uint64_t seed = 1;
  unsigned left_out = 0;  // out of 10,000 increments: not sent, to cause gaps
  std::uint32_t client_orders = 1'000'000;
  IdleMode idle = IdleMode::block;
  std::uint32_t names = demo::symbols.size();  // number of the demonstration's symbols with own orders
};

class FixVenue final : private demo::BookListener {
 public:
  explicit FixVenue(const FixVenueOptions& options);

  // Changes a book with an order of the venue's own. `at` is an even number of nanoseconds: the times of what clients
  // do are odd, so that each step's message is known by its time.
  void step(UtcTime at);
  void serve(Duration longest) { engine_->turn(longest); }
  // Logs all sessions out.
  void end();

  [[nodiscard]] std::uint16_t port() const { return engine_->local_endpoint(0)->port; }
  [[nodiscard]] std::size_t subscribers() const noexcept { return publisher_.subscribers(); }
  [[nodiscard]] Engine& engine() noexcept { return *engine_; }
  [[nodiscard]] const nfx::market::FixPublisher& publisher() const noexcept { return publisher_; }

 private:
  void added(const demo::BookChange& change) override;
  void reduced(const demo::BookChange& change) override;
  void removed(const demo::BookChange& change) override;
  void traded(const demo::BookChange& change) override;
  void done() override;
  bool on_message(SessionHandle& session, const MessageView& message) override;
  void on_logout(SessionHandle& session) override;

  [[nodiscard]] static nfx::market::FixPublisher::Order order_of(const demo::BookChange& change);
  [[nodiscard]] std::uint64_t below(std::uint64_t most) { return random_() % most; }

  [[nodiscard]] UtcTime time_of(const demo::BookChange& change) const noexcept;

  std::uint32_t names_;
  UtcTime step_{};
  nfx::market::FixPublisher publisher_;
  demo::Venue venue_;
  std::mt19937_64 random_;
  std::vector<std::uint32_t> free_;  // numbers of own orders
  std::vector<std::uint32_t> used_;
  std::optional<Engine> engine_;
};

}  // namespace nfx::app::market
