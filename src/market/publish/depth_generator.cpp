// Changes of a book, and their texts.
#include "publish/depth_generator.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

namespace nfx::market {
namespace {

constexpr std::array<std::string_view, 8> coins{"BTC", "ETH", "SOL", "XRP", "ADA", "DOT", "LTC", "BCH"};

void append_fixed(std::string& out, std::uint64_t number, unsigned decimals) {
  std::string digits = std::to_string(number);
  if (digits.size() <= decimals) digits.insert(0, decimals + 1 - digits.size(), '0');
  out.append(digits, 0, digits.size() - decimals);
  out += '.';
  out.append(digits, digits.size() - decimals);
}

// "["43012.57","0.12345000"]"
void append_level(std::string& out, std::int64_t cents, std::uint64_t quantity) {
  if (!out.empty()) out += ',';
  out += "[\"";
  append_fixed(out, static_cast<std::uint64_t>(cents), 2);
  out += "\",\"";
  append_fixed(out, quantity, 8);
  out += "\"]";
}

std::string milliseconds(UtcTime at) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count());
}

template <class Levels>
std::string list_of(const Levels& levels, std::uint32_t most) {
  std::string out;
  for (const auto& [cents, quantity] : levels) {
    if (most-- == 0) break;
    append_level(out, cents, quantity);
  }
  return out;
}

}  // namespace

std::string depth_name(std::uint32_t number) {
  if (number < coins.size()) return std::string{coins[number]} + "USDT";
  return "COIN" + std::to_string(number + 1) + "USDT";
}

DepthGenerator::DepthGenerator(std::string symbol, std::uint64_t seed, std::uint32_t levels, std::int64_t middle)
    : symbol_(std::move(symbol)), random_(seed), levels_(std::max(levels, 2u)), middle_(middle) {
  std::string bids, asks;
  while (bids_.size() < levels_ / 2 || asks_.size() < levels_ / 2) change_one(bids, asks);
}

void DepthGenerator::change_one(std::string& bids, std::string& asks) {
  const bool bid = below(2) == 0;
  const auto change = [&](auto& levels, std::string& out) {
    const bool full = levels.size() >= levels_;
    if (levels.size() > 1 && (full || below(100) < 45)) {
      auto found = levels.begin();
      std::advance(found, below(std::min<std::size_t>(levels.size(), full ? levels.size() : 20)));
      const std::int64_t cents = found->first;
      if (full || below(2) == 0) {
        levels.erase(found);
        return append_level(out, cents, 0);
      }
      found->second = 1 + below(500'000'000);
      return append_level(out, cents, found->second);
    }
    const auto away = static_cast<std::int64_t>(1 + below(below(4) == 0 ? 2000 : 100));
    const std::int64_t cents = bid ? middle_ - away : middle_ + away;
    const std::uint64_t quantity = 1 + below(500'000'000);
    levels[cents] = quantity;
    append_level(out, cents, quantity);
  };
  bid ? change(bids_, bids) : change(asks_, asks);
}

std::string DepthGenerator::update(UtcTime at) {
  std::string bids, asks;
  if (below(8) == 0) {
    // Up to the best price of a side, so that no book crosses.
    const std::int64_t drift = static_cast<std::int64_t>(below(5)) - 2;
    std::int64_t wanted = middle_ + drift;
    if (!bids_.empty()) wanted = std::max(wanted, bids_.begin()->first + 1);
    if (!asks_.empty()) wanted = std::min(wanted, asks_.begin()->first - 1);
    middle_ = wanted;
  }
  const std::uint64_t first = last_ + 1;
  const std::uint64_t changes = 1 + below(6);
  for (std::uint64_t i = 0; i < changes; ++i) change_one(bids, asks);
  last_ += changes;
  return "{\"e\":\"depthUpdate\",\"E\":" + milliseconds(at) + ",\"s\":\"" + symbol_ +
         "\",\"U\":" + std::to_string(first) + ",\"u\":" + std::to_string(last_) + ",\"b\":[" + bids + "],\"a\":[" +
         asks + "]}";
}

std::string DepthGenerator::ticker() const {
  std::string out = "{\"u\":" + std::to_string(last_) + ",\"s\":\"" + symbol_ + "\",\"b\":\"";
  append_fixed(out, static_cast<std::uint64_t>(bids_.begin()->first), 2);
  out += "\",\"B\":\"";
  append_fixed(out, bids_.begin()->second, 8);
  out += "\",\"a\":\"";
  append_fixed(out, static_cast<std::uint64_t>(asks_.begin()->first), 2);
  out += "\",\"A\":\"";
  append_fixed(out, asks_.begin()->second, 8);
  return out + "\"}";
}

std::string DepthGenerator::trade(UtcTime at) {
  const bool sold = below(2) == 0;
  std::string out = "{\"e\":\"trade\",\"E\":" + milliseconds(at) + ",\"s\":\"" + symbol_ +
                    "\",\"t\":" + std::to_string(++trades_) + ",\"p\":\"";
  append_fixed(out, static_cast<std::uint64_t>(sold ? bids_.begin()->first : asks_.begin()->first), 2);
  out += "\",\"q\":\"";
  append_fixed(out, 1 + below(1'000'000), 8);
  return out + "\",\"T\":" + milliseconds(at) + ",\"m\":" + (sold ? "true" : "false") + ",\"M\":true}";
}

std::string DepthGenerator::snapshot(std::uint32_t levels) const {
  return "{\"lastUpdateId\":" + std::to_string(last_) + ",\"bids\":[" + list_of(bids_, levels) + "],\"asks\":[" +
         list_of(asks_, levels) + "]}";
}

void DepthGenerator::describe(FeedBooks& books, InstrumentId instrument, bool best_only) const {
  const auto give = [&](EventKind kind, Side side, std::int64_t cents, std::uint64_t quantity) {
    Event event;
    event.kind = kind;
    event.instrument = instrument;
    event.side = side;
    event.price = {cents * 10'000'000};
    event.quantity = quantity;
    event.flags = event_flag::last;
    books.event(event);
  };
  give(EventKind::snapshot_begin, Side::none, 0, 0);
  for (const auto& [cents, quantity] : bids_) {
    give(EventKind::level_set, Side::bid, cents, quantity);
    if (best_only) break;
  }
  for (const auto& [cents, quantity] : asks_) {
    give(EventKind::level_set, Side::ask, cents, quantity);
    if (best_only) break;
  }
  give(EventKind::snapshot_end, Side::none, 0, 0);
}

}  // namespace nfx::market
