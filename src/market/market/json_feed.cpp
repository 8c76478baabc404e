// Messages to events of the books.
#include "nexusfix/market/json_feed.hpp"

#include <array>
#include <utility>
#include <vector>

#include "market/exact_number.hpp"
#include "market/json_message.hpp"
#include "market/symbol_table.hpp"
#include "market/update_recovery.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx::market {

struct JsonFeed::Parts {
  struct Entry {
    Price price;
    Quantity quantity;
    UtcTime event_time;
    UtcTime receive_time;
    std::uint64_t sequence;
    Side side;
  };
  struct Best {
    Price price = Price::undefined();
    Quantity quantity = 0;
  };
  struct Instrument {
    JsonBook book = JsonBook::depth;
    std::uint8_t scale = 0;
    bool ticked = false;
    std::uint64_t last = 0;    // of the tickers
    std::array<Best, 2> best;  // by Side
  };

  Parts(const JsonFeedOptions& options, FeedOutput& output)
      : symbols_(options.recovery.instruments),
        recovery_(options.recovery),
        reader_(make_json_reader(options.limits)),
        output_(output) {
    instruments_.reserve(options.recovery.instruments);
    entries_.reserve(options.limits.levels);
  }

  std::optional<InstrumentIndex> add(std::string_view symbol, JsonBook book, unsigned quantity_scale);
  JsonError message(const JsonBytes& bytes, Instant now);
  JsonError snapshot(InstrumentIndex index, const JsonBytes& bytes, Instant now);
  void disconnected(Instant now);
  [[nodiscard]] InstrumentState state(InstrumentIndex index) const noexcept;
  JsonError dispatch(JsonError read, Instant now);
  JsonError ticker(InstrumentIndex index, Instrument& instrument, Instant now);
  JsonError depth(InstrumentIndex index, const Instrument& instrument, Instant now);
  JsonError trade(InstrumentIndex index, const Instrument& instrument, Instant now);
  JsonError read_entries(unsigned scale, std::uint64_t sequence, Instant now);
  JsonError add_entries(std::span<const JsonLevel> levels, Side side, unsigned scale, const Entry& like);
  void lost(InstrumentIndex index, Instant now);
  void announce(InstrumentIndex index, bool was_live, Instant now);
  void apply(InstrumentIndex index, const Entry& entry, std::uint8_t flags) noexcept;
  void emit(const Event& event) noexcept;
  void finish() noexcept;
  [[nodiscard]] UtcTime event_time(Instant now) const noexcept;
  [[nodiscard]] Event event_of(EventKind kind, InstrumentIndex index, Instant now) const noexcept;
  [[nodiscard]] Instrument& at(InstrumentIndex index) noexcept { return instruments_[std::to_underlying(index)]; }
  JsonError counted(JsonError error) noexcept {
    ++errors_[static_cast<std::size_t>(error)];
    return error;
  }

  SymbolTable symbols_;
  std::vector<Instrument> instruments_;
  UpdateRecovery<Entry> recovery_;
  std::unique_ptr<JsonReader> reader_;
  FeedOutput& output_;
  JsonMessage message_;
  std::vector<Entry> entries_;  // of the message
  std::optional<Event> pending_;
  JsonFeedCounters counters_;
  std::array<std::uint64_t, json_errors> errors_{};
};

std::optional<InstrumentIndex> JsonFeed::Parts::add(std::string_view symbol, JsonBook book, unsigned quantity_scale) {
  NFX_REQUIRE(quantity_scale <= Decimal::max_scale);
  const std::uint32_t before = symbols_.size();
  const auto index = symbols_.add(symbol);
  if (symbols_.size() == before) return index;
  Instrument instrument;
  instrument.book = book;
  instrument.scale = static_cast<std::uint8_t>(quantity_scale);
  instruments_.push_back(instrument);
  if (book == JsonBook::depth) recovery_.begin(*index);
  return index;
}

InstrumentState JsonFeed::Parts::state(InstrumentIndex index) const noexcept {
  const Instrument& instrument = instruments_[std::to_underlying(index)];
  if (instrument.book == JsonBook::depth) return recovery_.state(index);
  return instrument.ticked ? InstrumentState::live : InstrumentState::recovering;
}

