// The reason given by a session that refuses its peer's messages, and the fault that explains it.
#include <algorithm>
#include <utility>

#include "nexusfix/dictionary/validation_policy.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "simulation/ledger.hpp"

namespace nfx::simulation {
namespace {

using namespace std::chrono_literals;

// A message takes less time to arrive: the network's delays, and the wait for a slow reader.
constexpr Duration longest_way = 60s;
// After this time a journal on a full disk tries again; the flusher may be later by some more.
constexpr Duration room_is_noticed = 10s;

[[nodiscard]] Duration distance(UtcTime a, UtcTime b) noexcept { return a < b ? b - a : a - b; }

}  // namespace

UtcTime Ledger::utc(Side side) const { return without_offset(now_) + parties_[index(side)].clock.back().offset; }

// The peer's store may have removed the message because of its age, when the clock was ahead, or the message may have
// been created when the clock was ahead; never by more than ten minutes.
bool Ledger::may_be_forgotten(Side at, const Message& message) const {
  return facts_.retain_age != Duration::zero() && message.sent + facts_.retain_age < utc(at) + 20min;
}

void Ledger::disk_full(Side side, bool full) noexcept {
  std::optional<MonotonicTime>& since = parties_[index(side)].room_since;
  if (full) {
    since.reset();
  } else if (!since) {
    since = now_;
  }
}

// Requires the machine's clock, to the millisecond, because all checks of times depend on it.
void Ledger::check_sending_time(Side from, const MessageView& made) {
  const auto sent = made.get_utc_timestamp(Tag::SendingTime);
  if (!sent || sent->time != std::chrono::floor<std::chrono::milliseconds>(utc(from)))
    violate(from, "its SendingTime " + std::string{made.get_view(Tag::SendingTime)} + " is not what its clock shows");
}

// Whether the sender's clock showed this time so recently that a message may still be in transit since then.
bool Ledger::written_lately(Side from, UtcTime sent) const {
  const auto& settings = parties_[index(from)].clock;
  for (std::size_t i = settings.size(); i-- > 0;) {
    const MonotonicTime until = i + 1 < settings.size() ? settings[i + 1].since : now_;
    if (until < now_ - longest_way) return false;
    const MonotonicTime when = facts_.begin.monotonic + (sent - settings[i].offset - facts_.begin.utc);
    // SendingTime is truncated to the millisecond.
    if (when + 1ms > settings[i].since && when <= until && when >= now_ - longest_way) return true;
  }
  return false;
}

// A message is refused because of its time only if the clocks differ by more than allowed; the network's delays alone
// are far shorter.
bool Ledger::times_explain_refusal(Side at, std::optional<std::uint64_t> seq) const {
  return std::ranges::any_of(parties_[index(at)].receipts, [&](const Receipt& receipt) {
    return receipt.seq == seq.value_or(receipt.seq) && distance(receipt.came, receipt.sent) > facts_.max_latency &&
           written_lately(other(at), receipt.sent);
  });
}

// If a session refuses a message of its peer, although both are NexusFIX, there must be a reason.
void Ledger::note_refusal(Side from, const MessageView& made) {
  const std::string_view type = made.msg_type();
  const std::string_view why = made.get_view(Tag::Text);
  if (type == msg_type::reject || type == msg_type::business_message_reject) return note_reject(from, made, why);
  if (type == msg_type::logout && !why.empty()) note_logout(from, why);
}

void Ledger::note_reject(Side from, const MessageView& reject, std::string_view why) {
  const std::uint64_t refused = number_of(reject, Tag::RefSeqNum);
  trace_.add(from, "rejects", refused, why);
  ++refusal_texts_[std::string{why}];
  if (why != to_text(SessionRejectReason::sending_time_accuracy_problem) || !times_explain_refusal(from, refused))
    return violate(from, "rejected number " + std::to_string(refused) + ": " + std::string{why});
  const Party& peer = parties_[index(other(from))];
  if (refused == 0 || refused > peer.numbers.size() || peer.numbers[refused - 1] == 0) return;
  parties_[index(from)].rejections.push_back({refused, peer.numbers[refused - 1]});
}

// A rejected message is finished when its sequence number counts; one beyond a gap will still be requested.
void Ledger::settle_rejections(Side at, std::uint64_t next_inbound) {
  Party& party = parties_[index(at)];
  for (const Rejection& each : std::exchange(party.rejections, {})) {
    Message& entry = parties_[index(other(at))].messages[each.id];
    if (each.seq >= next_inbound || entry.delivered || entry.excused != nullptr) continue;
    entry.excused = "rejected";
    ++counts_.rejected;
  }
  std::erase_if(party.receipts, [&](const Receipt& each) { return each.seq < next_inbound; });
}

void Ledger::note_logout(Side from, std::string_view why) {
  Party& party = parties_[index(from)];
  trace_.add(from, "logs out", 0, why);
  const std::size_t words = why.starts_with("Tag ") ? why.find(')') : 0;  // the tag's number is part of the text
  ++refusal_texts_[std::string{why.substr(0, why.find_first_of("0123456789", words))}];
  ++counts_.refusals;
  const auto& schedule = facts_.schedules[index(from)];
  bool explained = false;
  if (why.starts_with("MsgSeqNum too low")) {
    explained = std::exchange(party.overtaken, false);
    if (explained) ++counts_.overtaken;
    // The peer accepted a Logon of the old session in its new one, and answered with the new one's first number.
    if (!explained) explained = std::exchange(parties_[index(other(from))].of_past_session, false);
  } else if (why.starts_with("Tag 789 (NextExpectedMsgSeqNum) is higher")) {
    // If the clocks differ, a Logon of the sender's old session may arrive in the receiver's new one.
    explained = std::exchange(party.of_past_session, false);
  } else if (why == "the session's time is over") {
    explained = party.may_reset || (schedule != nullptr && !schedule->logon_allowed(utc(from)));
  } else if (why == to_text(SessionRejectReason::sending_time_accuracy_problem)) {
    explained = times_explain_refusal(from, std::nullopt);  // about a Reject, which is never answered with a Reject
  } else if (why == "operator" || why == "removed") {
    explained = true;  // the Text of the simulated application, and a reload's
  } else if (why == "the message store takes no more") {
    explained = !party.room_since || *party.room_since > now_ - room_is_noticed;
  }
  if (!explained) violate(from, "logged out: " + std::string{why});
}

// A network may deliver a Logon after the Logons of newer connections, which its sender opened because it gave up the
// older one. Its sequence number is then low, and the session, which has continued meanwhile, must refuse it.
void Ledger::note_logon_received(Side at, std::string_view bytes) {
  Party& party = parties_[index(at)];
  party.on_connection = 0;
  const auto& sent = parties_[index(other(at))].logons;
  const auto found = sent.find(hash_bytes(bytes));
  if (found == sent.end()) return violate(at, "received a Logon that never left");
  const SentLogon& logon = found->second;
  party.logon_came = now_;
  party.overtaken = logon.connection < party.newest_heard;
  party.newest_heard = std::max(party.newest_heard, logon.connection);
  party.of_past_session = logon.numbering < party.numbering;
}

}  // namespace nfx::simulation
