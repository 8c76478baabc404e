// Serves many journals fairly on one thread, and sleeps when none needs it.
#include "store/journal_flusher.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "nexusfix/base/assert.hpp"
#include "store/journal_writer.hpp"

namespace nfx {

using detail::JournalWriter;

namespace {

// The state of a journal that an iteration may change and that other threads wait for.
struct Published {
  JournalPosition durable;
  int failed;
  bool disk_full;
  std::uint64_t spares;

  explicit Published(JournalWriter& writer)
      : durable(writer.holds_back() ? writer.ring().durable.load(std::memory_order_relaxed) : 0),
        failed(writer.ring().failed.load(std::memory_order_relaxed)),
        disk_full(writer.ring().disk_full.load(std::memory_order_relaxed)),
        spares(writer.ring().spares.load(std::memory_order_relaxed)) {}
  bool operator==(const Published&) const = default;
};

// Runs jobs that wait for memory, so that the flusher does not wait: allocating and mapping pages can take seconds on a
// host that is short of memory. The flusher starts the thread for the first job, and the thread inherits its CPUs and
// priority.
class MemoryThread {
 public:
  std::function<void(const std::function<void()>& run)> in_place;  // null: on the CPUs of its creator

  MemoryThread() = default;
  MemoryThread(const MemoryThread&) = delete;
  MemoryThread& operator=(const MemoryThread&) = delete;
  ~MemoryThread() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      jobs_.clear();
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  // False if the system cannot create a thread.
  bool run(JournalWriter& writer, std::function<void()> job) noexcept {
    const std::lock_guard lock(mutex_);
    try {
      if (!thread_.joinable()) thread_ = std::thread{[this] { in_place ? in_place([this] { work(); }) : work(); }};
      jobs_.push_back({&writer, std::move(job)});
    } catch (const std::exception&) {
      return false;
    }
    changed_.notify_all();
    return true;
  }

  // Returns when no job of this journal is running or queued.
  void forget(const JournalWriter& writer) noexcept {
    std::unique_lock lock(mutex_);
    std::erase_if(jobs_, [&](const Job& job) { return job.writer == &writer; });
    changed_.wait(lock, [&] { return running_ != &writer; });
  }

 private:
  struct Job {
    JournalWriter* writer;
    std::function<void()> run;
  };

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
      if (ending_) return;
      const Job job = std::move(jobs_.front());
      jobs_.pop_front();
      running_ = job.writer;
      lock.unlock();
      job.run();
      lock.lock();
      running_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;  // bounded: at most one job for the ring and a few for the index per journal
  const JournalWriter* running_ = nullptr;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace

struct JournalFlusher::Parts final : detail::FlusherSide {
  std::function<void()> durable;
  int event = -1;
  std::atomic<bool> elsewhere{false};
  MemoryThread memory;

  // Held during the work on one journal, so that removing a journal waits for at most that.
  std::mutex mutex;
  std::vector<JournalWriter*> writers;
  std::size_t zeros_next = 0;   // index of the next journal
  std::atomic<int> waiting{0};  // threads that wait for the mutex; the flusher lets them go first
  std::atomic<std::size_t> journals{0};

  explicit Parts(std::function<void()> on_durable) : durable(std::move(on_durable)) {
    event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event < 0) throw std::system_error(errno, std::generic_category(), "cannot make the flusher's eventfd");
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() { ::close(event); }

  void wake() noexcept override {
    const int saved = errno;  // a signal handler must preserve errno
    const std::uint64_t one = 1;
    // A full counter means that it is awake already.
    [[maybe_unused]] const auto written = ::write(event, &one, sizeof one);
    errno = saved;
  }

  void remove(JournalWriter& writer) noexcept override {
    {
      waiting.fetch_add(1);
      const std::lock_guard lock(mutex);
      waiting.fetch_sub(1);
      const std::size_t erased = std::erase(writers, &writer);
      NFX_ASSERT(erased <= 1);
      journals.fetch_sub(erased, std::memory_order_relaxed);
      writer.attach(nullptr);
    }
    leave_memory(writer);
  }

  // Waits until its ring and index have no job for memory, without the mutex, because the flusher would wait for that
  // too.
  void leave_memory(JournalWriter& writer) noexcept {
    memory.forget(writer);
    writer.provides_here();
  }

  bool run_elsewhere(JournalWriter& writer, std::function<void()> job) noexcept override {
    return elsewhere.load(std::memory_order_relaxed) && memory.run(writer, std::move(job));
  }

  // For all journals, before more is written and synced: a session may be waiting for it, and it is quick.
  void reserve_space(MonotonicTime now) noexcept {
    for (JournalWriter* writer : writers) writer->reserve_when_due(now);
  }

  // The journal with a due spare segment whose stream will need it first. Null: none.
  [[nodiscard]] JournalWriter* spare_is_due(MonotonicTime now) const noexcept {
    JournalWriter* first = nullptr;
    for (JournalWriter* writer : writers) {
      if (!writer->spare_due(now)) continue;
      if (first == nullptr || writer->left_in_segment() < first->left_in_segment()) first = writer;
    }
    return first;
  }

