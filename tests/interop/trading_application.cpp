// The application of the interoperability tests, on either side: sends or confirms orders, and records what it
// received.
#include "trading_application.hpp"

#include <algorithm>

#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/group_view.hpp"

namespace nfx::interop {
namespace {

// The value of a field in an encoded message, by text search, which is good enough for the header.
std::string_view header_field(std::string_view message, std::string_view tag) {
  const std::string wanted = soh + std::string(tag) + '=';
  const std::size_t at = message.find(wanted);
  if (at == std::string_view::npos) return {};
  const std::string_view value = message.substr(at + wanted.size());
  return value.substr(0, value.find(soh));
}

std::string text(const MessageView& message, Tag tag) { return std::string{message.get_view(tag)}; }

void append_parties(FieldWriter& body, const std::string& number) {
  body.append(Tag::NoPartyIDs, 2)
      .append(Tag::PartyID, "firm-" + number)
      .append(Tag::PartyIDSource, 'D')
      .append(Tag::PartyRole, 1)
      .append(Tag::PartyID, "trader-" + number)
      .append(Tag::PartyIDSource, 'D')
      .append(Tag::PartyRole, 12)
      .append(Tag::NoPartySubIDs, 1)
      .append(Tag::PartySubID, "desk-" + number)
      .append(Tag::PartySubIDType, 4);
}

}  // namespace

void TradingApplication::ask_orders(std::size_t count, std::size_t cut_after) {
  orders_left_ = count;
  orders_until_own_cut_ = cut_after;
}

std::string TradingApplication::rich_data(std::size_t number, bool plain) {
  const char separator = plain ? '|' : soh;
  return std::string{"ours"} + separator + std::to_string(number) + separator + "10=000" + separator;
}

// Deterministic, and no two neighbours are alike.
std::string TradingApplication::order_body(std::size_t number) const {
  constexpr std::array<std::string_view, 4> symbols{"MSFT", "EUR/USD", "VOD.L", "6758.T"};
  std::array<char, 1024> buffer;
  FieldWriter body{buffer};
  const std::string n = std::to_string(number);
  body.append(Tag::ClOrdID, "our-" + n)
      .append(Tag::HandlInst, '1')
      .append(Tag::Symbol, symbols[number % symbols.size()])
      .append(Tag::Side, number % 2 == 0 ? '1' : '2')
      .append(Tag::TransactTime, UtcTime{std::chrono::seconds{1'700'000'000 + number}})
      .append(Tag::OrderQty, 100 * (number % 7 + 1))
      .append(Tag::OrdType, '2')
      .append(Tag::Price, std::to_string(number % 500 + 1) + ".25");
  if (orders_.rich) {
    const std::string data = rich_data(number, orders_.plain_data);
    if (orders_.plain_data) body.append_data(Tag::EncodedTextLen, Tag::EncodedText, data);
    if (begin_string_ != "FIX.4.2") append_parties(body, n);
    if (!orders_.plain_data) body.append_data(Tag::EncodedTextLen, Tag::EncodedText, data);
  }
  return std::string{body.view()};
}

Duration TradingApplication::on_turn(Instant) {
  if (session_ == nullptr || !session_->logged_on()) return Duration::max();
  send_answers();
  for (int budget = 32; budget > 0 && orders_left_ > 0; --budget) {
    if (!session_->send({.msg_type = "D", .body = std::string_view{order_body(orders_out_ + 1)}})) break;
    ++orders_out_;
    --orders_left_;
    if (orders_until_own_cut_ != 0 && --orders_until_own_cut_ == 0) {
      session_->drop_connection();
      return Duration::max();
    }
  }
  return idle() ? Duration::max() : Duration::zero();
}

void TradingApplication::send_answers() {
  while (!answers_.empty()) {
    const auto sent = session_->send({.msg_type = "8", .body = answers_.front()});
    refused_ = sent ? std::nullopt : std::optional{sent.error()};
    if (!sent) return;
    answers_.pop_front();
  }
}

Handled TradingApplication::on_message(SessionHandle& session, const MessageView& message) {
  const std::string_view type = message.msg_type();
  received_.push_back({.msg_type = std::string{type},
                       .id = text(message, Tag::ClOrdID),
                       .ord_status = message.get_char(Tag::OrdStatus).value_or('-'),
                       .seq = value(message.get_seq_num(Tag::MsgSeqNum).value_or(SeqNum{})),
                       .poss_dup = message.get_view(Tag::PossDupFlag) == "Y",
                       .symbol = text(message, Tag::Symbol),
                       .side = text(message, Tag::Side),
                       .quantity = text(message, Tag::OrderQty),
                       .price = text(message, type == "8" ? Tag::AvgPx : Tag::Price),
                       .data = text(message, Tag::EncodedText),
                       .parties = parties(message)});
  if (type == "8") ++reports_in_;
  if (type != "D") return Handled::done;
  ++orders_in_;
  if (refuse_orders_) {
    static_cast<void>(
        session.reject_business(message, BusinessRejectReason::application_not_available, "closed for lunch"));
    return Handled::done;
  }
  answer(message);
  send_answers();
  if (orders_until_cut_ != 0 && --orders_until_cut_ == 0) session.drop_connection();
  return Handled::done;
}

void TradingApplication::answer(const MessageView& order) {
  const bool fix42 = begin_string_ == "FIX.4.2";
  for (const bool filled : {false, true}) {
    const std::string_view quantity = order.get_view(Tag::OrderQty);
    std::array<char, 512> buffer;
    FieldWriter body{buffer};
    body.append(Tag::OrderID, "order-" + std::to_string(orders_in_))
        .append(Tag::ClOrdID, order.get_view(Tag::ClOrdID))
        .append(Tag::ExecID, "exec-" + std::to_string(++executions_));
    if (fix42) body.append(Tag::ExecTransType, '0');
    body.append(Tag::ExecType, !filled ? '0'
                               : fix42 ? '2'
                                       : 'F')
        .append(Tag::OrdStatus, filled ? '2' : '0')
        .append(Tag::Symbol, order.get_view(Tag::Symbol))
        .append(Tag::Side, order.get_view(Tag::Side))
        .append(Tag::OrderQty, quantity)
        .append(Tag::LeavesQty, filled ? "0" : quantity)
        .append(Tag::CumQty, filled ? quantity : "0")
        .append(Tag::AvgPx, filled ? order.get_view(Tag::Price) : "0");
    answers_.emplace_back(body.view());
  }
}

std::vector<std::string> TradingApplication::parties(const MessageView& message) const {
  std::vector<std::string> found;
  if (!dictionary_) return found;
  const GroupShape* shape = dictionary_->group_shape(message.msg_type(), Tag::NoPartyIDs);
  if (shape == nullptr) return found;
  const auto sub_shape = std::ranges::find(shape->nested, Tag::NoPartySubIDs, &GroupShape::count);
  for (const GroupEntry entry : message.group(*shape)) {
    std::string party = std::string{entry.get_view(Tag::PartyID)} + '/' + std::string{entry.get_view(Tag::PartyRole)};
    if (sub_shape != shape->nested.end()) {
      for (const GroupEntry sub : entry.group(*sub_shape)) party += '/' + std::string{sub.get_view(Tag::PartySubID)};
    }
    found.push_back(std::move(party));
  }
  return found;
}

void TradingApplication::on_reject(SessionHandle&, const MessageView& reject) {
  rejects_.push_back({text(reject, Tag::RefSeqNum), text(reject, Tag::RefMsgType), text(reject, Tag::RefTagID),
                      text(reject, Tag::SessionRejectReason)});
}

void TradingApplication::on_logout(SessionHandle&, std::string_view reason) { logouts_.emplace_back(reason); }

void TradingApplication::on_traffic(SessionHandle&, Direction direction, std::string_view message) {
  const std::string type{header_field(message, "35")};
  ++traffic_[index(direction)][type];
  if (header_field(message, "43") == "Y" && type != "4") {
    ++resent_[index(direction)];
    if (header_field(message, "122").empty()) ++resent_without_original_time_;
  }
  log_.push_back((direction == Direction::in ? "in  " : "out ") + std::string{message});
  std::ranges::replace(log_.back(), soh, '|');
  if (log_.size() > 30) log_.pop_front();
}

void TradingApplication::on_notice(SessionHandle&, Notice notice, SeqNum seq, std::string_view reason) {
  notices_.push_back(notice);
  log_.push_back("notice " + std::string{to_string(notice)} + ' ' + std::to_string(value(seq)) + ' ' +
                 std::string{reason});
  if (log_.size() > 30) log_.pop_front();
}

bool TradingApplication::noticed(Notice notice) const { return std::ranges::find(notices_, notice) != notices_.end(); }

std::size_t TradingApplication::traffic(Direction direction, std::string_view msg_type) const {
  const auto found = traffic_[index(direction)].find(msg_type);
  return found == traffic_[index(direction)].end() ? 0 : found->second;
}

bool TradingApplication::every_order_came_once(std::size_t count) const {
  std::map<std::string, std::size_t> times;
  for (const Received& one : received_) {
    if (one.msg_type == "D") ++times[one.id];
  }
  return times.size() == count && std::ranges::all_of(times, [](const auto& entry) { return entry.second == 1; });
}

bool TradingApplication::every_report_came_once(std::size_t count) const {
  std::map<std::string, std::string> states;
  for (const Received& one : received_) {
    if (one.msg_type == "8") states[one.id] += one.ord_status;
  }
  return states.size() == count && std::ranges::all_of(states, [](const auto& entry) { return entry.second == "02"; });
}

std::string TradingApplication::tail() const {
  std::string all = "our last messages:\n";
  for (const std::string& line : log_) all += "  " + line + '\n';
  if (session_ != nullptr && session_->logged_on()) {
    all += "logged on, " + std::to_string(answers_.size()) + " reports are not sent yet";
    if (refused_) all += ": " + std::string{to_string(*refused_)};
    all += '\n';
  } else {
    all += "not logged on\n";
  }
  return all;
}

}  // namespace nfx::interop
