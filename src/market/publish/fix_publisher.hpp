// Market data by FIX from a venue that matches orders: its own order books, the subscriptions of each session, and the
// messages for them: a snapshot (W) for every MarketDataRequest (V), increments (X) by order with MDEntryID and RptSeq,
// and the time of the newest of them as TransactTime.
// Thread: the sessions' poll thread. Cost: an update of a book and an entry per change; a message per subscriber and
// flush(). Errors: counters; increments that find a session's send buffer full are left out, so that its RptSeq shows
// the gap and it requests a snapshot. Bounds: FixPublisherOptions.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/engine/application.hpp"
#include "nexusfix/market/feed_books.hpp"
#include "nexusfix/wire/field_writer.hpp"

namespace nfx::market {

struct FixPublisherOptions {
  std::vector<std::string> symbols;
  std::uint32_t orders = 1u << 20;  // in all books at the same time
  std::uint32_t entries = 64;       // of one X
  std::size_t message_bytes = 512u << 10;
  unsigned left_out = 0;   // of 10,000 X: not sent, as a gap
  std::uint64_t seed = 1;  // of these
};

struct FixPublisherCounters {
  std::uint64_t requests = 0;
  std::uint64_t refused = 0;  // requests
  std::uint64_t snapshots = 0;
  std::uint64_t increments = 0;  // messages
  std::uint64_t unsent = 0;      // no space for them
  std::uint64_t left_out = 0;    // on purpose
};

class FixPublisher {
 public:
  explicit FixPublisher(const FixPublisherOptions& options);

  // False: it is another message.
  bool on_message(SessionHandle& session, const MessageView& message);
  // Its subscriptions are gone.
  void on_logout(SessionHandle& session);

  // An event in the book of the symbol with this number.
  struct Order {
    std::uint32_t symbol = 0;
    OrderId id{};
    Side side = Side::bid;
    Price price{};
    Quantity quantity = 0;
  };
  void added(const Order& order, UtcTime at);    // last in its queue
  void changed(const Order& order, UtcTime at);  // its new quantity
  void removed(const Order& order, UtcTime at);
  void traded(const Order& aggressor, UtcTime at);
  // Sends what happened since. At the end of each step of the venue.
  void flush();

  [[nodiscard]] const FeedBooks& books() const noexcept { return books_; }
  [[nodiscard]] const FixPublisherCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] std::size_t subscribers() const noexcept { return subscribers_.size(); }

 private:
  struct Entry {
    char action;  // MDUpdateAction
    char type;    // MDEntryType
    Order order;
    std::uint64_t number;  // RptSeq
    UtcTime at;
  };
  struct Subscriber {
    SessionHandle* session;
    std::vector<bool> symbols;
  };

  void happened(char action, EventKind kind, const Order& order, UtcTime at);
  void send_increments(Subscriber& subscriber, std::span<const Entry> entries);
  void send_snapshot(SessionHandle& session, std::string_view request, std::uint32_t symbol);
  void refuse(SessionHandle& session, std::string_view request, char reason, std::string_view text);
  [[nodiscard]] Subscriber& subscriber_of(SessionHandle& session);
  [[nodiscard]] std::optional<std::uint32_t> symbol_of(std::string_view text) const;

  FixPublisherOptions options_;
  FeedBooks books_;
  std::vector<std::uint64_t> numbers_;  // RptSeq of the last change, by symbol
  std::vector<Entry> entries_;          // since the last flush
  std::vector<Subscriber> subscribers_;
  std::vector<char> buffer_;
  std::mt19937_64 random_;
  FixPublisherCounters counters_;
};

}  // namespace nfx::market
