// The same work on the thread that receives, and by a DeferredProcessor; and by size, compared with the copy and the
// queue alone. Messages come at a rate that the worker can follow: half of what the inline work takes.
#include <memory>

#include "deferred/submissions.hpp"
#include "nexusfix/concurrent/deferred_processor.hpp"
#include "wire/corpus.hpp"

namespace nfx::bench {
namespace {

constexpr std::size_t capacity = 4096;

// Twice the inline work's median: the worker, which does the same and takes it out of the ring, is busy half of the
// time.
double interval_for(const Figures& inline_work) noexcept { return 2 * inline_work.p50 + 100; }

Figures time_inline(const std::vector<std::string_view>& messages, Work& work, double interval, const Options& options,
                    const Tools& tools) {
  return offer(options.messages, interval, tools, [&](std::uint32_t i) { work(messages[i % messages.size()], i); });
}

// The same sum as inline, or the deferred work was other work.
template <std::size_t Size>
Figures time_deferred(const std::vector<std::string_view>& messages, IdleMode idle, double interval,
                      std::uint64_t expected, const Options& options, const Tools& tools) {
  using Buffer = DeferredBuffer<Size>;
  Work work;
  DeferredProcessor<Buffer, capacity> deferred(
      [&work](const Buffer& buffer) { work(buffer.view(), buffer.stamp()); },
      {.when_full = WhenFull::block, .block_limit = std::chrono::seconds{10}, .spill_bytes = 0});
  deferred.start(
      {.idle = idle, .longest_sleep = std::chrono::milliseconds{10}, .on_start = [&] { pin(options.other); }});
  const Figures figures = offer(options.messages, interval, tools,
                                [&](std::uint32_t i) { (void)deferred.submit(messages[i % messages.size()], i); });
  deferred.stop();
  if (work.messages() != options.messages || work.sum() != expected)
    throw WrongAnswerError("the deferred work is not what the inline work was");
  return figures;
}

// What submitting costs by itself: no other core has the ring's lines.
template <std::size_t Size>
Figures time_unread(const std::vector<std::string_view>& messages, double interval, const Options& options,
                    const Tools& tools) {
  using Buffer = DeferredBuffer<Size>;
  std::uint64_t bytes = 0, expected = 0;
  DeferredProcessor<Buffer, capacity> deferred([&bytes](const Buffer& buffer) { bytes += buffer.view().size(); });
  for (std::uint32_t i = 0; i < options.messages; ++i) expected += messages[i % messages.size()].size();
  const Figures figures = offer(
      options.messages, interval, tools,
      [&](std::uint32_t i) { (void)deferred.submit(messages[i % messages.size()], i); }, [&] { deferred.process(1); });
  deferred.process(1);
  if (bytes != expected) throw WrongAnswerError("the handler got other bytes");
  return figures;
}

// The ring under the processor, filled in place.
template <std::size_t Size>
Figures time_ring(const std::vector<std::string_view>& messages, double interval, const Options& options,
                  const Tools& tools) {
  const auto ring = std::make_unique<SpscRing<DeferredBuffer<Size>, capacity>>();
  auto taken = std::make_unique<DeferredBuffer<Size>>();
  std::uint64_t refused = 0;
  const Figures figures = offer(
      options.messages, interval, tools,
      [&](std::uint32_t i) {
        DeferredBuffer<Size>* const slot = ring->try_claim();
        if (slot == nullptr || !slot->set(messages[i % messages.size()], i)) {
          ++refused;
          return;
        }
        ring->publish();
      },
      [&] { (void)ring->try_pop(*taken); });
  if (refused != 0) throw WrongAnswerError("the ring was full");
  return figures;
}

template <std::size_t Size>
Figures time_copy(const std::vector<std::string_view>& messages, double interval, const Options& options,
                  const Tools& tools) {
  const auto copies = std::make_unique<std::array<DeferredBuffer<Size>, capacity>>();
  return offer(options.messages, interval, tools,
               [&](std::uint32_t i) { keep((*copies)[i % capacity].set(messages[i % messages.size()], i)); });
}

template <std::size_t Size>
void add_size(RepeatedGroup& group, const std::string& bytes, const Options& options, const Tools& tools) {
  const std::string section = std::to_string(Size) + " bytes";
  std::vector<std::string_view> messages;
  for (std::size_t at = 0; at + Size <= bytes.size(); at += Size) messages.emplace_back(bytes.data() + at, Size);
  const std::size_t first = group.rows.size();
  group.rows.push_back(empty_row(section, "inline: format, append", true));
  for (const char* name : {"deferred, worker busy-polls", "deferred, no reader meanwhile", "queue alone", "copy alone"})
    group.rows.push_back(empty_row(section, name));
  double interval = 100;  // of the first inline repeat, which only has to be timed
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    const auto run = [&](std::size_t row, const auto& time) {
      run_repeat(group.rows[first + row], tools.counters, options.messages, time);
    };
    Work work;
    run(0, [&] { return time_inline(messages, work, interval, options, tools); });
    interval = interval_for(group.rows[first].repeats.back());
    run(1, [&] { return time_deferred<Size>(messages, IdleMode::spin, interval, work.sum(), options, tools); });
    run(2, [&] { return time_unread<Size>(messages, interval, options, tools); });
    run(3, [&] { return time_ring<Size>(messages, interval, options, tools); });
    run(4, [&] { return time_copy<Size>(messages, interval, options, tools); });
  }
}

}  // namespace

