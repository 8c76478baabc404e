// The phases of one message: their begins and ends, and the rows of the report.
#include "engine_time/account.hpp"

#include <algorithm>

#include "harness/measure.hpp"
#include "nexusfix/dictionary/validator.hpp"
#include "nexusfix/wire/framer.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::bench {
namespace {

// Calls `prepare(i)` and then, when due, `call()`; times only the latter.
template <class Prepare, class Call>
Figures time_alone(const TimeOptions& options, const CycleClock& clock, double own, const Prepare& prepare,
                   const Call& call) {
  const auto pace = static_cast<std::uint64_t>(options.pace_ns * clock.ticks_per_ns);
  const std::uint32_t warm_up = options.measured / 10;
  std::vector<std::uint32_t> ticks;
  std::uint64_t due = ticks_before();
  for (std::uint32_t i = 0; i < warm_up + options.measured; ++i) {
    prepare(i);
    due += pace;
    while (ticks_before() < due) {
    }
    const std::uint64_t begin = ticks_before();
    call();
    const std::uint64_t end = ticks_after();
    if (i >= warm_up) ticks.push_back(static_cast<std::uint32_t>(end - begin));
  }
  return figures_of_ticks(ticks, clock, own);
}

Figures time_frame(OneSession& session, const TimeOptions& options, const CycleClock& clock, double own) {
  FrameReader frames;
  std::string_view order;
  Frame frame;
  return time_alone(
      options, clock, own,
      [&](std::uint32_t) {
        if (!order.empty() && (frame.status != FrameStatus::complete || frame.size != order.size()))
          throw WrongAnswerError("an order has another frame");
        order = session.peek_order();
      },
      [&] {
        frame = frames.next(order);
        keep(frame);
      });
}

Figures time_validate(OneSession& session, const TimeOptions& options, const CycleClock& clock, double own) {
  const SessionSettings& settings = session.settings();
  if (settings.dictionary == nullptr) return {};
  MessageView view;
  ValidationReport report;
  bool wrong = false;
  return time_alone(
      options, clock, own,
      [&](std::uint32_t) {
        if (wrong || view.parse(session.peek_order()) != WireError::none) throw WrongAnswerError("an order is refused");
      },
      [&] { wrong = validate(view, *settings.dictionary, settings.session.validation, report).has_value(); });
}

Figures time_append(OneSession& session, const TimeOptions& options, const CycleClock& clock, double own) {
  SessionStore store = session.open_second_store();
  std::string message;
  std::uint64_t seq = 0;
  UtcTime now{std::chrono::seconds{1'795'000'000}};
  const Figures figures = time_alone(
      options, clock, own,
      [&](std::uint32_t i) {
        // As long as the report that a session makes from it.
        message.assign(session.report_body(i)).resize(report_size, 'x');
        now += std::chrono::microseconds{4};
        ++seq;
        // In case the disk is slower than the pace.
        const auto begin = std::chrono::steady_clock::now();
        while (store.journal() != nullptr && !store.journal()->accepts(message.size())) {
          std::this_thread::yield();
          if (std::chrono::steady_clock::now() - begin > std::chrono::seconds{20})
            throw WrongAnswerError("the second store took no message for 20 s: " + store.journal()->condition_text());
        }
      },
      [&] { static_cast<void>(store.append(SeqNum{seq}, message, now)); });
  const auto last = store.read(SeqNum{seq});
  if (!last || *last != message) throw WrongAnswerError("the store has another message");
  session.close_second_store(std::move(store));
  return figures;
}

Figures less(const Figures& whole, const Figures& part) { return {.mean = std::max(0.0, whole.mean - part.mean)}; }

}  // namespace

Figures figures_of_ticks(std::vector<std::uint32_t>& ticks, const CycleClock& clock, double own) {
  std::ranges::sort(ticks);
  const auto at = [&](double quantile) {
    const auto index = static_cast<std::size_t>(quantile * static_cast<double>(ticks.size() - 1));
    return std::max(0.0, clock.to_ns(static_cast<double>(ticks[index]) - own));
  };
  std::vector<double> costs(ticks.begin(), ticks.end());
  const double mean = clock.to_ns(undisturbed_mean(costs) - own);
  return {.mean = std::max(0.0, mean), .p50 = at(0.5), .p99 = at(0.99), .p999 = at(0.999), .max = at(1)};
}

const std::vector<EnginePhase>& engine_phases() {
  static const std::vector<EnginePhase> all{
      {"receive", "bytes handed over, to the clock's reading", true, true},
      {"frame", "FrameReader::next alone", true, true},
      {"index", "to on_traffic, less frame", true, false},
      {"validate", "validate() alone", true, true},
      {"session", "to on_message, less validate", true, false},
      {"compose", "send() to on_traffic, less store", false, false},
      {"store", "SessionStore::append alone", false, true},
      {"send's end", "on_traffic to the end of send()", false, true},
      {"hand over", "to the transport, with the number received stored", false, true},
  };
  return all;
}

std::vector<Figures> account_of(OneSession& session, const TimeOptions& options, const CycleClock& clock, double own) {
  constexpr std::array segments{
      std::pair{Point::bytes_in, Point::time_read},     std::pair{Point::time_read, Point::message_read},
      std::pair{Point::message_read, Point::delivered}, std::pair{Point::send_begins, Point::encoded},
      std::pair{Point::encoded, Point::send_ends},      std::pair{Point::send_ends, Point::handed_over}};
  std::array<std::vector<std::uint32_t>, segments.size()> ticks;
  session.exchange(options.measured, options.pace_ns, clock, true, [&](const Marks& marks) {
    for (std::size_t i = 0; i < segments.size(); ++i)
      ticks[i].push_back(marks.between(segments[i].first, segments[i].second));
  });
  std::array<Figures, segments.size()> between;
  for (std::size_t i = 0; i < segments.size(); ++i) between[i] = figures_of_ticks(ticks[i], clock, own);
  const auto& [receive, read, step, encode, send_end, hand_over] = between;
  const Figures frame = time_frame(session, options, clock, own);
  const Figures check = time_validate(session, options, clock, own);
  const Figures append = time_append(session, options, clock, own);
  return {receive, frame,    less(read, frame), check, less(step, check), less(encode, append),
          append,  send_end, hand_over};
}

}  // namespace nfx::bench
