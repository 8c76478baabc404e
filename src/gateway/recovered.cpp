// Compares a journal with the stream, and completes it.
#include "gateway/recovered.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace nfx::gateway {
namespace {

constexpr std::string_view reason = "taken from the cluster";

UtcTime time_of(std::string_view bytes) noexcept {
  std::int64_t ns = 0;
  std::memcpy(&ns, bytes.data(), sizeof ns);
  return UtcTime{Duration{ns}};
}

// Without a flusher the journal writes what it has when its ring is full.
void require(bool recorded, const JournalStore& journal) {
  if (!recorded) throw StoreError("the journal takes no records of the cluster: " + journal.condition_text());
}

void append(JournalStore& journal, const Message& message, UtcTime now) {
  if (journal.append(message.seq, message.bytes, now)) return;
  require(journal.sync(now) && journal.append(message.seq, message.bytes, now), journal);
}

void set(JournalStore& journal, bool inbound, SeqNum seq, UtcTime now) {
  const NumberChange change{.inbound = inbound, .seq = seq, .reason = reason};
  if (journal.set_number(change, now)) return;
  require(journal.sync(now) && journal.set_number(change, now), journal);
}

Recovered everything_of(const JournalStore& journal, std::size_t most) {
  Recovered all{most};
  all.counters = {.inbound = journal.next_inbound(), .outbound = journal.next_outbound()};
  all.began = journal.creation_time();
  static_cast<void>(journal.for_each(first_seq_num, journal.last_kept(), [&](SeqNum seq, std::string_view bytes) {
    all.messages.push_back({seq, std::string{bytes}});
    if (all.messages.size() > all.most) all.messages.pop_front();
    return true;
  }));
  return all;
}

bool is_new(const JournalStore& journal) {
  return journal.next_inbound() == first_seq_num && journal.next_outbound() == first_seq_num &&
         journal.last_kept() == SeqNum{};
}

JournalMark mark_of(const JournalStore& journal) {
  return {.began = journal.creation_time(), .last_kept = journal.last_kept()};
}

void require_as_left(const JournalStore& journal, const Recovered& stream) {
  if (stream.journal && *stream.journal != mark_of(journal))
    throw StoreError("the journal is not as this gateway left it: it is compared with all of the cluster's records");
}

void begin_again(JournalStore& journal, UtcTime began) {
  journal.reset(began);
  require(journal.creation_time() == began && journal.next_outbound() == first_seq_num, journal);
}

// The first message that the journal has not, or has another one for. What it has deleted is not missed.
std::deque<Message>::const_iterator first_other(const JournalStore& journal, const std::deque<Message>& messages) {
  return std::ranges::find_if(messages, [&](const Message& message) {
    return message.seq >= journal.oldest_kept() && journal.read(message.seq) != message.bytes;
  });
}

std::uint64_t take(JournalStore& journal, std::deque<Message>::const_iterator begin,
                   std::deque<Message>::const_iterator end, UtcTime now) {
  std::uint64_t taken = 0;
  for (auto at = begin; at != end; ++at, ++taken) {
    append(journal, *at, now);
    journal.set_next_outbound(next(at->seq), now);
  }
  return taken;
}

}  // namespace

void Recovered::add(const cluster::FrameView& frame) {
  ++frames;
  counters = frame.end;
  for (std::string_view rest = frame.records; !rest.empty();) {
    const cluster::Record record = cluster::take_record(rest);
    switch (record.kind) {
      case cluster::RecordKind::inbound: break;
      case cluster::RecordKind::outbound:
        if (record.bytes.empty()) break;
        messages.push_back({record.seq, std::string{record.bytes}});
        if (messages.size() > most) messages.pop_front();
        break;
      case cluster::RecordKind::reset:
        messages.clear();
        journal.reset();
        began.reset();
        break;
      case cluster::RecordKind::began: began = time_of(record.bytes); break;
    }
  }
}

std::string Comparison::text() const {
  if (upload) return "the cluster had nothing of the session and gets the journal's records";
  if (other_session) return "the journal was of an earlier session; it has the cluster's records now";
  std::string text;
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count == 0) return;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + (count == 1 ? " message " : " messages ");
    text += what;
  };
  add(taken, "of the cluster were missing in the journal");
  add(given_up, "of the journal were not in the cluster and are not sent");
  if (!other_numbers) return text;
  text += (text.empty() ? "" : "; ") + std::string{"the journal had next in "} +
          std::to_string(value(journal.inbound)) + ", next out " + std::to_string(value(journal.outbound));
  return text;
}

Comparison compare(JournalStore& journal, const Recovered& stream, UtcTime now) {
  require_as_left(journal, stream);
  Comparison found;
  found.journal = {.inbound = journal.next_inbound(), .outbound = journal.next_outbound()};
  if (stream.is_new()) {
    if (found.journal != cluster::Counters{}) found.upload = everything_of(journal, stream.most);
    return found;
  }
  found.other_numbers = found.journal != stream.counters;
  found.other_session = stream.began && *stream.began != journal.creation_time();
  if (found.other_session) begin_again(journal, *stream.began);
  const auto other = first_other(journal, stream.messages);
  const SeqNum end = other == stream.messages.end() ? stream.counters.outbound : other->seq;
  const SeqNum next_out = std::max(stream.counters.outbound, journal.next_outbound());
  if (journal.last_kept() >= end) {
    found.given_up = journal.for_each(end, journal.last_kept(), [](SeqNum, std::string_view) { return true; });
    set(journal, false, end, now);
  }
  found.taken = take(journal, other, stream.messages.end(), now);
  if (journal.next_outbound() != next_out) set(journal, false, next_out, now);
  if (journal.next_inbound() != stream.counters.inbound) set(journal, true, stream.counters.inbound, now);
  // The session begins with an empty ring.
  if (found.taken != 0) require(journal.sync(now), journal);
  return found;
}

bool follow(JournalStore& journal, Recovered& stream, UtcTime now) {
  require_as_left(journal, stream);
  if (!stream.began) return false;
  if (!is_new(journal) && journal.creation_time() > *stream.began) return false;
  if (journal.creation_time() != *stream.began) begin_again(journal, *stream.began);
  const SeqNum next_out = std::max(stream.counters.outbound, journal.next_outbound());
  const auto other = first_other(journal, stream.messages);
  if (other != stream.messages.end()) {
    if (journal.last_kept() >= other->seq) set(journal, false, other->seq, now);
    static_cast<void>(take(journal, other, stream.messages.end(), now));
  }
  if (journal.next_outbound() != next_out) set(journal, false, next_out, now);
  if (journal.next_inbound() < stream.counters.inbound) set(journal, true, stream.counters.inbound, now);
  require(journal.sync(now), journal);
  stream.messages.clear();
  stream.journal = mark_of(journal);
  return true;
}

}  // namespace nfx::gateway
