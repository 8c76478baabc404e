// The report of nfx market stats: tables and plots in one HTML page that needs no other file, or the plots alone as
// SVG. Thread: any. Cost: allocates. Errors: none.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "market/series.hpp"
#include "market/statistics.hpp"

namespace nfx::app::market {

struct ReportInstrument {
  std::size_t index;
  std::string name;  // "17077 ESH4"
};

struct ReportInput {
  std::string file;
  std::string format;  // "DBN 2, GLBX.MDP3"
  const Statistics& statistics;
  const Series& series;
  std::vector<ReportInstrument> instruments;  // those with plots of their own, the busiest first
  std::size_t all_instruments = 0;
  std::uint64_t unfit = 0;
  std::uint64_t orders_most = 0;
};

[[nodiscard]] std::string report_html(const ReportInput& input);
[[nodiscard]] std::string report_svg(const ReportInput& input);

}  // namespace nfx::app::market
