// Checks each event of the simulation against the guarantees of both engines, and records the first violation.
#include "simulation/ledger.hpp"

#include <algorithm>
#include <utility>

#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::simulation {
namespace {

constexpr std::uint64_t max_id = 100'000'000;

[[nodiscard]] bool is_duplicate(const MessageView& message) noexcept {
  return message.get_view(Tag::PossDupFlag) == "Y";
}

// A hash of the parts that a resent message shares with its original, in order.
[[nodiscard]] std::uint64_t content_hash(const MessageView& message) noexcept {
  std::uint64_t hash = hash_bytes({});
  for (std::uint32_t i = 0; i < message.size(); ++i) {
    const Field field = message[i];
    switch (static_cast<std::uint64_t>(value(field.tag))) {
      case 9:    // BodyLength
      case 10:   // CheckSum
      case 43:   // PossDupFlag
      case 52:   // SendingTime
      case 122:  // OrigSendingTime
      case 369:  // LastMsgSeqNumProcessed
        continue;
      default: break;
    }
    const auto tag = static_cast<std::uint64_t>(value(field.tag));
    hash = hash_bytes({reinterpret_cast<const char*>(&tag), sizeof tag}, hash);
    hash = hash_bytes(field.value, hash);
  }
  return hash;
}

[[nodiscard]] std::string text(std::uint64_t number) { return std::to_string(number); }

}  // namespace

Ledger::Ledger(Trace& trace, LedgerFacts facts)
    : trace_(trace), facts_(std::move(facts)), now_(facts_.begin.monotonic) {
  for (Party& party : parties_) party.clock.push_back({MonotonicTime::min(), Duration{}});
}

std::string_view to_string(End end) noexcept {
  switch (end) {
    case End::orderly: return "orderly";
    case End::killed: return "killed";
    case End::crashed: return "crashed";
  }
  return "?";
}

std::uint64_t Ledger::number_of(const MessageView& message, Tag tag) noexcept {
  const auto number = message.get_seq_num(tag);
  return number ? value(*number) : 0;
}

std::uint64_t Ledger::id_of(const MessageView& message) noexcept {
  const std::string_view type = message.msg_type();
  if (type == "D") return number_of(message, Tag::ClOrdID);
  if (type == "8") return number_of(message, Tag::ExecID);
  return 0;
}

void Ledger::violate(Side side, const std::string& what) {
  if (violation_) return;
  violation_ = std::string{to_string(side)} + ": " + what;
  trace_.add(side, "VIOLATION", 0, what);
}

Ledger::Message& Ledger::message(Side from, std::uint64_t id) {
  auto& messages = parties_[index(from)].messages;
  if (id > max_id) {
    violate(from, "a message carries the id " + text(id) + ", which no message was given");
    id = 0;
  }
  if (messages.size() <= id) messages.resize(id + 1);
  return messages[id];
}

const Ledger::Message* Ledger::under(Side from, std::uint64_t seq) const {
  const Party& party = parties_[index(from)];
  if (seq == 0 || seq > party.numbers.size() || party.numbers[seq - 1] == 0) return nullptr;
  return &party.messages[party.numbers[seq - 1]];
}

void Ledger::begin_numbering(Side at) {
  Party& party = parties_[index(at)];
  ++counts_.resets;
  ++party.numbering;
  // The start of the session is noticed at the end of the iteration, and a Logon of the same iteration came after it.
  if (party.logon_came == now_) party.of_past_session = true;
  trace_.add(at, "numbers begin", party.numbering);
  if (!party.may_reset) violate(at, "the sequence numbers were reset without a request");
  // Messages that the peer has not received so far will not arrive: their sequence numbers are gone.
  for (const std::uint32_t id : party.numbers) {
    Message& each = party.messages[id];
    if (id == 0 || each.delivered || each.excused != nullptr) continue;
    each.excused = "reset";
    ++counts_.given_up_at_reset;
  }
  party.numbers.clear();
  party.asked_reset = false;
  party.highest_in = 1;
  party.next_out = party.next_in = party.next_left = party.next_synced = party.kept_out = party.kept_in = 1;
}

void Ledger::begin_after_logon(Side at) {
  begin_numbering(at);
  Party& party = parties_[index(at)];
  party.numbers.push_back(0);
  party.next_out = 2;
  if (std::exchange(party.logon_left, false)) party.next_left = 2;
  ++counts_.session_messages;
}

