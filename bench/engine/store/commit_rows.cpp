// Commits of several sessions under each durability: one writer syncs alone, or one sync serves all waiting messages.
#include "store/commit_rows.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>
#include <stdexcept>

#include "harness/flusher_thread.hpp"
#include "harness/measure.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"
#include "store/open_journal.hpp"

namespace nfx::bench {

namespace {

using Clock = std::chrono::steady_clock;

class Session {
 public:
  Session(const CommitPlan& plan, const CommitRow& row, std::uint32_t number, JournalFlusher& flusher)
      : messages_(plan.messages), journal_(options_of(plan, row), number, flusher) {}

  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
  [[nodiscard]] std::uint64_t syncs() const noexcept { return journal_->counters().syncs; }
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }

  // False while the ring is full.
  bool append() {
    if (!journal_->append(SeqNum{taken_ + 1}, message(taken_ + 1), now_)) {
      const StoreCondition condition = journal_->condition();  // good: there is space by then
      if (condition == StoreCondition::full || condition == StoreCondition::failed)
        throw std::runtime_error("the journal takes no more: " + journal_->condition_text());
      return false;
    }
    ++taken_;
    journal_->set_next_outbound(SeqNum{taken_ + 1});
    return true;
  }
  bool append_and_remember(Clock::time_point at) {
    if (!append()) return false;
    waiting_.push_back({journal_->position(), at});
    return true;
  }
  void want_sync() noexcept { journal_->want_sync(); }
  bool wait() noexcept { return journal_->wait_durable(journal_->position()); }
  // Takes the messages that are durable now.
  std::uint64_t take_durable(LatencyHistogram& wait_ns) {
    const JournalPosition durable = journal_->durable();
    std::uint64_t count = 0;
    const auto now = Clock::now();
    for (; !waiting_.empty() && waiting_.front().end <= durable; waiting_.pop_front(), ++count)
      wait_ns.record(now - waiting_.front().at);
    if (journal_->condition() == StoreCondition::failed) throw std::runtime_error(journal_->condition_text());
    return count;
  }

  void check() const {
    for (std::uint64_t seq = value(journal_->oldest_kept()); seq <= taken_; ++seq) {
      if (journal_->read(SeqNum{seq}) != std::string_view{message(seq)})
        throw WrongAnswerError("a journal gives back another message " + std::to_string(seq));
    }
  }

 private:
  struct Waiting {
    JournalPosition end;
    Clock::time_point at;
  };

  static JournalOptions options_of(const CommitPlan& plan, const CommitRow& row) {
    JournalOptions options;
    options.directory = plan.folder / "commits";
    options.durability = row.durability;
    options.segment_size = row.sessions > 1 ? 4 * 1024 * 1024 : 64 * 1024 * 1024;
    options.retain_messages = 10'000;
    options.retain_bytes = 256 * 1024 * 1024;
    options.archive = Archive::remove;
    return options;
  }
  [[nodiscard]] const std::string& message(std::uint64_t seq) const { return message_at(messages_, seq); }

