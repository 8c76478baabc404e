// In any kernel trace, each line becomes at most one event or is counted, no event has an impossible CPU or a name that
// is not in the text, and every stall gets a cause that takes no longer than the stall.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz_target.hpp"
#include "host/trace_reader.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 20000};

namespace {

using nfx::fuzz::require;

void check_events(const nfx::TraceParser& parser, std::string_view text) {
  require(parser.events.size() + parser.not_understood <= nfx::fuzz::lines_of(text), "a line is at most one event",
          text);
  for (const nfx::TraceEvent& event : parser.events) {
    require(event.cpu >= 0 && event.cpu < nfx::CpuSet::max_cpus, "an event has a CPU", event.name);
    require(event.name.size() <= text.size() + 4, "a name is no longer than its line", event.name);
  }
}

void check_causes(const nfx::TraceParser& parser, std::string_view text) {
  constexpr std::uint64_t ms = 1'000'000;
  const nfx::HiccupGap gaps[] = {
      {0, 50, 0, 0}, {75 * ms, 2 * ms, 1, 1}, {80 * ms, 5 * ms, 1, 0}, {0, 1000 * ms, 3, -1}};
  nfx::AttributionContext context;
  context.own_threads = {500};
  context.overwritten = {1};
  context.slack_ns = 1000;
  const auto causes = nfx::attribute(gaps, parser.events, context);
  require(causes.size() == std::size(gaps), "each stall has a cause", text);
  for (std::size_t i = 0; i < causes.size(); ++i) {
    require(causes[i].share_ns <= gaps[i].length_ns && causes[i].unaccounted_ns <= gaps[i].length_ns,
            "a cause takes no longer than its stall", text);
    require(!causes[i].text().empty(), "a cause has a name", text);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = nfx::fuzz::text_of(data, size);
  for (const bool tsc : {false, true}) {
    const nfx::TickClock clock{tsc, tsc ? 2.5 : 1.0, tsc ? 105'501'221'000'000U : 0U, 100'000'000'000, {}};
    nfx::TraceParser parser{clock};
    parser.text(text);
    check_events(parser, text);
    check_causes(parser, text);
    nfx::TraceParser by_line{clock};
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      by_line.line(text.substr(begin, end - begin));
      begin = end + 1;
    }
    require(by_line.events.size() == parser.events.size() && by_line.lost == parser.lost &&
                by_line.not_understood == parser.not_understood,
            "a text is its lines", text);
  }
  return 0;
}
