// Pieces of reports in HTML: a page that needs no other file, and charts as inline SVG; or the charts alone as one SVG
// file. Colours follow the reader's choice of light or dark.
// Thread: any, no state. Cost: allocates. Errors: none; a line is interrupted where a value is not finite, or not
// positive on a logarithmic scale.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/base/language.hpp"

namespace nfx {

[[nodiscard]] std::string html_escaped(std::string_view text);

// `body` is HTML already, the title is text.
[[nodiscard]] std::string html_page(std::string_view title, std::string_view body);

// Cells are text; all columns but the last `left_columns_at_end` are numbers and go to the right.
struct HtmlTable {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
  std::size_t left_columns_at_end = 0;
};
[[nodiscard]] std::string html_table(const HtmlTable& table);

struct SvgLine {
  std::string name;
  std::vector<std::pair<double, double>> points;  // by x
};

struct SvgChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  bool log_x = false;
  bool log_y = false;
  bool steps = false;                                     // a value holds until the next
  bool from_zero = true;                                  // the values' axis, where it is not logarithmic
  std::vector<std::pair<double, std::string>> x_ticks;    // empty: chosen
  std::optional<std::pair<double, double>> x_range = {};  // else that of the points
  std::vector<SvgLine> lines;
};
// The names of the lines are below it, in as many rows as they take.
[[nodiscard]] std::string svg_series(const SvgChart& chart);
// Whether the values are better seen on a logarithmic axis: positive ones differ by a factor of a hundred or more.
[[nodiscard]] bool spans_decades(const std::vector<SvgLine>& lines) noexcept;

struct SvgBar {
  std::string name;
  double value = 0;   // below zero: a loss, in another colour on the other side; 0 or not finite: no bar
  std::string label;  // at the bar's end
};
// Horizontal, one below the other; logarithmic where values span decades, which the title then says.
[[nodiscard]] std::string svg_bars(std::string_view title, const std::vector<SvgBar>& bars);

// Horizontal bars of several parts, one below the other, all to one scale, with a key of the parts.
struct SvgStack {
  std::string name;
  std::vector<double> parts;
  std::string label;  // at the bar's end
};
[[nodiscard]] std::string svg_stacks(std::string_view title, const std::vector<std::string>& parts,
                                     const std::vector<SvgStack>& stacks);

// One file of these charts, one below the other.
[[nodiscard]] std::string svg_document(std::string_view title, const std::vector<std::string>& charts);

// At most `points` values: of each stretch of values the largest.
[[nodiscard]] std::vector<std::pair<double, double>> downsampled_by_max(
    const std::vector<std::pair<double, double>>& values, std::size_t points);

}  // namespace nfx
