#include "config/keys.hpp"

#include "config/rows.hpp"

namespace nfx::config {
namespace {

const Key<EngineConfig> engine_table[] = {
    NFX_INTEGER("poll_threads", poll_threads, 1, 1024, "threads that serve sessions"),
    NFX_ENUM("idle", idle, "what a poll thread does when nothing happens"),
    NFX_ENUM("transport", transport, "\"epoll\"; \"io_uring\", where the kernel has it; \"auto\": epoll"),
    NFX_INTEGER("max_message_size", max_message_size, 512, 8 * 1024 * 1024,
                "bytes; a longer message ends its connection"),
    NFX_INTEGER("max_fields", max_fields, 16, 32768, "fields per message; one with more is ignored as garbled"),
    NFX_INTEGER("max_pending_logons", max_pending_logons, 1, 65536,
                "connections that have not logged on; more are closed"),
    NFX_DURATION("pending_logon_timeout_ms", pending_logon_timeout, std::chrono::milliseconds, 10, day_s * 1000,
                 "time a connection has to send its Logon"),
    NFX_INTEGER("pending_logon_bytes", pending_logon_bytes, 256, 1024 * 1024, "the longest Logon accepted"),
    NFX_INTEGER("max_dynamic_sessions", max_dynamic_sessions, 0, 65536,
                "sessions from templates or added at run time, per poll thread"),
};

// A list of CPUs such as "0-1,8".
CpuSet cpus(const Value& value) {
  auto set = CpuSet::parse_list(value.text());
  if (!set) throw BadValue(set.error());
  return *std::move(set);
}

#define NFX_CPUS(name, member, meaning)                               \
  {name, "text", [](auto& t, const Value& v) { t.member = cpus(v); }, \
   [](const auto& t) { return in_quotes(t.member.to_list()); }, meaning}

const Key<PlacementRequest> placement_table[] = {
    {"enabled", "boolean", [](PlacementRequest& t, const Value& v) { t.enabled = v.boolean(); },
     [](const PlacementRequest&) { return shown(true); }, "false leaves the section without effect"},
    NFX_CPUS("housekeeping", housekeeping, "CPUs for everything that does not spin, \"0-1\"; empty: chosen"),
    NFX_INTEGER("housekeeping_cores", housekeeping_cores, 1, 1024, "how many cores at least, when chosen"),
    NFX_FLAG("share_smt", share_smt, "spinning threads may share a core's SMT siblings"),
    NFX_ENUM("mapping", mapping,
             "how sessions with auto_pin_to_core choose: by \"hash\" of their CompIDs, or \"balanced\""),
    NFX_ENUM("on_violation", on_violation, "what a plan that does not hold does to the start: \"warn\" or \"refuse\""),
    NFX_DURATION("check_interval_ms", check_interval, std::chrono::milliseconds, 0, day_s * 1000,
                 "how often the running threads are held against the plan; 0: never"),
};

const Key<RoleRequest> role_table[] = {
    NFX_INTEGER("threads", threads, 0, 1024,
                "how many; 0: one, when it has work; log: one at most; for poll threads see [engine] poll_threads"),
    NFX_ENUM("wait", wait,
             "\"spin\" for a core of their own, \"block\" for housekeeping; for poll threads see [engine] idle"),
    NFX_TEXT("near", near, "a device such as \"eth0\", or \"each_group\" of devices behind one PCIe switch"),
    {"same_cache_as", "text", [](RoleRequest& t, const Value& v) { t.same_cache_as = named<ThreadRole>(v); },
     [](const RoleRequest&) { return std::string{"none"}; }, "the last-level cache of that role's threads"},
    NFX_CPUS("cpus", cpus, "only on these; empty: any"),
    NFX_INTEGER("priority", priority, 0, 99, "SCHED_FIFO; 0: the ordinary scheduler"),
};

#undef NFX_CPUS

const Key<LogConfig> log_table[] = {
    NFX_PATH("directory", directory, "of the log files; \"\": there are none"),
    NFX_FLAG("messages", messages, "every message in and out, secrets masked"),
    NFX_FLAG("events", events, "logons, logouts, rejects, notices"),
    NFX_ENUM("format", format, "\"full\": with direction and session; \"quickfix\": as its FileLog writes messages"),
    NFX_INTEGER("rotate_bytes", rotate_bytes, 64 * 1024, 1024 * gib,
                "a longer file is followed by the next, as each UTC day is"),
    NFX_INTEGER("keep_files", keep_files, 1, 1000000, "files of each log; the oldest go"),
    NFX_DURATION("keep_age_d", keep_age, std::chrono::days, 0, 36500, "and for so many days; 0: any"),
    NFX_INTEGER("queue_bytes", queue_bytes, 64 * 1024, gib, "lines that may wait to be written, for each poll thread"),
    NFX_ENUM(
        "when_full", full.when_full,
        "a line more: \"drop\", and count it; \"block\": its thread waits, then drops; \"spill\": beside the queue"),
    NFX_DURATION("block_limit_us", full.block_limit, std::chrono::microseconds, 1, 1000000,
                 "the longest wait of a poll thread with \"block\""),
    NFX_INTEGER("spill_bytes", full.spill_bytes, 64 * 1024, gib, "beside the queue of each poll thread with \"spill\""),
    NFX_PATH("metrics_file", metrics_file, "counters and latencies in Prometheus' text format; \"\": none"),
    NFX_DURATION("metrics_period_s", metrics_period, std::chrono::seconds, 1, day_s, "how often that is written"),
};

}  // namespace

std::span<const Key<EngineConfig>> engine_keys() noexcept { return engine_table; }
std::span<const Key<PlacementRequest>> placement_keys() noexcept { return placement_table; }
std::span<const Key<RoleRequest>> role_keys() noexcept { return role_table; }
std::span<const Key<LogConfig>> log_keys() noexcept { return log_table; }

}  // namespace nfx::config
