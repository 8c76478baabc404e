// Prints the records of a journal: messages decoded as in nfx decode, or on one line each; counters on request.
// Thread: one owner. Lifetime: appends to the caller's text; borrows nothing beyond a call.
#pragma once

#include <string>
#include <vector>

#include "decode/decoder.hpp"
#include "decode/dictionaries.hpp"
#include "decode/print.hpp"
#include "store/journal_reader.hpp"

namespace nfx::app::store {

enum class RecordForm : std::uint8_t {
  fields,    // a header line, and a line per field
  one_line,  // everything on one line
  raw,       // "8=FIX.4.4|9=..|" after time and sequence number
  json,      // an object per line
};

// Whether the record contains a message of the peer, whose number is the record's minus one.
[[nodiscard]] inline bool is_received(const RecordHeader& header) noexcept {
  return header.kind == RecordKind::next_inbound && has_flag(header, RecordFlag::received);
}

struct PrinterOptions {
  std::vector<std::string> dictionaries;
  std::string color = "auto";
  bool show_secrets = false;
  bool name_sessions = false;  // prints a heading when another session begins; JSON always names the session
  RecordForm form = RecordForm::fields;
};

class RecordPrinter {
 public:
  explicit RecordPrinter(const PrinterOptions& options);
  void print(SafeText& out, const std::string& identity, const RecordHeader& header, std::string_view body);

 private:
  void print_message(SafeText& out, const std::string& identity, const RecordHeader& header, std::string_view body);
  void print_other(SafeText& out, const std::string& identity, const RecordHeader& header, std::string_view body);

  RecordForm form_;
  bool name_sessions_;
  PrintOptions print_;
  Dictionaries dictionaries_;
  Decoder decoder_;
  MessageView view_;
  std::string last_identity_;
};

// A record that is not a message as text: "next in 5", "opened by process 4711".
[[nodiscard]] std::string text_of(const RecordHeader& header, std::string_view body);

}  // namespace nfx::app::store
