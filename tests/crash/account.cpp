// Appends events to a party's account with one write each, and reads an account after a kill.
#include "account.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace nfx::crash {

std::vector<AccountLine> read_account(const std::filesystem::path& file) {
  std::ifstream in{file};
  std::ostringstream all;
  if (in) all << in.rdbuf();
  const std::string text = std::move(all).str();
  std::vector<AccountLine> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    std::array<char, 8> flags{};
    char kind = 0;
    unsigned long long order = 0, seq = 0;
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (std::sscanf(line.c_str(), "%c %llu %llu %7s", &kind, &order, &seq, flags.data()) != 4) continue;
    const std::string_view letters{flags.data()};
    lines.push_back({Entry{kind}, order, seq, letters.contains('d'), letters.contains('r')});
  }
  return lines;
}

Account::Account(const std::filesystem::path& file)
    : file_(::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {
  if (file_ < 0) throw std::system_error{errno, std::generic_category(), file.string()};
  // Ends the line that the last process left incomplete.
  if (::lseek(file_, 0, SEEK_END) > 0 && ::write(file_, "\n", 1) != 1)
    throw std::system_error{errno, std::generic_category(), file.string()};
}

Account::~Account() { ::close(file_); }

void Account::write(const AccountLine& line) {
  std::array<char, 96> text{};
  const char* flags = line.poss_dup ? (line.poss_resend ? "dr" : "d") : line.poss_resend ? "r" : "-";
  const int size =
      std::snprintf(text.data(), text.size(), "%c %llu %llu %s\n", static_cast<char>(line.entry),
                    static_cast<unsigned long long>(line.order), static_cast<unsigned long long>(line.seq), flags);
  if (::write(file_, text.data(), static_cast<std::size_t>(size)) != size)
    throw std::system_error{errno, std::generic_category(), "the account file"};
}

}  // namespace nfx::crash
