// HTML and SVG for reports, written by hand so that a report is one file that loads nothing.
#include "host/html.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "nexusfix/base/printable.hpp"

namespace nfx {
namespace {

constexpr double width = 900, height = 300;
constexpr double left = 70, right = 20, top = 34, bottom = 46;
constexpr std::size_t colours = 8;
// Values that are this many times as large as others would leave these no length that is seen.
constexpr double decades = 100;
constexpr std::string_view log_note = " (logarithmic)";

std::string with(const char* format, double value) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}
std::string at(double position) { return with("%.1f", position); }
std::string short_number(double value) { return with("%g", value); }
// Of a value on a linear axis: a price has more digits than six, and a large amount would need more space.
std::string linear_number(double value, bool amount) {
  if (amount && std::abs(value) >= 1e6) return with("%.9g", value / 1e6) + 'M';
  if (amount && std::abs(value) >= 1e4) return with("%.9g", value / 1e3) + 'k';
  return with("%.9g", value);
}

// Values onto a stretch of the picture.
class Scale {
 public:
  Scale(double low, double high, bool logarithmic) : log_(logarithmic), low_(place(low)), high_(place(high)) {
    if (!(high_ > low_)) high_ = low_ + 1;
  }
  [[nodiscard]] double operator()(double value) const { return (place(value) - low_) / (high_ - low_); }
  [[nodiscard]] bool shows(double value) const { return std::isfinite(value) && (!log_ || value > 0); }
  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> result;
    if (log_) {
      for (int power = static_cast<int>(std::ceil(low_ - 1e-9)); power <= high_ + 1e-9; ++power)
        result.push_back(std::pow(10.0, power));
      return result;
    }
    const double rough = (high_ - low_) / 8;
    const double unit = std::pow(10.0, std::floor(std::log10(rough)));
    double step = unit;
    for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
      step = unit * factor;
      if (step >= rough) break;
    }
    // By number: where values are so large that a step does not change them, a sum would never end.
    constexpr int most = 24;
    const double first = std::ceil(low_ / step) * step;
    for (int i = 0; i < most && first + i * step <= high_ + step * 1e-9; ++i) result.push_back(first + i * step);
    return result;
  }

 private:
  [[nodiscard]] double place(double value) const { return log_ ? std::log10(value) : value; }

  bool log_;
  double low_;
  double high_;
};

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value, bool logarithmic) {
    if (!std::isfinite(value) || (logarithmic && value <= 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  // Whole decades, or from zero.
  void round(bool logarithmic, bool from_zero = true) {
    if (!(high >= low)) low = logarithmic ? 1 : 0, high = logarithmic ? 10 : 1;
    if (!logarithmic) {
      if (from_zero) low = std::min(low, 0.0);
      return;
    }
    low = std::pow(10.0, std::floor(std::log10(low)));
    high = std::pow(10.0, std::ceil(std::log10(high)));
  }
};

std::string text_at(double x, double y, std::string_view attributes, std::string_view text) {
  return "<text x=\"" + at(x) + "\" y=\"" + at(y) + "\"" + std::string{attributes} + '>' + html_escaped(text) +
         "</text>";
}

std::string line_at(double x1, double y1, double x2, double y2) {
  return "<line class=\"grid\" x1=\"" + at(x1) + "\" y1=\"" + at(y1) + "\" x2=\"" + at(x2) + "\" y2=\"" + at(y2) +
         "\"/>";
}

constexpr std::string_view chart_begin = "<svg ";

std::string svg_begin(std::string_view title, double high) {
  return std::string{chart_begin} + "viewBox=\"0 0 " + short_number(width) + ' ' + at(high) +
         "\" role=\"img\" aria-label=\"" + html_escaped(title) + "\">" + text_at(left, 18, " class=\"title\"", title);
}

// Of a chart that svg_begin() has begun.
double height_of(const std::string& chart) {
  double wide = 0, high = 0;
  return std::sscanf(chart.c_str() + chart_begin.size(), "viewBox=\"0 0 %lf %lf\"", &wide, &high) == 2 ? high : height;
}

// What charts and the page around them look like.
std::string chart_style() {
  std::string style = R"(
:root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--soft:#57606a;--grid:#d8dee4;--c0:#0969da;--c1:#bc4c00;
--c2:#1a7f37;--c3:#8250df;--c4:#cf222e;--c5:#9a6700;--c6:#0a7d91;--c7:#bf3989}
@media(prefers-color-scheme:dark){:root{--back:#0d1117;--text:#e6edf3;--soft:#9198a1;--grid:#30363d;--c0:#58a6ff;
--c1:#f0883e;--c2:#3fb950;--c3:#bc8cff;--c4:#ff7b72;--c5:#d29922;--c6:#39c5cf;--c7:#f778ba}}
svg{font:12px system-ui,sans-serif}svg text{fill:var(--soft)}
svg .title{fill:var(--text);font-weight:600;font-size:14px}.grid{stroke:var(--grid)}
.line{fill:none;stroke-width:1.4}
)";
  for (std::size_t i = 0; i < colours; ++i) {
    const std::string n = std::to_string(i);
    style += ".s" + n + "{stroke:var(--c" + n + ")}.f" + n + "{fill:var(--c" + n + ")}";
  }
  return style + "\nsvg text.k{fill:var(--text)}";
}

// Names with their colours, in rows that fill the width; below a chart, so that they hide nothing.
class Key {
 public:
  static constexpr double row = 20;

  explicit Key(const std::vector<std::string>& names) {
    double x = left, y = 0;
    for (const std::string& name : names) {
      const double wide = 7.0 * static_cast<double>(name.size()) + 14;
      if (x > left && x + wide > width - right) x = left, y += row;
      places_.emplace_back(x, y);
      x += wide + 20;
    }
    height_ = names.empty() ? 0 : y + row;
    names_ = &names;
  }
  [[nodiscard]] double height() const noexcept { return height_; }
  [[nodiscard]] std::string at_height(double top_y) const {
    std::string out;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const auto [x, y] = places_[i];
      out += "<rect class=\"f" + std::to_string(i % colours) + "\" x=\"" + at(x) + "\" y=\"" + at(top_y + y) +
             "\" width=\"10\" height=\"10\"/>" + text_at(x + 14, top_y + y + 9, " class=\"k\"", (*names_)[i]);
    }
    return out;
  }

 private:
  const std::vector<std::string>* names_;
  std::vector<std::pair<double, double>> places_;
  double height_ = 0;
};

// A path through the points of a line that can be shown; the others interrupt it.
std::string path(const SvgLine& line, const SvgChart& chart, const Scale& x_scale, const Scale& y_scale) {
  std::string data;
  bool drawing = false;
  for (const auto& [x, y] : line.points) {
    const std::string px = at(left + x_scale(x) * (width - left - right));
    if (!x_scale.shows(x) || !y_scale.shows(y)) {
      if (drawing && chart.steps && x_scale.shows(x)) data += 'H' + px;
      drawing = false;
      continue;
    }
    const std::string py = at(height - bottom - y_scale(y) * (height - top - bottom));
    if (!drawing) {
      data += 'M' + px + ' ' + py;
    } else {
      if (chart.steps) data += 'H' + px;
      data += chart.steps ? 'V' + py : 'L' + px + ' ' + py;
    }
    drawing = true;
  }
  return data;
}

}  // namespace

std::string html_escaped(std::string_view text) {
  // Names of processes, instruments and devices are what others chose: no character of them reorders the page.
  std::string printable, out;
  append_printable(printable, text);
  for (const char c : printable) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string html_page(std::string_view title, std::string_view body) {
  constexpr std::string_view style = R"(
body{background:var(--back);color:var(--text);font:15px/1.5 system-ui,sans-serif;max-width:960px;margin:2em auto;
padding:0 1em}
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}p,li{max-width:75ch}.soft{color:var(--soft)}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.25em .7em;text-align:right;border-bottom:1px solid var(--grid);white-space:nowrap}
th{color:var(--soft);font-weight:600}.l{text-align:left}
svg{width:100%;height:auto;margin:.5em 0}
)";
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  page += "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>" + html_escaped(title) +
          "</title>\n<style>" + chart_style() + std::string{style};
  page += "</style>\n</head>\n<body>\n<h1>" + html_escaped(title) + "</h1>\n";
  page += body;
  return page + "</body>\n</html>\n";
}

