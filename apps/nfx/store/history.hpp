// The history of a session's sequence numbers, from its records: normal activity is summarised, everything else is
// listed individually.
// Thread: one owner. Bounds: stores the last `most` entries and counts the others.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "nexusfix/wire/message_view.hpp"
#include "store/journal_reader.hpp"

namespace nfx::app::store {

struct HistoryEntry {
  UtcTime time{};
  std::string kind;  // "traffic", "opened", "closed", "killed", "reset", "set", "jump", "back", "begin"
  std::string text;
};

class History {
 public:
  // `oldest` has the sequence numbers before the oldest record.
  History(const SegmentHeader& oldest, std::size_t most);

  void add(const JournalRecord& record);
  // No more records will come.
  void finish() { end_traffic(); }

  [[nodiscard]] const std::deque<HistoryEntry>& entries() const noexcept { return entries_; }
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
  [[nodiscard]] std::optional<std::uint64_t> open_by() const noexcept { return open_by_; }

  struct LastMessage {
    std::uint64_t seq = 0;  // 0: none
    UtcTime time{};
    std::string type;
  };
  [[nodiscard]] const LastMessage& last_message() const noexcept { return last_message_; }
  // Since the last reset.
  [[nodiscard]] std::uint64_t kept() const noexcept { return kept_; }
  [[nodiscard]] std::uint64_t not_kept() const noexcept { return not_kept_; }

 private:
  // Steps forward that only have messages between them.
  struct Traffic {
    UtcTime first{}, last{};
    std::uint64_t in_from = 0, out_from = 0;
    std::uint64_t kept = 0, imported = 0, not_kept = 0;
    bool any = false;
  };

  void add_entry(UtcTime time, std::string kind, std::string text);
  void step(UtcTime time);
  void end_traffic();
  void add_message(const JournalRecord& record, UtcTime time);
  void add_number(const JournalRecord& record, UtcTime time, bool inbound);
  void pass_over(std::uint64_t numbers);

  std::size_t most_;
  std::deque<HistoryEntry> entries_;
  std::uint64_t left_out_ = 0;
  std::uint64_t in_, out_;
  std::optional<std::uint64_t> open_by_;
  Traffic traffic_;
  LastMessage last_message_;
  std::uint64_t kept_ = 0, not_kept_ = 0;
  MessageView view_{32768};
};

}  // namespace nfx::app::store