  // Creates the next segment of this journal. Returns whether anything changed that other threads wait for.
  bool make_spare(JournalWriter& writer, MonotonicTime now) noexcept {
    const Published before(writer);
    writer.make_spare_ahead(now);
    return Published(writer) != before;
  }

  // Runs between the syncs of two journals, if a segment is nearly full and has no successor: its messages would be
  // refused. Further such journals are served after the next sync.
  bool make_urgent_spare(MonotonicTime now) noexcept {
    JournalWriter* const writer = spare_is_due(now);
    if (writer == nullptr || !writer->is_spare_urgent()) return false;
    const bool changed = make_spare(*writer, now);
    JournalWriter* const next = spare_is_due(now);
    if (next != nullptr && next->is_spare_urgent()) space_wanted.store(true);
    return changed;
  }

  // Takes journals in turn, so that none waits for all zeros of the earlier ones. Does nothing while a session's ring
  // fills up, because zeros can wait.
  bool write_zeros(MonotonicTime now) noexcept {
    if (std::ranges::any_of(writers, [](const JournalWriter* writer) { return writer->is_wanted(); })) return false;
    for (std::size_t i = 0; i < writers.size(); ++i) {
      if (zeros_next >= writers.size()) zeros_next = 0;
      if (writers[zeros_next++]->write_zeros(now)) return true;
    }
    return false;
  }

  void wait_for_others() const noexcept {
    while (waiting.load() > 0) ::sched_yield();
  }

  [[nodiscard]] bool anything_wanted() {
    if (space_wanted.load(std::memory_order_seq_cst)) return true;
    const std::lock_guard lock(mutex);
    return std::ranges::any_of(writers, [](const JournalWriter* writer) { return writer->is_wanted(); });
  }
};

JournalFlusher::JournalFlusher(std::function<void()> durable) : parts_(std::make_unique<Parts>(std::move(durable))) {}

JournalFlusher::~JournalFlusher() {
  const std::lock_guard lock(parts_->mutex);
  for (JournalWriter* writer : parts_->writers) {
    writer->attach(nullptr);
    parts_->leave_memory(*writer);
  }
}

void JournalFlusher::wait_for_memory_elsewhere(std::function<void(const std::function<void()>& run)> in_place) {
  if (parts_->elsewhere.load()) return;
  parts_->memory.in_place = std::move(in_place);
  parts_->elsewhere.store(true);
}

void JournalFlusher::add(JournalStore& store) {
  {
    parts_->journals.fetch_add(1, std::memory_order_relaxed);
    parts_->waiting.fetch_add(1);
    const std::lock_guard lock(parts_->mutex);
    parts_->waiting.fetch_sub(1);
    NFX_ASSERT(!store.writer().attached());  // a journal has one flusher
    parts_->writers.push_back(&store.writer());
    store.writer().attach(parts_.get());
  }
  parts_->wake();
}

void JournalFlusher::remove(JournalStore& store) noexcept { parts_->remove(store.writer()); }

std::size_t JournalFlusher::journals() const noexcept { return parts_->journals.load(std::memory_order_relaxed); }

const LatencyCounts& JournalFlusher::syncs() const noexcept { return parts_->syncs; }

Duration JournalFlusher::turn(Instant now) {
  Parts& parts = *parts_;
  parts.turn_began = std::chrono::steady_clock::now();
  Duration next = std::chrono::seconds{1};
  bool changed = false;
  for (std::size_t i = 0;; ++i) {
    parts.wait_for_others();
    const std::lock_guard lock(parts.mutex);
    if (parts.space_wanted.exchange(false)) {
      parts.reserve_space(now.monotonic);
      changed = parts.make_urgent_spare(now.monotonic) || changed;
    }
    if (i >= parts.writers.size()) break;
    JournalWriter& writer = *parts.writers[i];
    const Published before(writer);
    next = std::min(next, writer.turn(now));
    changed = changed || Published(writer) != before;
  }
  // One slow step per iteration, so that no session's sync waits longer.
  bool worked_ahead = false;
  {
    parts.wait_for_others();
    const std::lock_guard lock(parts.mutex);
    JournalWriter* const writer = parts.spare_is_due(now.monotonic);
    if (writer != nullptr) changed = parts.make_spare(*writer, now.monotonic) || changed;
    worked_ahead = writer != nullptr || parts.write_zeros(now.monotonic);
  }
  if (changed && parts.durable) parts.durable();
  return worked_ahead ? Duration::zero() : next;
}

void JournalFlusher::wait(Duration longest) {
  if (longest <= Duration::zero()) return;
  parts_->sleeping.store(true, std::memory_order_seq_cst);
  if (!parts_->anything_wanted()) {
    pollfd on_event{parts_->event, POLLIN, 0};
    timespec timeout{};
    timeout.tv_sec = static_cast<time_t>(longest / std::chrono::seconds{1});
    timeout.tv_nsec = static_cast<long>((longest % std::chrono::seconds{1}).count());
    ::ppoll(&on_event, 1, &timeout, nullptr);
  }
  parts_->sleeping.store(false, std::memory_order_relaxed);
  std::uint64_t count;
  [[maybe_unused]] const auto taken = ::read(parts_->event, &count, sizeof count);
}

void JournalFlusher::wake() noexcept { parts_->wake(); }

}  // namespace nfx
