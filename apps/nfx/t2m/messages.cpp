// Makes a market with the ITCH generator, moves its prices, and lays its messages out as the feed has them.
#include "t2m/messages.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>
#include <unordered_map>

#include "demo/market.hpp"
#include "market/byte_input.hpp"
#include "market/itch_generator.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/market/dbn.hpp"
#include "nexusfix/market/itch_parser.hpp"
#include "nexusfix/market/itch_transport.hpp"
#include "publish/depth_generator.hpp"

namespace nfx::app::t2m {
namespace {

using namespace nfx::market;

constexpr std::size_t mold_front = mold_header_size + 2;  // before the message of a packet with one
constexpr std::size_t itch_time = 5;                      // its place in a message
constexpr std::size_t dbn_record = 56;
constexpr std::size_t dbn_event_time = 8;
constexpr std::size_t dbn_receive_time = 40;
constexpr std::uint32_t middle = 120'0000;     // where prices begin, in ten-thousandths
constexpr std::uint32_t warm_messages = 2000;  // for each name
constexpr std::uint32_t ticker_levels = 50;    // of the market that book tickers are of
constexpr Duration warm_interval{50'000};

MoldSession session() noexcept {
  MoldSession name;
  std::ranges::copy(std::string_view{"TICKTOMODL"}, name.begin());
  return name;
}

// The place of the price in a message. 0: it has none.
std::size_t price_place(char type) noexcept {
  switch (type) {
    case 'A':
    case 'F':
    case 'C':
    case 'P': return 32;
    case 'U': return 31;
    default: return 0;
  }
}

// Moves the prices of each stock so that its first one is the middle.
class Repricing {
 public:
  explicit Repricing(std::uint16_t stocks) : offsets_(stocks + 1U) {}

  void apply(std::span<std::byte> message) {
    const std::size_t place = price_place(static_cast<char>(message[0]));
    if (place == 0) return;
    const auto locate = load_big_endian<std::uint16_t>(message.data() + 1);
    const auto price = load_big_endian<std::uint32_t>(message.data() + place);
    std::int64_t& offset = offsets_.at(locate);
    if (offset == 0) offset = std::int64_t{middle} - price;
    store_big_endian<std::uint32_t>(message.data() + place, static_cast<std::uint32_t>(price + offset));
  }

 private:
  std::vector<std::int64_t> offsets_;
};

template <class T>
void store(std::byte* to, T value) noexcept {
  if constexpr (std::endian::native == std::endian::big && sizeof(T) > 1) value = std::byteswap(value);
  std::memcpy(to, &value, sizeof value);
}

// The records of one message, which need the orders' quantities and prices.
class DbnWriter {
 public:
  void add(const Event& event, std::vector<std::byte>& out) {
    switch (event.kind) {
      case EventKind::add:
        orders_[std::to_underlying(event.order)] = {event.price.nano, event.quantity, event.side};
        return record(event, 'A', std::to_underlying(event.order), event.quantity, true, out);
      case EventKind::cancel:
      case EventKind::execute: {
        Order& order = orders_.at(std::to_underlying(event.order));
        record(event, 'C', std::to_underlying(event.order), event.quantity, true, out);
        order.quantity -= std::min(order.quantity, event.quantity);
        if (order.quantity == 0) orders_.erase(std::to_underlying(event.order));
        return;
      }
      case EventKind::remove:
        record(event, 'C', std::to_underlying(event.order), orders_.at(std::to_underlying(event.order)).quantity, true,
               out);
        orders_.erase(std::to_underlying(event.order));
        return;
      case EventKind::replace: {
        const Order old = orders_.at(std::to_underlying(event.order));
        record(event, 'C', std::to_underlying(event.order), old.quantity, false, out);
        orders_.erase(std::to_underlying(event.order));
        orders_[event.other] = {event.price.nano, event.quantity, old.side};
        return record(event, 'A', event.other, event.quantity, true, out);
      }
      case EventKind::trade: return record(event, 'T', 0, event.quantity, true, out);
      case EventKind::none:
      case EventKind::modify:
      case EventKind::fill:
      case EventKind::clear:
      case EventKind::snapshot_begin:
      case EventKind::snapshot_end:
      case EventKind::level_set:
      case EventKind::status: return;
    }
  }

 private:
  struct Order {
    std::int64_t price = 0;
    Quantity quantity = 0;
    Side side = Side::none;
  };
  void record(const Event& event, char action, std::uint64_t id, Quantity quantity, bool last,
              std::vector<std::byte>& out) {
    const auto known = orders_.find(id);
    const Order order = known == orders_.end() ? Order{event.price.nano, 0, event.side} : known->second;
    std::array<std::byte, dbn_record> bytes{};
    bytes[0] = std::byte{dbn_record / 4};
    bytes[1] = std::byte{DbnReader::by_order};
    store<std::uint16_t>(&bytes[2], 1);
    store<std::uint32_t>(&bytes[4], std::to_underlying(event.instrument));
    store<std::uint64_t>(&bytes[16], id);
    store<std::int64_t>(&bytes[24], order.price);
    store<std::uint32_t>(&bytes[32], static_cast<std::uint32_t>(quantity));
    bytes[36] = std::byte{last ? event_flag::last : std::uint8_t{0}};
    bytes[38] = static_cast<std::byte>(action);
    bytes[39] = static_cast<std::byte>(order.side == Side::bid ? 'B' : order.side == Side::ask ? 'A' : 'N');
    store<std::uint32_t>(&bytes[52], static_cast<std::uint32_t>(event.sequence));
    out.insert(out.end(), bytes.begin(), bytes.end());
  }

  std::unordered_map<std::uint64_t, Order> orders_;
};

// How far apart the records of a recording were received.
std::vector<Duration> recorded_times(const std::string& file, std::size_t count) {
  std::vector<Duration> times;
  market::ByteInput input{file};
  DbnReader reader;
  UtcTime first{};
  for (auto chunk = input.next(); !chunk.empty() && times.size() < count; chunk = input.next()) {
    const bool good = reader.read(chunk, [&](const Event& event) {
      if (times.empty()) first = event.receive_time;
      times.push_back(std::max(event.receive_time - first, times.empty() ? Duration{} : times.back()));
      return times.size() < count;
    });
    if (!good) break;
  }
  if (times.size() < 2) throw std::runtime_error(file + ": no records by order, so it has no times to use");
  return times;
}

}  // namespace

std::vector<std::byte> dbn_beginning() {
  constexpr std::size_t symbol_size = 71, metadata = 100 + 5 * 4;
  std::vector<std::byte> bytes(8 + metadata);
  std::memcpy(bytes.data(), "DBN\x02", 4);
  store<std::uint32_t>(&bytes[4], metadata);
  std::memcpy(&bytes[8], "GENERATED", 9);
  // After dataset, schema, start, end, limit, and three bytes of symbol types and send times.
  store<std::uint16_t>(&bytes[8 + 16 + 2 + 8 + 8 + 8 + 1 + 1 + 1], symbol_size);
  return bytes;
}

std::vector<std::string> names_of(FeedKind feed, std::uint16_t count) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (feed != FeedKind::fix) {
      names.push_back(depth_name(i));
    } else if (i < demo::symbols.size()) {
      names.emplace_back(demo::symbols[i]);
    } else {
      throw ConfigError("--names " + std::to_string(count) + ": the demonstration's venue has " +
                        std::to_string(demo::symbols.size()) + " names; give at most as many with --feed fix");
    }
  }
  return names;
}

