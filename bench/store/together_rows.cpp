// Each journal is given messages at the same rate. One that is refused is given again when that journal comes next, and
// what gathers meanwhile follows, as from a peer that continues to send: none is lost.
#include "store/together_rows.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>

#include "harness/flusher_thread.hpp"
#include "harness/measure.hpp"
#include "store/open_journal.hpp"

namespace nfx::bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t mib = 1024 * 1024;

class Filled {
 public:
  Filled(const TogetherPlan& plan, const TogetherRow& row, std::uint32_t number, JournalFlusher& flusher)
      : plan_(plan), journal_(options_of(plan, row), number, flusher) {}

  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }  // bytes

  void append(TogetherRow& row, std::string& just_encoded) {
    just_encoded = message(seq_);
    const std::uint64_t before = ticks_before();
    const bool kept = journal_->append(SeqNum{seq_}, just_encoded, now_);
    if (kept) journal_->set_next_outbound(SeqNum{seq_ + 1});
    const std::uint64_t after = ticks_after();
    if (!kept) {
      if (!refused_at_) refused_at_ = Clock::now();
      ++refused_;
      const StoreCondition condition = journal_->condition();
      if (condition == StoreCondition::full || condition == StoreCondition::failed)
        throw std::runtime_error("the journal takes no more: " + journal_->condition_text());
      return;
    }
    const double ticks = std::max(0.0, static_cast<double>(after - before) - plan_.own_cost_ticks);
    row.ns.record(static_cast<std::uint64_t>(plan_.clock.to_ns(ticks)));
    if (refused_at_) row.refused_ns.record(Clock::now() - *refused_at_);
    refused_at_.reset();
    ++seq_;
    taken_ += just_encoded.size();
  }

  void count(TogetherRow& row) const {
    const JournalCounters counters = journal_->counters();
    row.ring_full += counters.ring_full;
    row.not_reserved += refused_ - std::min(refused_, counters.ring_full);
    row.segments += counters.segments;
  }

  void check() const {
    if (journal_->next_outbound() != SeqNum{seq_}) throw WrongAnswerError("a journal has another next sequence number");
    for (std::uint64_t each = 1; each < seq_; ++each) {
      const auto found = journal_->read(SeqNum{each});
      if (found != std::string_view{message(each)})
        throw WrongAnswerError("a journal gives back " + std::string{found ? "another" : "no"} + " message " +
                               std::to_string(each) + " of " + std::to_string(seq_ - 1) + "; the oldest is " +
                               std::to_string(value(journal_->oldest_kept())));
    }
  }

 private:
  static JournalOptions options_of(const TogetherPlan& plan, const TogetherRow& row) {
    JournalOptions options;
    options.directory = plan.folder;
    options.durability = Durability::interval;
    options.segment_size = row.segment_size;
    return options;
  }
  [[nodiscard]] const std::string& message(std::uint64_t seq) const { return message_at(plan_.messages, seq); }

  const TogetherPlan& plan_;
  UtcTime now_ = read_utc();
  OpenJournal journal_;
  std::uint64_t seq_ = 1;
  std::uint64_t taken_ = 0;
  std::uint64_t refused_ = 0;
  std::optional<Clock::time_point> refused_at_;
};

}  // namespace

std::vector<TogetherRow> together_rows() {
  std::vector<TogetherRow> rows;
  rows.push_back({.name = "16 journals, segments of 64 MiB", .journals = 16, .segment_size = 64 * mib});
  rows.push_back({.name = "16 journals, segments of 4 MiB", .journals = 16, .segment_size = 4 * mib});
  return rows;
}

void run_together(TogetherRow& row, const TogetherPlan& plan) {
  JournalFlusher flusher;
  const FlusherThread thread{flusher, on_cores(plan.flusher_cores)};
  std::vector<std::unique_ptr<Filled>> journals;
  for (std::uint32_t i = 0; i < row.journals; ++i) journals.push_back(std::make_unique<Filled>(plan, row, i, flusher));
  const double bytes_per_tick =
      plan.mb_per_s / 1000 / plan.clock.ticks_per_ns / static_cast<double>(journals.size());  // of each
  const auto last = static_cast<std::uint64_t>(plan.seconds * 1e9 * plan.clock.ticks_per_ns);
  std::string just_encoded(256, '\0');
  const auto begin = Clock::now();
  const std::uint64_t first = ticks_before();
  for (std::uint64_t elapsed = 0; elapsed < last;) {
    elapsed = ticks_before() - first;
    for (const auto& journal : journals) {
      const auto due = static_cast<std::uint64_t>(static_cast<double>(elapsed) * bytes_per_tick);
      if (journal->taken() <= due) journal->append(row, just_encoded);
    }
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::uint64_t taken = 0;
  for (const auto& journal : journals) taken += journal->taken();
  row.mb_per_s.push_back(static_cast<double>(taken) / 1e6 / seconds);
  for (const auto& journal : journals) {
    journal->count(row);
    journal->check();
  }
}

void print_together(const std::vector<TogetherRow>& rows, const TogetherPlan& plan) {
  std::printf("\nseveral journals, interval, %.0f MB/s together for %.1f s\n", plan.mb_per_s, plan.seconds);
  std::printf("%-36s %7s %7s %7s %9s %7s %9s %9s %12s %11s\n", "append, ns", "p50", "p99", "p99.9", "max", "MB/s",
              "segments", "ring full", "not reserved", "longest us");
  for (const TogetherRow& row : rows) {
    std::printf("%-36s %7llu %7llu %7llu %9llu %7.1f %9llu %9llu %12llu %11.0f\n", row.name.c_str(),
                static_cast<unsigned long long>(row.ns.percentile(50)),
                static_cast<unsigned long long>(row.ns.percentile(99)),
                static_cast<unsigned long long>(row.ns.percentile(99.9)), static_cast<unsigned long long>(row.ns.max()),
                median(row.mb_per_s), static_cast<unsigned long long>(row.segments),
                static_cast<unsigned long long>(row.ring_full), static_cast<unsigned long long>(row.not_reserved),
                static_cast<double>(row.refused_ns.max()) / 1000);
  }
}

}  // namespace nfx::bench
