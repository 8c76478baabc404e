// Writes latencies in HdrHistogram's log format (version 1.3, compressed V2 histograms in base64), which its tools and
// libraries read, merge and plot.
// Thread: any. Cost: allocates; no part of a hot path. Errors: none. Values are nanoseconds with two significant
// digits. Each latency is at the upper end of its bucket, as in LatencyCounts, so percentiles are equal. The
// compression is zlib's format with stored blocks: readers need zlib, this code does not.
#pragma once

#include <string>
#include <string_view>

#include "nexusfix/base/latency_histogram.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

// One histogram in base64, as in a line of the log.
[[nodiscard]] std::string hdr_encoded(const LatencyCounts& latencies);

class HdrLog {
 public:
  // The first lines: version and start.
  explicit HdrLog(UtcTime start);

  // Commas, blanks and line ends in `tag` become underscores.
  void add(std::string_view tag, UtcTime from, UtcTime to, const LatencyCounts& latencies);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  UtcTime start_;
  std::string text_;
};

}  // namespace nfx