void Ledger::composed(Side from, std::string_view bytes) {
  if (view_.parse(bytes) != WireError::none) return violate(from, "made a message that cannot be read");
  const MessageView& made = view_;
  const std::uint64_t seq = number_of(made, Tag::MsgSeqNum);
  const std::string_view type = made.msg_type();
  check_sending_time(from, made);
  if (is_duplicate(made)) {
    if (type == msg_type::sequence_reset) return check_gap_fill(from, made, seq);
    return check_resent(from, made, seq);
  }
  Party& party = parties_[index(from)];
  if (type == msg_type::logon && seq == 1 && party.next_out > 1) {
    // The numbers restart with it, or when the peer answers; the session's next numbers show which.
    party.asked_reset = true;
    party.logon_left = false;
    trace_.add(from, "makes", seq, type);
    return;
  }
  if (party.asked_reset && seq == 2 && party.next_out != 2) begin_after_logon(from);
  if (seq < party.next_out)
    return violate(from, "number " + text(seq) + " is used again; the next one was " + text(party.next_out));
  if (seq > party.next_out)
    return violate(from, "number " + text(seq) + " leaves out numbers from " + text(party.next_out) + " on");
  party.next_out = seq + 1;
  const std::uint64_t id = id_of(made);
  party.numbers.push_back(static_cast<std::uint32_t>(id));
  trace_.add(from, "makes", seq, type);
  if (id == 0) {
    ++counts_.session_messages;
    return note_refusal(from, made);
  }
  Message& entry = message(from, id);
  if (entry.composed) return violate(from, "id " + text(id) + " is sent twice");
  entry = {.seq = seq,
           .hash = content_hash(made),
           .sent = utc(from),
           .numbering = party.numbering,
           .composed = true,
           .acknowledged = false,
           .delivered = false,
           .excused = nullptr};
}

void Ledger::check_resent(Side from, const MessageView& made, std::uint64_t seq) {
  ++counts_.resent;
  trace_.add(from, "resends", seq, made.msg_type());
  const Message* original = under(from, seq);
  if (original == nullptr) return violate(from, "resends number " + text(seq) + ", under which it sent no message");
  if (original->hash != content_hash(made))
    return violate(from, "what it resends as number " + text(seq) + " is not what it sent");
  // No message is older than its original, even if the clock was set back in between.
  const auto sent = made.get_utc_timestamp(Tag::OrigSendingTime);
  if (!sent || sent->time != std::chrono::floor<std::chrono::milliseconds>(std::min(original->sent, utc(from))))
    violate(from, "what it resends as number " + text(seq) + " has another OrigSendingTime than was sent");
}

void Ledger::check_gap_fill(Side from, const MessageView& made, std::uint64_t seq) {
  ++counts_.gap_fills;
  const std::uint64_t new_seq = number_of(made, Tag::NewSeqNo);
  trace_.add(from, "fills the gap from", seq, made.get_view(Tag::NewSeqNo));
  for (std::uint64_t number = seq; number < new_seq; ++number) {
    const Message* lost = under(from, number);
    if (lost != nullptr && lost->excused == nullptr && !may_be_forgotten(from, *lost))
      return violate(from, "fills a gap where it sent a message, number " + text(number));
  }
}

void Ledger::acknowledged(Side from, SeqNum seq, std::uint64_t id) {
  Message& entry = message(from, id);
  ++counts_.acknowledged;
  entry.acknowledged = true;
  if (!entry.composed || entry.seq != value(seq)) violate(from, "send() returned a number that no message has");
}

void Ledger::left(Side from, std::uint64_t connection, std::string_view bytes) {
  if (view_.parse(bytes) != WireError::none) return violate(from, "sent bytes that are not a message");
  if (is_duplicate(view_)) return;
  const std::uint64_t seq = number_of(view_, Tag::MsgSeqNum);
  Party& party = parties_[index(from)];
  if (view_.msg_type() == msg_type::logon) party.logons[hash_bytes(bytes)] = {connection, numbering(other(from))};
  if (seq >= party.next_out) return;  // of an epoch that has ended meanwhile
  party.next_left = std::max(party.next_left, seq + 1);
  if (party.asked_reset && seq == 1) party.logon_left = true;
}

void Ledger::received(Side at, std::string_view bytes) {
  if (view_.parse(bytes) != WireError::none) return violate(at, "received bytes that are not a message");
  Party& party = parties_[index(at)];
  const std::uint64_t seq = number_of(view_, Tag::MsgSeqNum);
  trace_.add(at, is_duplicate(view_) ? "receives again" : "receives", seq, view_.msg_type());
  if (!is_duplicate(view_)) {
    if (view_.msg_type() == msg_type::logon) note_logon_received(at, bytes);
    if (seq <= party.on_connection) return violate(at, "number " + text(seq) + " came twice on a connection");
    party.on_connection = seq;
  }
  if (view_.msg_type() != msg_type::logon) party.overtaken = false;
  if (const auto sent = view_.get_utc_timestamp(Tag::SendingTime); sent)
    party.receipts.push_back({seq, utc(at), sent->time});
  const std::uint64_t id = id_of(view_);
  if (id == 0) return;
  const Message& sent = message(other(at), id);
  if (!sent.composed || sent.seq != seq || sent.hash != content_hash(view_))
    violate(at, "what came as number " + text(seq) + " is not what was sent");
}

