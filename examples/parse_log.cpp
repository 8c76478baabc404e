// Reads a FIX log without an engine: prints each message with the names of a dictionary, reports which lines are wrong
// and where, and counts the messages of each type. Exit code 1: a line is wrong. `nfx decode` is the complete tool.
//   ./parse_log session.log               for a log of FIX 4.4
//   ./parse_log session.log venue.xml     with any dictionary or overlay
// A line may have a time before its message, and '|' instead of SOH between the fields.
#include <nexusfix/fix.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

namespace {

constexpr char soh = '\x01';

std::string name_of(const nfx::Dictionary& dictionary, nfx::Tag tag) {
  return std::string{dictionary.field_name(tag)} + "(" + std::to_string(value(tag)) + ")";
}

void print(const nfx::MessageView& message, const nfx::Dictionary& dictionary) {
  for (std::uint32_t i = 0; i < message.size(); ++i) {
    const auto [tag, text] = message[i];
    std::cout << "  " << name_of(dictionary, tag) << " = " << text << " " << dictionary.value_name(tag, text) << "\n";
  }
}

// The column after the last field that could be read.
std::size_t column_after(const nfx::MessageView& message, std::size_t begin) {
  if (message.size() == 0) return begin + 1;
  const std::uint32_t last = message.size() - 1;
  return begin + message.offset_at(last) + message.value_at(last).size() + 2;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2 && argc != 3) return std::cerr << "usage: parse_log LOG [DICTIONARY]\n", 2;
  std::ifstream log{argv[1]};
  if (!log) return std::cerr << "parse_log: cannot open " << argv[1] << "\n", 2;
  const nfx::Dictionary dictionary = nfx::load_dictionary(argc == 3 ? argv[2] : "FIX44.xml");
  const nfx::ValidationPolicy policy{{}, nfx::ValidationMode::lenient};  // report all, stop at nothing

  nfx::MessageView message;  // reused: parsing allocates nothing
  nfx::ValidationReport report;
  std::map<std::string, int> counts;
  int wrong = 0;
  std::string line;
  for (int number = 1; std::getline(log, line); ++number) {
    const std::size_t begin = line.find("8=FIX");
    if (begin == std::string::npos) continue;
    if (!line.contains(soh)) std::ranges::replace(line, '|', soh);
    const auto bytes = std::string_view{line}.substr(begin, line.rfind(soh) + 1 - begin);
    if (const nfx::WireError error = message.parse_leniently(bytes); error != nfx::WireError::none) {
      ++wrong;
      std::cout << "line " << number << ", column " << column_after(message, begin) << ": " << to_string(error) << "\n";
      continue;
    }
    const std::string_view name = dictionary.message_name(message.msg_type());
    ++counts[std::string{name.empty() ? "unknown" : name}];
    std::cout << "line " << number << ": " << name << "\n";
    print(message, dictionary);
    static_cast<void>(validate(message, dictionary, policy, report));
    if (!report.empty()) ++wrong;
    for (const nfx::Violation& violation : report.violations())
      std::cout << "  wrong: " << name_of(dictionary, violation.tag) << ", " << to_text(violation.reason) << "\n";
  }
  for (const auto& [name, count] : counts) std::cout << count << " " << name << "\n";
  std::cout << wrong << " lines are wrong\n";
  return wrong == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "parse_log: " << error.what() << "\n";
  return 2;
}
