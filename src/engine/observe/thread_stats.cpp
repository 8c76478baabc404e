// What the kernel counts of a thread: switches and migrations show whether pinning works.
#include "observe/thread_stats.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>

namespace nfx {

namespace {

std::optional<std::uint64_t> read_migrations(int sched_file) noexcept {
  std::array<char, 8192> text;
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::pread(sched_file, text.data() + size, text.size() - size, static_cast<off_t>(size));
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  return detail::parse_nr_migrations({text.data(), size});
}

template <class Number>
std::string known(const std::optional<Number>& number) {
  return number ? std::to_string(*number) : "unknown";
}

}  // namespace

namespace detail {

std::optional<std::uint64_t> parse_nr_migrations(std::string_view sched) noexcept {
  constexpr std::string_view key = "se.nr_migrations";
  const std::size_t line = sched.find(key);
  if (line == std::string_view::npos) return std::nullopt;
  std::string_view rest = sched.substr(line + key.size());
  rest = rest.substr(0, rest.find('\n'));
  const std::size_t digits = rest.find_first_not_of(" \t:");
  if (digits == std::string_view::npos) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data() + digits, rest.data() + rest.size(), number);
  if (error != std::errc{} || end != rest.data() + rest.size()) return std::nullopt;
  return number;
}

}  // namespace detail

ThreadStatsReader::ThreadStatsReader() noexcept {
  std::array<char, 64> path;
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/sched", static_cast<int>(::gettid()));
  sched_file_ = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  const int core = ::sched_getcpu();
  if (core >= 0) last_core_ = static_cast<std::uint32_t>(core);
}

ThreadStatsReader::~ThreadStatsReader() {
  if (sched_file_ >= 0) ::close(sched_file_);
}

ThreadStats ThreadStatsReader::read() noexcept {
  ThreadStats stats;
  const int core = ::sched_getcpu();
  if (core >= 0) stats.core = static_cast<std::uint32_t>(core);
  sampled_migrations_ += detail::moved(last_core_, stats.core);
  last_core_ = stats.core;
  if (sched_file_ >= 0) stats.migrations = read_migrations(sched_file_);
  if (!stats.migrations && stats.core) {
    stats.migrations = sampled_migrations_;
    stats.migrations_are_sampled = true;
  }
  rusage usage{};
  if (::getrusage(RUSAGE_THREAD, &usage) == 0) {
    stats.voluntary_switches = static_cast<std::uint64_t>(usage.ru_nvcsw);
    stats.involuntary_switches = static_cast<std::uint64_t>(usage.ru_nivcsw);
    stats.cpu_time = std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  }
  return stats;
}

std::string to_string(const ThreadStats& stats) {
  std::string text = "core " + known(stats.core) + ", ";
  if (stats.migrations_are_sampled) text += "at least ";
  text += known(stats.migrations) + " migrations, " + known(stats.voluntary_switches) + " voluntary and " +
          known(stats.involuntary_switches) + " involuntary switches, ";
  if (!stats.cpu_time) return text + "unknown cpu";
  std::array<char, 48> seconds;
  std::snprintf(seconds.data(), seconds.size(), "%.3f s cpu", std::chrono::duration<double>(*stats.cpu_time).count());
  return text + seconds.data();
}

}  // namespace nfx
