// A journal in the state after a session's Logon: in memory, with a flusher, and with space for a message.
// Thread: one owner. Lifetime: the flusher outlives it. Errors: StoreError if the journal cannot be opened.
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "base/clocks.hpp"
#include "store/journal_flusher.hpp"
#include "store/journal_store.hpp"

namespace nfx::bench {

class OpenJournal {
 public:
  // One of `number` journals in the folder of the options.
  OpenJournal(const JournalOptions& options, std::uint32_t number, JournalFlusher& flusher)
      : store_(posix_disk(), options, "FIX.4.4:US->THEM" + std::to_string(number), read_utc()), flusher_(flusher) {
    store_.prefault();
    flusher_.add(store_);
    store_.prepare();
    while (!store_.accepts(logon_room)) std::this_thread::yield();
  }
  ~OpenJournal() { flusher_.remove(store_); }
  OpenJournal(const OpenJournal&) = delete;
  OpenJournal& operator=(const OpenJournal&) = delete;

  [[nodiscard]] JournalStore& operator*() noexcept { return store_; }
  [[nodiscard]] JournalStore* operator->() noexcept { return &store_; }
  [[nodiscard]] const JournalStore* operator->() const noexcept { return &store_; }

 private:
  static constexpr std::size_t logon_room = 16 * 1024;  // space that a Logon waits for

  JournalStore store_;
  JournalFlusher& flusher_;
};

// Each message differs from the previous one.
[[nodiscard]] inline const std::string& message_at(const std::vector<std::string>& messages, std::uint64_t seq) {
  return messages[seq * 7 % messages.size()];
}

}  // namespace nfx::bench
