// Subscriptions, snapshots and increments.
#include "publish/fix_publisher.hpp"

#include <algorithm>
#include <utility>

#include "market/fix_entries.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::market {

namespace {

FeedBooksOptions books_for(const FixPublisherOptions& options) {
  FeedBooksOptions books;
  books.limits.instruments = static_cast<std::uint32_t>(std::max<std::size_t>(options.symbols.size(), 1));
  books.limits.orders = options.orders;
  books.limits.levels = options.orders;
  return books;
}

}  // namespace

FixPublisher::FixPublisher(const FixPublisherOptions& options)
    : options_(options),
      books_(books_for(options)),
      numbers_(options.symbols.size()),
      buffer_(options.message_bytes),
      random_(options.seed) {
  NFX_REQUIRE(!options.symbols.empty() && options.entries != 0);
  entries_.reserve(1024);
}

std::optional<std::uint32_t> FixPublisher::symbol_of(std::string_view text) const {
  const auto found = std::ranges::find(options_.symbols, text);
  if (found == options_.symbols.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - options_.symbols.begin());
}

FixPublisher::Subscriber& FixPublisher::subscriber_of(SessionHandle& session) {
  const auto found = std::ranges::find(subscribers_, &session, &Subscriber::session);
  if (found != subscribers_.end()) return *found;
  return subscribers_.emplace_back(Subscriber{&session, std::vector<bool>(options_.symbols.size())});
}

bool FixPublisher::on_message(SessionHandle& session, const MessageView& message) {
  if (message.msg_type() != "V") return false;
  flush();  // the snapshot includes what happened
  ++counters_.requests;
  const std::string request{message.get_view(Tag::MDReqID)};
  const char type = message.get_char(Tag::SubscriptionRequestType).value_or('\0');
  if (request.empty() || type < '0' || type > '2') {
    refuse(session, request, '4', "SubscriptionRequestType is 0, 1 or 2");
    return true;
  }
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t i = 0; i < message.size(); ++i) {
    if (message.tag_at(i) != Tag::Symbol) continue;
    const auto symbol = symbol_of(message.value_at(i));
    if (!symbol) {
      refuse(session, request, '0', "unknown symbol");
      return true;
    }
    // A snapshot each, however often one is named.
    if (std::ranges::find(wanted, *symbol) == wanted.end()) wanted.push_back(*symbol);
  }
  if (wanted.empty()) refuse(session, request, '0', "no symbol");
  for (const std::uint32_t symbol : wanted) {
    if (type != '0') subscriber_of(session).symbols[symbol] = type == '1';
    if (type != '2') send_snapshot(session, request, symbol);
  }
  return true;
}

void FixPublisher::on_logout(SessionHandle& session) {
  std::erase_if(subscribers_, [&](const Subscriber& each) { return each.session == &session; });
}

void FixPublisher::refuse(SessionHandle& session, std::string_view request, char reason, std::string_view text) {
  ++counters_.refused;
  FieldWriter body{buffer_};
  body.append(Tag::MDReqID, request).append(fix_tag::MDReqRejReason, reason).append(Tag::Text, text);
  if (!session.send({.msg_type = "Y", .body = body.view()})) ++counters_.unsent;
}

void FixPublisher::send_snapshot(SessionHandle& session, std::string_view request, std::uint32_t symbol) {
  const auto index = books_.instruments().find(InstrumentId{symbol});
  std::uint32_t orders = 0;
  if (index) orders = books_.orders().book(*index).orders();
  FieldWriter body{buffer_};
  body.append(Tag::MDReqID, request).append(Tag::Symbol, options_.symbols[symbol]);
  body.append(fix_tag::RptSeq, numbers_[symbol]).append(Tag::NoMDEntries, orders);
  if (index) {
    books_.orders().book(*index).for_each_order([&](const OrderView& order) {
      body.append(Tag::MDEntryType, order.side == Side::bid ? '0' : '1');
      body.append(Tag::MDEntryID, std::to_underlying(order.id)).append(Tag::MDEntryPx, order.price.decimal());
      body.append(Tag::MDEntrySize, order.quantity);
    });
  }
  if (!body.ok()) return refuse(session, request, '9', "the book is too large for a message");
  ++(session.send({.msg_type = "W", .body = body.view()}) ? counters_.snapshots : counters_.unsent);
}

void FixPublisher::happened(char action, EventKind kind, const Order& order, UtcTime at) {
  Event event;
  event.kind = kind;
  event.order = order.id;
  event.side = order.side;
  event.price = order.price;
  event.quantity = order.quantity;
  event.instrument = InstrumentId{order.symbol};
  event.event_time = event.receive_time = at;
  event.flags = event_flag::last;
  books_.event(event);
  const char type = kind == EventKind::trade ? '2' : order.side == Side::bid ? '0' : '1';
  entries_.push_back({action, type, order, ++numbers_[order.symbol], at});
}

void FixPublisher::added(const Order& order, UtcTime at) { happened('0', EventKind::add, order, at); }
void FixPublisher::changed(const Order& order, UtcTime at) { happened('1', EventKind::modify, order, at); }
void FixPublisher::removed(const Order& order, UtcTime at) { happened('2', EventKind::remove, order, at); }
void FixPublisher::traded(const Order& aggressor, UtcTime at) { happened('0', EventKind::trade, aggressor, at); }

void FixPublisher::flush() {
  const std::span<const Entry> all{entries_};
  for (Subscriber& subscriber : subscribers_) {
    for (std::size_t i = 0; i < all.size(); i += options_.entries) {
      send_increments(subscriber, all.subspan(i, std::min<std::size_t>(options_.entries, all.size() - i)));
    }
  }
  entries_.clear();
}

void FixPublisher::send_increments(Subscriber& subscriber, std::span<const Entry> entries) {
  const auto wanted = [&](const Entry& entry) { return subscriber.symbols[entry.order.symbol]; };
  const auto count = static_cast<std::uint64_t>(std::ranges::count_if(entries, wanted));
  if (count == 0) return;
  if (options_.left_out != 0 && random_() % 10'000 < options_.left_out) {
    ++counters_.left_out;
    return;
  }
  FieldWriter body{buffer_};
  body.append(fix_tag::TransactTime, entries.back().at, 9).append(Tag::NoMDEntries, count);
  for (const Entry& entry : entries) {
    if (!wanted(entry)) continue;
    const Order& order = entry.order;
    body.append(Tag::MDUpdateAction, entry.action).append(Tag::MDEntryType, entry.type);
    if (entry.type != '2') body.append(Tag::MDEntryID, std::to_underlying(order.id));
    body.append(Tag::Symbol, options_.symbols[order.symbol]).append(Tag::MDEntryPx, order.price.decimal());
    body.append(Tag::MDEntrySize, order.quantity).append(fix_tag::RptSeq, entry.number);
    if (entry.type == '2') body.append(fix_tag::AggressorSide, order.side == Side::bid ? '1' : '2');
  }
  const bool sent = body.ok() && subscriber.session->send({.msg_type = "X", .body = body.view()}).has_value();
  ++(sent ? counters_.increments : counters_.unsent);
}

}  // namespace nfx::market