std::string svg_document(std::string_view title, const std::vector<std::string>& charts) {
  constexpr double margin = 30;
  std::string body;
  double y = margin;
  for (const std::string& chart : charts) {
    const double high = height_of(chart);
    body += "<svg y=\"" + at(y) + "\" width=\"" + short_number(width) + "\" height=\"" + at(high) + "\" " +
            chart.substr(chart_begin.size());
    y += high + margin;
  }
  const std::string size = short_number(width) + "\" height=\"" + at(y);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size + "\" viewBox=\"0 0 " + short_number(width) + ' ' +
         at(y) + "\">\n<title>" + html_escaped(title) + "</title>\n<style>" + chart_style() +
         ".back{fill:var(--back)}</style>\n<rect class=\"back\" width=\"" + size + "\"/>\n" + body + "</svg>\n";
}

std::string html_table(const HtmlTable& table) {
  const auto row = [&](const std::vector<std::string>& cells, const std::string& tag) {
    std::string out = "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool text = i + table.left_columns_at_end >= cells.size();
      out += '<' + tag + (text ? " class=\"l\">" : ">") + html_escaped(cells[i]) + "</" + tag + '>';
    }
    return out + "</tr>\n";
  };
  std::string out = "<div class=\"scroll\"><table>\n" + row(table.head, "th");
  for (const auto& cells : table.rows) out += row(cells, "td");
  return out + "</table></div>\n";
}