Messages::Messages(const MessageOptions& options) : feed_(options.feed) {
  const std::uint32_t warm = warm_messages * options.names;
  switch (feed_) {
    case FeedKind::itch:
    case FeedKind::dbn: make_datagrams(options, warm); break;
    case FeedKind::ws: make_tickers(options, warm); break;
    case FeedKind::fix:
      (void)names_of(feed_, options.names);
      packets_.resize(std::size_t{options.messages} + warm);
      first_measured_ = warm + 1;
      last_ = packets_.size();
      break;
  }
  set_times(options);
  for (Packet& each : packets_) each.due -= each.due % 2;  // see FixVenue::step()
}

void Messages::make_datagrams(const MessageOptions& options, std::uint32_t warm) {
  ItchGenerator day{{.seed = options.seed,
                     .messages = std::uint64_t{options.messages} + warm,
                     .stocks = options.names,
                     .resting_orders = 100}};
  Repricing repricing{options.names};
  ItchParser parser{UtcTime{}};
  DbnWriter dbn;
  std::uint64_t sequence = 0, trading = 0;
  for (auto message = day.next(); !message.empty(); message = day.next()) {
    std::vector<std::byte> bytes{message.begin(), message.end()};
    repricing.apply(bytes);
    const std::size_t at = bytes_.size();
    if (feed_ == FeedKind::itch) {
      const auto header = MoldHeader{session(), sequence + 1, 1}.bytes();
      bytes_.insert(bytes_.end(), header.begin(), header.end());
      bytes_.push_back(static_cast<std::byte>(bytes.size() >> 8));
      bytes_.push_back(static_cast<std::byte>(bytes.size()));
      bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    } else {
      parser.message(bytes, {sequence + 1, UtcTime{}, 0}, [&](const Event& event) { dbn.add(event, bytes_); });
      if (bytes_.size() == at) continue;  // nothing of it is in this feed
    }
    ++sequence;
    // The day's trading begins with its first order.
    if (trading != 0 || bytes[0] == std::byte{'A'} || bytes[0] == std::byte{'F'}) ++trading;
    if (trading == warm + 1 && first_measured_ == 0) first_measured_ = sequence;
    packets_.push_back({.offset = at, .size = static_cast<std::uint32_t>(bytes_.size() - at)});
    // The bells at the end of the day halt everything.
    if (trading == std::uint64_t{options.messages} + warm) break;
  }
  last_ = sequence;
}

