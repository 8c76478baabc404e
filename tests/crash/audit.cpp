// Compares both journals with both accounts: every order and report exactly once, stored and with its sequence number.
#include "audit.hpp"

#include <charconv>
#include <map>
#include <set>
#include <string>

#include "account.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "store/journal_reader.hpp"

namespace nfx::crash {
namespace {

struct Sent {
  std::uint64_t order = 0;
  std::string bytes;
};

// The content of a side's journal.
struct Ledger {
  std::string name;
  std::map<std::uint64_t, Sent> messages;
  std::uint64_t next_inbound = 1;
  std::uint64_t next_outbound = 1;
};

[[noreturn]] void fail(const std::string& side, const std::string& text) { throw AuditFailure(side + ": " + text); }
std::string number(std::uint64_t value) { return std::to_string(value); }

void take_message(Ledger& ledger, const JournalRecord& record, MessageView& view) {
  const std::uint64_t seq = record.header.seq;
  const std::string where = " (" + *record.file + " at " + number(record.offset) + ')';
  const auto result = view.parse(record.body);
  if (result != WireError::none) fail(ledger.name, "record " + number(seq) + " is not a message" + where);
  std::uint64_t inside = 0, order = 0;
  const std::string_view seq_text = view.get_view(Tag::MsgSeqNum), order_text = view.get_view(Tag::ClOrdID);
  std::from_chars(seq_text.data(), seq_text.data() + seq_text.size(), inside);
  std::from_chars(order_text.data(), order_text.data() + order_text.size(), order);
  if (inside != seq) fail(ledger.name, "record " + number(seq) + " holds message " + number(inside) + where);
  const auto [known, is_new] = ledger.messages.try_emplace(seq, Sent{order, std::string{record.body}});
  if (!is_new && known->second.bytes != record.body)
    fail(ledger.name, "number " + number(seq) + " was used again for other bytes" + where);
  if (is_new && seq < ledger.next_outbound)
    fail(ledger.name, "number " + number(seq) + " comes after " + number(ledger.next_outbound - 1) + where);
  ledger.next_outbound = std::max(ledger.next_outbound, seq + 1);
}

Ledger read_ledger(const PartyOptions& options, bool repaired) {
  const SessionSettings settings = party_session(options);
  const std::string name = identity(settings.session);
  Ledger ledger{.name = name, .messages = {}};
  MessageView view{64};
  const auto visit = [&](const JournalRecord& record) {
    const std::uint64_t seq = record.header.seq;
    switch (record.header.kind) {
      case RecordKind::message: take_message(ledger, record, view); break;
      case RecordKind::next_inbound:
        if (seq < ledger.next_inbound) fail(name, "the number expected went back to " + number(seq));
        ledger.next_inbound = seq;
        break;
      case RecordKind::next_outbound:
        if (seq < ledger.next_outbound) fail(name, "the number sent went back to " + number(seq));
        ledger.next_outbound = seq;
        break;
      case RecordKind::reset: fail(name, "the sequence numbers were reset");
      case RecordKind::none:
      case RecordKind::opened:
      case RecordKind::closed: break;
    }
    return true;
  };
  const JournalScan scan = scan_journal(posix_disk(), session_folder(options.store, name), visit);
  if (scan.damage) {
    fail(name, "the journal is damaged: " + scan.damage->file + " at " + number(scan.damage->offset) + ", " +
                   scan.damage->reason);
  }
  if (!scan.closed && !repaired) fail(name, "the journal was not closed");
  if (value(scan.next_inbound) != ledger.next_inbound || value(scan.next_outbound) != ledger.next_outbound)
    fail(name, "the scan's numbers are not those of the records");
  return ledger;
}

// Compares one side's account with its own journal and the other's.
class Check {
 public:
  Check(const Ledger& own, const Ledger& peer, bool repaired) : own_(own), peer_(peer), repaired_(repaired) {}

