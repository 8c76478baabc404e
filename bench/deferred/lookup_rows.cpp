// From a session's identity, or from the connection that its bytes came on, to the session: two hash tables by
// identity, and the dense table by connection that serves every message after the Logon.
#include <absl/container/flat_hash_map.h>

#include <string>
#include <string_view>
#include <unordered_map>

#include "deferred/rows.hpp"
#include "harness/random.hpp"

namespace nfx::bench {
namespace {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};

using StdMap = std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>>;
using FlatMap = absl::flat_hash_map<std::string, std::uint32_t>;

struct Owner {
  std::uint64_t connection = 0;
  std::uint32_t kind = 0;
  std::uint32_t slot = 0;
};

// Nanoseconds per look-up, in batches; find(i) gives the session of question i.
template <class Find>
Figures time_lookups(const std::vector<std::uint32_t>& questions, const Tools& tools, Find&& find) {
  constexpr std::size_t batch = 256;
  LatencyHistogram picoseconds;
  std::uint64_t wrong = 0;
  for (std::size_t at = 0; at + batch <= questions.size(); at += batch) {
    std::uint64_t sum = 0, expected = 0;
    const std::uint64_t begin = ticks_before();
    for (std::size_t i = at; i < at + batch; ++i) sum += find(questions[i]);
    const std::uint64_t end = ticks_after();
    for (std::size_t i = at; i < at + batch; ++i) expected += questions[i];
    wrong += sum == expected ? 0 : 1;
    picoseconds.record(static_cast<std::uint64_t>(tools.to_ns(end - begin) * 1000 / batch));
  }
  if (wrong != 0) throw WrongAnswerError("a table found other sessions");
  return figures_of(picoseconds, 1000);
}

void add_sessions(RepeatedGroup& group, std::uint32_t sessions, const Options& options, const Tools& tools) {
  std::vector<std::string> names;
  StdMap by_std;
  FlatMap by_flat;
  std::vector<Owner> owners(sessions);
  Random random{options.seed};
  for (std::uint32_t i = 0; i < sessions; ++i) {
    names.push_back(
        "127.0.0.1:9878\x01"
        "FIX.4.4\x01"
        "VENUE\x01"
        "CLIENT" +
        std::to_string(random.below(1'000'000)) + '-' + std::to_string(i));
    by_std.emplace(names.back(), i);
    by_flat.emplace(names.back(), i);
    owners[i] = {.connection = random.next() << 32 | i, .kind = 2, .slot = i};
  }
  std::vector<std::uint64_t> connections;
  for (const Owner& owner : owners) connections.push_back(owner.connection);
  std::vector<std::uint32_t> questions(options.messages);
  for (std::uint32_t& each : questions) each = static_cast<std::uint32_t>(random.below(sessions));
  const std::string section = std::to_string(sessions) + " sessions";
  const std::size_t first = group.rows.size();
  group.rows.push_back(empty_row(section, "std::unordered_map by identity", true));
  group.rows.push_back(empty_row(section, "absl::flat_hash_map by identity"));
  group.rows.push_back(empty_row(section, "dense table by connection"));
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    const auto name = [&](std::uint32_t i) { return std::string_view{names[i]}; };
    const auto run = [&](std::size_t row, const auto& find) {
      run_repeat(group.rows[first + row], tools.counters, options.messages,
                 [&] { return time_lookups(questions, tools, find); });
    };
    run(0, [&](std::uint32_t i) { return by_std.find(name(i))->second; });
    run(1, [&](std::uint32_t i) { return by_flat.find(absl::string_view{name(i).data(), name(i).size()})->second; });
    run(2, [&](std::uint32_t i) {
      const std::uint64_t connection = connections[i];
      const Owner& owner = owners[static_cast<std::uint32_t>(connection)];
      return owner.connection == connection ? owner.slot : UINT32_MAX;
    });
  }
}

}  // namespace

RepeatedGroup lookup_group(const Options& options, const Tools& tools) {
  pin(options.core);
  RepeatedGroup group{"lookup", "ns to find a session, in random order, in batches of 256", {}};
  for (const std::uint32_t sessions : {8U, 256U, 10'000U}) add_sessions(group, sessions, options, tools);
  return group;
}

}  // namespace nfx::bench
