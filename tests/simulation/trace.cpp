// Hashes all events of a simulation, for comparison of runs, and formats the last ones.
#include "simulation/trace.hpp"

#include <algorithm>

namespace nfx::simulation {

std::string_view to_string(Side side) noexcept {
  switch (side) {
    case Side::venue: return "venue";
    case Side::trader: return "trader";
  }
  return "?";
}

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t hash) noexcept {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash;
}

void Trace::add(Side side, const char* what, std::uint64_t number, std::string_view detail) {
  Event& event = events_[count_++ % kept];
  event = {now_ - begin_, side, what, number, {}};
  const std::size_t size = std::min(detail.size(), event.detail.size() - 1);
  std::ranges::transform(detail.substr(0, size), event.detail.begin(), [](char c) { return c == '\x01' ? '|' : c; });
  const std::int64_t time = event.since_begin.count();
  for (int i = 0; i < 8; ++i) hash_ = (hash_ ^ (static_cast<std::uint64_t>(time) >> (8 * i) & 0xFF)) * 0x100000001B3U;
  hash_ = (hash_ ^ number ^ static_cast<std::uint64_t>(index(side)) << 63) * 0x100000001B3U;
  hash_ = hash_bytes(detail, hash_bytes(what, hash_));
  if (live_ != nullptr) std::fputs(line(event).c_str(), live_);
}

std::string Trace::line(const Event& event) {
  const std::int64_t ms = event.since_begin.count() / 1'000'000;
  std::array<char, 192> text;
  std::snprintf(text.data(), text.size(), "%4lld:%02lld:%02lld.%03lld  %-6s  %s %llu %s\n",
                static_cast<long long>(ms / 3'600'000), static_cast<long long>(ms / 60'000 % 60),
                static_cast<long long>(ms / 1000 % 60), static_cast<long long>(ms % 1000), to_string(event.side).data(),
                event.what, static_cast<unsigned long long>(event.number), event.detail.data());
  return text.data();
}

std::string Trace::last(std::size_t events) const {
  const std::uint64_t shown = std::min<std::uint64_t>({events, count_, kept});
  std::string text;
  for (std::uint64_t i = count_ - shown; i < count_; ++i) text += line(events_[i % kept]);
  return text;
}

}  // namespace nfx::simulation
