// The costs that the techniques avoid: a value copied into a std::string, memory that is not in the cache, and a thread
// that moves to another CPU.
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <numeric>
#include <optional>
#include <system_error>

#include "harness/random.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "techniques/rows.hpp"

namespace nfx::bench {
namespace {

struct Cost {
  std::string section;
  std::string name;
  bool baseline = false;
  std::string why_not;
  std::function<Figures(const TechniqueOptions&, const TechniqueTools&)> time;
};

// Values as long as an order's id: longer than what a std::string stores in itself.
std::vector<std::string> make_values(std::uint64_t seed) {
  Random random{seed};
  std::vector<std::string> values(1024);
  for (std::string& value : values) value = "ORDER-2026-11-23-" + std::to_string(random.between(1'000'000, 9'999'999));
  return values;
}

template <class Value>
Figures time_values(const TechniqueOptions& options, const TechniqueTools& tools) {
  constexpr std::uint32_t batch = 32;
  const std::vector<std::string> values = make_values(options.seed);
  LatencyHistogram ps;
  for (std::uint32_t at = 0; at < options.operations; at += batch) {
    const std::uint64_t begin = ticks_before();
    for (std::uint32_t i = 0; i < batch; ++i) {
      const Value value{std::string_view{values[(at + i) % values.size()]}};
      keep(value.data());
    }
    const std::uint64_t end = ticks_after();
    if (at >= options.operations / 10) ps.record(tools.to_ps(end - begin) / batch);
  }
  return figures_of(ps, 1000);
}

// A read that needs the result of the one before it; each reads another line, in random order.
Figures time_reads(std::size_t bytes, const TechniqueOptions& options, const TechniqueTools& tools) {
  constexpr std::size_t line = 64 / sizeof(std::uint32_t);
  constexpr std::uint32_t batch = 64;
  std::vector<std::uint32_t> memory(bytes / sizeof(std::uint32_t));
  std::vector<std::uint32_t> order(memory.size() / line);
  std::iota(order.begin(), order.end(), 0U);
  Random{options.seed}.shuffle(std::span{order}.subspan(1));
  for (std::size_t i = 0; i < order.size(); ++i)
    memory[order[i] * line] = order[(i + 1) % order.size()] * static_cast<std::uint32_t>(line);
  std::uint32_t at = 0;
  const auto reads = static_cast<std::uint32_t>(std::max<std::size_t>(order.size(), options.operations));
  LatencyHistogram ps;
  for (std::uint32_t done = 0; done < reads; done += batch) {
    const std::uint64_t begin = ticks_before();
    for (std::uint32_t i = 0; i < batch; ++i) at = memory[at];
    keep(at);
    const std::uint64_t end = ticks_after();
    if (done >= reads / 2) ps.record(tools.to_ps(end - begin) / batch);
  }
  return figures_of(ps, 1000);
}

// The first node whose CPUs the measured one is not among; empty where there is one node alone.
std::optional<unsigned> remote_node(unsigned core) {
  const std::filesystem::path cpu = "/sys/devices/system/cpu/cpu" + std::to_string(core);
  for (unsigned node = 0; node < 64; ++node) {
    const std::string name = "node" + std::to_string(node);
    if (std::filesystem::exists("/sys/devices/system/node/" + name) && !std::filesystem::exists(cpu / name))
      return node;
  }
  return std::nullopt;
}

// The same with all memory on that node.
Figures time_remote_reads(unsigned node, std::size_t bytes, const TechniqueOptions& options,
                          const TechniqueTools& tools) {
  const unsigned long nodes = 1UL << node;
  if (::syscall(SYS_set_mempolicy, MPOL_BIND, &nodes, 65UL) != 0)
    throw std::system_error(errno, std::generic_category(), "set_mempolicy");
  const Figures figures = time_reads(bytes, options, tools);
  ::syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0UL);
  return figures;
}

void read_all(const std::vector<std::uint64_t>& memory) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < memory.size(); i += 8) sum += memory[i];
  keep(sum);
}

// From the request to run on a CPU until the thread has read its working set there.
Figures time_moves(bool to_another, std::size_t bytes, const TechniqueOptions& options, const TechniqueTools& tools) {
  const CpuSet before = CpuAffinity::get();
  const int cpus[] = {static_cast<int>(options.core), static_cast<int>(to_another ? options.other : options.core)};
  const std::vector<std::uint64_t> memory(bytes / 8, 1);
  Timings timings{tools};
  const std::uint32_t moves = std::min(options.operations, 5'000U);
  for (std::uint32_t i = 0; i < moves; ++i) {
    timings.time([&] {
      if (!CpuAffinity::pin_to_core(cpus[i % 2])) throw std::runtime_error("cannot move to the other CPU");
      read_all(memory);
    });
  }
  if (!CpuAffinity::set(before)) throw std::runtime_error("cannot go back to the CPUs from before");
  return timings.figures();
}

std::vector<Cost> all_costs(const TechniqueOptions& options) {
  std::vector<Cost> costs;
  const std::string copies = "a value of 24 bytes";
  costs.push_back({copies, "copied into a std::string", true, {}, time_values<std::string>});
  costs.push_back({copies, "as a view", false, {}, time_values<std::string_view>});
  const std::string memory = "a read of memory";
  constexpr std::size_t kib = 1024;
  for (const std::size_t size : {16 * kib, 256 * kib, 4 * kib * kib, 256 * kib * kib}) {
    costs.push_back({memory, "in " + with_commas(size / kib) + " KiB", size == 16 * kib, {}, [size](auto&&... all) {
                       return time_reads(size, all...);
                     }});
  }
  const std::optional<unsigned> node = remote_node(options.core);
  costs.push_back({memory, "remote node", false, node ? "" : "this machine has one NUMA node alone",
                   [node](auto&&... all) { return time_remote_reads(*node, 256 * kib * kib, all...); }});
  const std::string why_not = options.core == options.other ? "needs a second CPU" : "";
  for (const std::size_t size : {std::size_t{0}, 16 * kib, 256 * kib, 4 * kib * kib}) {
    const std::string section = "a thread with a working set of " + with_commas(size / kib) + " KiB";
    for (const bool moves : {false, true}) {
      costs.push_back({section, moves ? "moved to another CPU" : "stays", !moves, moves ? why_not : "",
                       [moves, size](auto&&... all) { return time_moves(moves, size, all...); }});
    }
  }
  return costs;
}

}  // namespace

std::vector<RepeatedGroup> cost_groups(const TechniqueOptions& options, const TechniqueTools& tools) {
  RepeatedGroup group{"costs", "ns; the costs that the techniques avoid", {}};
  const std::vector<Cost> costs = all_costs(options);
  for (const Cost& cost : costs) {
    group.rows.push_back(empty_row(cost.section, cost.name, cost.baseline, cost.why_not));
  }
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (!costs[i].why_not.empty()) continue;
      run_repeat(group.rows[i], tools.counters, options.operations, [&] { return costs[i].time(options, tools); });
    }
  }
  return {group};
}

}  // namespace nfx::bench
