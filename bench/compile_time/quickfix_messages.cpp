// The program of typed_messages.cpp with QuickFIX's classes. C++14: the headers declare exceptions with throw(...).
#include <quickfix/fix44/ExecutionReport.h>
#include <quickfix/fix44/MarketDataIncrementalRefresh.h>
#include <quickfix/fix44/MarketDataRequest.h>
#include <quickfix/fix44/MarketDataSnapshotFullRefresh.h>
#include <quickfix/fix44/NewOrderSingle.h>
#include <quickfix/fix44/OrderCancelReject.h>
#include <quickfix/fix44/OrderCancelReplaceRequest.h>
#include <quickfix/fix44/OrderCancelRequest.h>
#include <quickfix/fix44/Quote.h>
#include <quickfix/fix44/QuoteRequest.h>

#include <cstdio>

namespace {

long sum = 0;

void add(const std::string& text) { sum += static_cast<long>(text.size()); }
void add(double value) { sum += static_cast<long>(value * 100); }
void add(char value) { sum += value; }

template <typename Field, typename Source>
void get(const Source& m) {
  Field field;
  if (m.isSetField(field.getTag())) {
    m.get(field);
    add(field.getValue());
  }
}

void read(const FIX44::NewOrderSingle& m) {
  get<FIX::ClOrdID>(m), get<FIX::Symbol>(m), get<FIX::Side>(m), get<FIX::OrderQty>(m), get<FIX::Price>(m);
}
void read(const FIX44::ExecutionReport& m) {
  get<FIX::OrderID>(m), get<FIX::ExecID>(m), get<FIX::ExecType>(m), get<FIX::OrdStatus>(m), get<FIX::LastQty>(m);
  get<FIX::LastPx>(m);
}
void read(const FIX44::OrderCancelRequest& m) { get<FIX::OrigClOrdID>(m), get<FIX::ClOrdID>(m), get<FIX::Side>(m); }
void read(const FIX44::OrderCancelReplaceRequest& m) {
  get<FIX::OrigClOrdID>(m), get<FIX::ClOrdID>(m), get<FIX::Price>(m);
}
void read(const FIX44::OrderCancelReject& m) {
  get<FIX::ClOrdID>(m), get<FIX::OrdStatus>(m), get<FIX::CxlRejResponseTo>(m);
}

template <typename Group, typename Message, typename Read>
void each(const Message& m, int count_tag, Read read_entry) {
  const int count = static_cast<int>(m.groupCount(count_tag));
  for (int i = 1; i <= count; ++i) {
    Group group;
    m.getGroup(static_cast<unsigned>(i), group);
    read_entry(group);
  }
}
void read(const FIX44::MarketDataRequest& m) {
  using Entry = FIX44::MarketDataRequest::NoRelatedSym;
  get<FIX::MDReqID>(m);
  each<Entry>(m, FIX::FIELD::NoRelatedSym, [](const Entry& entry) { get<FIX::Symbol>(entry); });
}
void read(const FIX44::MarketDataSnapshotFullRefresh& m) {
  using Entry = FIX44::MarketDataSnapshotFullRefresh::NoMDEntries;
  get<FIX::Symbol>(m);
  each<Entry>(m, FIX::FIELD::NoMDEntries,
              [](const Entry& entry) { get<FIX::MDEntryType>(entry), get<FIX::MDEntryPx>(entry); });
}
void read(const FIX44::MarketDataIncrementalRefresh& m) {
  using Entry = FIX44::MarketDataIncrementalRefresh::NoMDEntries;
  each<Entry>(m, FIX::FIELD::NoMDEntries,
              [](const Entry& entry) { get<FIX::MDUpdateAction>(entry), get<FIX::MDEntryPx>(entry); });
}
void read(const FIX44::QuoteRequest& m) {
  using Entry = FIX44::QuoteRequest::NoRelatedSym;
  get<FIX::QuoteReqID>(m);
  each<Entry>(m, FIX::FIELD::NoRelatedSym, [](const Entry& entry) { get<FIX::Symbol>(entry); });
}
void read(const FIX44::Quote& m) {
  get<FIX::QuoteID>(m), get<FIX::Symbol>(m), get<FIX::BidPx>(m), get<FIX::OfferPx>(m);
}

const FIX::TransactTime now{FIX::UtcTimeStamp(1710504000, 0)};

void build(FIX44::NewOrderSingle& m) {
  m.set(FIX::ClOrdID("1")), m.set(FIX::Symbol("XYZ")), m.set(FIX::Side(FIX::Side_BUY)), m.set(now);
  m.set(FIX::OrderQty(100)), m.set(FIX::OrdType(FIX::OrdType_LIMIT)), m.set(FIX::Price(101.25));
}
void build(FIX44::ExecutionReport& m) {
  m.set(FIX::OrderID("1")), m.set(FIX::ExecID("1")), m.set(FIX::ExecType(FIX::ExecType_TRADE));
  m.set(FIX::OrdStatus(FIX::OrdStatus_FILLED)), m.set(FIX::Symbol("XYZ")), m.set(FIX::Side(FIX::Side_BUY));
  m.set(FIX::LeavesQty(0)), m.set(FIX::CumQty(100)), m.set(FIX::AvgPx(101.25)), m.set(FIX::LastQty(100));
  m.set(FIX::LastPx(101.25));
}
void build(FIX44::OrderCancelRequest& m) {
  m.set(FIX::OrigClOrdID("1")), m.set(FIX::ClOrdID("2")), m.set(FIX::Symbol("XYZ"));
  m.set(FIX::Side(FIX::Side_BUY)), m.set(now);
}
void build(FIX44::OrderCancelReplaceRequest& m) {
  m.set(FIX::OrigClOrdID("1")), m.set(FIX::ClOrdID("2")), m.set(FIX::Symbol("XYZ"));
  m.set(FIX::Side(FIX::Side_BUY)), m.set(now), m.set(FIX::OrdType(FIX::OrdType_LIMIT)), m.set(FIX::Price(101.25));
}
void build(FIX44::OrderCancelReject& m) {
  m.set(FIX::OrderID("1")), m.set(FIX::ClOrdID("2")), m.set(FIX::OrigClOrdID("1"));
  m.set(FIX::OrdStatus(FIX::OrdStatus_FILLED));
  m.set(FIX::CxlRejResponseTo(FIX::CxlRejResponseTo_ORDER_CANCEL_REQUEST));
}
void build(FIX44::MarketDataRequest& m) {
  m.set(FIX::MDReqID("1")), m.set(FIX::SubscriptionRequestType('1')), m.set(FIX::MarketDepth(1));
  FIX44::MarketDataRequest::NoMDEntryTypes type;
  type.set(FIX::MDEntryType(FIX::MDEntryType_BID));
  m.addGroup(type);
  FIX44::MarketDataRequest::NoRelatedSym symbol;
  symbol.set(FIX::Symbol("XYZ"));
  m.addGroup(symbol);
}
void build(FIX44::MarketDataSnapshotFullRefresh& m) {
  m.set(FIX::Symbol("XYZ"));
  FIX44::MarketDataSnapshotFullRefresh::NoMDEntries entry;
  entry.set(FIX::MDEntryType(FIX::MDEntryType_BID)), entry.set(FIX::MDEntryPx(101.25));
  m.addGroup(entry);
}
void build(FIX44::MarketDataIncrementalRefresh& m) {
  FIX44::MarketDataIncrementalRefresh::NoMDEntries entry;
  entry.set(FIX::MDUpdateAction(FIX::MDUpdateAction_NEW)), entry.set(FIX::MDEntryPx(101.25));
  m.addGroup(entry);
}
void build(FIX44::QuoteRequest& m) {
  m.set(FIX::QuoteReqID("1"));
  FIX44::QuoteRequest::NoRelatedSym entry;
  entry.set(FIX::Symbol("XYZ"));
  m.addGroup(entry);
}
void build(FIX44::Quote& m) {
  m.set(FIX::QuoteID("1")), m.set(FIX::Symbol("XYZ")), m.set(FIX::BidPx(101)), m.set(FIX::OfferPx(102));
}

// Without a dictionary, a message read back from text would lose its groups; the one that was built is read instead.
template <typename Message>
void round_trip() {
  Message message;
  build(message);
  add(message.toString().empty() ? 'e' : '\0');
  read(message);
}

}  // namespace

int main() {
  round_trip<FIX44::NewOrderSingle>();
  round_trip<FIX44::ExecutionReport>();
  round_trip<FIX44::OrderCancelRequest>();
  round_trip<FIX44::OrderCancelReplaceRequest>();
  round_trip<FIX44::OrderCancelReject>();
  round_trip<FIX44::MarketDataRequest>();
  round_trip<FIX44::MarketDataSnapshotFullRefresh>();
  round_trip<FIX44::MarketDataIncrementalRefresh>();
  round_trip<FIX44::QuoteRequest>();
  round_trip<FIX44::Quote>();
  std::printf("%ld\n", sum);
}
