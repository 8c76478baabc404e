// The queue and the writer thread of a LineLog. A stalled reader of the output costs lines, never a poll thread's time.
#include "nexusfix/log/line_log.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/clocks.hpp"
#include "base/error_text.hpp"
#include "log/log_entry.hpp"
#include "log/print.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx {
namespace {

std::atomic<LogLevel> least{LogLevel::info};

constexpr std::size_t flush_at = 64 * 1024;
// The pause between two writes of a busy log, so that its thread wakes up at most a few hundred times a second.
constexpr std::chrono::milliseconds rest{5};

std::uint64_t lines_in(const SafeText& text) {
  return static_cast<std::uint64_t>(std::ranges::count(text.view(), '\n'));
}

Literal name_of(Stream stream) {
  return stream == Stream::out ? Literal{"standard output"} : Literal{"standard error"};
}

// Whether retries cannot succeed.
bool is_final(int error) noexcept { return error == EPIPE || error == EBADF || error == EIO; }

}  // namespace

struct LineLog::State {
  State(Stream where, LineFormat its_format) : stream(where), format(its_format) {}

  void run();
  // Writes lines in pieces, so that progress is visible. Returns 0 or the error.
  int write(const SafeText& lines);
  // Counts a batch that could not be written, with its note about `missing` earlier lines.
  void lose(std::uint64_t lines, std::uint64_t missing, int error);

  // Appends the note that replaces missing lines.
  void append_missing(SafeText& lines, std::uint64_t missing) const;

  const Stream stream;
  const LineFormat format;

  std::mutex mutex;
  std::condition_variable changed;
  SafeText waiting;           // not yet taken by the writer
  std::uint64_t dropped = 0;  // lines dropped after the waiting ones
  bool flushed = false;       // the writer may begin
  bool resting = false;       // it starts by itself soon; only many lines wake it
  bool ending = false;
  bool ended = false;  // the writer has ended: everything is written, or cannot be written

  std::atomic<int> tid{0};
  std::atomic<bool> unflushed{false};
  std::atomic<bool> closed{false};
  std::atomic<std::uint64_t> written{0};    // bytes
  std::atomic<std::uint64_t> lost{0};       // all lines that will never be written
  std::atomic<std::uint64_t> under_way{0};  // lines taken by the writer and not yet written
  bool failing = false;                     // for the writer: the stream has failed, and this was reported
};

int LineLog::State::write(const SafeText& lines) {
  for (std::size_t at = 0; at < lines.size();) {
    const Written done = write_some(stream, lines, at);
    if (done.error != 0) return done.error;
    at += done.bytes;
    written.fetch_add(done.bytes, std::memory_order_relaxed);
  }
  return 0;
}

void LineLog::State::lose(std::uint64_t lines, std::uint64_t missing, int error) {
  lost += lines;
  if (is_final(error)) {
    closed.store(true);
    if (stream == Stream::out)
      print_error("nfx: {}; lines are no longer printed\n", cannot("write", "standard output", error));
    return;
  }
  if (!std::exchange(failing, true) && stream == Stream::out) {
    print_error("nfx: {}; lines are missing until it can be written\n", cannot("write", "standard output", error));
  }
  const std::lock_guard lock{mutex};
  dropped += lines + missing;
}

void LineLog::State::append_missing(SafeText& lines, std::uint64_t missing) const {
  if (format == LineFormat::text) {
    lines.add("nfx: {} lines are missing here: {} was not read in time\n", missing, SafeText{name_of(stream)});
    return;
  }
  const std::string text = std::to_string(missing) + " lines are missing here: " + std::string{name_of(stream).view()} +
                           " was not read in time";
  const std::array fields{LogField{"lines", missing}};
  append_entry(
      lines, format,
      {.time = read_utc(), .level = LogLevel::warning, .what = "lines missing", .text = text, .fields = fields});
}