bool Ledger::delivered(Side at, const MessageView& given) {
  Party& party = parties_[index(at)];
  const std::uint64_t seq = number_of(given, Tag::MsgSeqNum);
  const std::uint64_t id = id_of(given);
  trace_.add(at, "is given", seq, given.msg_type());
  if (id == 0) {
    violate(at, "was given a message of no kind that is sent");
    return false;
  }
  Message& entry = message(other(at), id);
  if (!entry.composed) violate(at, "was given id " + text(id) + ", which was never sent");
  // The message after a Logon that restarted the numbers can come before this side sends anything.
  if (party.asked_reset && seq == 2 && party.next_in > 2) begin_after_logon(at);
  if (seq < party.next_in) violate(at, "was given number " + text(seq) + " when " + text(party.next_in) + " was next");
  party.next_in = seq + 1;
  if (entry.delivered) {
    ++counts_.delivered_again;
    if (!is_duplicate(given)) violate(at, "was given id " + text(id) + " again, not marked as a duplicate");
    return false;
  }
  entry.delivered = true;
  ++counts_.delivered;
  return true;
}

void Ledger::stands(Side at, SeqNum next_inbound, SeqNum next_outbound, bool store_works) {
  Party& party = parties_[index(at)];
  const bool back = value(next_outbound) != party.next_out || value(next_inbound) < party.next_in;
  if (party.asked_reset && value(next_outbound) == 2 && back) begin_after_logon(at);
  if (value(next_outbound) != party.next_out) {
    if (next_outbound != first_seq_num)
      return violate(at, "its next number went from " + text(party.next_out) + " to " + text(value(next_outbound)) +
                             " without a message");
    begin_numbering(at);
  }
  if (value(next_inbound) < party.next_in)
    return violate(at,
                   "the number it expects went back from " + text(party.next_in) + " to " + text(value(next_inbound)));
  party.next_in = value(next_inbound);
  settle_rejections(at, party.next_in);
  if (!store_works) return;
  party.kept_out = party.next_out;
  party.kept_in = party.next_in;
}

void Ledger::synced(Side at) { parties_[index(at)].next_synced = parties_[index(at)].next_out; }

// A power loss has lost the sequence numbers from `seq` on, and the messages sent under them.
void Ledger::forget_from(Side at, std::uint64_t seq) {
  Party& party = parties_[index(at)];
  for (std::uint64_t number = seq; number <= party.numbers.size(); ++number) {
    const std::uint32_t id = party.numbers[number - 1];
    if (id == 0) continue;
    Message& each = party.messages[id];
    if (!each.delivered && each.excused == nullptr) ++counts_.lost_tail;
    each.excused = "lost tail";
  }
}

