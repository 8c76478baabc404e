// What this process, and an engine started like it, may do: limits and capabilities.
#include <array>
#include <string>

#include "host/doctor/check.hpp"

namespace nfx::doctor {
namespace {

constexpr std::string_view limit_boot =
    "LimitMEMLOCK=, LimitRTPRIO=, LimitNOFILE= of the service, or "
    "/etc/security/limits.d";

// The soft limit of a line of /proc/self/limits, "unlimited" or a number.
std::optional<std::string> soft_limit(const Examination& e, Report& report, std::string_view name) {
  const auto text = report.text(e, "/proc/self/limits");
  if (!text) return std::nullopt;
  for (const std::string& line : split(*text, '\n')) {
    if (!line.starts_with(name)) continue;
    const std::vector<std::string> words = split(std::string_view{line}.substr(name.size()), ' ');
    if (!words.empty()) return words.front();
  }
  report.not_here("no \"" + std::string{name} + "\" in /proc/self/limits");
  return std::nullopt;
}

enum : unsigned { cap_net_admin = 12, cap_ipc_lock = 14, cap_sys_nice = 23 };

std::optional<bool> has_capability(const Examination& e, unsigned bit) {
  const auto status = e.files.text("/proc/self/status");
  const auto text = status ? line_value(*status, "CapEff") : std::nullopt;
  if (!text || text->empty()) return std::nullopt;
  const std::size_t digit = bit / 4;
  if (digit >= text->size()) return false;
  const char c = (*text)[text->size() - 1 - digit];
  const unsigned value = static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  return ((value >> (bit % 4)) & 1U) != 0;
}

void memlock(const Examination& e, Report& report) {
  constexpr long long enough = 256LL << 20;
  const auto limit = soft_limit(e, report, "Max locked memory");
  if (!limit) return;
  if (*limit == "unlimited") return report.good(*limit);
  if (has_capability(e, cap_ipc_lock).value_or(false)) return report.good(*limit + " bytes, but CAP_IPC_LOCK is there");
  if (number(*limit).value_or(0) >= enough) return report.good(*limit + " bytes");
  report.warning(*limit + " bytes may be locked", "unlimited, or CAP_IPC_LOCK");
}

void rtprio(const Examination& e, Report& report) {
  const auto limit = soft_limit(e, report, "Max realtime priority");
  if (!limit) return;
  if (has_capability(e, cap_sys_nice).value_or(false)) return report.good(*limit + ", but CAP_SYS_NICE is there");
  const long long highest = *limit == "unlimited" ? 99 : number(*limit).value_or(0);
  const std::string seen = "real-time priorities up to " + std::to_string(highest);
  if (highest >= (e.real_time_priority > 0 ? e.real_time_priority : 1)) return report.good(seen);
  if (e.real_time_priority == 0) return report.info(seen + "; no thread of the plan requests one");
  report.failure(seen, "up to " + std::to_string(e.real_time_priority));
}

void nofile(const Examination& e, Report& report) {
  const auto limit = soft_limit(e, report, "Max open files");
  if (!limit) return;
  if (*limit == "unlimited" || number(*limit).value_or(0) >= 4096) return report.good(*limit);
  report.warning(*limit + " files", "at least 4096");
}

void nice(const Examination& e, Report& report) {
  const auto limit = soft_limit(e, report, "Max nice priority");
  if (!limit) return;
  const long long nicest = 20 - number(*limit).value_or(0);
  report.info("nice values down to " + std::to_string(nicest > 0 ? 0 : nicest));
}

void capability(const Examination& e, Report& report, unsigned bit, std::string_view without, bool needed) {
  const auto there = has_capability(e, bit);
  if (!there) return report.not_here("no CapEff in /proc/self/status");
  if (*there) return report.good("effective");
  const std::string seen = "missing: " + std::string{without};
  if (needed) return report.warning(seen, "the capability for the engine's process");
  report.info(seen);
}

void cap_nice(const Examination& e, Report& report) {
  capability(e, report, cap_sys_nice, "no real-time priority beyond the limit, no other user's thread can be moved",
             e.real_time_priority > 0);
}

void cap_lock(const Examination& e, Report& report) {
  capability(e, report, cap_ipc_lock, "memory can be locked only up to the limit", false);
}

void cap_net(const Examination& e, Report& report) {
  capability(e, report, cap_net_admin, "SO_BUSY_POLL cannot be raised, devices cannot be set up", false);
}

constexpr std::array table{
    Check{{.id = "process.memlock",
           .title = "The engine may lock its memory",
           .source = "/proc/self/limits, /proc/self/status",
           .why = "Memory that is not locked (RLIMIT_MEMLOCK) may be swapped out and then faults again. The check is "
                  "of this process: start it as the engine is started.",
           .fix_runtime = "prlimit --memlock=unlimited, or ulimit -l unlimited before the start",
           .fix_boot = limit_boot,
           .risk = "A program that locks too much takes it from all others."},
          memlock},
    Check{{.id = "process.rtprio",
           .title = "The engine may use real-time priorities",
           .source = "/proc/self/limits, /proc/self/status",
           .why = "Without RLIMIT_RTPRIO sched_setscheduler fails with EPERM, and the thread stays with the ordinary "
                  "scheduler.",
           .fix_runtime = "prlimit --rtprio=99, or CAP_SYS_NICE for the program",
           .fix_boot = limit_boot,
           .risk = "A real-time thread that never sleeps starves its CPU."},
          rtprio},
    Check{{.id = "process.nofile",
           .title = "The engine may open enough files",
           .source = "/proc/self/limits",
           .why = "Each session needs a socket and the files of its journal; accept and open fail with EMFILE when "
                  "RLIMIT_NOFILE is reached.",
           .fix_runtime = "prlimit --nofile=65536, or ulimit -n 65536 before the start",
           .fix_boot = limit_boot,
           .risk = "None known."},
          nofile},
    Check{{.id = "process.nice",
           .title = "The nice values that the engine may use",
           .source = "/proc/self/limits",
           .why = "RLIMIT_NICE matters only for threads that share a CPU. Reported for information.",
           .fix_runtime = "prlimit --nice=40",
           .fix_boot = limit_boot,
           .risk = "None known."},
          nice},
    Check{{.id = "process.cap_sys_nice",
           .title = "CAP_SYS_NICE",
           .source = "/proc/self/status",
           .why = "sched_setscheduler, and sched_setaffinity for tasks of other users, require CAP_SYS_NICE.",
           .fix_runtime = "setcap cap_sys_nice+ep PROGRAM",
           .fix_boot = "AmbientCapabilities=CAP_SYS_NICE of the service",
           .risk = "The process may set any task's priority and CPUs."},
          cap_nice},
    Check{{.id = "process.cap_ipc_lock",
           .title = "CAP_IPC_LOCK",
           .source = "/proc/self/status",
           .why = "mlock beyond RLIMIT_MEMLOCK, and huge pages in shared memory (SHM_HUGETLB), require CAP_IPC_LOCK.",
           .fix_runtime = "setcap cap_ipc_lock+ep PROGRAM",
           .fix_boot = "AmbientCapabilities=CAP_IPC_LOCK of the service",
           .risk = "The process may lock all memory."},
          cap_lock},
    Check{
        {.id = "process.cap_net_admin",
         .title = "CAP_NET_ADMIN",
         .source = "/proc/self/status",
         .why =
             "Raising SO_BUSY_POLL above net.core.busy_read, and changing settings of devices, require CAP_NET_ADMIN.",
         .fix_runtime = "setcap cap_net_admin+ep PROGRAM",
         .fix_boot = "AmbientCapabilities=CAP_NET_ADMIN of the service",
         .risk = "The process may change routes, addresses and filters."},
        cap_net},
};

constexpr auto files = std::to_array<std::string_view>({
    "/proc/self/limits",
});

}  // namespace

Area process_area() noexcept { return {table, files}; }

}  // namespace nfx::doctor
