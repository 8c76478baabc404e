// The events that a party of the crash test knows of, one line each in a file that only grows. A line is one write, so
// that a kill leaves all of it or nothing; it is the party's own account, independent of its engine's data.
// Thread: one. Errors: std::system_error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace nfx::crash {

enum class Entry : char {
  intended = 'O',   // trader: about to send the order
  sent = 'S',       // trader: send() gave it this number
  refused = 'F',    // either: send() failed
  executed = 'E',   // exchange: the order arrived with this number, for the first time
  reported = 'R',   // exchange: its report got this number
  confirmed = 'P',  // trader: the report arrived with this number, for the first time
  duplicate = 'D',  // either: the message had arrived before
  logged_on = 'L',  // either; order: next expected, seq: next to send
};

struct AccountLine {
  Entry entry{};
  std::uint64_t order = 0;
  std::uint64_t seq = 0;
  bool poss_dup = false;
  bool poss_resend = false;
};

// The lines of the file; an unfinished last one is left out.
[[nodiscard]] std::vector<AccountLine> read_account(const std::filesystem::path& file);

class Account {
 public:
  explicit Account(const std::filesystem::path& file);
  ~Account();
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  void write(const AccountLine& line);

 private:
  int file_ = -1;
};

}  // namespace nfx::crash