void Ledger::reopened(Side at, const Reopened& found,
                      const std::function<std::optional<std::string_view>(SeqNum)>& read) {
  Party& party = parties_[index(at)];
  const std::uint64_t out = value(found.next_outbound);
  const std::uint64_t in = value(found.next_inbound);
  trace_.add(at, "opens its store, next out", out, to_string(found.end));
  trace_.add(at, "                 next in", in, to_string(found.durability));
  settle_rejections(at, in);
  party.receipts.clear();
  if (!found.same_numbering) {
    if (found.end != End::crashed || found.durability >= Durability::group)
      return violate(at, "its store has forgotten a reset");
    return forget_from(at, 1);
  }
  if (found.new_numbering) begin_numbering(at);
  if (out > party.next_out) return violate(at, "its store knows number " + text(out) + ", which was never reached");
  const std::uint64_t reached = found.end == End::crashed ? std::max(party.next_in, party.highest_in) : party.next_in;
  if (in > reached && found.between_turns)
    return violate(at, "its store expects number " + text(in) + ", which was never reached");
  // Within an iteration session messages may have increased it further, but only observed messages may count.
  for (std::uint64_t number = party.next_in; number < in; ++number) {
    const Message* each = under(other(at), number);
    if (each != nullptr && !each->delivered && each->excused == nullptr)
      return violate(at, "its store counts number " + text(number) + ", which the application has not seen");
  }
  // A failing store loses later records, and none of them is sent; earlier records remain.
  const bool may_lose = found.end == End::crashed;
  std::uint64_t must = may_lose ? party.next_synced : std::max(party.next_left, party.kept_out);
  if (found.durability >= Durability::group) must = std::max(must, party.next_left);
  for (std::uint64_t number = must; number <= party.numbers.size(); ++number) {
    const Message* each = under(at, number);
    if (each == nullptr || !each->acknowledged || each->excused != nullptr) continue;
    if (!may_lose || found.durability == Durability::message) must = number + 1;
  }
  if (out < must)
    return violate(at,
                   "its store knows numbers up to " + text(out - 1) + " and has lost those up to " + text(must - 1));
  if (!may_lose && in < party.kept_in)
    return violate(
        at, "its store expects number " + text(in) + ", though it worked when " + text(party.kept_in) + " was next");
  if (!may_lose && !found.failed && found.between_turns && (out != party.next_out || in != party.next_in))
    return violate(at, "ended with " + text(party.next_in) + "/" + text(party.next_out) + ", opens with " + text(in) +
                           "/" + text(out));
  for (std::uint64_t number = 1; number < out; ++number) {
    const Message* each = under(at, number);
    if (each == nullptr || each->excused != nullptr) continue;
    const auto kept = read(SeqNum{number});
    if (!kept && may_be_forgotten(at, *each)) continue;
    if (!kept) return violate(at, "its store has lost message " + text(number) + " of " + text(out - 1));
    if (view_.parse(*kept) != WireError::none || content_hash(view_) != each->hash)
      return violate(at, "its store keeps other bytes under number " + text(number));
  }
  forget_from(at, out);
  party.next_out = out;
  party.numbers.resize(out - 1);
  party.next_in = in;
  party.next_synced = std::min(party.next_synced, out);
  party.kept_out = out;
  party.kept_in = in;
}

void Ledger::repaired(Side at, SeqNum next_inbound, SeqNum next_outbound) {
  Party& party = parties_[index(at)];
  trace_.add(at, "operator sets next out", value(next_outbound));
  trace_.add(at, "operator sets next in", value(next_inbound));
  party.next_out = value(next_outbound);
  party.next_in = value(next_inbound);
  party.kept_out = party.next_out;
  party.kept_in = party.next_in;
  party.numbers.resize(party.next_out - 1);
}

void Ledger::operated(Side at, const NextNumbers& set) {
  Party& party = parties_[index(at)];
  if (set.out) {
    trace_.add(at, "operator sets next out", value(*set.out));
    if (value(*set.out) < party.next_out) return violate(at, "an operator has set next out back");
    party.next_out = value(*set.out);
    party.numbers.resize(party.next_out - 1);  // nothing is sent under the omitted ones
  }
  if (set.in) {
    trace_.add(at, "operator sets next in", value(*set.in));
    if (value(*set.in) > party.next_in) return violate(at, "an operator has skipped messages of the peer");
    party.highest_in = std::max(party.highest_in, party.next_in);
    party.next_in = value(*set.in);
    party.kept_in = std::min(party.kept_in, party.next_in);
  }
}

std::uint64_t Ledger::missing() const noexcept {
  std::uint64_t count = 0;
  for (const Party& party : parties_) {
    count += static_cast<std::uint64_t>(std::ranges::count_if(party.messages, [](const Message& each) {
      return each.acknowledged && !each.delivered && each.excused == nullptr;
    }));
  }
  return count;
}

void Ledger::quiet(const NextNumbers& venue, const NextNumbers& trader) {
  const auto agree = [&](Side at, std::optional<SeqNum> in, std::optional<SeqNum> out) {
    if (in == out) return;
    violate(at, "expects " + text(value(*in)) + " and its peer is at " + text(value(*out)) +
                    ", though all faults have ended");
  };
  agree(Side::venue, venue.in, trader.out);
  agree(Side::trader, trader.in, venue.out);
  for (const Side from : {Side::venue, Side::trader}) {
    for (const Message& each : parties_[index(from)].messages) {
      if (!each.acknowledged || each.delivered || each.excused != nullptr) continue;
      return violate(from, "number " + text(each.seq) + ", which send() took, has never come to the peer");
    }
  }
}

std::size_t Ledger::bytes() const noexcept {
  std::size_t total = 0;
  for (const Party& party : parties_)
    total += party.messages.capacity() * sizeof(Message) + party.numbers.capacity() * sizeof(std::uint32_t);
  return total;
}

}  // namespace nfx::simulation
