// How a session stands, for those who watch. See SnapshotBox for how it gets to their thread.
// Thread: values.
#pragma once

#include <optional>
#include <string>

#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/engine/application.hpp"
#include "nexusfix/store/journal_store.hpp"

namespace nfx {

struct SessionFigures {
  std::string identity;
  SessionCounters counters;
  bool logged_on = false;
  SeqNum next_inbound{};
  SeqNum next_outbound{};
  std::optional<JournalCounters> journal;
  StoreCondition store_condition = StoreCondition::good;
};

}  // namespace nfx
