// Renders a result of nfx as one self-contained HTML page: charts and tables of its JSON, drawn by Chart.js and the
// script of report.html in the reader's browser. If nfx was built without Chart.js, the page has the tables and names
// the package.
// Thread: any. Cost: allocates some 200 KiB. Errors: none; names in the JSON are always treated as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nfx::app {

enum class ReportKind : std::uint8_t { noise, watch, market, t2m, ladder };

[[nodiscard]] std::string report_page(ReportKind kind, std::string_view title, std::string_view json);

}  // namespace nfx::app
