// Logging without waiting: threads copy records into queues, and a worker formats and writes them.
#include "log/deferred_log.hpp"
#include "base/printable.hpp"
#include "nexusfix/base/assert.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace nfx {
namespace {

constexpr std::size_t batch_bytes = 256 * 1024;

}  // namespace

LogLane::LogLane(const DeferredLogOptions& options)
    : longest_(options.longest_record),
      worker_(options.worker),
      queue_(options.full, sizeof(Header) + longest_, worker_,
             Queue::slots_for(options.lane_bytes, sizeof(Header) + longest_)) {}

void LogLane::record(std::uint8_t kind, std::uint32_t session, UtcTime time, std::string_view first,
                     std::string_view second) noexcept {
  const std::size_t wanted = first.size() + second.size();
  first = first.substr(0, longest_);
  second = second.substr(0, longest_ - first.size());
  NFX_ASSERT(first.size() + second.size() <= longest_);
  const Header header{
      .time_ns = time.time_since_epoch().count(),
      .dropped_before = queue_.dropped(std::memory_order_relaxed),
      .session = session,
      .first_size = static_cast<std::uint32_t>(first.size()),
      .cut = static_cast<std::uint32_t>(std::min<std::size_t>(wanted - first.size() - second.size(), UINT32_MAX)),
      .kind = kind,
      .unused = {}};
  const Record record{
      .head = {reinterpret_cast<const char*>(&header), sizeof header}, .first = first, .second = second};
  if (queue_.try_push(record) != PushResult::pushed) [[unlikely]]
    queue_.push_when_full(record);
  if (worker_ != nullptr && queue_.more_than_half_full()) worker_->notify();
}

DeferredLog::DeferredLog(DeferredLogOptions options) : options_(std::move(options)) {
  std::visit([this](const auto& target) { main_.emplace(target); }, options_.target);
  if (options_.busy_target) busy_.emplace(*options_.busy_target);
  if (options_.lanes == 0 || options_.lanes > 1024 || options_.fraction_digits > 9) {
    throw std::invalid_argument(
        "log options: expected 1 to 1024 lanes (queues, one per recording thread) and 0 to 9 fraction_digits");
  }
  for (std::uint32_t i = 0; i < options_.lanes; ++i) lanes_.emplace_back(new LogLane(options_));
  main_->batch.reserve(batch_bytes + 2 * options_.longest_record);
}

DeferredLog::~DeferredLog() = default;

void DeferredLog::finish() noexcept {
  try {
    if (failing_) retry_at_ = last_time_;  // tries once more
    while (step(last_time_) != 0) {
    }
    report_omitted(last_time_, true);
    write_batches();
  } catch (...) {
    // Out of memory while the program ends: the remaining records are lost.
    detail::add(lost_, 1);
  }
}

void DeferredLog::name_session(std::uint32_t session, std::string name) {
  // The peer chooses the name of a template's session.
  std::string printable;
  append_printable(printable, name);
  const std::lock_guard lock{changes_mutex_};
  changes_.push_back({session, std::move(printable)});
  has_changes_.store(true, std::memory_order_release);
}

void DeferredLog::forget_session(std::uint32_t session) {
  const std::lock_guard lock{changes_mutex_};
  changes_.push_back({session, std::nullopt});
  has_changes_.store(true, std::memory_order_release);
}

