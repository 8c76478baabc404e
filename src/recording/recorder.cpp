// Appends what was received to a journal, and states what was dropped.
#include "nexusfix/recording/recorder.hpp"

#include <utility>

#include "nexusfix/base/assert.hpp"

namespace nfx::market {

namespace {

// The longest datagram fits, with what the journal reserves.
constexpr std::uint32_t buffer_min = 256 * 1024;

JournalOptions journal_options(const RecorderOptions& options) {
  if (options.buffer_bytes < buffer_min) {
    throw StoreError("the recording's buffer_bytes are " + std::to_string(options.buffer_bytes) +
                     ", but must be at least " + std::to_string(buffer_min));
  }
  JournalOptions journal;
  journal.directory = options.folder;
  journal.ring_directory = options.ring_directory;
  journal.segment_size = options.segment_bytes;
  journal.ring_size = options.buffer_bytes;
  journal.durability = Durability::interval;
  journal.sync_interval = options.sync_interval;
  journal.retain_messages = 0;  // read in order alone: no index
  journal.retain_bytes = options.retain_bytes;
  journal.retain_age = options.retain_age;
  journal.zeros_ahead = false;
  return journal;
}

template <class Plain>
[[nodiscard]] std::string_view bytes_of(const Plain& plain) noexcept {
  return {reinterpret_cast<const char*>(&plain), sizeof plain};
}

}  // namespace

Recorder::Recorder(Disk& disk, const RecorderOptions& options, JournalFlusher& flusher, UtcTime now)
    : flusher_(flusher),
      store_(disk, journal_options(options), recording_identity, now),
      number_(value(store_.next_outbound())),
      last_(now) {
  // All of the buffer, before the flusher works: the first burst finds it.
  store_.prepare(options.buffer_bytes);
  flusher.add(store_);
}

Recorder::~Recorder() {
  flusher_.remove(store_);
  // What waits is written first, so that the last drops find space.
  if (unreported_.packets != 0 && store_.sync(last_)) (void)report_drops(last_, 0);
}

inline bool Recorder::append(RecordingKind kind, const ReceivedFrom& from, std::string_view bytes) noexcept {
  const RecordingHeader header{kind, from.stamp, from.line, from.connection};
  if (!store_.append_recorded(SeqNum{number_}, bytes_of(header), bytes, from.at)) return false;
  ++number_;
  return true;
}

bool Recorder::record(RecordingKind kind, const ReceivedFrom& from, std::string_view bytes) noexcept {
  const bool reported = unreported_.packets == 0 || report_drops(from.at, bytes.size());
  if (reported && append(kind, from, bytes)) [[likely]] {
    ++counters_.records;
    counters_.bytes += bytes.size();
    return true;
  }
  ++unreported_.packets;
  unreported_.bytes += bytes.size();
  ++counters_.dropped;
  counters_.dropped_bytes += bytes.size();
  return false;
}

// Only together with a packet of `next` bytes: otherwise one such record after the other would fill what is left.
[[gnu::cold, gnu::noinline]] bool Recorder::report_drops(UtcTime now, std::size_t next) noexcept {
  NFX_ASSERT(unreported_.packets > 0);
  constexpr std::size_t ours = sizeof(RecordingHeader) + sizeof(RecordingDrops);
  if (!store_.accepts(padded(ours + 2 * sizeof(RecordHeader) + sizeof(RecordingHeader) + next))) return false;
  if (!append_drops(RecordingKind::dropped, {now, StampSource::none, 0, 0}, unreported_)) return false;
  unreported_ = {};
  return true;
}

[[gnu::cold, gnu::noinline]] bool Recorder::append_drops(RecordingKind kind, const ReceivedFrom& from,
                                                         const RecordingDrops& drops) noexcept {
  return append(kind, from, bytes_of(drops));
}

void Recorder::describe(const ReceivedFrom& line, std::string_view text) {
  Described& described = lines_.emplace_back(Described{line, std::string{text}});
  described.due = !append(RecordingKind::line, line, described.text);
}

bool Recorder::kernel_dropped(const ReceivedFrom& line, std::uint64_t packets) noexcept {
  if (!append_drops(RecordingKind::kernel_dropped, line, {packets, 0})) return false;
  counters_.kernel_dropped += packets;
  return true;
}

void Recorder::tend(UtcTime now) noexcept {
  last_ = now;
  if (unreported_.packets != 0 && !report_drops(now, 0)) return;
  const std::uint64_t segments = store_.counters().segments;
  const bool begun = std::exchange(segments_, segments) != segments;
  for (Described& described : lines_) {
    described.due = described.due || begun;
    if (!described.due) continue;
    described.line.at = now;
    described.due = !append(RecordingKind::line, described.line, described.text);
  }
}

}  // namespace nfx::market
