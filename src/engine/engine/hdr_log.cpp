// The encoding: a header of 40 bytes, the counts as variable-length integers, a zlib stream around both, and base64.
#include "engine/hdr_log.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "base/text.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx {
namespace {

// LatencyHistogram has the same buckets as HdrHistogram with two significant digits.
using Buckets = LatencyHistogram;
constexpr std::uint32_t significant_digits = 2;
constexpr std::uint32_t cookie = 0x1c849313;
constexpr std::uint32_t compressed_cookie = 0x1c849314;

using Bytes = std::string;

template <class Integer>
void put(Bytes& out, Integer value) {
  for (int shift = static_cast<int>(sizeof value) * 8 - 8; shift >= 0; shift -= 8)
    out += static_cast<char>(value >> shift & 0xFF);
}

// ZigZag with seven bits per byte, at most nine bytes; the ninth has eight bits.
void put_count(Bytes& out, std::int64_t count) {
  auto rest = static_cast<std::uint64_t>(count) << 1 ^ static_cast<std::uint64_t>(count >> 63);
  for (int i = 0; i < 8; ++i) {
    if (rest < 0x80) {
      out += static_cast<char>(rest);
      return;
    }
    out += static_cast<char>((rest & 0x7F) | 0x80);
    rest >>= 7;
  }
  out += static_cast<char>(rest);
}

// Runs of zeros are negative numbers. Zeros after the last count are omitted.
Bytes payload_of(const std::vector<std::uint64_t>& counts) {
  Bytes out;
  std::int64_t zeros = 0;
  for (const std::uint64_t count : counts) {
    if (count == 0) {
      ++zeros;
      continue;
    }
    if (zeros == 1) put_count(out, 0);
    if (zeros > 1) put_count(out, -zeros);
    zeros = 0;
    put_count(out, static_cast<std::int64_t>(count));
  }
  return out;
}

std::uint32_t adler32(std::string_view bytes) {
  std::uint32_t a = 1, b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

// Uses uncompressed blocks: the data is small and contains few zeros.
Bytes zlib_stream(std::string_view bytes) {
  constexpr std::size_t longest = 65535;
  Bytes out = "\x78\x01";
  const std::uint32_t check = adler32(bytes);
  do {
    const std::string_view block = bytes.substr(0, longest);
    bytes.remove_prefix(block.size());
    const auto size = static_cast<std::uint32_t>(block.size());
    out += static_cast<char>(bytes.empty() ? 1 : 0);
    for (const std::uint32_t each : {size, ~size}) {
      out += static_cast<char>(each & 0xFF);
      out += static_cast<char>(each >> 8 & 0xFF);
    }
    out += block;
  } while (!bytes.empty());
  put(out, check);
  return out;
}

std::string encoded(const std::vector<std::uint64_t>& counts) {
  const Bytes payload = payload_of(counts);
  Bytes plain;
  put(plain, cookie);
  put(plain, static_cast<std::uint32_t>(payload.size()));
  put(plain, std::uint32_t{0});  // the first index is 0
  put(plain, significant_digits);
  put(plain, std::uint64_t{1});
  put(plain, Buckets::highest_trackable);
  put(plain, std::bit_cast<std::uint64_t>(1.0));
  plain += payload;
  const Bytes stream = zlib_stream(plain);
  Bytes out;
  put(out, compressed_cookie);
  put(out, static_cast<std::uint32_t>(stream.size()));
  return base64(out + stream);
}

}  // namespace

std::string hdr_encoded(const LatencyCounts& latencies) {
  std::vector<std::uint64_t> counts(Buckets::bucket_count);
  for (std::size_t i = 0; i < LatencyCounts::bucket_count; ++i)
    counts[Buckets::bucket_of(LatencyCounts::highest_in(i))] += latencies.in_bucket(i);
  return encoded(counts);
}

HdrLog::HdrLog(UtcTime start) : start_(start) {
  std::array<char, 128> line;
  const double seconds = std::chrono::duration<double>(start.time_since_epoch()).count();
  std::snprintf(line.data(), line.size(), "#[StartTime: %.3f (seconds since epoch)]\n", seconds);
  text_ = "#[Histogram log format version 1.3]\n" + std::string{line.data()} +
          "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";
}

void HdrLog::add(std::string_view tag, UtcTime from, UtcTime to, const LatencyCounts& latencies) {
  const auto seconds = [](Duration time) { return std::chrono::duration<double>(time).count(); };
  std::string safe{tag};
  std::ranges::replace_if(safe, [](char c) { return c == ',' || static_cast<unsigned char>(c) <= ' '; }, '_');
  if (!safe.empty()) text_ += "Tag=" + safe + ',';
  std::array<char, 96> line;
  std::snprintf(line.data(), line.size(), "%.3f,%.3f,%.3f,", seconds(from - start_), seconds(to - from),
                static_cast<double>(latencies.max()) / 1e6);
  text_ += line.data() + hdr_encoded(latencies) + '\n';
}

}  // namespace nfx