std::string svg_series(const SvgChart& chart) {
  Range x_range, y_range;
  for (const SvgLine& line : chart.lines) {
    for (const auto& [x, y] : line.points) {
      x_range.include(x, chart.log_x);
      y_range.include(y, chart.log_y);
    }
  }
  if (chart.x_range) x_range = {.low = chart.x_range->first, .high = chart.x_range->second};
  // Times and quantiles fill the width; only heights are rounded.
  if (!(x_range.high >= x_range.low)) x_range.round(chart.log_x);
  y_range.round(chart.log_y, chart.from_zero);
  const Scale x_scale{x_range.low, x_range.high, chart.log_x}, y_scale{y_range.low, y_range.high, chart.log_y};
  const double floor = height - bottom, inner = width - left - right;
  std::vector<std::string> names;
  for (const SvgLine& line : chart.lines) names.push_back(line.name);
  const Key key{names};
  std::string out = svg_begin(chart.title + (chart.log_y ? std::string{log_note} : ""), height + key.height());
  for (const double tick : y_scale.ticks()) {
    const double y = floor - y_scale(tick) * (floor - top);
    out += line_at(left, y, width - right, y) +
           text_at(left - 8, y + 4, " text-anchor=\"end\"",
                   chart.log_y ? short_number(tick) : linear_number(tick, chart.from_zero));
  }
  auto x_ticks = chart.x_ticks;
  if (x_ticks.empty()) {
    for (const double tick : x_scale.ticks()) x_ticks.emplace_back(tick, short_number(tick));
  }
  for (const auto& [tick, label] : x_ticks) {
    if (!x_scale.shows(tick) || tick > x_range.high * (1 + 1e-9) || tick < x_range.low) continue;
    const double x = left + x_scale(tick) * inner;
    // The text of the last one ends with the picture.
    const bool at_end = x + 3.5 * static_cast<double>(label.size()) > width;
    out += line_at(x, top, x, floor) + text_at(at_end ? width - 2 : x, floor + 17,
                                               at_end ? " text-anchor=\"end\"" : " text-anchor=\"middle\"", label);
  }
  out += text_at(left + inner / 2, height - 10, " text-anchor=\"middle\"", chart.x_label);
  if (!chart.y_label.empty()) {
    out += "<text transform=\"translate(16 " + at((top + floor) / 2) + ") rotate(-90)\" text-anchor=\"middle\">" +
           html_escaped(chart.y_label) + "</text>";
  }
  for (std::size_t i = chart.lines.size(); i-- > 0;) {
    const std::string data = path(chart.lines[i], chart, x_scale, y_scale);
    if (!data.empty()) out += "<path class=\"line s" + std::to_string(i % colours) + "\" d=\"" + data + "\"/>";
  }
  return out + key.at_height(height) + "</svg>\n";
}

bool spans_decades(const std::vector<SvgLine>& lines) noexcept {
  Range range;
  for (const SvgLine& line : lines) {
    for (const auto& [x, y] : line.points) range.include(y, true);
  }
  return range.high >= range.low * decades;
}

