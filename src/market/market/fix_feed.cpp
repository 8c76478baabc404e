// Messages of the session to updates, snapshots and requests.
#include "nexusfix/market/fix_feed.hpp"

#include <algorithm>
#include <charconv>

#include "market/fix_entries.hpp"
#include "market/fix_translator.hpp"
#include "market/update_recovery.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::market {
namespace {

// MDReqID of write_request(): "nfx-INDEX-N".
constexpr std::string_view id_prefix = "nfx-";

std::optional<std::uint32_t> index_in(std::string_view id) noexcept {
  if (!id.starts_with(id_prefix)) return std::nullopt;
  id.remove_prefix(id_prefix.size());
  std::uint32_t index = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), index);
  if (error != std::errc{} || end == id.data() + id.size() || *end != '-') return std::nullopt;
  return index;
}

// The symbol that a rejection or a status is about.
std::string_view symbol_of(const MessageView& message) noexcept {
  const std::string_view symbol = message.get_view(Tag::Symbol);
  return symbol.empty() ? message.get_view(Tag::SecurityID) : symbol;
}

}  // namespace

bool write_market_data_request(FieldWriter& writer, const FixMarketDataRequest& request) noexcept {
  if (request.symbols.empty() || request.types.empty() || request.id.empty()) return false;
  writer.append<Tag::MDReqID>(request.id)
      .append<Tag::SubscriptionRequestType>(request.subscription)
      .append(fix_tag::MarketDepth, request.depth);
  if (request.subscription == '1') writer.append<Tag::MDUpdateType>(request.update_type);
  if (request.by_order) writer.append(fix_tag::AggregatedBook, false);
  writer.append(Tag::NoMDEntryTypes, request.types.size());
  for (const char type : request.types) writer.append<Tag::MDEntryType>(type);
  writer.append(Tag::NoRelatedSym, request.symbols.size());
  for (const std::string_view symbol : request.symbols) writer.append<Tag::Symbol>(symbol);
  return writer.ok();
}

struct FixFeed::Parts {
  Parts(const FixFeedOptions& options, FeedOutput& output)
      : instruments_(options.recovery.instruments),
        recovery_(options.recovery),
        entries_(options.entries),
        heard_(options.recovery.instruments),
        translator_({options.recovery.instruments, options.depth, options.orders}, output, counters_),
        output_(output) {}

  std::optional<InstrumentIndex> add(std::string_view symbol, unsigned quantity_scale);
  FixFeedError message(const MessageView& message, Instant now);
  FixFeedError dispatch(const MessageView& message, Instant now);
  FixFeedError increments(const MessageView& message, Instant now);
  FixFeedError snapshot(const MessageView& message, Instant now);
  FixFeedError rejected(const MessageView& message, Instant now) noexcept;
  FixFeedError status(const MessageView& message, Instant now);
  void update(std::span<const FixEntry> entries);
  void emptied(InstrumentIndex index, std::uint64_t number, UtcTime time);
  void tick(MonotonicTime now);
  void disconnected(Instant now);
  bool write_request(FieldWriter& writer, InstrumentIndex index, FixMarketDataRequest request);
  void lost(InstrumentIndex index);
  void announce(InstrumentIndex index, bool was_live);
  [[nodiscard]] bool live(InstrumentIndex index) const noexcept {
    return recovery_.state(index) == InstrumentState::live;
  }

  struct Heard {
    std::uint64_t message = 0;  // the last one about it
    std::uint64_t number = 0;   // RptSeq of the last update in that message
    bool subscribed = false;    // something was received in this session
  };

  FixInstruments instruments_;
  UpdateRecovery<FixEntry> recovery_;
  FixFeedCounters counters_;
  std::array<std::uint64_t, fix_feed_errors> errors_{};
  std::vector<FixEntry> entries_;
  std::vector<Heard> heard_;
  FixTranslator translator_;
  FeedOutput& output_;
  FixReject reject_;
  ShortText reject_id_;
  std::uint64_t messages_ = 0;
  std::uint64_t requests_ = 0;
};

std::optional<InstrumentIndex> FixFeed::Parts::add(std::string_view symbol, unsigned quantity_scale) {
  const std::uint32_t before = instruments_.size();
  const auto index = instruments_.add(symbol, quantity_scale);
  if (instruments_.size() != before) recovery_.begin(*index);
  return index;
}

FixFeedError FixFeed::Parts::message(const MessageView& message, Instant now) {
  ++messages_;
  translator_.begin(now.utc);
  const FixFeedError error = dispatch(message, now);
  translator_.finish();
  ++errors_[static_cast<std::size_t>(error)];
  return error;
}

