// Builds the history of sequence numbers record by record: ordinary traffic is summarised, resets and jumps are listed.
#include "store/history.hpp"

#include "store/store_commands.hpp"
#include "text.hpp"

namespace nfx::app::store {
namespace {

std::string step_text(std::string_view which, std::uint64_t from, std::uint64_t to) {
  return std::string{which} + ' ' + std::to_string(from) + " -> " + std::to_string(to);
}

}  // namespace

History::History(const SegmentHeader& oldest, std::size_t most)
    : most_(most), in_(oldest.next_inbound), out_(oldest.next_outbound) {
  if (in_ == 0) in_ = 1;
  if (out_ == 0) out_ = 1;
  if (oldest.base == 0 || oldest.base == unset_position) return;
  add_entry(UtcTime{Duration{oldest.begun_ns}}, "begin",
            "the oldest segment here begins: next in " + std::to_string(in_) + ", next out " + std::to_string(out_) +
                "; earlier segments are archived");
}

void History::add_entry(UtcTime time, std::string kind, std::string text) {
  end_traffic();
  entries_.push_back({time, std::move(kind), std::move(text)});
  if (entries_.size() > most_) {
    entries_.pop_front();
    ++left_out_;
  }
}

void History::step(UtcTime time) {
  if (!traffic_.any) traffic_ = {time, time, in_, out_, 0, 0, 0, true};
  traffic_.last = time;
}

void History::end_traffic() {
  if (!traffic_.any) return;
  const Traffic done = std::exchange(traffic_, {});
  std::string text;
  if (out_ != done.out_from) {
    text = step_text("out", done.out_from, out_) + ": " + counted(done.kept, "message") + " stored";
    if (done.imported == done.kept) {
      text += done.kept == 0 ? "" : ", imported";
    } else if (done.imported != 0) {
      text += ", " + std::to_string(done.imported) + " of them imported";
    }
    if (done.not_kept != 0) text += ", " + counted(done.not_kept, "sequence number") + " of session messages";
  }
  if (in_ != done.in_from) {
    if (!text.empty()) text += "; ";
    text += step_text("in", done.in_from, in_);
  }
  if (text.empty()) return;
  if (done.last != done.first) text += ", until " + nanosecond_stamp(done.last);
  entries_.push_back({done.first, "traffic", std::move(text)});
  if (entries_.size() > most_) {
    entries_.pop_front();
    ++left_out_;
  }
}

void History::add(const JournalRecord& record) {
  const UtcTime time = time_of(record.header);
  switch (record.header.kind) {
    case RecordKind::none: return;
    case RecordKind::message: add_message(record, time); return;
    case RecordKind::next_inbound: add_number(record, time, true); return;
    case RecordKind::next_outbound: add_number(record, time, false); return;
    case RecordKind::reset:
      add_entry(time, "reset",
                "sequence numbers reset: next in was " + std::to_string(in_) + ", next out was " +
                    std::to_string(out_) + "; both begin at 1");
      in_ = out_ = 1;
      kept_ = not_kept_ = 0;
      last_message_ = {};
      return;
    case RecordKind::opened:
      if (open_by_) {
        add_entry(time, "killed",
                  "process " + std::to_string(*open_by_) + " did not close it: it was killed, or the machine crashed");
      }
      open_by_ = record.header.seq;
      add_entry(time, "opened", "opened by process " + std::to_string(*open_by_));
      return;
    case RecordKind::closed:
      add_entry(time, "closed", open_by_ ? "closed by process " + std::to_string(*open_by_) : "closed");
      open_by_.reset();
      return;
  }
}

void History::pass_over(std::uint64_t numbers) {
  traffic_.not_kept += numbers;
  not_kept_ += numbers;
}

void History::add_message(const JournalRecord& record, UtcTime time) {
  const std::uint64_t seq = record.header.seq;
  if (seq < out_) {
    add_entry(
        time, "back",
        step_text("next out went back", out_, seq) + ": a message was stored under a sequence number already sent");
    out_ = seq;
  }
  step(time);
  pass_over(seq - out_);
  ++traffic_.kept;
  if (has_flag(record.header, RecordFlag::imported)) ++traffic_.imported;
  ++kept_;
  out_ = seq + 1;
  view_.parse_leniently(record.body);
  last_message_ = {seq, time, std::string{view_.get_view(Tag::MsgType)}};
}

void History::add_number(const JournalRecord& record, UtcTime time, bool inbound) {
  std::uint64_t& now = inbound ? in_ : out_;
  const std::uint64_t seq = record.header.seq;
  const std::string_view which = inbound ? "next in" : "next out";
  const bool by_hand = has_flag(record.header, RecordFlag::by_operator);
  const bool imported = has_flag(record.header, RecordFlag::imported);
  if (by_hand || imported) {
    std::string text = step_text(which, now, seq) + (by_hand ? ", set by hand" : ", imported");
    if (!record.body.empty()) {
      text += ": ";
      append_printable(text, record.body);
    }
    add_entry(time, "set", std::move(text));
    now = seq;
    return;
  }
  if (seq < now) {
    add_entry(time, "back", step_text(std::string{which} + " went back", now, seq));
    now = seq;
    return;
  }
  if (inbound && seq > now + 1) {
    add_entry(time, "jump",
              step_text(which, now, seq) +
                  " in one step: the peer filled a gap or sent SequenceReset, or messages queued "
                  "after a gap were delivered together");
    now = seq;
    return;
  }
  step(time);
  if (!inbound) pass_over(seq - now);
  now = seq;
}

}  // namespace nfx::app::store
