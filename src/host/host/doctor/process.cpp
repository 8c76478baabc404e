// Checks of the limits and capabilities of this process, which an engine started the same way would have.
#include <string>

#include "host/doctor/looks.hpp"

namespace nfx::doctor::look {
namespace {

// The soft limit in a line of /proc/self/limits: "unlimited" or a number.
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

}  // namespace

void memlock(const Examination& e, Report& report) {
  constexpr long long enough = 256LL << 20;
  const auto limit = soft_limit(e, report, "Max locked memory");
  if (!limit) return;
  if (*limit == "unlimited") return report.good(*limit);
  if (has_capability(e, cap_ipc_lock).value_or(false))
    return report.good(*limit + " bytes, but the process has CAP_IPC_LOCK");
  if (number(*limit).value_or(0) >= enough) return report.good(*limit + " bytes");
  report.warning(*limit + " bytes may be locked", "unlimited, or CAP_IPC_LOCK");
}

void rtprio(const Examination& e, Report& report) {
  const auto limit = soft_limit(e, report, "Max realtime priority");
  if (!limit) return;
  if (has_capability(e, cap_sys_nice).value_or(false))
    return report.good(*limit + ", but the process has CAP_SYS_NICE");
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

namespace {

void capability(const Examination& e, Report& report, unsigned bit, std::string_view without, bool needed) {
  const auto there = has_capability(e, bit);
  if (!there) return report.not_here("no CapEff in /proc/self/status");
  if (*there) return report.good("effective");
  const std::string seen = "missing: " + std::string{without};
  if (needed) return report.warning(seen, "the capability for the engine's process");
  report.info(seen);
}

}  // namespace

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

}  // namespace nfx::doctor::look
