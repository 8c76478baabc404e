// The same work on the thread that receives, and by a DeferredProcessor: parse an ExecutionReport, make a log line of
// it and append that to a buffer. Timed is what the receiving thread spends on each message.
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "harness/cycle_clock.hpp"
#include "nexusfix/concurrent/deferred_processor.hpp"
#include "nexusfix/observe/message_text.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "rows.hpp"
#include "wire/corpus.hpp"

namespace nfx::bench {
namespace {

using Buffer = DeferredBuffer<496>;
using Deferred = DeferredProcessor<Buffer, 4096>;

// Parse, format, append; and a sum that shows whether every message was processed.
class Work {
 public:
  void operator()(std::span<const char> bytes, std::uint64_t stamp) {
    const std::string_view message{bytes.data(), bytes.size()};
    if (view_.parse(message) != WireError::none) return;
    if (log_.size() > buffer_size - 4096) log_.clear();
    const std::size_t begin = log_.size();
    log_.append(text_.data(), time_.write(text_.data(), UtcTime{Duration{static_cast<std::int64_t>(stamp)}}, 9));
    log_ += ' ';
    log_ += view_.get_view(Tag::ClOrdID);
    log_ += ' ';
    append_message_text(log_, message, {});
    log_ += '\n';
    sum_ = sum_ * 31 + (log_.size() - begin) + static_cast<unsigned char>(log_[begin + 29]);
    ++messages_;
  }
  [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }

 private:
  static constexpr std::size_t buffer_size = 1 << 20;

  MessageView view_{96};
  UtcTimestampWriter time_;
  std::array<char, max_utc_timestamp_size> text_{};
  std::string log_ = std::string(buffer_size, '\0').substr(0, 0);
  std::uint64_t sum_ = 0;
  std::uint64_t messages_ = 0;
};

struct Figures {
  const char* name;
  std::vector<double> p50, p99, p999, max;
};

// Calls receive(message, number) for each, with `pause_ns` in between, as a session at that rate would.
template <class Receive>
void time_each(
    Figures& figures, const Corpus& corpus, const Options& options, const CycleClock& clock, double own_cost,
    Receive&& receive, const std::function<void()>& between = [] {}) {
  constexpr double pause_ns = 1500;
  const auto pause = static_cast<std::uint64_t>(pause_ns * clock.ticks_per_ns);
  auto picoseconds = std::make_unique<LatencyHistogram>();
  const std::uint32_t warm_up = options.messages / 10;
  std::uint64_t last = cycle_count();
  for (std::uint32_t i = 0; i < options.messages; ++i) {
    const std::string_view message = corpus[i % corpus.size()];
    between();
    while (cycle_count() - last < pause) cpu_pause();
    last = cycle_count();
    const std::uint64_t begin = ticks_before();
    receive(message, i);
    const std::uint64_t end = ticks_after();
    if (i < warm_up) continue;
    const double ticks = std::max(0.0, static_cast<double>(end - begin) - own_cost);
    picoseconds->record(static_cast<std::uint64_t>(clock.to_ns(ticks) * 1000));
  }
  const auto ns = [&](double percent) { return static_cast<double>(picoseconds->percentile(percent)) / 1000; };
  figures.p50.push_back(ns(50));
  figures.p99.push_back(ns(99));
  figures.p999.push_back(ns(99.9));
  figures.max.push_back(static_cast<double>(picoseconds->max()) / 1000);
}

// The same sum as inline, or the deferred work was other work.
void time_deferred(Figures& figures, const Corpus& corpus, const Options& options, const CycleClock& clock,
                   double own_cost, IdleMode idle, std::uint64_t expected) {
  Work work;
  Deferred deferred([&work](const Buffer& buffer) { work(buffer.view(), buffer.stamp()); },
                    {.when_full = WhenFull::block, .block_limit = std::chrono::seconds{10}, .spill_bytes = 0});
  deferred.start(
      {.idle = idle, .longest_sleep = std::chrono::milliseconds{10}, .on_start = [&] { pin(options.other); }});
  time_each(figures, corpus, options, clock, own_cost,
            [&](std::string_view message, std::uint32_t i) { (void)deferred.submit(message, i); });
  deferred.stop();
  if (work.messages() != options.messages || work.sum() != expected) {
    throw WrongAnswerError("the deferred work is not what the inline work was");
  }
}

// What submitting costs by itself: no other core has the ring's lines.
void time_unread(Figures& figures, const Corpus& corpus, const Options& options, const CycleClock& clock,
                 double own_cost) {
  std::uint64_t bytes = 0, expected = 0;
  Deferred deferred([&bytes](const Buffer& buffer) { bytes += buffer.view().size(); });
  for (std::uint32_t i = 0; i < options.messages; ++i) expected += corpus[i % corpus.size()].size();
  time_each(
      figures, corpus, options, clock, own_cost,
      [&](std::string_view message, std::uint32_t i) { (void)deferred.submit(message, i); },
      [&] { deferred.process(1); });
  deferred.process(1);
  if (bytes != expected) throw WrongAnswerError("the handler got other bytes");
}

}  // namespace

void run_defer(const Options& options, const CycleClock& clock, double own_cost) {
  const Corpus corpus = make_corpus(Kind::execution_report, options.seed);
  for (std::uint32_t i = 0; i < corpus.size(); ++i) {
    if (corpus[i].size() > Buffer::capacity()) throw WrongAnswerError("a message of the corpus is too long");
  }
  std::array<Figures, 6> rows{
      Figures{.name = "inline: parse, format, append", .p50 = {}, .p99 = {}, .p999 = {}, .max = {}},
      Figures{.name = "deferred, worker busy-polls", .p50 = {}, .p99 = {}, .p999 = {}, .max = {}},
      Figures{.name = "deferred, worker yields", .p50 = {}, .p99 = {}, .p999 = {}, .max = {}},
      Figures{.name = "deferred, worker sleeps", .p50 = {}, .p99 = {}, .p999 = {}, .max = {}},
      Figures{.name = "deferred, no reader meanwhile", .p50 = {}, .p99 = {}, .p999 = {}, .max = {}},
      Figures{.name = "the copy alone", .p50 = {}, .p99 = {}, .p999 = {}, .max = {}}};
  const auto copies = std::make_unique<std::array<Buffer, 4096>>();
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    Work work;
    time_each(rows[0], corpus, options, clock, own_cost,
              [&](std::string_view message, std::uint32_t i) { work(message, i); });
    if (work.messages() != options.messages) throw WrongAnswerError("a message of the corpus is not parsed");
    time_deferred(rows[1], corpus, options, clock, own_cost, IdleMode::spin, work.sum());
    time_deferred(rows[2], corpus, options, clock, own_cost, IdleMode::yield, work.sum());
    time_deferred(rows[3], corpus, options, clock, own_cost, IdleMode::block, work.sum());
    time_unread(rows[4], corpus, options, clock, own_cost);
    time_each(rows[5], corpus, options, clock, own_cost,
              [&](std::string_view message, std::uint32_t i) { keep((*copies)[i % copies->size()].set(message, i)); });
  }
  std::printf("\ndeferred: ns that the receiving thread spends on an ExecutionReport; medians of the repeats\n");
  std::printf("  %-36s %9s %9s %9s %11s\n", "", "p50", "p99", "p99.9", "max");
  for (const Figures& row : rows) {
    std::printf("  %-36s %9.1f %9.1f %9.1f %11.1f\n", row.name, median(row.p50), median(row.p99), median(row.p999),
                median(row.max));
  }
}

}  // namespace nfx::bench
