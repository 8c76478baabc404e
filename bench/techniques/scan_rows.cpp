// Delimiters: every SOH of an ExecutionReport, a byte at a time and 32 bytes a step; and the first SOH of a buffer in
// which it is the last byte, by each kernel of the product.
#include <array>

#include "harness/random.hpp"
#include "techniques/rows.hpp"
#include "wire/corpus.hpp"
#include "wire/kernels/kernels.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace nfx::bench {
namespace {

constexpr char soh = '\x01';
constexpr std::uint32_t calls_per_batch = 32;
constexpr std::uint32_t buffer_batches = 200;

// Each gives the number of delimiters, and writes where they are.
using FindAll = std::size_t (*)(const char* bytes, std::size_t size, std::uint16_t* positions);

std::size_t find_all_bytes(const char* bytes, std::size_t size, std::uint16_t* positions) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (bytes[i] == soh) positions[count++] = static_cast<std::uint16_t>(i);
  }
  return count;
}

#if defined(__x86_64__)
[[gnu::target("avx2,bmi")]] std::size_t find_all_avx2(const char* bytes, std::size_t size, std::uint16_t* positions) {
  const __m256i wanted = _mm256_set1_epi8(soh);
  std::size_t count = 0, at = 0;
  for (; at + 32 <= size; at += 32) {
    const __m256i chunk = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + at));
    auto mask = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(chunk, wanted)));
    for (; mask != 0; mask = _blsr_u32(mask)) positions[count++] = static_cast<std::uint16_t>(at + _tzcnt_u32(mask));
  }
  for (; at < size; ++at) {
    if (bytes[at] == soh) positions[count++] = static_cast<std::uint16_t>(at);
  }
  return count;
}

bool has_avx2() { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0; }
#endif

struct Scanner {
  const char* name;
  FindAll find;
  std::string why_not;
};

std::vector<Scanner> scanners() {
  std::vector<Scanner> all{{"a byte at a time", find_all_bytes, {}}};
#if defined(__x86_64__)
  all.push_back({"AVX2, 32 bytes a step", find_all_avx2, has_avx2() ? "" : "this CPU lacks AVX2"});
#endif
  return all;
}

Figures time_messages(FindAll find, const Corpus& corpus, std::uint64_t seed, const TechniqueOptions& options,
                      const TechniqueTools& tools) {
  Random random{seed};
  std::array<std::uint16_t, 512> positions;
  std::vector<std::uint32_t> order(options.operations);
  for (std::uint32_t& each : order) each = static_cast<std::uint32_t>(random.below(corpus.size()));
  LatencyHistogram ps;
  for (std::size_t at = 0; at + calls_per_batch <= order.size(); at += calls_per_batch) {
    const std::uint64_t begin = ticks_before();
    for (std::size_t i = at; i < at + calls_per_batch; ++i) {
      keep(find(corpus[order[i]].data(), corpus[order[i]].size(), positions.data()));
      keep(positions[0]);
    }
    const std::uint64_t end = ticks_after();
    if (at >= order.size() / 10) ps.record(tools.to_ps(end - begin) / calls_per_batch);
  }
  return figures_of(ps, 1000);
}

void check(const Scanner& scanner, const Corpus& corpus) {
  std::array<std::uint16_t, 512> expected, found;
  for (std::uint32_t i = 0; i < corpus.size(); ++i) {
    const std::size_t count = find_all_bytes(corpus[i].data(), corpus[i].size(), expected.data());
    const bool same = scanner.find(corpus[i].data(), corpus[i].size(), found.data()) == count &&
                      std::equal(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), expected.begin());
    if (!same) throw WrongAnswerError(std::string{scanner.name} + ": other delimiters in message " + std::to_string(i));
  }
}

RepeatedGroup all_of_message(const TechniqueOptions& options, const TechniqueTools& tools) {
  const Corpus corpus = make_corpus(Kind::execution_report, options.seed);
  RepeatedGroup group{"scan, message", "ns to find every SOH of an ExecutionReport, in batches of 32 messages", {}};
  const std::vector<Scanner> all = scanners();
  for (const Scanner& scanner : all) {
    if (scanner.why_not.empty()) check(scanner, corpus);
    group.rows.push_back(
        empty_row("ExecutionReport, 253 bytes", scanner.name, scanner.find == find_all_bytes, scanner.why_not));
  }
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].why_not.empty()) continue;
      run_repeat(group.rows[i], tools.counters, options.operations,
                 [&] { return time_messages(all[i].find, corpus, options.seed + repeat, options, tools); });
    }
  }
  return group;
}

Figures time_buffer(const kernels::KernelTable& table, const std::vector<char>& bytes, const TechniqueTools& tools) {
  LatencyHistogram ps;
  for (std::uint32_t batch = 0; batch < buffer_batches; ++batch) {
    const std::uint64_t begin = ticks_before();
    for (std::uint32_t i = 0; i < calls_per_batch; ++i) keep(table.scan_soh(bytes.data(), bytes.size()));
    const std::uint64_t end = ticks_after();
    if (batch >= buffer_batches / 10) ps.record(tools.to_ps(end - begin) / calls_per_batch);
  }
  return figures_of(ps, 1000);
}

RepeatedGroup first_of_buffer(const TechniqueOptions& options, const TechniqueTools& tools) {
  RepeatedGroup group{"scan, buffer", "ns to find the one SOH at the end of a buffer, in batches of 32", {}};
  const kernels::KernelList list = kernels::available_kernels();
  for (const std::size_t size : {64U, 256U, 1024U, 4096U, 65536U}) {
    std::vector<char> bytes(size, 'x');
    bytes.back() = soh;
    const std::size_t first = group.rows.size();
    for (const kernels::KernelTable* table : list) {
      if (table->scan_soh(bytes.data(), size) != &bytes.back())
        throw WrongAnswerError(std::string{table->name} + " finds another SOH");
      group.rows.push_back(empty_row(with_commas(size) + " bytes", table->name, group.rows.size() == first));
    }
    for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
      for (std::size_t i = 0; i < list.count; ++i) {
        run_repeat(group.rows[first + i], tools.counters, buffer_batches * calls_per_batch,
                   [&] { return time_buffer(*list.tables[i], bytes, tools); });
      }
    }
  }
  return group;
}

}  // namespace

std::vector<RepeatedGroup> scan_groups(const TechniqueOptions& options, const TechniqueTools& tools) {
  return {all_of_message(options, tools), first_of_buffer(options, tools)};
}

}  // namespace nfx::bench
