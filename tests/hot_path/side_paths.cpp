// The work of a poll thread beside answering: storing, logging, handing over, counting. Each separately, also at its
// limits.
#include <memory>
#include <string>
#include <vector>

#include "checks.hpp"
#include "concurrent/snapshot_box.hpp"
#include "log/event_log.hpp"
#include "log/message_log.hpp"
#include "nexusfix/base/latency_histogram.hpp"
#include "nexusfix/concurrent/deferred_processor.hpp"
#include "store/journal_flusher.hpp"
#include "store/journal_store.hpp"
#include "store/memory_message_store.hpp"
#include "temporary_folder.hpp"

namespace nfx::test {
namespace {

using namespace std::chrono_literals;

void check_journal() {
  const TemporaryFolder folder;
  JournalOptions options;
  options.directory = folder.file("store");
  options.ring_directory = folder.file("ring");
  options.segment_size = 256 * 1024;
  options.ring_size = 256 * 1024;
  options.retain_messages = 500;
  JournalStore store{posix_disk(), options, "FIX.4.4:A->B", UtcTime{1s}};
  store.prefault();
  JournalFlusher flusher;
  flusher.add(store);
  Instant now{UtcTime{2s}, MonotonicTime{1s}};
  const std::string message(300, 'm');
  TrapCounts counts;
  std::uint64_t seq = 1, kept = 0, resent = 0, in = 1;
  for (int round = 0; round < 200; ++round) {
    now.monotonic += 20ms;
    now.utc += 20ms;
    (void)flusher.turn(now);
    Trap trap;
    for (int i = 0; i < 50; ++i) {
      store.set_next_inbound(SeqNum{++in}, now.utc);
      if (!store.accepts(message.size()) || !store.append(SeqNum{seq}, message, now.utc)) continue;
      store.set_next_outbound(SeqNum{++seq}, now.utc);
      ++kept;
    }
    // Messages that the ring still holds are resent from it.
    resent +=
        store.for_each(SeqNum{seq > 20 ? seq - 20 : 1}, SeqNum{seq}, [](SeqNum, std::string_view) { return true; });
    store.want_sync();
    counts.add(trap.counts());
  }
  check(kept > 5000 && resent > 1000 && store.counters().segments > 5 && store.counts().evicted > 1000,
        "thousands of messages are stored over many segments, the oldest evicted, the newest read back");
  check_counts(counts, "journal, synced at intervals: append, numbers, eviction, next segment, reading back");

  // Without a flusher the ring fills, and reports that.
  flusher.remove(store);
  std::uint64_t refused = 0;
  TrapCounts full;
  {
    Trap trap;
    for (int i = 0; i < 5000; ++i)
      refused += store.append(SeqNum{seq + static_cast<std::uint64_t>(i)}, message) ? 0 : 1;
    full = trap.counts();
  }
  check(refused > 1000 && store.condition() == StoreCondition::busy, "a ring that no flusher writes to disk is full");
  check_counts(full, "journal with a full ring");
}

void check_memory_store() {
  MemoryMessageStore store{{.retain_messages = 256, .retain_bytes = 64 * 1024}, UtcTime{1s}};
  store.prefault();
  const std::string message(300, 'm');
  TrapCounts counts;
  {
    Trap trap;
    for (std::uint64_t seq = 1; seq <= 5000; ++seq) {
      store.append(SeqNum{seq}, message, UtcTime{1s});
      store.set_next_outbound(SeqNum{seq + 1});
    }
    counts = trap.counts();
  }
  check(store.counts().evicted > 4000, "thousands of messages pass through a small memory store");
  check_counts(counts, "memory store: append and eviction");
}

void check_logs() {
  const TemporaryFolder folder;
  DeferredLogOptions options;
  options.lane_bytes = 256 * 1024;
  options.longest_record = 1024;
  LogFileOptions files;
  files.folder = folder.path();
  options.target = files;
  MessageLogOptions message_options;
  message_options.log = options;
  MessageLog messages{message_options};
  files.name = "events";
  options.target = files;
  EventLog events{options};
  MessageLog::Lane message_lane = messages.lane(0);
  EventLog::Lane event_lane = events.lane(0);
  const std::string text(300, 'm'), longer(3000, 'x');
  TrapCounts counts;
  for (int round = 0; round < 20; ++round) {
    {
      Trap trap;
      // More than a log queue holds: the last ones are counted and dropped.
      for (int i = 0; i < 1000; ++i) message_lane.record(1, LogDirection::out, UtcTime{Duration{i}}, text);
      for (int i = 0; i < 10; ++i) event_lane.record(1, UtcTime{Duration{i}}, "logged on", "next in 1");
      event_lane.record(1, UtcTime{1s}, "too long", longer);
      counts.add(trap.counts());
    }
    while (messages.step(UtcTime{1s}) + events.step(UtcTime{1s}) != 0) continue;
  }
  check(messages.counters().recorded > 5000 && messages.counters().dropped > 1000 && events.counters().cut == 20,
        "messages and events are recorded, dropped by a full queue and cut when too long");
  check_counts(counts, "message log and event log: record");
}

void check_deferred() {
  std::uint64_t handled = 0;
  const std::string text(200, 'd'), longer(500, 'l');
  for (const WhenFull when_full : {WhenFull::drop, WhenFull::spill}) {
    DeferredProcessor<DeferredBuffer<240>, 64> deferred{[&](const DeferredBuffer<240>&) { ++handled; },
                                                        {.when_full = when_full, .spill_bytes = 32 * 1024}};
    TrapCounts counts;
    for (int round = 0; round < 50; ++round) {
      {
        Trap trap;
        for (int i = 0; i < 300; ++i) deferred.submit(text);
        deferred.submit(longer);
        counts.add(trap.counts());
      }
      while (deferred.process(1000) != 0) continue;
    }
    const DeferredCounters seen = deferred.counters();
    const bool spilled = (seen.spilled > 0) == (when_full == WhenFull::spill);
    check(seen.processed == seen.submitted && seen.dropped > 0 && seen.too_long == 50 && spilled,
          when_full == WhenFull::spill ? "what is submitted is handled, the rest spilled, dropped or too long"
                                       : "what is submitted is handled, the rest dropped or too long");
    check_counts(counts,
                 when_full == WhenFull::spill ? "DeferredProcessor::submit with a spill" : "DeferredProcessor::submit");
  }
}

void check_figures() {
  SnapshotBox<std::vector<std::string>> box;
  const std::vector<std::string> value(50, std::string(60, 'v'));
  const auto histogram = std::make_unique<LatencyHistogram>();
  box.ask();
  box.publish(value);  // the first time there is nothing yet to copy into
  TrapCounts counts;
  std::uint64_t published = 0;
  {
    Trap trap;
    for (std::uint64_t i = 0; i < 10'000; ++i) {
      histogram->record(i * 977 % 5'000'000);
      if (i % 100 == 0) box.ask();
      if (!box.wanted()) continue;
      box.publish(value);
      ++published;
    }
    counts = trap.counts();
  }
  check(published == 100 && box.look() != nullptr && *box.look() == value && histogram->count() == 10'000,
        "latencies are counted, and snapshots published when requested");
  check_counts(counts, "histogram and snapshots");
}

}  // namespace

void check_side_paths() {
  std::printf("side paths\n");
  check_journal();
  check_memory_store();
  check_logs();
  check_deferred();
  check_figures();
}

}  // namespace nfx::test