JsonError JsonFeed::Parts::message(const JsonBytes& bytes, Instant now) {
  const JsonError error = dispatch(reader_->read(bytes, message_), now);
  finish();
  return counted(error);
}

JsonError JsonFeed::Parts::dispatch(JsonError read, Instant now) {
  if (read == JsonError::none && message_.kind == JsonKind::answer) {
    ++counters_.answers;
    return read;
  }
  if (read == JsonError::none && message_.kind == JsonKind::refusal) {
    ++counters_.refusals;
    return read;
  }
  if (message_.symbol.empty()) return read == JsonError::none ? JsonError::other_message : read;
  const auto index = symbols_.find(message_.symbol);
  if (!index) return read == JsonError::none ? JsonError::unknown_symbol : read;
  Instrument& instrument = at(*index);
  if (read != JsonError::none) [[unlikely]] {
    // The next ticker repeats the fields of a bad one; the rest of a bad trade does not matter to the book.
    const bool of_depth = message_.kind == JsonKind::depth_update || message_.kind == JsonKind::none;
    if (instrument.book == JsonBook::depth && of_depth) lost(*index, now);
    return read;
  }
  switch (message_.kind) {
    case JsonKind::book_ticker: return ticker(*index, instrument, now);
    case JsonKind::depth_update: return depth(*index, instrument, now);
    case JsonKind::trade: return trade(*index, instrument, now);
    case JsonKind::none:
    case JsonKind::depth_snapshot:
    case JsonKind::answer:
    case JsonKind::refusal: break;
  }
  return JsonError::other_message;
}

UtcTime JsonFeed::Parts::event_time(Instant now) const noexcept {
  if (message_.time_ns == 0) return now.utc;
  return UtcTime{Duration{static_cast<std::int64_t>(message_.time_ns)}};
}

Event JsonFeed::Parts::event_of(EventKind kind, InstrumentIndex index, Instant now) const noexcept {
  Event event;
  event.kind = kind;
  event.instrument = InstrumentId{std::to_underlying(index)};
  event.event_time = event_time(now);
  event.receive_time = now.utc;
  event.sequence = message_.last;
  return event;
}

// An event is passed on when the next one exists, so that the last of a message is marked.
void JsonFeed::Parts::emit(const Event& event) noexcept {
  if (pending_) output_.event(*pending_);
  pending_ = event;
}

void JsonFeed::Parts::finish() noexcept {
  if (!pending_) return;
  pending_->flags |= event_flag::last;
  output_.event(*pending_);
  pending_.reset();
}

JsonError JsonFeed::Parts::ticker(InstrumentIndex index, Instrument& instrument, Instant now) {
  ++counters_.tickers;
  if (instrument.book != JsonBook::ticker) {
    ++counters_.other_book;
    return JsonError::none;
  }
  if (instrument.ticked && message_.last <= instrument.last) {
    ++counters_.old_tickers;
    return JsonError::none;
  }
  const auto bid = to_price(message_.bid.price), ask = to_price(message_.ask.price);
  if (!bid || !ask) return JsonError::bad_price;
  const auto bid_size = to_quantity(message_.bid.quantity, instrument.scale);
  const auto ask_size = to_quantity(message_.ask.quantity, instrument.scale);
  if (!bid_size || !ask_size) return JsonError::bad_quantity;
  instrument.ticked = true;
  instrument.last = message_.last;

  Event event = event_of(EventKind::level_set, index, now);
  event.flags = event_flag::by_level | event_flag::top_of_book;
  struct Set {
    Side side;
    Price price;
    Quantity quantity;
  };
  std::array<Set, 4> sets{};
  std::size_t count = 0;
  const auto set = [&](Side side, Price price, Quantity quantity) { sets[count++] = {side, price, quantity}; };
  const std::array<Best, 2> fresh{Best{*bid, *bid_size}, Best{*ask, *ask_size}};
  // Removals first: the book is never crossed by what is no longer there.
  for (const Side side : {Side::bid, Side::ask}) {
    const Best& before = instrument.best[std::to_underlying(side)];
    if (before.quantity == 0 || before.price == fresh[std::to_underlying(side)].price) continue;
    set(side, before.price, 0);
  }
  for (const Side side : {Side::bid, Side::ask}) {
    Best& before = instrument.best[std::to_underlying(side)];
    const Best& after = fresh[std::to_underlying(side)];
    const bool same_price = before.price == after.price;
    const bool changed = same_price ? before.quantity != after.quantity : after.quantity != 0;
    if (changed) set(side, after.price, after.quantity);
    before = after;
  }
  for (std::size_t i = 0; i < count; ++i) {
    event.side = sets[i].side;
    event.price = sets[i].price;
    event.quantity = sets[i].quantity;
    if (i + 1 == count) event.flags |= event_flag::last;
    output_.event(event);
  }
  return JsonError::none;
}

