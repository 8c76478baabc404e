// The demonstration's venue: an acceptor that matches orders in price-time books and sends the results to the sessions
// that sent them. It may have orders of its own, without reports, and publish its books.
// Thread: the engine's poll thread. Cost: no allocation after construction, except by the listener. Bounds: the number
// of requests given to the constructor; further ones are rejected with a text.
#pragma once

#include <cstdint>
#include <vector>

#include "demo/book.hpp"
#include "demo/book_listener.hpp"
#include "demo/market.hpp"
#include "nexusfix/engine/application.hpp"
#include "nexusfix/engine/observer.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "placement/thread_sampler.hpp"

namespace nfx::app::demo {

struct VenueCounts {
  std::uint64_t orders = 0;
  std::uint64_t replaces = 0;
  std::uint64_t cancels = 0;
  std::uint64_t fills = 0;  // execution reports with ExecType Trade, counting both sides of a match
  std::uint64_t rejects = 0;
  std::uint64_t unsent = 0;  // reports that did not fit into the send buffer; the demonstration then fails
};

class Venue final : public Application, public Observer {
 public:
  // ClOrdIDs are numbers from 1 to max_requests, shared by all sessions. `listener` may be null.
  explicit Venue(std::uint32_t max_requests, BookListener* listener = nullptr);

  Handled on_message(SessionHandle& session, const MessageView& message) override;
  void on_logon(SessionHandle& session) override;
  void on_logout(SessionHandle& session, std::string_view reason) override;
  void on_removed(SessionHandle& session) override;

  // Adds an order of the venue's own, with a number that no request has: its `id` until it is filled or cancelled.
  void add_own(std::uint32_t id, std::uint32_t symbol, Side side, std::uint32_t price_ticks, std::uint32_t quantity,
               UtcTime at);
  // False if it is already filled.
  bool cancel_own(std::uint32_t id, UtcTime at);
  [[nodiscard]] bool is_open(std::uint32_t id) const noexcept {
    return orders_[id].state == OrderState::open || orders_[id].state == OrderState::partly_filled;
  }

  [[nodiscard]] bool done() const noexcept { return done_; }
  [[nodiscard]] const VenueCounts& counts() const noexcept { return counts_; }
  [[nodiscard]] const ThreadStats& thread_before() const noexcept { return thread_before_; }
  [[nodiscard]] const ThreadStats& thread_after() const noexcept { return thread_after_; }
  // By the ClOrdID that opened the order; index 0 is unused.
  [[nodiscard]] std::vector<OrderSummary> summaries() const;

 private:
  struct Order {
    std::uint32_t quantity = 0;
    std::uint32_t filled = 0;
    std::uint64_t notional_ticks = 0;  // price x quantity of the fills
    std::uint32_t cl_ord_id = 0;       // the latest accepted one
    std::uint8_t symbol = 0;
    OrderState state = OrderState::none;
    SessionHandle* owner = nullptr;  // null: the venue's own, or its session has ended
  };
  struct Request {
    std::uint32_t id = 0;
    std::uint32_t price_ticks = 0;
    std::uint32_t quantity = 0;
    std::uint8_t symbol = 0;
    Side side = Side::buy;
    bool valid = false;
  };

  void new_order(SessionHandle& session, const MessageView& message);
  void replace(SessionHandle& session, const MessageView& message);
  void cancel(SessionHandle& session, const MessageView& message);
  [[nodiscard]] Request read_request(const MessageView& message) const;
  [[nodiscard]] std::uint32_t find_open(const SessionHandle& session, const MessageView& message) const;
  void dispatch(SessionHandle& session, const MessageView& message);
  void match(std::uint32_t id, UtcTime at);
  void fill(std::uint32_t id, std::uint32_t quantity, std::uint32_t ticks);
  [[nodiscard]] BookChange change_of(std::uint32_t id, UtcTime at) const noexcept;
  void report(std::uint32_t id, char exec_type, std::uint32_t orig_cl_ord_id, std::uint32_t last_quantity,
              std::uint32_t last_ticks);
  void reject_order(SessionHandle& session, const MessageView& message, std::string_view text);
  void reject_cancel(SessionHandle& session, const MessageView& message, char response_to, std::string_view text);
  void send(SessionHandle& session, std::string_view type, const FieldWriter& body);

  std::vector<Order> orders_;           // by the request that opened it
  std::vector<BookOrder> book_orders_;  // the same orders in the order books' form
  std::vector<std::uint32_t> order_of_request_;
  std::vector<Book> books_;
  BookListener* listener_;
  std::uint64_t next_exec_id_ = 1;
  VenueCounts counts_;
  ThreadStats thread_before_;
  ThreadStats thread_after_;
  bool done_ = false;
  std::array<char, 1024> buffer_;
};

}  // namespace nfx::app::demo
