// Finds records of a journal that are wrong although their checksums are right: messages that are invalid, have another
// sequence number than they are stored under, or are out of order without a reset.
// Thread: one. Cost: parses each message. Bounds: the first findings are stored, all are counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nexusfix/wire/message_view.hpp"
#include "store/journal_reader.hpp"

namespace nfx {

class JournalCheck {
 public:
  static constexpr std::size_t most_findings = 20;
  struct Finding {
    std::string file;
    std::uint64_t offset = 0;
    std::string what;
  };

  // Begins with the number in a segment's header, when earlier segments are not checked.
  void begin_at(std::uint64_t next_outbound) noexcept { next_out_ = next_outbound; }
  void check(const JournalRecord& record);

  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
  [[nodiscard]] std::uint64_t found() const noexcept { return found_; }
  [[nodiscard]] const std::vector<Finding>& findings() const noexcept { return findings_; }  // the first ones

 private:
  void check_recorded(const JournalRecord& record);
  void check_message(const JournalRecord& record);
  void find(const JournalRecord& record, std::string what);

  static constexpr std::uint32_t max_fields = 32768;
  MessageView view_{max_fields};
  std::uint64_t next_out_ = 1;
  std::uint64_t messages_ = 0, found_ = 0;
  std::vector<Finding> findings_;
};

}  // namespace nfx