  // A message that the account lists as sent is in the own journal under that sequence number.
  void sent(const AccountLine& line) const { lies_in(own_, line, "sent"); }
  // A received message is in the peer's journal under its sequence number.
  void came(const AccountLine& line) const { lies_in(peer_, line, "got"); }
  void again(const AccountLine& line) const {
    if (!line.poss_dup && !line.poss_resend)
      fail(own_.name, "order " + number(line.order) + " came again as message " + number(line.seq) + ", not marked so");
  }

 private:
  void lies_in(const Ledger& ledger, const AccountLine& line, const std::string& did) const {
    const auto found = ledger.messages.find(line.seq);
    if (found == ledger.messages.end() && repaired_) return;
    const std::string what = did + " order " + number(line.order) + " as message " + number(line.seq);
    if (found == ledger.messages.end())
      fail(own_.name, what + ", which the journal of " + ledger.name + " does not have");
    if (found->second.order != line.order)
      fail(own_.name, what + ", which is order " + number(found->second.order) + " in the journal of " + ledger.name);
  }

  const Ledger& own_;
  const Ledger& peer_;
  bool repaired_;
};

void once(const std::string& side, std::set<std::uint64_t>& known, const AccountLine& line, const char* what) {
  if (!known.insert(line.order).second) fail(side, "order " + number(line.order) + " was " + what + " twice");
}

}  // namespace

AuditCounts audit(const PartyOptions& exchange, const PartyOptions& trader, AuditOptions options) {
  const Ledger venue = read_ledger(exchange, options.repaired), desk = read_ledger(trader, options.repaired);
  AuditCounts counts;
  std::set<std::uint64_t> intended, executed, confirmed;
  const Check of_desk{desk, venue, options.repaired}, of_venue{venue, desk, options.repaired};
  for (const AccountLine& line : read_account(account_file(trader.folder))) {
    counts.sent_again += line.entry == Entry::sent && line.poss_resend;
    counts.seen_again += line.entry == Entry::duplicate;
    counts.refused += line.entry == Entry::refused;
    if (line.entry == Entry::intended) once(desk.name, intended, line, "begun");
    if (line.entry == Entry::sent) of_desk.sent(line);
    if (line.entry == Entry::confirmed) once(desk.name, confirmed, line, "confirmed");
    if (line.entry == Entry::confirmed || line.entry == Entry::duplicate) of_desk.came(line);
    if (line.entry == Entry::duplicate) of_desk.again(line);
  }
  for (const AccountLine& line : read_account(account_file(exchange.folder))) {
    counts.sent_again += line.entry == Entry::reported && line.poss_resend;
    counts.seen_again += line.entry == Entry::duplicate;
    counts.refused += line.entry == Entry::refused;
    if (line.entry == Entry::executed) once(venue.name, executed, line, "executed");
    if (line.entry == Entry::reported) of_venue.sent(line);
    if (line.entry == Entry::executed || line.entry == Entry::duplicate) of_venue.came(line);
    if (line.entry == Entry::duplicate) of_venue.again(line);
  }
  for (const std::uint64_t order : intended) {
    if (!executed.contains(order)) fail(venue.name, "order " + number(order) + " was never executed");
    if (!confirmed.contains(order)) fail(desk.name, "order " + number(order) + " was never confirmed");
  }
  for (const std::uint64_t order : executed) {
    if (!intended.contains(order)) fail(venue.name, "order " + number(order) + " was executed and never sent");
  }
  if (venue.next_outbound != desk.next_inbound || desk.next_outbound != venue.next_inbound) {
    fail(desk.name, "the sequence numbers differ: sent up to " + number(desk.next_outbound - 1) +
                        ", the exchange got up to " + number(venue.next_inbound - 1) + "; the exchange sent up to " +
                        number(venue.next_outbound - 1) + ", we got up to " + number(desk.next_inbound - 1));
  }
  counts.orders = intended.size();
  counts.messages = venue.messages.size() + desk.messages.size();
  counts.outbound[0] = venue.next_outbound;
  counts.outbound[1] = desk.next_outbound;
  return counts;
}

}  // namespace nfx::crash