JsonError JsonFeed::Parts::trade(InstrumentIndex index, const Instrument& instrument, Instant now) {
  ++counters_.trades;
  const auto price = to_price(message_.bid.price);
  if (!price) return JsonError::bad_price;
  const auto quantity = to_quantity(message_.bid.quantity, instrument.scale);
  if (!quantity) return JsonError::bad_quantity;
  Event event = event_of(EventKind::trade, index, now);
  event.side = message_.buyer_is_maker ? Side::ask : Side::bid;
  event.price = *price;
  event.quantity = *quantity;
  event.other = message_.last;
  emit(event);
  return JsonError::none;
}

JsonError JsonFeed::Parts::add_entries(std::span<const JsonLevel> levels, Side side, unsigned scale,
                                       const Entry& like) {
  for (const JsonLevel& level : levels) {
    const auto price = to_price(level.price);
    if (!price) return JsonError::bad_price;
    const auto quantity = to_quantity(level.quantity, scale);
    if (!quantity) return JsonError::bad_quantity;
    Entry entry = like;
    entry.price = *price;
    entry.quantity = *quantity;
    entry.side = side;
    entries_.push_back(entry);
  }
  return JsonError::none;
}

// Bids and asks of the message to entries_.
JsonError JsonFeed::Parts::read_entries(unsigned scale, std::uint64_t sequence, Instant now) {
  entries_.clear();
  NFX_ASSERT(message_.bids.size() + message_.asks.size() <= entries_.capacity());
  const Entry like{.price = {},
                   .quantity = 0,
                   .event_time = event_time(now),
                   .receive_time = now.utc,
                   .sequence = sequence,
                   .side = Side::none};
  const JsonError error = add_entries(message_.bids, Side::bid, scale, like);
  return error != JsonError::none ? error : add_entries(message_.asks, Side::ask, scale, like);
}

void JsonFeed::Parts::apply(InstrumentIndex index, const Entry& entry, std::uint8_t flags) noexcept {
  Event event;
  event.kind = EventKind::level_set;
  event.instrument = InstrumentId{std::to_underlying(index)};
  event.event_time = entry.event_time;
  event.receive_time = entry.receive_time;
  event.sequence = entry.sequence;
  event.side = entry.side;
  event.price = entry.price;
  event.quantity = entry.quantity;
  event.flags = static_cast<std::uint8_t>(flags | event_flag::by_level);
  emit(event);
}

JsonError JsonFeed::Parts::depth(InstrumentIndex index, const Instrument& instrument, Instant now) {
  ++counters_.depth_updates;
  if (instrument.book != JsonBook::depth) {
    ++counters_.other_book;
    return JsonError::none;
  }
  if (const JsonError error = read_entries(instrument.scale, message_.last, now); error != JsonError::none) {
    lost(index, now);
    return error;
  }
  const bool was_live = recovery_.state(index) == InstrumentState::live;
  const UpdateRange range{message_.has_previous ? message_.previous : message_.first - 1, message_.last};
  recovery_.update(index, range, entries_, [this](InstrumentIndex of, const Entry& entry) {
    apply(of, entry, 0);
    return true;
  });
  announce(index, was_live, now);
  return JsonError::none;
}

