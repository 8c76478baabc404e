// The kernel's counters of a thread: switches and migrations show whether pinning works.
#include "observe/thread_stats.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstddef>

namespace nfx {

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

ThreadStats read_thread_stats() noexcept {
  ThreadStats stats;
  if (const int core = ::sched_getcpu(); core >= 0) stats.core = static_cast<std::uint32_t>(core);
  if (const int file = ::open("/proc/thread-self/sched", O_RDONLY | O_CLOEXEC); file >= 0) {
    std::array<char, 8192> text;
    std::size_t size = 0;
    for (ssize_t got = 0; (got = ::read(file, text.data() + size, text.size() - size)) > 0;)
      size += static_cast<std::size_t>(got);
    ::close(file);
    stats.migrations = detail::parse_nr_migrations({text.data(), size});
  }
  rusage usage{};
  if (::getrusage(RUSAGE_THREAD, &usage) == 0) {
    stats.voluntary_switches = static_cast<std::uint64_t>(usage.ru_nvcsw);
    stats.involuntary_switches = static_cast<std::uint64_t>(usage.ru_nivcsw);
  }
  return stats;
}

}  // namespace nfx
