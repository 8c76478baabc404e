// Receiving UDP and recording it: the work of a feed's poll thread for each datagram.
#include <cstdio>
#include <string>

#include "checks.hpp"
#include "nexusfix/recording/recording.hpp"
#include "nexusfix/transport/udp.hpp"
#include "store/disk.hpp"
#include "store/journal_flusher.hpp"
#include "temporary_folder.hpp"

namespace nfx::test {

using namespace std::chrono_literals;

void check_recording() {
  const TemporaryFolder folder;
  market::RecorderOptions options;
  options.folder = folder.file("recording");
  options.ring_directory = folder.file("ring");
  options.segment_bytes = 1024 * 1024;
  options.buffer_bytes = 512 * 1024;
  JournalFlusher flusher;
  market::Recorder recorder{posix_disk(), options, flusher, UtcTime{1s}};
  UdpReceiver receiver{{{"A", {"127.0.0.1", 0, ""}, 4 << 20}}};
  UdpSender sender{receiver.lines()[0].address};
  Instant now{UtcTime{2s}, MonotonicTime{1s}};
  const std::string datagram(1000, 'd');
  TrapCounts counts;
  std::uint64_t received = 0;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 50; ++i) (void)sender.send(datagram);
    now.monotonic += 1s;
    now.utc += 1s;
    while (flusher.turn(now) == Duration::zero()) continue;
    Trap trap{CallSet{Call::recvmmsg}};
    while (receiver.poll([&](const UdpDatagram& each) {
      recorder.datagram({each.received, each.stamp, each.line, 0}, each.bytes, each.truncated);
    }) != 0)
      ++received;
    counts.add(trap.counts());
  }
  check(recorder.counters().records > 4000 && recorder.counters().dropped == 0,
        "thousands of datagrams are received and recorded over several segments");
  check_counts(counts, "receiving UDP and recording it");
  check(counts.calls.of(Call::recvmmsg) <= received + 100, "one call receives a whole batch");

  TrapCounts full;
  {
    Trap trap{CallSet{Call::write}};  // wakes the flusher
    for (int i = 0; i < 2000; ++i) recorder.datagram({now.utc, StampSource::kernel, 0, 0}, datagram);
    full = trap.counts();
  }
  check(recorder.counters().dropped > 1000,
        "a buffer that is not written to disk drops what does not fit, and counts it");
  check_counts(full, "recording with a full buffer");
}

}  // namespace nfx::test