// Values below zero go to the left, in the colour of losses. Where values span decades the lengths are logarithmic,
// from the decade below the smallest on. A value that is not finite, or 0, has no bar.
std::string svg_bars(std::string_view title, const std::vector<SvgBar>& bars) {
  constexpr double row = 26, labels = 150, letter = 7;
  constexpr std::string_view gain = "f0", loss = "f4";
  Range sizes;
  double longest_name = 0, negative = 0, positive = 0;
  for (const SvgBar& bar : bars) {
    longest_name = std::max(longest_name, static_cast<double>(bar.name.size()));
    sizes.include(std::abs(bar.value), true);
    if (std::isfinite(bar.value)) negative = std::max(negative, -bar.value), positive = std::max(positive, bar.value);
  }
  const bool logarithmic = sizes.high >= sizes.low * decades;
  const double least = logarithmic ? std::pow(10.0, std::floor(std::log10(sizes.low)) - 1) : 0;
  // How long a bar is, in parts of all that is shown.
  const auto extent = [&](double size) {
    if (!(size > 0)) return 0.0;
    return logarithmic ? std::log10(size / least) : size;
  };
  // As wide as the names, within limits.
  const double names = std::clamp(longest_name * letter + 16, 120.0, 330.0);
  const double before = extent(negative), after = extent(positive);
  const double left_labels = before > 0 ? 95 : 0;
  const double room = width - names - labels - left_labels;
  const double unit = before + after > 0 ? room / (before + after) : 0;
  const double zero = names + left_labels + before * unit;
  std::string out = svg_begin(std::string{title} + (logarithmic ? std::string{log_note} : ""),
                              top + row * static_cast<double>(bars.size()) + 8);
  double y = top;
  for (const SvgBar& bar : bars) {
    const double size = std::isfinite(bar.value) ? std::abs(bar.value) : 0;
    const double length = size > 0 ? std::max(extent(size) * unit, 1.0) : 0;
    const bool is_loss = bar.value < 0;
    out += text_at(names - 8, y + 15, " class=\"k\" text-anchor=\"end\"", bar.name);
    if (length > 0) {
      out += "<rect class=\"" + std::string{is_loss ? loss : gain} + "\" x=\"" + at(is_loss ? zero - length : zero) +
             "\" y=\"" + at(y + 3) + "\" width=\"" + at(length) + "\" height=\"" + at(row - 9) + "\"/>";
    }
    out += is_loss ? text_at(zero - length - 6, y + 15, " text-anchor=\"end\"", bar.label)
                   : text_at(zero + length + 6, y + 15, "", bar.label);
    y += row;
  }
  if (before > 0) out += line_at(zero, top, zero, y);
  return out + "</svg>\n";
}

std::string svg_stacks(std::string_view title, const std::vector<std::string>& parts,
                       const std::vector<SvgStack>& stacks) {
  constexpr double row = 22, names = 130, labels = 390;
  double largest = 0;
  for (const SvgStack& stack : stacks) {
    double sum = 0;
    for (const double part : stack.parts) sum += part;
    largest = std::max(largest, sum);
  }
  const Key names_of_parts{parts};
  std::string out = svg_begin(title, top + row * static_cast<double>(stacks.size()) + 8 + names_of_parts.height());
  const auto box = [&](std::size_t colour, double x, double y, double wide, double high) {
    out += "<rect class=\"f" + std::to_string(colour % colours) + "\" x=\"" + at(x) + "\" y=\"" + at(y) +
           "\" width=\"" + at(wide) + "\" height=\"" + at(high) + "\"/>";
  };
  double y = top;
  for (const SvgStack& stack : stacks) {
    out += text_at(names - 8, y + 13, " class=\"k\" text-anchor=\"end\"", stack.name);
    double x = names;
    for (std::size_t i = 0; i < stack.parts.size() && largest > 0; ++i) {
      const double wide = stack.parts[i] / largest * (width - names - labels);
      if (wide > 0.05) box(i, x, y + 3, wide, row - 8);
      x += wide;
    }
    out += text_at(x + 6, y + 13, "", stack.label);
    y += row;
  }
  out += names_of_parts.at_height(y + 8);
  return out + "</svg>\n";
}

std::vector<std::pair<double, double>> downsampled_by_max(const std::vector<std::pair<double, double>>& values,
                                                          std::size_t points) {
  if (points == 0 || values.size() <= points) return values;
  std::vector<std::pair<double, double>> result;
  result.reserve(points);
  for (std::size_t i = 0; i < points; ++i) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(values.size() * i / points);
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(values.size() * (i + 1) / points);
    const auto largest = std::max_element(begin, end, [](const auto& a, const auto& b) { return a.second < b.second; });
    result.emplace_back(begin->first, largest->second);
  }
  return result;
}

}  // namespace nfx
