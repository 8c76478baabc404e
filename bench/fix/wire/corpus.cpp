// Generates the benchmark's messages from a seed, with values as varied as a session's.
#include "wire/corpus.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <set>

#include "harness/random.hpp"
#include "wire/plain_reading.hpp"

namespace nfx::bench {
namespace {

constexpr char soh = '\x01';
constexpr std::string_view begin_string = "FIX.4.4";
constexpr std::int64_t first_moment_ms = 1'710'504'000'000;  // a Friday at noon

std::string padded(std::int64_t number, int width) {
  char text[24];
  return {text,
          static_cast<std::size_t>(std::snprintf(text, sizeof text, "%0*lld", width, static_cast<long long>(number)))};
}

std::string price_text(PriceValue price) {
  std::string digits = padded(price.mantissa, price.scale + 1);
  if (price.scale > 0) digits.insert(digits.size() - price.scale, 1, '.');
  return digits;
}

std::string time_text(std::int64_t ms) {
  using namespace std::chrono;
  const sys_time<milliseconds> time{milliseconds{ms}};
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{time - day};
  return padded(int{date.year()}, 4) + padded(unsigned{date.month()}, 2) + padded(unsigned{date.day()}, 2) + '-' +
         padded(clock.hours().count(), 2) + ':' + padded(clock.minutes().count(), 2) + ':' +
         padded(clock.seconds().count(), 2) + '.' + padded(clock.subseconds().count(), 3);
}

class PlainBuilder {
 public:
  PlainBuilder& add(int tag, const std::string& text) {
    body_ += std::to_string(tag) + '=' + text + soh;
    return *this;
  }
  PlainBuilder& add(int tag, char value) { return add(tag, std::string(1, value)); }
  PlainBuilder& add(int tag, std::int64_t value) { return add(tag, std::to_string(value)); }
  PlainBuilder& add(int tag, PriceValue value) { return add(tag, price_text(value)); }

  PlainBuilder& header(const std::string& msg_type, const OrderValues& values, HeaderOrder order) {
    add(35, msg_type);
    switch (order) {
      case HeaderOrder::comp_ids_first:
        add(49, values.sender.str()).add(56, values.target.str()).add(34, std::to_string(values.seq_num));
        return add(52, time_text(values.sending_time_ms));
      case HeaderOrder::by_tag:
        add(34, std::to_string(values.seq_num)).add(49, values.sender.str()).add(52, time_text(values.sending_time_ms));
        return add(56, values.target.str());
    }
    return *this;
  }

  [[nodiscard]] std::string finish() const {
    std::string message = "8=" + std::string{begin_string} + soh + "9=" + std::to_string(body_.size()) + soh + body_;
    unsigned sum = 0;
    for (const char c : message) sum += static_cast<unsigned char>(c);
    return message + "10=" + padded(sum % 256, 3) + soh;
  }

