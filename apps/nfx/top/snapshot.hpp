// The state of a running engine at one moment, from the answers of its control plane.
// Thread: values; read_*() have no state. Cost: allocates. Errors: values that an answer lacks, or has with another
// type, stay empty.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/engine/latency.hpp"

namespace nfx::app::top {

using Count = std::optional<std::uint64_t>;

struct Percentiles {
  std::uint64_t count = 0, p50_ns = 0, p99_ns = 0, max_ns = 0;
};
using Stages = std::array<std::optional<Percentiles>, session_stage_count>;

struct SessionRow {
  std::string name;
  std::string state;  // "logged on"
  std::string peer;
  bool logged_on = false;
  bool in_hours = true;
  // "20240315-12:00:00.123"; "-": unknown.
  std::string since;  // when it logged on, or ended
  std::string last_in, last_out;
  std::string last_end;  // the reason, in words
  bool gap_open = false;
  bool resending = false;
  Count next_in, next_out, queued, pending_bytes;
  Count messages_in, messages_out;          // since start
  std::optional<double> in_rate, out_rate;  // per second
  Stages stages;
};

struct ThreadRow {
  std::uint64_t tid = 0;
  std::string name;
  std::string state;
  Count poll_thread, cpu;
  Count run_ns, wait_ns, migrations, involuntary, stolen_ns;
  std::optional<double> busy, waited, stolen;  // shares of the time between two snapshots
  Count worst_gap_ns;                          // in the window
};

struct MomentRow {
  std::string ended, stage, session, cause, evidence;
  Count took_ns, poll_thread;
};

struct MessageRow {
  std::uint64_t number = 0;
  std::string time;
  std::string direction;  // "in" or "out"
  std::string type, type_name, seq;
  std::uint64_t size = 0;
  bool cut = false;
  std::vector<std::string> fields;  // "Side=1(BUY)"
};

struct Snapshot {
  bool connected = false;
  std::string problem;  // why it is not connected
  MonotonicTime taken{};
  std::string utc;   // "12:00:00"
  std::string date;  // "20240315"
  std::string version, state;
  std::uint64_t pid = 0;
  bool complete = true;  // all poll threads answered
  bool measured = true;
  std::vector<SessionRow> sessions;
  std::vector<ThreadRow> threads;
  std::vector<MomentRow> moments;
  std::string messages_of;       // the session of `messages`
  std::string messages_problem;  // why there are none
  std::uint64_t dropped = 0;     // messages that the engine could not copy
  std::vector<MessageRow> messages;
};

void read_engine(const nlohmann::ordered_json& answer, Snapshot& into);
void read_sessions(const nlohmann::ordered_json& answer, Snapshot& into);
void read_threads(const nlohmann::ordered_json& answer, Snapshot& into);
void read_latency(const nlohmann::ordered_json& answer, Snapshot& into);  // call it after the two above
void read_slowest(const nlohmann::ordered_json& answer, Snapshot& into);

// By BeginString(8) and, if the message has one, ApplVerID(1128).
using FindDictionary = std::function<const Dictionary*(std::string_view begin_string, std::string_view appl_ver_id)>;
[[nodiscard]] std::vector<MessageRow> read_messages(const nlohmann::ordered_json& answer, const FindDictionary& find);

// Rates are differences to an earlier snapshot of the same process.
void add_rates(Snapshot& now, const Snapshot& before);

}  // namespace nfx::app::top
