// HdrHistogram's own reader (Python package hdrhistogram) reads our output; skipped if it is not installed.
#include "engine/hdr_log.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace nfx::test {
namespace {

using namespace std::chrono_literals;

constexpr UtcTime hdr_start{1'795'000'000s};

constexpr const char* hdr_reader = R"(
import sys
from hdrh.log import HistogramLogReader
from hdrh.histogram import HdrHistogram
reader = HistogramLogReader(sys.argv[1], HdrHistogram(1, (1 << 42) - 1, 2))
while True:
    h = reader.get_next_interval_histogram()
    if not h:
        break
    print(h.get_tag(), h.get_total_count(), h.get_value_at_percentile(50), h.get_value_at_percentile(99),
          h.get_value_at_percentile(100), int(h.get_start_time_stamp()), int(h.get_end_time_stamp()))
)";

// The output of a command; its exit status in `status`.
std::string output_of(const std::string& command, int& status) {
  std::string out;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return out;
  std::array<char, 4096> part;
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), pipe)) out.append(part.data(), size);
  status = ::pclose(pipe);
  return out;
}

TEST(HdrLog, hdr_histograms_reader_finds_tags_times_counts_and_percentiles) {
  const char* const chosen = std::getenv("NFX_HDR_PYTHON");
  const std::string python = chosen != nullptr ? chosen : "python3";
  int status = 0;
  static_cast<void>(output_of(python + " -c 'import hdrh.log' 2>&1", status));
  if (status != 0) GTEST_SKIP() << "no Python package hdrhistogram; pip install hdrhistogram, or set NFX_HDR_PYTHON";
  LatencyCounts counts;
  for (std::int64_t i = 1; i <= 50'000; ++i) counts.record(Duration{i * 37});
  HdrLog log{hdr_start};
  log.add("FIX.4.4:A B->C,D/in_application", hdr_start + 10s, hdr_start + 20s, counts);
  log.add("empty", hdr_start, hdr_start + 1s, LatencyCounts{});
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("nfx-hdr-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream{folder / "log"} << log.text();
  std::ofstream{folder / "reader.py"} << hdr_reader;
  const std::string out =
      output_of(python + ' ' + (folder / "reader.py").string() + ' ' + (folder / "log").string() + " 2>&1", status);
  std::filesystem::remove_all(folder);
  ASSERT_EQ(status, 0) << out;
  std::istringstream lines{out};
  std::string tag;
  std::uint64_t count, half, most, highest, from, to;
  ASSERT_TRUE(lines >> tag >> count >> half >> most >> highest >> from >> to) << out;
  EXPECT_EQ(tag, "FIX.4.4:A_B->C_D/in_application");
  EXPECT_EQ(count, 50'000U);
  EXPECT_EQ(half, counts.percentile(50));
  EXPECT_EQ(most, counts.percentile(99));
  EXPECT_EQ(highest, LatencyCounts::highest_in(LatencyCounts::bucket_of(counts.max())));
  EXPECT_EQ(from, 1'795'000'010'000U);
  EXPECT_EQ(to, 1'795'000'020'000U);
  ASSERT_TRUE(lines >> tag >> count) << out;
  EXPECT_EQ(tag, "empty");
  EXPECT_EQ(count, 0U);
}

TEST(HdrLog, one_count_is_encoded_byte_by_byte_as_the_format_has_it) {
  LatencyCounts counts;
  counts.record(Duration{3});
  // Cookie, length; zlib 78 01, one stored block of 42 bytes; header: cookie, 2 bytes of counts, 0, 2 digits, 1,
  // 2^42 - 1, 1.0; counts: three zeros (-3 as 5), one (1 as 2); Adler-32.
  EXPECT_EQ(hdr_encoded(counts),
            "HISTFAAAADV4AQEqANX/HISTEwAAAAIAAAAAAAAAAgAAAAAAAAABAAAD//////8/8AAAAAAAAAUCgDMHgA==");
}

TEST(HdrLog, the_first_lines_have_version_and_start) {
  const HdrLog log{hdr_start};
  EXPECT_EQ(log.text(),
            "#[Histogram log format version 1.3]\n#[StartTime: 1795000000.000 (seconds since epoch)]\n"
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n");
}

}  // namespace
}  // namespace nfx::test