JsonError JsonFeed::Parts::snapshot(InstrumentIndex index, const JsonBytes& bytes, Instant now) {
  NFX_ASSERT(std::to_underlying(index) < instruments_.size());
  if (const JsonError error = reader_->read(bytes, message_); error != JsonError::none) return counted(error);
  if (message_.kind == JsonKind::refusal) {
    ++counters_.refusals;
    recovery_.refused(index, now.monotonic);
    return counted(JsonError::other_message);
  }
  if (message_.kind != JsonKind::depth_snapshot || at(index).book != JsonBook::depth) {
    return counted(JsonError::other_message);
  }
  if (const JsonError error = read_entries(at(index).scale, message_.last, now); error != JsonError::none) {
    return counted(error);
  }
  if (recovery_.check_snapshot(index, message_.last) != SnapshotUse::apply) return counted(JsonError::none);
  Event frame = event_of(EventKind::snapshot_begin, index, now);
  frame.flags = event_flag::snapshot;
  emit(frame);
  for (const Entry& entry : entries_) apply(index, entry, event_flag::snapshot);
  frame.kind = EventKind::snapshot_end;
  emit(frame);
  recovery_.snapshot_applied(index, message_.last, [this](InstrumentIndex of, const Entry& entry) {
    apply(of, entry, 0);
    return true;
  });
  finish();
  return counted(JsonError::none);
}

void JsonFeed::Parts::lost(InstrumentIndex index, Instant now) {
  const bool was_live = recovery_.state(index) == InstrumentState::live;
  recovery_.lost(index);
  announce(index, was_live, now);
}

void JsonFeed::Parts::announce(InstrumentIndex index, bool was_live, Instant now) {
  if (!was_live || recovery_.state(index) == InstrumentState::live) return;
  Event event = event_of(EventKind::none, index, now);
  event.flags = event_flag::recovering;
  emit(event);
}

void JsonFeed::Parts::disconnected(Instant now) {
  message_ = JsonMessage{};
  for (std::uint32_t i = 0; i < symbols_.size(); ++i) {
    const InstrumentIndex index{i};
    Instrument& instrument = at(index);
    const bool was_live = state(index) == InstrumentState::live;
    if (instrument.book == JsonBook::depth) {
      recovery_.forget(index);
    } else {
      instrument.ticked = false;
    }
    if (!was_live) continue;
    Event event = event_of(EventKind::none, index, now);
    event.flags = event_flag::recovering;
    emit(event);
    finish();
  }
}

JsonFeed::JsonFeed(const JsonFeedOptions& options, FeedOutput& output)
    : parts_(std::make_unique<Parts>(options, output)) {}
JsonFeed::~JsonFeed() = default;

std::optional<InstrumentIndex> JsonFeed::add(std::string_view symbol, JsonBook book, unsigned quantity_scale) {
  return parts_->add(symbol, book, quantity_scale);
}
JsonError JsonFeed::message(const JsonBytes& bytes, Instant now) { return parts_->message(bytes, now); }
JsonError JsonFeed::snapshot(InstrumentIndex index, const JsonBytes& bytes, Instant now) {
  return parts_->snapshot(index, bytes, now);
}
void JsonFeed::snapshot_refused(InstrumentIndex index, MonotonicTime now) noexcept {
  parts_->recovery_.refused(index, now);
}
void JsonFeed::tick(MonotonicTime now) {
  while (const auto index = parts_->recovery_.due(now)) parts_->output_.request_snapshot(*index);
}
MonotonicTime JsonFeed::due_at() const noexcept { return parts_->recovery_.due_at(); }
void JsonFeed::disconnected(Instant now) { parts_->disconnected(now); }
std::size_t JsonFeed::waiting() const noexcept { return parts_->recovery_.waiting(); }
InstrumentState JsonFeed::state(InstrumentIndex index) const noexcept { return parts_->state(index); }
std::optional<std::uint64_t> JsonFeed::position(InstrumentIndex index) const noexcept {
  return parts_->recovery_.position(index);
}
std::string_view JsonFeed::symbol(InstrumentIndex index) const noexcept { return parts_->symbols_.symbol(index); }
const JsonFeedCounters& JsonFeed::counters() const noexcept { return parts_->counters_; }
const RecoveryCounters& JsonFeed::recovery_counters() const noexcept { return parts_->recovery_.counters(); }
std::uint64_t JsonFeed::count(JsonError error) const noexcept {
  return parts_->errors_[static_cast<std::size_t>(error)];
}
std::uint64_t JsonFeed::left_to_simdjson() const noexcept { return parts_->reader_->left_to_simdjson(); }

}  // namespace nfx::market
