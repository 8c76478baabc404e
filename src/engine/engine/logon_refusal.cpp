// A refused Logon as a line for operators.
#include <string>

#include "base/printable.hpp"
#include "nexusfix/engine/observer.hpp"

namespace nfx {
namespace {

constexpr std::size_t longest_name = 64;
constexpr std::size_t longest_text = 256;

void append_cut(std::string& out, std::string_view text, std::size_t longest) {
  append_printable(out, text.substr(0, longest));
  if (text.size() > longest) out += "...";
}

}  // namespace

std::string to_string(const LogonRefusal& refusal) {
  const LogonRefusalRow& row = row_of(refusal.reason);
  std::string line{row.name};
  line += ": ";
  line += row.text;
  if (!refusal.text.empty()) {
    line += " (";
    append_cut(line, refusal.text, longest_text);
    line += ')';
  }
  if (refusal.count != 1) line += ", " + std::to_string(refusal.count) + " more within a second, the last";
  if (!refusal.begin_string.empty()) {
    line += ", ";
    append_cut(line, refusal.begin_string, longest_name);
    line += ':';
    append_cut(line, refusal.sender_comp_id, longest_name);
    line += "->";
    append_cut(line, refusal.target_comp_id, longest_name);
  }
  line += " from ";
  append_cut(line, refusal.peer, longest_name);
  return line;
}

}  // namespace nfx
