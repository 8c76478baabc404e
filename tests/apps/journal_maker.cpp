// Makes and keeps journals for the tests of nfx store: JournalStore driven by lines on standard input.
//
//   journal_maker STORE IDENTITY RING_DIRECTORY SEGMENT_SIZE
//
//   message N TYPE TEXT   append a FIX message of this type under N, with Text(58)
//   bytes N TEXT          append TEXT as it is, with SOH in place of each '|'
//   in N, out N           set a sequence number, as the engine does
//   reset                 reset the sequence numbers
//   sync                  write and sync
//   kill                  end by SIGKILL
//
// Answers each line with "done" or "refused". The end of the input closes the journal in order. The clock begins at
// 20260102-10:00:00 and advances by a second per line, so that all output is known beforehand.
#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>

#include "nexusfix/wire/encoder.hpp"
#include "store/journal_store.hpp"

namespace {

using namespace nfx;

std::string three_digits(unsigned number) {
  std::string text = std::to_string(number);
  return text.insert(0, 3 - text.size(), '0');
}

std::string stamp(UtcTime time) {
  char text[max_utc_timestamp_size];
  return {text, write_utc_timestamp(text, time, 3)};
}

// The session "FIX.4.4:A->B" sends 49=A, 56=B.
std::string make_message(const std::string& identity, std::uint64_t number, const std::string& type,
                         const std::string& text, UtcTime now) {
  const std::size_t colon = identity.find(':'), arrow = identity.find("->");
  const std::string sender = identity.substr(colon + 1, arrow - colon - 1);
  std::string target = identity.substr(arrow + 2);
  target = target.substr(0, target.find(':'));
  std::string body = "35=" + type +
                     "\x01"
                     "34=" +
                     std::to_string(number) +
                     "\x01"
                     "49=" +
                     sender +
                     "\x01"
                     "56=" +
                     target +
                     "\x01"
                     "52=" +
                     stamp(now) +
                     "\x01"
                     "58=" +
                     text + "\x01";
  std::string message = "8=" + identity.substr(0, colon) +
                        "\x01"
                        "9=" +
                        std::to_string(body.size()) + "\x01" + body;
  return message + "10=" + three_digits(check_sum(message)) + "\x01";
}

bool execute_command(JournalStore& journal, const std::string& identity, const std::string& line, UtcTime now) {
  std::istringstream words{line};
  std::string command, type, text;
  std::uint64_t number = 0;
  words >> command >> number;
  if (command == "message") {
    words >> type >> text;
    return journal.append(SeqNum{number}, make_message(identity, number, type, text, now), now);
  }
  if (command == "bytes") {
    std::getline(words >> std::ws, text);
    std::ranges::replace(text, '|', '\x01');
    return journal.append(SeqNum{number}, text, now);
  }
  if (command == "in") {
    journal.set_next_inbound(SeqNum{number}, now);
  } else if (command == "out") {
    journal.set_next_outbound(SeqNum{number}, now);
  } else if (command == "reset") {
    journal.reset(now);
  } else if (command == "sync") {
    return journal.sync(now);
  } else if (command == "kill") {
    std::raise(SIGKILL);
  } else {
    throw std::invalid_argument("unknown command: " + line);
  }
  return true;
}

int run(char** arguments) {
  JournalOptions options;
  options.directory = arguments[1];
  options.ring_directory = arguments[3];
  options.segment_size = std::stoull(arguments[4]);
  options.ring_size = 64 * 1024;
  const std::string identity = arguments[2];
  const auto begin = parse_utc_timestamp("20260102-10:00:00");
  UtcTime now = begin->time;
  JournalStore journal{posix_disk(), options, identity, now};
  std::cout << "open" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    now += std::chrono::seconds{1};
    std::cout << (execute_command(journal, identity, line, now) ? "done" : "refused") << std::endl;
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) {
    std::cerr << "journal_maker STORE IDENTITY RING_DIRECTORY SEGMENT_SIZE\n";
    return 2;
  }
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    std::cerr << "journal_maker: " << error.what() << '\n';
    return 1;
  }
}