void LineLog::State::run() {
  SafeText batch;
  for (;;) {
    std::uint64_t lines = 0, missing = 0;
    {
      std::unique_lock lock{mutex};
      resting = true;
      changed.wait_for(lock, rest, [this] { return ending || waiting.size() >= flush_at; });
      resting = false;
      changed.wait(lock, [this] { return flushed || ending; });
      flushed = false;
      unflushed.store(false, std::memory_order_relaxed);
      if (waiting.empty() && (dropped == 0 || failing || closed) && ending) {
        ended = true;
        break;
      }
      std::swap(batch, waiting);
      missing = std::exchange(dropped, 0);
    }
    lines = lines_in(batch);
    under_way.store(lines, std::memory_order_relaxed);
    if (missing != 0) {
      append_missing(batch, missing);
    }
    if (closed) {
      lost += lines;
    } else if (const int error = write(batch); error != 0) {
      lose(lines, missing, error);
    } else {
      failing = false;
    }
    under_way.store(0, std::memory_order_relaxed);
    batch.clear();
  }
  changed.notify_all();
}

LineLog::LineLog(Stream stream, LineFormat format, std::chrono::milliseconds patience)
    : state_(std::make_shared<State>(stream, format)), patience_(patience) {
  std::signal(SIGPIPE, SIG_IGN);
  // Leaves signals to the threads that wait for them.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread{[state = state_] {
    pthread_setname_np(pthread_self(), thread_name);
    state->tid.store(::gettid(), std::memory_order_release);
    state->tid.notify_all();
    state->run();
  }}.detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LineLog::~LineLog() {
  State& state = *state_;
  std::unique_lock lock{state.mutex};
  state.ending = true;
  state.changed.notify_all();
  for (std::uint64_t seen = state.written;;) {
    if (state.changed.wait_for(lock, patience_, [&] { return state.ended; })) break;
    if (std::exchange(seen, state.written.load()) == seen) break;
  }
  const std::uint64_t lost = state.dropped + lines_in(state.waiting) + state.under_way;
  lock.unlock();
  if (lost != 0 && !state.closed && state.stream == Stream::out) {
    print_error("nfx: {} lines were not written: standard output was not read\n", lost);
  }
}

LogLevel LineLog::least_level() noexcept { return least.load(std::memory_order_relaxed); }

void LineLog::set_least_level(LogLevel level) noexcept { least.store(level, std::memory_order_relaxed); }

void LineLog::line(const LogEntry& entry) {
  if (entry.level > least_level()) return;
  SafeText line;
  append_entry(line, state_->format, entry);
  add(line);
}

void LineLog::add(const SafeText& lines) {
  State& state = *state_;
  bool many = false;
  {
    const std::lock_guard lock{state.mutex};
    NFX_ASSERT(!state.ended);
    // Once a line is dropped, later lines are dropped too until the writer has reported it. This preserves the order.
    if (state.closed || state.dropped != 0 || state.waiting.size() + lines.size() > queue_bytes) {
      const std::uint64_t count = lines_in(lines);
      state.dropped += count;
      state.lost += count;
    } else {
      state.waiting += lines;
    }
    many = state.waiting.size() >= flush_at;
    state.unflushed.store(true, std::memory_order_relaxed);
  }
  if (many) flush();
}

void LineLog::flush() {
  State& state = *state_;
  if (!state.unflushed.load(std::memory_order_relaxed)) return;
  {
    const std::lock_guard lock{state.mutex};
    const bool was_flushed = std::exchange(state.flushed, true);
    if (state.waiting.size() < flush_at && (was_flushed || state.resting)) return;
  }
  state.changed.notify_one();
}

bool LineLog::closed() const noexcept { return state_->closed; }

Stream LineLog::stream() const noexcept { return state_->stream; }

int LineLog::thread_id() const noexcept {
  state_->tid.wait(0, std::memory_order_acquire);
  return state_->tid.load(std::memory_order_acquire);
}

LineCounters LineLog::counters() const noexcept { return {.dropped = state_->lost}; }

}  // namespace nfx
