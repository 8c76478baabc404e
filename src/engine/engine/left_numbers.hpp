// The next sequence numbers of sessions that were removed, for when they are added again: a reload that replaces a
// session with a memory store continues it, as a journal would.
// Thread: any, with a mutex. Cost: allocates, once a removal. Bounded: beyond `most` sessions the one that was removed
// first is forgotten, and begins with the sequence numbers of its settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "nexusfix/config/engine_config.hpp"

namespace nfx {

struct LeftSession {
  SeqNum next_inbound = first_seq_num;
  SeqNum next_outbound = first_seq_num;
  UtcTime begun{};  // when the sequence numbers began at 1: a schedule may have reset them since
  bool has_journal = false;
};

class LeftNumbers {
 public:
  explicit LeftNumbers(std::size_t most) noexcept : most_(most) {}

  void remember(const std::string& name, const LeftSession& left);
  void forget(const std::string& name);
  // Makes the session begin with the sequence numbers that it left with. Between two journals nothing changes, because
  // they have the numbers.
  void continue_with(SessionSettings& settings) const;

 private:
  struct Entry {
    LeftSession left;
    std::uint64_t order = 0;
  };

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  std::uint64_t removals_ = 0;
};

}  // namespace nfx