FixFeedError FixFeed::Parts::dispatch(const MessageView& message, Instant now) {
  const std::string_view type = message.msg_type();
  if (type.size() != 1) return FixFeedError::other_message;
  switch (type[0]) {
    case 'X': return increments(message, now);
    case 'W': return snapshot(message, now);
    case 'Y': return rejected(message, now);
    case 'f': return status(message, now);
    default: return FixFeedError::other_message;
  }
}

FixFeedError FixFeed::Parts::increments(const MessageView& message, Instant now) {
  const FixEntries read = read_increments(message, instruments_, entries_);
  counters_.unknown_symbols += read.unknown_symbols;
  if (read.error != FixFeedError::none && read.error != FixFeedError::unknown_symbol) {
    if (read.all_affected) {
      for (std::uint32_t i = 0; i < instruments_.size(); ++i) lost(InstrumentIndex{i});
    } else {
      for (const FixEntry& entry : std::span{entries_}.first(read.count)) lost(entry.instrument);
    }
    return read.error;
  }
  if (read.all_emptied) {
    for (std::uint32_t i = 0; i < instruments_.size(); ++i) emptied(InstrumentIndex{i}, 0, now.utc);
  }
  // Consecutive entries of an instrument with the same number are one update.
  for (std::size_t i = 0; i < read.count;) {
    const FixEntry& first = entries_[i];
    std::size_t end = i + 1;
    const bool empties = first.type == FixEntryType::empty_book;
    while (!empties && end < read.count && entries_[end].instrument == first.instrument &&
           entries_[end].number == first.number && entries_[end].type != FixEntryType::empty_book) {
      ++end;
    }
    if (empties) {
      emptied(first.instrument, first.number, first.time);
    } else {
      update(std::span{entries_}.subspan(i, end - i));
    }
    i = end;
  }
  return read.error;
}

void FixFeed::Parts::update(std::span<const FixEntry> entries) {
  const InstrumentIndex index = entries.front().instrument;
  const std::uint64_t number = entries.front().number;
  Heard& heard = heard_[std::to_underlying(index)];
  heard.subscribed = true;
  const bool was_live = live(index);
  const auto apply = [this](InstrumentIndex of, const FixEntry& entry) { return translator_.apply(of, entry); };
  if (number == 0) {
    recovery_.update_in_order(index, entries, apply);
  } else if (heard.message == messages_ && heard.number == number) {
    // Entries with one number in two places of a message: the second ones would be taken for a repetition.
    recovery_.lost(index);
  } else {
    heard.message = messages_;
    heard.number = number;
    recovery_.update(index, {number - 1, number}, entries, apply);
  }
  announce(index, was_live);
}

void FixFeed::Parts::emptied(InstrumentIndex index, std::uint64_t number, UtcTime time) {
  const auto position = recovery_.position(index);
  const auto apply = [this](InstrumentIndex of, const FixEntry& entry) { return translator_.apply(of, entry); };
  const bool was_live = live(index);
  if (number > 1 && position && number <= *position) {
    recovery_.update(index, {number - 1, number}, {}, apply);
  } else {
    heard_[std::to_underlying(index)].subscribed = true;
    translator_.clear(index, number, time);
    recovery_.snapshot_applied(index, number == 0 ? std::nullopt : std::optional{number}, apply);
  }
  announce(index, was_live);
}

FixFeedError FixFeed::Parts::snapshot(const MessageView& message, Instant now) {
  const FixSnapshot read = read_snapshot(message, instruments_, entries_);
  counters_.unknown_symbols += read.unknown_symbols;
  if (read.error != FixFeedError::none) return read.error;
  const InstrumentIndex index = *read.instrument;
  heard_[std::to_underlying(index)].subscribed = true;
  if (recovery_.check_snapshot(index, read.number) != SnapshotUse::apply) return FixFeedError::none;
  const bool was_live = live(index);
  const std::span<const FixEntry> entries = std::span{entries_}.first(read.count);
  const UtcTime time = entries.empty() ? now.utc : entries.front().time;
  if (translator_.snapshot(index, read.number.value_or(0), time, entries)) {
    recovery_.snapshot_applied(
        index, read.number, [this](InstrumentIndex of, const FixEntry& entry) { return translator_.apply(of, entry); });
  } else {
    recovery_.lost(index);
  }
  announce(index, was_live);
  return FixFeedError::none;
}