 private:
  std::string body_;
};

std::string letters(Random& random, std::uint64_t least, std::uint64_t most) {
  std::string text(random.between(least, most), 'A');
  for (char& c : text) c = static_cast<char>('A' + random.below(26));
  return text;
}

std::string digits(Random& random, std::uint64_t least, std::uint64_t most) {
  std::string text(random.between(least, most), '0');
  for (char& c : text) c = static_cast<char>('0' + random.below(10));
  return text;
}

char one_of(Random& random, std::string_view choices) { return choices[random.below(choices.size())]; }

// Shares with two decimals, futures with quarters, currencies with five: texts of three to eight characters.
PriceValue random_price(Random& random) {
  switch (random.below(4)) {
    case 0: return {static_cast<std::int64_t>(random.between(50'000, 199'999)), 5};
    case 1: return {static_cast<std::int64_t>(random.between(4'000, 24'000) * 25), 2};
    case 2: return {static_cast<std::int64_t>(random.between(100, 9'999)), 2};
    default: return {static_cast<std::int64_t>(random.between(10'000, 99'999)), 2};
  }
}

PriceValue close_to(Random& random, PriceValue price) {
  return {price.mantissa - static_cast<std::int64_t>(random.below(20)), price.scale};
}

std::int64_t random_quantity(Random& random) {
  static constexpr std::array<std::int64_t, 4> lots{1, 10, 100, 1000};
  const auto count = static_cast<std::int64_t>(random.between(1, 99));
  return count * lots[random.below(lots.size())];
}

OrderValues random_values(Random& random, std::uint64_t seq_num, std::int64_t sent_ms, bool from_venue) {
  OrderValues v;
  v.sender = ShortText{from_venue ? "VENUE" : "BUYSIDE"};
  v.target = ShortText{from_venue ? "BUYSIDE" : "VENUE"};
  v.seq_num = seq_num;
  v.sending_time_ms = sent_ms;
  v.transact_time_ms = v.sending_time_ms - static_cast<std::int64_t>(random.below(5));
  // One draw per statement, because the compiler chooses the order of operands, and the corpus must not depend on it.
  const std::string trader = letters(random, 2, 4);
  v.cl_ord_id = ShortText{trader + digits(random, 7, 9)};
  v.order_id = ShortText{digits(random, 8, 12)};
  v.exec_id = ShortText{digits(random, 9, 12)};
  v.account = ShortText{"AC" + digits(random, 2, 6)};
  v.symbol = ShortText{letters(random, 3, 5)};
  v.side = one_of(random, "125");
  v.ord_type = '2';
  v.time_in_force = one_of(random, "0134");
  v.order_qty = random_quantity(random) + 1;
  v.last_qty = static_cast<std::int64_t>(random.between(1, static_cast<std::uint64_t>(v.order_qty)));
  v.cum_qty = v.last_qty;
  v.leaves_qty = v.order_qty - v.cum_qty;
  v.exec_type = 'F';
  v.ord_status = v.leaves_qty == 0 ? '2' : '1';
  v.price = random_price(random);
  v.last_px = close_to(random, v.price);
  v.avg_px = close_to(random, v.last_px);
  return v;
}

std::string heartbeat(Random& random, const OrderValues& values) {
  PlainBuilder message;
  message.header("0", values, HeaderOrder::comp_ids_first);
  // An answer to a TestRequest contains its ID.
  if (random.below(4) == 0) message.add(112, "TEST" + digits(random, 3, 7));
  return message.finish();
}

std::string market_data(Random& random, const OrderValues& values) {
  PlainBuilder message;
  message.header("X", values, HeaderOrder::comp_ids_first).add(268, std::int64_t{market_data_entries});
  for (unsigned i = 0; i < market_data_entries; ++i) {
    message.add(279, one_of(random, "012")).add(269, one_of(random, "012")).add(55, letters(random, 3, 6));
    message.add(270, random_price(random)).add(271, random_quantity(random));
  }
  return message.finish();
}

std::string make_message(Kind kind, Random& random, const OrderValues& values) {
  switch (kind) {
    case Kind::heartbeat: return heartbeat(random, values);
    case Kind::new_order_single: return plain_new_order(values, HeaderOrder::comp_ids_first);
    case Kind::execution_report: return plain_report(values, HeaderOrder::comp_ids_first);
    case Kind::market_data: return market_data(random, values);
  }
  return {};
}

}  // namespace

std::string_view to_string(Kind kind) noexcept {
  switch (kind) {
    case Kind::heartbeat: return "Heartbeat";
    case Kind::new_order_single: return "NewOrderSingle";
    case Kind::execution_report: return "ExecutionReport";
    case Kind::market_data: return "MarketDataIncrementalRefresh";
  }
  return "";
}

std::string plain_new_order(const OrderValues& v, HeaderOrder order) {
  PlainBuilder message;
  message.header("D", v, order)
      .add(11, v.cl_ord_id.str())
      .add(1, v.account.str())
      .add(21, v.handl_inst)
      .add(55, v.symbol.str());
  message.add(54, v.side).add(60, time_text(v.transact_time_ms)).add(38, v.order_qty).add(40, v.ord_type);
  return message.add(44, v.price).add(59, v.time_in_force).finish();
}

std::string plain_report(const OrderValues& v, HeaderOrder order) {
  PlainBuilder message;
  message.header("8", v, order)
      .add(37, v.order_id.str())
      .add(11, v.cl_ord_id.str())
      .add(17, v.exec_id.str())
      .add(150, v.exec_type);
  message.add(39, v.ord_status).add(1, v.account.str()).add(55, v.symbol.str()).add(54, v.side).add(38, v.order_qty);
  message.add(40, v.ord_type).add(44, v.price).add(59, v.time_in_force).add(32, v.last_qty).add(31, v.last_px);
  message.add(151, v.leaves_qty).add(14, v.cum_qty).add(6, v.avg_px);
  return message.add(60, time_text(v.transact_time_ms)).finish();
}

Corpus make_corpus(Kind kind, std::uint64_t seed, std::uint32_t messages) {
  // Each kind has its own sequence, so that a corpus does not depend on which others were made.
  Random random{seed ^ (std::uint64_t{static_cast<unsigned char>(kind)} + 1) * 0x1000003};
  const bool keeps_values = kind == Kind::new_order_single || kind == Kind::execution_report;
  Corpus corpus;
  corpus.kind = kind;
  corpus.offsets.push_back(0);
  std::uint64_t seq_num = 12'000;
  // One busy second of a session, which suits encoders that cache the text of the last second.
  const auto second = static_cast<std::int64_t>(random.below(6 * 60 * 60));
  for (std::uint32_t i = 0; i < messages; ++i) {
    ++seq_num;
    const std::int64_t sent_ms = first_moment_ms + second * 1000 + std::int64_t{i} * 1000 / messages;
    OrderValues values = random_values(random, seq_num, sent_ms, kind != Kind::new_order_single);
    corpus.bytes += make_message(kind, random, values);
    corpus.offsets.push_back(static_cast<std::uint32_t>(corpus.bytes.size()));
    if (keeps_values) corpus.values.push_back(std::move(values));
  }
  return corpus;
}

std::string what_is_wrong_with(const Corpus& corpus) {
  std::set<std::string_view> seen;
  for (std::uint32_t i = 0; i < corpus.size(); ++i) {
    const std::string name = std::string{to_string(corpus.kind)} + " number " + std::to_string(i);
    if (!read_plainly(corpus[i])) return name + " is not well-formed";
    if (!seen.insert(corpus[i]).second) return name + " occurs twice";
  }
  return {};
}

std::uint64_t digest(std::string_view bytes) noexcept {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

}  // namespace nfx::bench
