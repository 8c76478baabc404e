// SpscRing and SpscQueue compared with other queues in one run: the cost of a record from one thread to another, and of
// a push without a reader. All queues hold 1,024 records; a full or empty one is tried again immediately.
#ifdef NFX_BENCH_ATOMIC_QUEUE
#include <atomic_queue/atomic_queue.h>
#endif
#ifdef NFX_BENCH_READERWRITERQUEUE
#include <readerwriterqueue/readerwriterqueue.h>
#endif

#ifdef NFX_BENCH_RIGTORP
#include <rigtorp/SPSCQueue.h>
#endif
#ifdef NFX_BENCH_QUILL
#include <quill/core/BoundedSPSCQueue.h>
#endif

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include "deferred/rows.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/concurrent/spsc_queue.hpp"

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

#ifdef NFX_BENCH_RIGTORP
template <class T>
struct Rigtorp {
  static constexpr const char* name = "rigtorp SPSCQueue";
  bool push(const T& value) noexcept { return queue.try_push(value); }
  bool pop(T& value) noexcept {
    const T* const front = queue.front();
    if (front == nullptr) return false;
    value = *front;
    queue.pop();
    return true;
  }
  rigtorp::SPSCQueue<T> queue{capacity};
};
#endif

#ifdef NFX_BENCH_QUILL
// A queue of bytes: a record is written in place.
template <class T>
struct Quill {
  static constexpr const char* name = "quill BoundedSPSCQueue";
  bool push(const T& value) noexcept {
    std::byte* const place = queue.prepare_write(sizeof(T));
    if (place == nullptr) return false;
    std::memcpy(place, &value, sizeof value);
    queue.finish_and_commit_write(sizeof(T));
    return true;
  }
  bool pop(T& value) noexcept {
    const std::byte* const place = queue.prepare_read();
    if (place == nullptr) return false;
    std::memcpy(&value, place, sizeof value);
    queue.finish_read(sizeof(T));
    queue.commit_read();
    return true;
  }
  quill::detail::BoundedSPSCQueue queue{capacity * sizeof(T)};
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
double time_through(const Options& options, const Tools& tools) {
  const std::uint64_t records = std::uint64_t{options.messages} * (sizeof(T) > 256 ? 2 : 20);
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
  return tools.clock.to_ns(static_cast<double>(end - begin.load())) / static_cast<double>(records);
}

// Nanoseconds per push into a queue that is not full, on one thread.
template <template <class> class Queue, class T>
Figures time_push(const Options& options, const Tools& tools) {
  constexpr std::uint64_t batch = 16;
  pin(options.core);
  const auto queue = std::make_unique<Queue<T>>();
  LatencyHistogram picoseconds;
  std::uint64_t wrong = 0;
  for (std::uint64_t done = 0; done < options.messages; done += batch) {
    const std::uint64_t begin = ticks_before();
    for (std::uint64_t n = 0; n < batch; ++n) wrong += queue->push(make_record<T>(n)) ? 0 : 1;
    const std::uint64_t end = ticks_after();
    if (done >= options.messages / 10)
      picoseconds.record(static_cast<std::uint64_t>(tools.to_ns(end - begin) * 1000 / batch));
    T record;
    for (std::uint64_t n = 0; n < batch; ++n) wrong += queue->pop(record) && record.words.front() == n ? 0 : 1;
  }
  if (wrong != 0) throw WrongAnswerError(std::string{Queue<T>::name} + " lost records");
  return figures_of(picoseconds, 1000);
}

template <std::size_t Size>
void add_size(RepeatedGroup& group, const Options& options, const Tools& tools) {
  using T = Record<Size>;
  const std::string through = std::to_string(Size) + " bytes, to the other core";
  const std::string push = std::to_string(Size) + " bytes, pushed";
  std::vector<RepeatedRow> through_rows, push_rows;
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    std::size_t at = 0;
    const auto take = [&]<template <class> class Queue>() {
      if (repeat == 0) {
        through_rows.push_back(empty_row(through, Queue<T>::name, at == 0));
        push_rows.push_back(empty_row(push, Queue<T>::name, at == 0));
      }
      through_rows[at].repeats.push_back(same_figures(time_through<Queue, T>(options, tools)));
      run_repeat(push_rows[at++], tools.counters, options.messages,
                 [&] { return time_push<Queue, T>(options, tools); });
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
#ifdef NFX_BENCH_RIGTORP
    take.template operator()<Rigtorp>();
#endif
#ifdef NFX_BENCH_QUILL
    take.template operator()<Quill>();
#endif
  }
#ifndef NFX_BENCH_RIGTORP
  through_rows.push_back(empty_row(through, "rigtorp SPSCQueue"));
  through_rows.back().note = "rigtorp/SPSCQueue.h was not found";
#endif
#ifndef NFX_BENCH_QUILL
  through_rows.push_back(empty_row(through, "quill BoundedSPSCQueue"));
  through_rows.back().note = "quill/core/BoundedSPSCQueue.h was not found";
#endif
  for (RepeatedRow& row : through_rows) group.rows.push_back(std::move(row));
  for (RepeatedRow& row : push_rows) group.rows.push_back(std::move(row));
}

}  // namespace

RepeatedGroup queue_group(const Options& options, const Tools& tools) {
  RepeatedGroup group{
      "spsc", "ns per record, from one core to the other over all records, and pushed, in batches of 16", {}};
  const auto add = [&]<std::size_t Size>() {
    if (options.size == 0 || options.size == Size) add_size<Size>(group, options, tools);
  };
  add.operator()<8>();
  add.operator()<16>();
  add.operator()<32>();
  add.operator()<64>();
  add.operator()<256>();
  add.operator()<1024>();
  add.operator()<4096>();
  return group;
}

}  // namespace nfx::bench
