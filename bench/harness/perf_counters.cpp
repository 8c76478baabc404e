// Opens one counter after the other. If the processor has too few for all, the kernel multiplexes them, and the values
// are scaled up.
#include "harness/perf_counters.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace nfx::bench {
namespace {

struct Event {
  std::uint32_t type;
  std::uint64_t config;
  const char* name;
};

constexpr std::array<Event, PerfCounters::count> events{{
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "instructions"},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cycles"},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, "branch misses"},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, "cache misses"},
    {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, "switches"},
    {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, "migrations"},
}};

int open_event(const Event& event) noexcept {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

std::string reason(int error) {
  if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV)
    return "no counters of the processor: the hypervisor hides them";
  return "no counters of the processor: perf_event_open: " + std::generic_category().message(error);
}

}  // namespace

PerfCounters::PerfCounters() {
  int error = 0;
  for (std::size_t i = 0; i < count; ++i) {
    fds_[i] = open_event(events[i]);
    if (i >= hardware_count) continue;
    if (fds_[i] < 0) {
      if (error == 0) error = errno;
    } else {
      text_ += (text_.empty() ? "" : ", ") + std::string{events[i].name};
    }
  }
  if (text_.empty()) text_ = reason(error);
}

PerfCounters::~PerfCounters() {
  for (const int fd : fds_) {
    if (fd >= 0) ::close(fd);
  }
}

PerfCounters::Totals PerfCounters::read() const noexcept {
  struct Value {
    std::uint64_t counted, enabled, running;
  };
  Totals totals{};
  for (std::size_t i = 0; i < count; ++i) {
    Value value{};
    if (fds_[i] < 0 || ::read(fds_[i], &value, sizeof value) != static_cast<ssize_t>(sizeof value)) continue;
    const bool shared = value.running > 0 && value.running < value.enabled;
    totals[i] =
        !shared ? value.counted
                : static_cast<std::uint64_t>(static_cast<double>(value.counted) * static_cast<double>(value.enabled) /
                                             static_cast<double>(value.running));
  }
  return totals;
}

std::optional<double> PerfCounters::rate(std::size_t which, const Totals& counted,
                                         std::uint64_t operations) const noexcept {
  if (fds_[which] < 0 || operations == 0) return std::nullopt;
  return static_cast<double>(counted[which]) / static_cast<double>(operations);
}

CounterRates PerfCounters::rates(const Totals& counted, std::uint64_t operations) const noexcept {
  return {.instructions = rate(0, counted, operations),
          .cycles = rate(1, counted, operations),
          .branch_misses = rate(2, counted, operations),
          .cache_misses = rate(3, counted, operations),
          .switches = counted[4],
          .migrations = counted[5]};
}

PerfCounters::Totals difference(const PerfCounters::Totals& end, const PerfCounters::Totals& begin) noexcept {
  PerfCounters::Totals result{};
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = end[i] > begin[i] ? end[i] - begin[i] : 0;
  return result;
}

}  // namespace nfx::bench
