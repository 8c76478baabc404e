// The journal of a session that runs, as its poll thread knows it. Engine::journal() returns it.
// Thread: values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/session_command.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/store/store_options.hpp"
#include "store/journal_store.hpp"

namespace nfx {

struct JournalStatus {
  CommandStatus status = CommandStatus::timed_out;
  bool exists = false;  // the session has one, and is not in memory alone; otherwise what follows is empty
  std::string session{};
  std::filesystem::path folder{};
  Durability durability{};
  StoreCondition condition{};
  std::string condition_text{};
  SeqNum oldest{};  // of the messages that can be sent again
  SeqNum last{};    // 0: there are none
  std::uint64_t stored_bytes = 0;
  JournalPosition position = 0;  // after the last record
  JournalPosition durable = 0;   // everything before it is synced
  JournalCounters counters{};
};

}  // namespace nfx