void DeferredLog::take_name_changes() {
  if (!has_changes_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock{changes_mutex_};
  has_changes_.store(false, std::memory_order_relaxed);
  for (NameChange& change : changes_) {
    if (change.name) {
      std::erase(forgotten_, change.session);
      names_[change.session] = std::move(*change.name);
    } else {
      forgotten_.push_back(change.session);
    }
  }
  changes_.clear();
}

// Forgets names when the queues no longer contain their records.
void DeferredLog::forget_names() {
  for (const std::uint32_t session : forgotten_) names_.erase(session);
  forgotten_.clear();
}

std::string_view DeferredLog::name_of(std::uint32_t session) {
  auto found = names_.find(session);
  if (found == names_.end()) {  // named after this step began
    take_name_changes();
    found = names_.find(session);
  }
  if (found != names_.end()) return found->second;
  return unnamed_ = "session " + std::to_string(session);
}

void DeferredLog::append_time(std::string& out, UtcTime time) {
  std::array<char, max_utc_timestamp_size> text;
  out.append(text.data(), clock_text_.write(text.data(), time, options_.fraction_digits));
}

bool DeferredLog::has_work() const noexcept {
  return std::ranges::any_of(lanes_, [](const auto& lane) { return lane->queue_.size() != 0; });
}

LogLane* DeferredLog::oldest(Header& header) {
  LogLane* best = nullptr;
  for (const auto& lane : lanes_) {
    const auto record = lane->front();
    if (!record) continue;
    Header its;
    NFX_ASSERT(record->size() >= sizeof its);
    std::memcpy(&its, record->data(), sizeof its);
    if (best != nullptr && its.time_ns >= header.time_ns) continue;
    header = its;
    best = lane.get();
  }
  return best;
}

std::size_t DeferredLog::step(UtcTime now) {
  take_name_changes();
  // Read before the queues: a session that is forgotten later may still have records in them.
  const std::size_t to_forget = forgotten_.size();
  if (failing_) try_again(now);
  std::size_t done = 0;
  bool emptied = false;
  while (done < step_records) {
    Header header{};
    LogLane* const lane = oldest(header);
    if (lane == nullptr) {
      emptied = true;
      break;
    }
    take(*lane, header);
    ++done;
  }
  if (emptied) {
    report_omitted(std::max(now, last_time_), false);
    report_late_gaps(now);
    if (to_forget != 0 && to_forget == forgotten_.size()) forget_names();
  }
  write_batches();
  return done;
}

void DeferredLog::take(LogLane& lane, const Header& header) {
  const UtcTime time{Duration{header.time_ns}};
  report_gap(lane, header.dropped_before, time);
  last_time_ = std::max(last_time_, time);
  if (failing_) {
    ++unreported_;
    detail::add(lost_, 1);
    return lane.queue_.pop();
  }
  const auto record = lane.front()->subspan(sizeof header);
  const std::string_view text{record.data(), record.size()};
  NFX_ASSERT(header.first_size <= text.size() && text.size() <= options_.longest_record);
  const Line line{.time = time,
                  .session = header.session,
                  .kind = header.kind,
                  .first = text.substr(0, header.first_size),
                  .second = text.substr(header.first_size)};
  if (omits(line)) {
    detail::add(omitted_, 1);
    return lane.queue_.pop();
  }
  Sink& sink = sink_for(line);
  if (failing_) {  // report_omitted() or sink_for() may have written and failed
    ++unreported_;
    detail::add(lost_, 1);
    return lane.queue_.pop();
  }
  if (sink.batch.size() >= batch_bytes || sink.file.is_later_day(time)) write(sink);
  if (sink.batch.empty()) sink.time = time;
  std::string& batch = sink.batch;
  append_time(batch, time);
  append_line(batch, line);
  if (header.cut != 0) {
    batch += " [" + std::to_string(header.cut) + " more bytes were not logged]";
    detail::add(cut_, 1);
  }
  batch += '\n';
  ++sink.lines;
  lane.queue_.pop();
  // A batch must fit into one file, and files can be small.
  if (const auto* const options = std::get_if<LogFileOptions>(&options_.target);
      options != nullptr && batch.size() >= options->max_bytes) {
    write(sink);
  }
}

// The sessions share a file. A session that has filled half of it continues in a separate file. A session alone uses
// the whole file.
DeferredLog::Sink& DeferredLog::sink_for(const Line& line) {
  if (!busy_ || line.session == no_log_session || names_.size() < 2) return *main_;
  if (shares_of_ != main_->file.opened()) {
    shares_of_ = main_->file.opened();
    shares_.clear();
  }
  std::uint64_t& share = shares_[line.session];
  const std::uint64_t most = std::get<LogFileOptions>(options_.target).max_bytes / 2;
  if (share > most) return *busy_;
  share += line.first.size() + line.second.size() + 64;
  if (share > most)
    append_note(line.time, "more of " + std::string{name_of(line.session)} + " is in " + options_.busy_target->name +
                               "-*.log" + ": it has filled half of this file");
  return *main_;
}

void DeferredLog::append_note(UtcTime time, std::string_view text) {
  if (failing_) return;
  // In a separate batch that counts no record.
  Sink& sink = *main_;
  write(sink);
  if (failing_) return;
  sink.time = time;
  append_time(sink.batch, time);
  sink.batch += ' ';
  sink.batch += text;
  sink.batch += '\n';
  write(sink);
}

void DeferredLog::report_gap(LogLane& lane, std::uint64_t dropped, UtcTime time) {
  NFX_ASSERT(dropped >= lane.dropped_reported_);  // the count only grows, and the records are read in order
  if (dropped == lane.dropped_reported_) return;
  const std::uint64_t missing = dropped - lane.dropped_reported_;
  lane.dropped_reported_ = dropped;
  report_missing(missing, time, "the log's queue was full");
}

// Reports missing records at the end of a queue, where no later record reports them.
void DeferredLog::report_late_gaps(UtcTime now) {
  for (const auto& lane : lanes_) {
    const std::uint64_t dropped = lane->queue_.dropped();
    // Records added in the meantime come after the gap, or report it themselves.
    if (dropped != lane->dropped_reported_ && lane->queue_.size() == 0)
      report_gap(*lane, dropped, std::max(now, last_time_));
  }
}

// In a separate batch, so that the number of messages lost by a failed write is known.
void DeferredLog::report_missing(std::uint64_t count, UtcTime time, std::string_view why) {
  if (failing_) {
    unreported_ += count;
    return;
  }
  write_batches();
  if (failing_) {
    unreported_ += count;
    return;
  }
  main_->time = time;
  std::string& batch = main_->batch;
  append_time(batch, time);
  batch += ' ';
  batch += std::to_string(count);
  batch += ' ';
  batch += noun();
  batch += " were not logged here: ";
  batch += why;
  batch += '\n';
  main_->gap = count;
  write(*main_);
}

void DeferredLog::open_file(UtcTime now) {
  if (const auto opened = main_->file.open_now(now); !opened) return fail(opened.error());
  report_correction(main_->file);
}

// Reports a file that other users could read; the log continues.
void DeferredLog::report_correction(LogFile& file) {
  const std::string corrected = file.take_correction();
  if (!corrected.empty() && options_.on_failure) options_.on_failure(corrected);
}

void DeferredLog::write_batches() {
  write(*main_);
  if (busy_) write(*busy_);
}

void DeferredLog::write(Sink& sink) {
  if (sink.batch.empty()) return;
  const auto result = sink.file.append(sink.time, sink.batch);
  report_correction(sink.file);
  if (result) {
    detail::add(written_, sink.lines);
  } else {
    const auto ended = static_cast<std::uint64_t>(
        std::ranges::count(std::string_view{sink.batch}.substr(0, result.error().written), '\n'));
    NFX_ASSERT(result.error().written <= sink.batch.size());
    const std::uint64_t written = std::min(ended, sink.lines);
    detail::add(written_, written);
    detail::add(lost_, sink.lines - written);
    unreported_ += sink.lines - written + sink.gap;
  }
  sink.batch.clear();
  sink.lines = sink.gap = 0;
  if (!result) fail(result.error());
}

void DeferredLog::fail(const LogFileError& error) {
  failing_ = true;
  retry_at_ = UtcTime{};
  if (retrying_) return;  // the same outage: already reported
  detail::add(outages_, 1);
  if (options_.on_failure) {
    options_.on_failure(error.text + "; the log continues when it can be written again, records until then are lost");
  }
}

void DeferredLog::try_again(UtcTime now) {
  if (retry_at_ == UtcTime{}) {  // first step after the failure: starts the wait
    retry_at_ = now + retry_after;
    return;
  }
  if (now < retry_at_) return;
  failing_ = false;
  retrying_ = true;
  if (unreported_ != 0)
    report_missing(std::exchange(unreported_, 0), std::max(now, last_time_), "the log could not be written");
  retrying_ = false;
  if (failing_) retry_at_ = now + retry_after;
}

DeferredLogCounters DeferredLog::counters() const noexcept {
  DeferredLogCounters counters{
      .recorded = 0,
      .spilled = 0,
      .blocked = 0,
      .dropped = 0,
      .written = written_.load(std::memory_order_relaxed),
      .lost = lost_.load(std::memory_order_relaxed),
      .cut = cut_.load(std::memory_order_relaxed),
      .omitted = omitted_.load(std::memory_order_relaxed),
      .outages = outages_.load(std::memory_order_relaxed),
      .removals_failed = main_->file.removals_failed() + (busy_ ? busy_->file.removals_failed() : 0)};
  for (const auto& lane : lanes_) {
    const DeferredCounters of_queue = lane->queue_.counters();
    counters.recorded += of_queue.submitted;
    counters.spilled += of_queue.spilled;
    counters.blocked += of_queue.blocked;
    counters.dropped += of_queue.dropped;
  }
  return counters;
}

}  // namespace nfx
