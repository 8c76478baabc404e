// The state of a session, for monitoring. SnapshotBox passes it to the thread that reads it.
// Thread: values.
#pragma once

#include <optional>
#include <string>

#include "engine/session_end.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/engine/engine_counters.hpp"
#include "nexusfix/engine/session_handle.hpp"
#include "store/journal_store.hpp"

namespace nfx {

struct SessionFigures {
  std::string identity;
  SessionCounters counters;
  bool logged_on = false;
  SessionTimes times;
  UtcTime ended{};
  EndReason end_reason = EndReason::none;
  SeqNum next_inbound{};
  SeqNum next_outbound{};
  std::optional<JournalCounters> journal;
  StoreCondition store_condition = StoreCondition::good;
};

}  // namespace nfx