// A venue sends one when the best prices change.
void Messages::make_tickers(const MessageOptions& options, std::uint32_t warm) {
  struct Name {
    DepthGenerator market;
    std::string last;
  };
  std::vector<Name> names;
  for (const std::string& name : names_of(feed_, options.names)) {
    names.push_back({{name, options.seed * 1000 + names.size(), ticker_levels, middle / 100}, {}});
  }
  std::mt19937_64 random{options.seed};
  first_measured_ = warm + 1;
  while (packets_.size() < std::size_t{options.messages} + warm) {
    // Each name once at first: the feed is live with a price of each.
    const std::size_t chosen = packets_.size() < names.size() ? packets_.size() : random() % names.size();
    Name& name = names[chosen];
    (void)name.market.update(UtcTime{});
    std::string prices = name.market.ticker();
    prices.erase(0, prices.find(','));  // its own number
    if (prices == name.last) continue;
    name.last = prices;
    const std::string text = "{\"u\":" + std::to_string(packets_.size() + 1) + prices;
    const auto bytes = std::as_bytes(std::span{text});
    packets_.push_back({.offset = bytes_.size(),
                        .size = static_cast<std::uint32_t>(text.size()),
                        .name = static_cast<std::uint16_t>(chosen)});
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  last_ = packets_.size();
}

void Messages::set_times(const MessageOptions& options) {
  std::mt19937_64 random{options.seed};
  const double mean_ns = 1e9 / options.rate_per_s;
  const auto exponential = [&](double mean) {
    return -std::log(1.0 - static_cast<double>(random() >> 11) * 0x1p-53) * mean;
  };
  Duration at{};
  std::size_t i = 0;
  for (; i + 1 < first_measured_ && i < packets_.size(); ++i) packets_[i].due = at += warm_interval;
  at += Duration{10'000'000};
  const std::size_t begin = i;
  switch (options.load) {
    case LoadKind::poisson: {
      double due = static_cast<double>(at.count());
      for (; i < packets_.size(); ++i)
        packets_[i].due = Duration{static_cast<std::int64_t>(due += exponential(mean_ns))};
      return;
    }
    case LoadKind::bursts: {
      const double arrival_ns = mean_ns * (49.0 + options.burst) / 50.0;
      double due = static_cast<double>(at.count());
      while (i < packets_.size()) {
        due += exponential(arrival_ns);
        for (std::uint32_t left = random() % 50 == 0 ? options.burst : 1; left > 0 && i < packets_.size(); --left, ++i)
          packets_[i].due = Duration{static_cast<std::int64_t>(due)};
      }
      return;
    }
    case LoadKind::recorded: {
      const std::vector<Duration> times = recorded_times(options.recording, packets_.size() - begin);
      const double span = static_cast<double>(std::max<std::int64_t>(times.back().count(), 1));
      const double scale = mean_ns * static_cast<double>(times.size()) / span;
      packets_.resize(std::min(packets_.size(), begin + times.size()));
      last_ = packets_.size();
      for (; i < packets_.size(); ++i)
        packets_[i].due =
            at + Duration{static_cast<std::int64_t>(static_cast<double>(times[i - begin].count()) * scale)};
      return;
    }
  }
}

std::string_view Messages::bytes(const Packet& packet, UtcTime due) noexcept {
  std::byte* const at = bytes_.data() + packet.offset;
  if (feed_ == FeedKind::itch) {
    // Two bytes before the time belong to the tracking number.
    const auto since = static_cast<std::uint64_t>((due - midnight_).count());
    std::byte* const time = at + mold_front + itch_time;
    store_big_endian<std::uint16_t>(time, static_cast<std::uint16_t>(since >> 32));
    store_big_endian<std::uint32_t>(time + 2, static_cast<std::uint32_t>(since));
  } else if (feed_ == FeedKind::dbn) {
    const auto time = static_cast<std::uint64_t>(due.time_since_epoch().count());
    for (std::size_t record = 0; record < packet.size; record += dbn_record) {
      store(at + record + dbn_event_time, time);
      store(at + record + dbn_receive_time, time);
    }
  }
  return {reinterpret_cast<const char*>(at), packet.size};
}

}  // namespace nfx::app::t2m
