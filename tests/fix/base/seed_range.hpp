// The option --seeds FIRST..LAST of programs that run by seed.
#pragma once

#include <cstdio>
#include <optional>
#include <string>

namespace nfx::test {

struct SeedRange {
  unsigned long long first = 0;
  unsigned long long last = 0;

  [[nodiscard]] unsigned long long count() const noexcept { return last - first + 1; }
};

// Empty if the text is not a range, after printing a line on standard error; the exit code is then 2.
[[nodiscard]] inline std::optional<SeedRange> read_seeds(const std::string& text) {
  SeedRange seeds;
  int used = 0;
  const int read = std::sscanf(text.c_str(), "%llu..%llu%n", &seeds.first, &seeds.last, &used);
  if (read == 2 && static_cast<std::size_t>(used) == text.size() && seeds.first <= seeds.last) return seeds;
  std::fprintf(stderr, "--seeds %s: write FIRST..LAST, such as 1..100\n", text.c_str());
  return std::nullopt;
}

}  // namespace nfx::test