FixFeedError FixFeed::Parts::rejected(const MessageView& message, Instant now) noexcept {
  reject_ = {};
  const std::string_view id = message.get_view(Tag::MDReqID);
  if (id.size() <= ShortText::max_size) {
    reject_id_ = ShortText{id};
    reject_.id = reject_id_.view();
  }
  reject_.reason = message.get_char(fix_tag::MDReqRejReason).value_or('\0');
  if (const auto index = index_in(id); index && *index < instruments_.size()) {
    reject_.instrument = InstrumentIndex{*index};
    recovery_.refused(*reject_.instrument, now.monotonic);
  }
  return FixFeedError::rejected;
}

FixFeedError FixFeed::Parts::status(const MessageView& message, Instant now) {
  const std::string_view symbol = symbol_of(message);
  if (symbol.empty()) return FixFeedError::no_symbol;
  const auto index = instruments_.find(symbol);
  if (!index) return FixFeedError::unknown_symbol;
  const auto time = message.get_utc_timestamp(fix_tag::TransactTime);
  translator_.status(*index, trading_status(message), time ? time->time : now.utc);
  return FixFeedError::none;
}

void FixFeed::Parts::tick(MonotonicTime now) {
  while (const auto index = recovery_.due(now)) output_.request_snapshot(*index);
}

void FixFeed::Parts::disconnected(Instant now) {
  translator_.begin(now.utc);
  for (std::uint32_t i = 0; i < instruments_.size(); ++i) {
    const InstrumentIndex index{i};
    const bool was_live = live(index);
    heard_[i] = {};
    recovery_.forget(index);
    announce(index, was_live);
  }
  translator_.finish();
}

bool FixFeed::Parts::write_request(FieldWriter& writer, InstrumentIndex index, FixMarketDataRequest request) {
  char id[ShortText::max_size + 1];
  const std::size_t prefix = id_prefix.copy(id, id_prefix.size());
  char* at = std::to_chars(id + prefix, id + sizeof id, std::to_underlying(index)).ptr;
  *at++ = '-';
  at = std::to_chars(at, id + sizeof id, ++requests_ % 1'000'000'000).ptr;
  const std::string_view symbol = instruments_.symbol(index);
  request.id = {id, static_cast<std::size_t>(at - id)};
  request.subscription = heard_[std::to_underlying(index)].subscribed ? '0' : '1';
  request.symbols = std::span{&symbol, 1};
  return write_market_data_request(writer, request);
}

void FixFeed::Parts::lost(InstrumentIndex index) {
  const bool was_live = live(index);
  recovery_.lost(index);
  announce(index, was_live);
}

void FixFeed::Parts::announce(InstrumentIndex index, bool was_live) {
  if (was_live && !live(index)) translator_.recovering(index);
}

FixFeed::FixFeed(const FixFeedOptions& options, FeedOutput& output)
    : parts_(std::make_unique<Parts>(options, output)) {}
FixFeed::~FixFeed() = default;

std::optional<InstrumentIndex> FixFeed::add(std::string_view symbol, unsigned quantity_scale) {
  return parts_->add(symbol, quantity_scale);
}
FixFeedError FixFeed::message(const MessageView& message, Instant now) { return parts_->message(message, now); }
void FixFeed::tick(MonotonicTime now) { parts_->tick(now); }
MonotonicTime FixFeed::due_at() const noexcept { return parts_->recovery_.due_at(); }
void FixFeed::disconnected(Instant now) { parts_->disconnected(now); }
bool FixFeed::write_request(FieldWriter& writer, InstrumentIndex index, FixMarketDataRequest request) {
  return parts_->write_request(writer, index, request);
}
std::size_t FixFeed::instruments() const noexcept { return parts_->instruments_.size(); }
std::size_t FixFeed::waiting() const noexcept { return parts_->recovery_.waiting(); }
InstrumentState FixFeed::state(InstrumentIndex index) const noexcept { return parts_->recovery_.state(index); }
std::optional<std::uint64_t> FixFeed::position(InstrumentIndex index) const noexcept {
  return parts_->recovery_.position(index);
}
const FixFeedCounters& FixFeed::counters() const noexcept { return parts_->counters_; }
const RecoveryCounters& FixFeed::recovery_counters() const noexcept { return parts_->recovery_.counters(); }
std::uint64_t FixFeed::count(FixFeedError error) const noexcept {
  return parts_->errors_[static_cast<std::size_t>(error)];
}
const FixReject& FixFeed::reject() const noexcept { return parts_->reject_; }

}  // namespace nfx::market