  const std::vector<std::string>& messages_;
  UtcTime now_ = read_utc();
  OpenJournal journal_;
  std::uint64_t taken_ = 0;
  std::deque<Waiting> waiting_;
};

using Sessions = std::vector<std::unique_ptr<Session>>;

// Works like a poll thread: appends until `waiting` messages wait in each session, requests a sync, and removes the
// durable ones. Waits for the remaining messages at the end.
std::uint64_t commit_in_groups(CommitRow& row, Sessions& sessions, Clock::time_point end) {
  std::uint64_t committed = 0;
  for (bool waiting = true; waiting;) {
    const auto now = Clock::now();
    waiting = now < end;
    std::uint64_t durable = 0;
    for (const auto& session : sessions) {
      std::size_t places = now < end ? row.waiting - session->waiting() : 0;
      for (; places > 0 && session->append_and_remember(now); --places) continue;
      session->want_sync();
      durable += session->take_durable(row.wait_ns);
      waiting = waiting || session->waiting() > 0;
    }
    committed += durable;
    if (durable == 0) cpu_pause();
  }
  return committed;
}

std::uint64_t commit_one_by_one(CommitRow& row, Session& session, Clock::time_point end) {
  std::uint64_t committed = 0;
  for (auto now = Clock::now(); now < end; ++committed) {
    while (!session.append()) cpu_pause();
    if (!session.wait()) throw std::runtime_error("a message did not become durable");
    const auto after = Clock::now();
    row.wait_ns.record(after - now);
    now = after;
  }
  return committed;
}

std::uint64_t take_all(Session& session, Clock::time_point end) {
  constexpr int between_looks = 64;  // messages between two reads of the clock
  while (Clock::now() < end) {
    for (int i = 0; i < between_looks; ++i) {
      if (!session.append()) cpu_pause();
    }
  }
  return session.taken();
}

}  // namespace

std::vector<CommitRow> commit_rows() {
  std::vector<CommitRow> rows;
  rows.push_back({"none, no wait", Durability::none, 1, 0});
  rows.push_back({"interval, no wait", Durability::interval, 1, 0});
  for (const std::uint32_t waiting : {1U, 4U, 16U, 64U})
    rows.push_back({"group, " + std::to_string(waiting) + " waiting", Durability::group, 1, waiting});
  for (const std::uint32_t sessions : {4U, 16U})
    rows.push_back(
        {"group, " + std::to_string(sessions) + " sessions, 1 waiting each", Durability::group, sessions, 1});
  rows.push_back({"message", Durability::message, 1, 1});
  return rows;
}

void run_commits(CommitRow& row, const CommitPlan& plan) {
  JournalFlusher flusher;
  const FlusherThread thread{flusher, on_cores(plan.flusher_cores)};
  std::filesystem::create_directories(plan.folder / "commits");
  {
    Sessions sessions;
    for (std::uint32_t i = 0; i < row.sessions; ++i)
      sessions.push_back(std::make_unique<Session>(plan, row, i, flusher));
    const auto syncs = [&] {
      std::uint64_t sum = 0;
      for (const auto& session : sessions) sum += session->syncs();
      return sum;
    };
    const std::uint64_t syncs_before = syncs();
    const auto begin = Clock::now();
    const auto end = begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(plan.seconds));
    std::uint64_t committed = 0;
    if (row.waiting == 0) {
      committed = take_all(*sessions.front(), end);
    } else if (row.durability == Durability::message) {
      committed = commit_one_by_one(row, *sessions.front(), end);
    } else {
      committed = commit_in_groups(row, sessions, end);
    }
    const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
    row.rates.push_back(static_cast<double>(committed) / elapsed);
    row.a_sync.push_back(static_cast<double>(committed) /
                         static_cast<double>(std::max<std::uint64_t>(syncs() - syncs_before, 1)));
    for (const auto& session : sessions) session->check();
  }
  std::filesystem::remove_all(plan.folder / "commits");
}

void print_commits(const std::vector<CommitRow>& rows) {
  std::printf("\n%-36s %11s %11s %11s %10s %11s %11s\n", "commits by one thread", "a second", "least", "most", "a sync",
              "wait p50 us", "p99 us");
  for (const CommitRow& row : rows) {
    const auto [low, high] = std::ranges::minmax(row.rates);
    std::printf("%-36s %11.0f %11.0f %11.0f %10.1f", row.name.c_str(), median(row.rates), low, high,
                median(row.a_sync));
    const auto us = [&](double percent) { return static_cast<double>(row.wait_ns.percentile(percent)) / 1000; };
    if (row.waiting != 0) std::printf(" %11.1f %11.1f", us(50), us(99));
    std::printf("\n");
  }
}

}  // namespace nfx::bench
