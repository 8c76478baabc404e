// Fills in the page's template. Template and library are embedded in the program.
#include "report/report.hpp"

#include <array>
#include <utility>

#include "base/printable.hpp"

// CMake sets NFX_REPORT_FILE and NFX_CHART_FILE to the paths it found.
#define NFX_EMBED(name, file)                                                                                     \
  __asm__(".pushsection .rodata\n.global " #name "_begin\n" #name "_begin:\n.incbin \"" file "\"\n.global " #name \
          "_end\n" #name "_end:\n.byte 0\n.popsection\n")

NFX_EMBED(nfx_report_template, NFX_REPORT_FILE);
extern "C" const char nfx_report_template_begin[], nfx_report_template_end[];
#ifdef NFX_CHART_FILE
NFX_EMBED(nfx_report_charts, NFX_CHART_FILE);
extern "C" const char nfx_report_charts_begin[], nfx_report_charts_end[];
#endif

namespace nfx::app {
namespace {

constexpr std::array<std::string_view, 5> kind_names{"noise", "watch", "market", "t2m", "ladder"};

std::string_view chart_library() {
#ifdef NFX_CHART_FILE
  return {nfx_report_charts_begin, nfx_report_charts_end};
#else
  return {};
#endif
}

// Escapes text for HTML, or for a script's JSON, in which '<' only occurs inside strings.
std::string escaped(std::string_view text, bool json) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += json ? "\\u003c" : "&lt;"; break;
      case '&': out += json ? "&" : "&amp;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace

std::string report_page(ReportKind kind, std::string_view title, std::string_view json) {
  std::string printable;
  append_printable(printable, title);
  const std::string heading = escaped(printable, false), data = escaped(json, true);
  const std::array<std::pair<std::string_view, std::string_view>, 4> values{
      {{"@TITLE@", heading},
       {"@DATA@", data},
       {"@CHARTS@", chart_library()},
       {"@KIND@", kind_names[std::to_underlying(kind)]}}};
  std::string_view rest{nfx_report_template_begin, nfx_report_template_end};
  std::string page;
  page.reserve(rest.size() + data.size() + chart_library().size());
  while (!rest.empty()) {
    const std::size_t at = std::min(rest.find('@'), rest.size());
    page += rest.substr(0, at);
    rest.remove_prefix(at);
    std::string_view value = rest.substr(0, 1);
    std::size_t size = value.size();
    for (const auto& [marker, text] : values) {
      if (rest.starts_with(marker)) value = text, size = marker.size();
    }
    page += value;
    rest.remove_prefix(size);
  }
  return page;
}

}  // namespace nfx::app
