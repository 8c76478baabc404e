// SpscRing compared with two other rings in one run: the cost of a record from one thread to another, and of a push
// without a reader. All rings hold 1,024 records; a full or empty one is tried again immediately.
#ifdef NFX_BENCH_ATOMIC_QUEUE
#include <atomic_queue/atomic_queue.h>
#endif
#ifdef NFX_BENCH_READERWRITERQUEUE
#include <readerwriterqueue/readerwriterqueue.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>

#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/concurrent/spsc_queue.hpp"
#include "nexusfix/concurrent/spsc_ring.hpp"
#include "rows.hpp"

namespace nfx::bench {
namespace {

constexpr std::size_t capacity = 1024;

template <std::size_t Size>
struct Record {
  std::array<std::uint64_t, Size / 8> words;
};

template <class T>
struct OurRing {
  static constexpr const char* name = "SpscRing";
  bool push(const T& value) noexcept { return ring.try_push(value); }
  bool pop(T& value) noexcept { return ring.try_pop(value); }
  SpscRing<T, capacity> ring;
};

template <class T>
struct OurQueue {
  static constexpr const char* name = "SpscQueue";
  bool push(const T& value) noexcept { return queue.try_push_value(value) == PushResult::pushed; }
  bool pop(T& value) noexcept { return queue.try_pop_value(value); }
  SpscQueue queue{{.slot_count = capacity, .record_size = sizeof(T), .slot_size = 0}};
};

#ifdef NFX_BENCH_ATOMIC_QUEUE
template <class T>
struct AtomicQueueTry {
  static constexpr const char* name = "atomic_queue B2, SPSC";
  bool push(const T& value) noexcept { return queue.try_push(value); }
  bool pop(T& value) noexcept { return queue.try_pop(value); }
  atomic_queue::AtomicQueueB2<T, std::allocator<T>, true, false, true> queue{capacity};
};

// Its push and pop wait for their slot instead of testing it first.
template <class T>
struct AtomicQueueWait {
  static constexpr const char* name = "atomic_queue B2, SPSC, waits";
  bool push(const T& value) noexcept {
    queue.push(value);
    return true;
  }
  bool pop(T& value) noexcept {
    value = queue.pop();
    return true;
  }
  atomic_queue::AtomicQueueB2<T, std::allocator<T>, true, false, true> queue{capacity};
};
#endif

#ifdef NFX_BENCH_READERWRITERQUEUE
template <class T>
struct ReaderWriter {
  static constexpr const char* name = "readerwriterqueue";
  bool push(const T& value) noexcept { return queue.try_enqueue(value); }
  bool pop(T& value) noexcept { return queue.try_dequeue(value); }
  moodycamel::ReaderWriterQueue<T> queue{capacity};
};
#endif

template <class T>
T make_record(std::uint64_t n) noexcept {
  T record;
  for (std::size_t i = 0; i < record.words.size(); ++i) record.words[i] = n + i;
  return record;
}

// Nanoseconds per record through the queue.
template <template <class> class Queue, class T>
double time_through(const Options& options, const CycleClock& clock) {
  const std::uint64_t records = std::uint64_t{options.messages} * 20;
  const auto queue = std::make_unique<Queue<T>>();
  std::atomic<bool> ready{false};
  std::atomic<std::uint64_t> begin{0};
  std::thread producer([&] {
    pin(options.core);
    ready.store(true);
    begin.store(ticks_before());
    for (std::uint64_t n = 0; n < records; ++n) {
      const T record = make_record<T>(n);
      while (!queue->push(record)) cpu_pause();
    }
  });
  pin(options.other);
  while (!ready.load()) cpu_pause();
  bool right = true;
  T record;
  for (std::uint64_t n = 0; n < records; ++n) {
    while (!queue->pop(record)) cpu_pause();
    right = right && record.words.front() == n && record.words.back() == n + record.words.size() - 1;
  }
  const std::uint64_t end = ticks_after();
  producer.join();
  if (!right) throw WrongAnswerError(std::string{Queue<T>::name} + " gave other records than it took");
  return clock.to_ns(static_cast<double>(end - begin.load())) / static_cast<double>(records);
}

// Nanoseconds per push into a queue that is not full, on one thread.
template <template <class> class Queue, class T>
double time_push(const Options& options, const CycleClock& clock) {
  constexpr std::uint64_t batch = capacity / 2;
  pin(options.core);
  const auto queue = std::make_unique<Queue<T>>();
  std::vector<double> ns;
  std::uint64_t wrong = 0;
  for (std::uint64_t done = 0; done < options.messages; done += batch) {
    const std::uint64_t begin = ticks_before();
    for (std::uint64_t n = 0; n < batch; ++n) wrong += queue->push(make_record<T>(n)) ? 0 : 1;
    const std::uint64_t end = ticks_after();
    ns.push_back(clock.to_ns(static_cast<double>(end - begin)) / batch);
    T record;
    for (std::uint64_t n = 0; n < batch; ++n) wrong += queue->pop(record) && record.words.front() == n ? 0 : 1;
  }
  if (wrong != 0) throw WrongAnswerError(std::string{Queue<T>::name} + " lost records");
  return median(std::move(ns));
}

struct Row {
  const char* name;
  std::vector<double> through, push;
};

template <std::size_t Size>
void run_size(const Options& options, const CycleClock& clock) {
  using T = Record<Size>;
  std::vector<Row> rows;
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    std::size_t at = 0;
    const auto take = [&]<template <class> class Queue>() {
      if (repeat == 0) rows.push_back({Queue<T>::name, {}, {}});
      rows[at].through.push_back(time_through<Queue, T>(options, clock));
      rows[at++].push.push_back(time_push<Queue, T>(options, clock));
    };
    take.template operator()<OurRing>();
    take.template operator()<OurQueue>();
#ifdef NFX_BENCH_ATOMIC_QUEUE
    take.template operator()<AtomicQueueTry>();
    take.template operator()<AtomicQueueWait>();
#endif
#ifdef NFX_BENCH_READERWRITERQUEUE
    take.template operator()<ReaderWriter>();
#endif
  }
  std::printf("  %-36s %9s %9s %9s\n", (std::to_string(Size) + " bytes").c_str(), "through", "best", "push");
  for (const Row& row : rows) {
    std::printf("    %-34s %9.2f %9.2f %9.2f\n", row.name, median(row.through), std::ranges::min(row.through),
                median(row.push));
  }
  std::fflush(stdout);
}

}  // namespace

void run_queues(const Options& options, const CycleClock& clock) {
  std::printf(
      "\nspsc: ns per record, medians of the repeats; through: from one core to the other; best: of the repeats; push: "
      "alone\n");
  run_size<8>(options, clock);
  run_size<16>(options, clock);
  run_size<32>(options, clock);
  run_size<64>(options, clock);
  run_size<256>(options, clock);
}

}  // namespace nfx::bench
