// Deferred work by offered rate, in an open loop: what the worker can follow, its limit, and more; and what full does
// when the worker has stopped. The limit is measured first.
#include <chrono>
#include <cstdio>
#include <memory>

#include "deferred/submissions.hpp"
#include "nexusfix/concurrent/deferred_processor.hpp"
#include "wire/corpus.hpp"

namespace nfx::bench {
namespace {

using Buffer = DeferredBuffer<496>;
using Deferred = DeferredProcessor<Buffer, 1024>;

struct Offered {
  const char* name;
  double of_limit;  // of the messages a second that the worker can do
  WhenFull when_full;
};

constexpr std::array offers{
    Offered{"50% of the worker's limit", 0.5, WhenFull::block},
    Offered{"90%", 0.9, WhenFull::block},
    Offered{"100%", 1.0, WhenFull::block},
    Offered{"200%, blocks when full", 2.0, WhenFull::block},
    Offered{"200%, drops when full", 2.0, WhenFull::drop},
    Offered{"200%, spills when full", 2.0, WhenFull::spill},
};

DeferredOptions options_of(WhenFull when_full) {
  return {.when_full = when_full, .block_limit = std::chrono::seconds{10}, .spill_bytes = 1 << 20};
}

struct Run {
  Figures figures;
  DeferredCounters counters;
  double ns_a_message = 0;  // from the first submission until the last message was processed
};

Run offer_at(const std::vector<std::string_view>& messages, double interval, WhenFull when_full, const Options& options,
             const Tools& tools) {
  Work work;
  Deferred deferred([&work](const Buffer& buffer) { work(buffer.view(), buffer.stamp()); }, options_of(when_full));
  deferred.start({.idle = IdleMode::spin, .longest_sleep = std::chrono::milliseconds{10}, .on_start = [&] {
                    pin(options.other);
                  }});
  Run run;
  const std::uint64_t begin = ticks_before();
  run.figures = offer(options.messages, interval, tools,
                      [&](std::uint32_t i) { (void)deferred.submit(messages[i % messages.size()], i); });
  deferred.stop();
  run.ns_a_message = tools.to_ns(ticks_after() - begin) / options.messages;
  run.counters = deferred.counters();
  if (run.counters.submitted + run.counters.dropped != options.messages || work.messages() != run.counters.submitted)
    throw WrongAnswerError("messages are neither processed nor counted as dropped");
  return run;
}

// A worker that has stopped: the ring is full, and every submission finds it so.
Run offer_to_nobody(const std::vector<std::string_view>& messages, WhenFull when_full, const Options& options,
                    const Tools& tools) {
  DeferredOptions how = options_of(when_full);
  how.block_limit = std::chrono::microseconds{100};
  std::uint64_t handled = 0;
  auto deferred = std::make_unique<Deferred>([&handled](const Buffer&) { ++handled; }, how);
  std::uint64_t submitted = 0;
  while (deferred->counters().dropped == 0) {
    (void)deferred->submit(messages[submitted % messages.size()], submitted);
    ++submitted;
  }
  const std::uint32_t count = when_full == WhenFull::block ? 200 : options.messages;
  Run run;
  run.figures =
      offer(count, 0, tools, [&](std::uint32_t i) { (void)deferred->submit(messages[i % messages.size()], i); });
  run.counters = deferred->counters();
  if (run.counters.dropped != count + 1) throw WrongAnswerError("a full queue took a message");
  deferred.reset();
  if (handled != run.counters.submitted) throw WrongAnswerError("a submission was lost");
  return run;
}

std::string note_of(const Run& run, std::uint64_t messages) {
  char text[120];
  const double percent = 100.0 / static_cast<double>(messages);
  std::snprintf(text, sizeof text, "dropped %.1f%%, spilled %.1f%%, waited %.1f%%",
                static_cast<double>(run.counters.dropped) * percent,
                static_cast<double>(run.counters.spilled) * percent,
                static_cast<double>(run.counters.blocked) * percent);
  return text;
}

}  // namespace

RepeatedGroup rate_group(const Options& options, const Tools& tools) {
  const Corpus corpus = make_corpus(Kind::execution_report, options.seed);
  std::vector<std::string_view> messages;
  for (std::uint32_t i = 0; i < corpus.size(); ++i) messages.push_back(corpus[i]);
  RepeatedGroup group{"rates", "ns that the submitting thread spends on an ExecutionReport, by offered rate", {}};
  const std::string running = "worker runs, open loop", stopped = "worker has stopped, the ring is full";
  group.rows.push_back(empty_row(running, "one message of the worker at its limit"));
  for (const Offered& each : offers) group.rows.push_back(empty_row(running, each.name));
  constexpr std::array policies{WhenFull::drop, WhenFull::spill, WhenFull::block};
  for (const WhenFull policy : policies)
    group.rows.push_back(
        empty_row(stopped, std::string{to_string(policy)} + (policy == WhenFull::block ? ", at most 100 us" : "")));
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    std::size_t at = 0;
    const auto next_row = [&](std::uint64_t operations, const auto& time) {
      run_repeat(group.rows[at], tools.counters, operations, time);
      ++at;
    };
    double limit_ns = 0;
    next_row(options.messages, [&] {
      limit_ns = offer_at(messages, 0, WhenFull::block, options, tools).ns_a_message;
      return same_figures(limit_ns);
    });
    for (const Offered& each : offers) {
      next_row(options.messages, [&] {
        const Run run = offer_at(messages, limit_ns / each.of_limit, each.when_full, options, tools);
        group.rows[at].note = note_of(run, options.messages);
        return run.figures;
      });
    }
    for (const WhenFull policy : policies)
      next_row(options.messages, [&] { return offer_to_nobody(messages, policy, options, tools).figures; });
  }
  return group;
}

}  // namespace nfx::bench