RepeatedGroup defer_group(const Options& options, const Tools& tools) {
  constexpr std::size_t size = 496;
  const Corpus corpus = make_corpus(Kind::execution_report, options.seed);
  std::vector<std::string_view> messages;
  for (std::uint32_t i = 0; i < corpus.size(); ++i) {
    if (corpus[i].size() > size) throw WrongAnswerError("a message of the corpus is too long");
    messages.push_back(corpus[i]);
  }
  RepeatedGroup group{
      "deferred", "ns that the receiving thread spends on an ExecutionReport, when the worker can follow", {}};
  const std::string section = "ExecutionReport, 253 bytes";
  group.rows.push_back(empty_row(section, "inline: parse, format, append", true));
  for (const char* name : {"deferred, worker busy-polls", "deferred, worker yields", "deferred, worker sleeps",
                           "deferred, no reader meanwhile", "queue alone", "copy alone"})
    group.rows.push_back(empty_row(section, name));
  double interval = 100;
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    const auto run = [&](std::size_t row, const auto& time) {
      run_repeat(group.rows[row], tools.counters, options.messages, time);
    };
    Work work;
    run(0, [&] { return time_inline(messages, work, interval, options, tools); });
    if (work.parsed() != options.messages) throw WrongAnswerError("a message of the corpus is not parsed");
    interval = interval_for(group.rows[0].repeats.back());
    std::size_t at = 1;
    for (const IdleMode idle : {IdleMode::spin, IdleMode::yield, IdleMode::block})
      run(at++, [&] { return time_deferred<size>(messages, idle, interval, work.sum(), options, tools); });
    run(at++, [&] { return time_unread<size>(messages, interval, options, tools); });
    run(at++, [&] { return time_ring<size>(messages, interval, options, tools); });
    run(at++, [&] { return time_copy<size>(messages, interval, options, tools); });
  }
  return group;
}

RepeatedGroup size_group(const Options& options, const Tools& tools) {
  const std::string bytes = make_corpus(Kind::execution_report, options.seed).bytes;
  RepeatedGroup group{"sizes", "ns that the submitting thread spends on a record, when the worker can follow", {}};
  const auto add = [&]<std::size_t Size>() {
    if (options.size == 0 || options.size == Size) add_size<Size>(group, bytes, options, tools);
  };
  add.operator()<16>();
  add.operator()<64>();
  add.operator()<256>();
  add.operator()<1024>();
  add.operator()<4096>();
  return group;
}

}  // namespace nfx::bench
