// Appends what was received to a journal, and states what was dropped.
#include "nexusfix/recording/recording.hpp"
#include "recording/format.hpp"

#include <utility>
#include <vector>

#include "base/clocks.hpp"
#include "base/error_text.hpp"
#include "nexusfix/base/assert.hpp"
#include "store/flusher_thread.hpp"
#include "store/journal_store.hpp"

namespace nfx::market {

namespace {

// The longest datagram fits, with what the journal reserves.
constexpr std::uint32_t buffer_min = 256 * 1024;

JournalOptions journal_options(const RecorderOptions& options) {
  if (options.buffer_bytes < buffer_min) {
    throw StoreError(
        out_of_range("the recording's buffer_bytes", options.buffer_bytes, "at least " + std::to_string(buffer_min)));
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

struct Recorder::Parts {
  Parts(Disk& disk, const RecorderOptions& options, JournalFlusher& with, UtcTime now);
  ~Parts();
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  bool record(RecordingKind kind, const ReceivedFrom& from, std::string_view bytes) noexcept;
  bool append(RecordingKind kind, const ReceivedFrom& from, std::string_view bytes) noexcept;
  bool append_drops(RecordingKind kind, const ReceivedFrom& from, const RecordingDrops& drops) noexcept;
  bool report_drops(UtcTime now, std::size_t next) noexcept;
  void describe(const ReceivedFrom& line, std::string_view text);
  void tend(UtcTime now) noexcept;

  struct Described {
    ReceivedFrom line;
    std::string text;
    bool due = true;
  };

  JournalFlusher& flusher;
  JournalStore store;
  std::uint64_t number;         // of the next record
  RecordingDrops unreported{};  // dropped since the last record
  RecorderCounters counters;
  std::uint64_t segments = 0;  // as of the last tend()
  UtcTime last;                // time that tend() was given
  std::vector<Described> lines;
};

Recorder::Parts::Parts(Disk& disk, const RecorderOptions& options, JournalFlusher& with, UtcTime now)
    : flusher(with),
      store(disk, journal_options(options), recording_identity, now),
      number(value(store.next_outbound())),
      last(now) {
  // All of the buffer, before the flusher works: the first burst finds it.
  store.prepare(options.buffer_bytes);
  flusher.add(store);
}

Recorder::Parts::~Parts() {
  flusher.remove(store);
  // Waiting records are written first, so that the report of the last drops finds space.
  if (unreported.packets != 0 && store.sync(last)) (void)report_drops(last, 0);
}

inline bool Recorder::Parts::append(RecordingKind kind, const ReceivedFrom& from, std::string_view bytes) noexcept {
  const RecordingHeader header{kind, from.stamp, from.line, from.connection};
  if (!store.append_recorded(SeqNum{number}, bytes_of(header), bytes, from.at)) return false;
  ++number;
  return true;
}

bool Recorder::Parts::record(RecordingKind kind, const ReceivedFrom& from, std::string_view bytes) noexcept {
  const bool reported = unreported.packets == 0 || report_drops(from.at, bytes.size());
  if (reported && append(kind, from, bytes)) [[likely]] {
    ++counters.records;
    counters.bytes += bytes.size();
    return true;
  }
  ++unreported.packets;
  unreported.bytes += bytes.size();
  ++counters.dropped;
  counters.dropped_bytes += bytes.size();
  return false;
}

// Only together with a packet of `next` bytes: otherwise one such record after the other would fill what is left.
[[gnu::cold, gnu::noinline]] bool Recorder::Parts::report_drops(UtcTime now, std::size_t next) noexcept {
  NFX_ASSERT(unreported.packets > 0);
  constexpr std::size_t ours = sizeof(RecordingHeader) + sizeof(RecordingDrops);
  if (!store.accepts(padded(ours + 2 * sizeof(RecordHeader) + sizeof(RecordingHeader) + next))) return false;
  if (!append_drops(RecordingKind::dropped, {now, StampSource::none, 0, 0}, unreported)) return false;
  unreported = {};
  return true;
}

[[gnu::cold, gnu::noinline]] bool Recorder::Parts::append_drops(RecordingKind kind, const ReceivedFrom& from,
                                                                const RecordingDrops& drops) noexcept {
  return append(kind, from, bytes_of(drops));
}

void Recorder::Parts::describe(const ReceivedFrom& line, std::string_view text) {
  Described& described = lines.emplace_back(Described{line, std::string{text}});
  described.due = !append(RecordingKind::line, line, described.text);
}

void Recorder::Parts::tend(UtcTime now) noexcept {
  last = now;
  if (unreported.packets != 0 && !report_drops(now, 0)) return;
  const std::uint64_t now_there = store.counters().segments;
  const bool begun = std::exchange(segments, now_there) != now_there;
  for (Described& described : lines) {
    described.due = described.due || begun;
    if (!described.due) continue;
    described.line.at = now;
    described.due = !append(RecordingKind::line, described.line, described.text);
  }
}

Recorder::Recorder(Disk& disk, const RecorderOptions& options, JournalFlusher& flusher, UtcTime now)
    : parts_(std::make_unique<Parts>(disk, options, flusher, now)) {}

Recorder::~Recorder() = default;

bool Recorder::datagram(const ReceivedFrom& from, std::string_view bytes, bool cut) noexcept {
  return parts_->record(cut ? RecordingKind::cut_datagram : RecordingKind::datagram, from, bytes);
}

bool Recorder::stream(const ReceivedFrom& from, std::string_view bytes) noexcept {
  return parts_->record(RecordingKind::stream, from, bytes);
}

bool Recorder::mark(RecordingKind kind, const ReceivedFrom& from, std::string_view bytes) noexcept {
  return parts_->record(kind, from, bytes);
}

void Recorder::describe(const ReceivedFrom& line, std::string_view text) { parts_->describe(line, text); }

bool Recorder::kernel_dropped(const ReceivedFrom& line, std::uint64_t packets) noexcept {
  if (!parts_->append_drops(RecordingKind::kernel_dropped, line, {packets, 0})) return false;
  parts_->counters.kernel_dropped += packets;
  return true;
}

void Recorder::tend(UtcTime now) noexcept { parts_->tend(now); }

const RecorderCounters& Recorder::counters() const noexcept { return parts_->counters; }

const JournalRecovery& Recorder::recovery() const noexcept { return parts_->store.recovery(); }

std::uint64_t Recorder::next_number() const noexcept { return parts_->number; }

bool Recorder::failed() const noexcept { return parts_->store.condition() == StoreCondition::failed; }

std::string Recorder::trouble() const { return parts_->store.condition_text(); }

struct RecordingThread::Parts {
  explicit Parts(const RecorderOptions& options)
      : recorder(posix_disk(), options, flusher, read_utc()), thread(flusher) {}

  JournalFlusher flusher;
  Recorder recorder;
  FlusherThread thread;
};

RecordingThread::RecordingThread(const RecorderOptions& options) : parts_(std::make_unique<Parts>(options)) {}

RecordingThread::~RecordingThread() = default;

Recorder& RecordingThread::recorder() noexcept { return parts_->recorder; }

}  // namespace nfx::market
