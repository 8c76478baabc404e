// Compares each record with the sequence number that is due, and each message with the record that has it.
#include "engine/journal_check.hpp"

#include <utility>

#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {

void JournalCheck::check(const JournalRecord& record) {
  switch (record.header.kind) {
    case RecordKind::message:
      return has_flag(record.header, RecordFlag::recorded) ? check_recorded(record) : check_message(record);
    case RecordKind::next_outbound: next_out_ = record.header.seq; return;
    case RecordKind::reset: next_out_ = 1; return;
    case RecordKind::next_inbound:
    case RecordKind::opened:
    case RecordKind::closed: return;
    case RecordKind::none: break;
  }
  find(record, "a record of kind " + std::to_string(std::to_underlying(record.header.kind)) + ", which is unknown");
}

// A packet of a recording; 'nfx market replay' reads what is in it.
void JournalCheck::check_recorded(const JournalRecord& record) {
  ++messages_;
  if (record.header.seq != next_out_) {
    find(record,
         "record " + std::to_string(record.header.seq) + " is where " + std::to_string(next_out_) + " would be next");
  }
  next_out_ = record.header.seq + 1;
}

void JournalCheck::check_message(const JournalRecord& record) {
  ++messages_;
  const std::uint64_t seq = record.header.seq;
  const std::string which = "message " + std::to_string(seq);
  if (const WireError error = view_.parse(record.body); error != WireError::none) {
    find(record, which + " is not a valid FIX message: " + std::string{to_string(error)});
  } else if (view_.get_view(Tag::MsgSeqNum) != std::to_string(seq)) {
    find(record, which + " has MsgSeqNum " + std::string{view_.get_view(Tag::MsgSeqNum)});
  }
  // Sequence numbers go back by a reset, or by a record that sets them; never by a message.
  if (seq < next_out_) {
    find(record, which + " is stored where " + std::to_string(next_out_) + " was next, without a reset");
  }
  next_out_ = seq + 1;
}

void JournalCheck::find(const JournalRecord& record, std::string what) {
  if (++found_ <= most_findings) findings_.push_back({*record.file, record.offset, std::move(what)});
}

}  // namespace nfx
