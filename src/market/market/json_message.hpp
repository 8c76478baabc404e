// Messages of the websocket and HTTP interfaces of large crypto venues as values: book tickers, numbered depth updates,
// depth snapshots, trades and answers, as Binance's spot and futures interfaces publish them, also within
// {"stream":...,"data":...}.
// Thread: one owner per reader. Cost: a fast scan reads a frame without white space, escapes and unknown long keys;
// simdjson reads any other one. No allocation after construction; bytes are copied once when simdjson needs padding
// that the caller does not give. Lifetime: a JsonMessage is valid until the bytes change or the next read(). Errors:
// JsonError; the message is incomplete then, its symbol is set if it was read. Bounds: JsonLimits. Keys that have no
// meaning here are ignored; simdjson does not check their values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "nexusfix/base/decimal.hpp"
#include "nexusfix/market/json_feed.hpp"

namespace nfx::market {

enum class JsonKind : std::uint8_t {
  none,
  book_ticker,     // symbol, last, bid, ask
  depth_update,    // symbol, first, last, previous, bids, asks
  depth_snapshot,  // last, bids, asks
  trade,           // symbol, last (its number), price, quantity, buyer_is_maker
  answer,          // to a request: {"result":null,"id":1}
  refusal,         // {"code":-1121,"msg":"..."} or {"error":...}
};

struct JsonLevel {
  Decimal price;
  Decimal quantity;
};

struct JsonMessage {
  JsonKind kind = JsonKind::none;
  bool has_previous = false;
  bool buyer_is_maker = false;
  std::string_view symbol;
  std::uint64_t first = 0;     // U
  std::uint64_t last = 0;      // u, lastUpdateId, or the trade's number
  std::uint64_t previous = 0;  // pu
  std::uint64_t time_ns = 0;   // the event's (E), else the transaction's (T), since 1970; 0: neither
  JsonLevel bid, ask;          // of a book ticker; `bid` is a trade's price and quantity
  std::span<const JsonLevel> bids, asks;
};

class JsonReader {
 public:
  virtual ~JsonReader() = default;
  virtual JsonError read(const JsonBytes& bytes, JsonMessage& out) noexcept = 0;
  // The same without the scan: for tests that compare both.
  virtual JsonError read_slowly(const JsonBytes& bytes, JsonMessage& out) noexcept = 0;
  // Messages that the scan left to simdjson.
  [[nodiscard]] std::uint64_t left_to_simdjson() const noexcept { return slow_; }

 protected:
  std::uint64_t slow_ = 0;
};

// Throws std::runtime_error, which names the package, in a build without simdjson.
[[nodiscard]] std::unique_ptr<JsonReader> make_json_reader(const JsonLimits& limits);

}  // namespace nfx::market
