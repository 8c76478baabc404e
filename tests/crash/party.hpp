// The two parties of the crash test, each in a separate process with an engine, a journal and an account: a trader that
// sends orders with unique ClOrdIDs, and an exchange that executes each once and reports it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "nexusfix/config/engine_config.hpp"

namespace nfx::crash {

struct PartyOptions {
  Role role = Role::acceptor;
  std::uint16_t port = 0;
  std::filesystem::path folder;  // of the account
  std::filesystem::path store;   // of the journal
  std::filesystem::path ring;    // of pending data
  Durability durability = Durability::interval;
  std::uint64_t seed = 1;
  std::uint32_t orders = 30;    // a trader sends up to this many per logon
  std::uint32_t text_size = 0;  // padding of each order in bytes
  bool small = false;           // segments of 256 KiB and a ring of 64 KiB
};

// A party's reports to its driver through standard output, one byte each.
enum class Word : char {
  logged_on = 'L',
  settled = 'I',  // trader: every order is sent and confirmed, and no more will come
  store_trouble = 'T',
  store_recovered = 'R',
  logged_out = 'O',
};

[[nodiscard]] SessionSettings party_session(const PartyOptions& options);
[[nodiscard]] std::filesystem::path account_file(const std::filesystem::path& folder);

// Serves until SIGTERM. Returns an exit code; prints errors to standard error.
int run_party(const PartyOptions& options);

}  // namespace nfx::crash
