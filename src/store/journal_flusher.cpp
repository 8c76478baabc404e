// Serves many journals from one thread, fairly, and sleeps when none needs it.
#include "nexusfix/store/journal_flusher.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "nexusfix/base/assert.hpp"
#include "store/journal_writer.hpp"

namespace nfx {

using detail::JournalWriter;

struct JournalFlusher::Parts final : detail::FlusherSide {
  std::function<void()> durable;
  int event = -1;

  // Held for the work on one journal, so that removing one waits for no more than that.
  std::mutex mutex;
  std::vector<JournalWriter*> writers;
  std::atomic<int> waiting{0};  // for the mutex: the flusher lets them go first
  std::atomic<std::size_t> journals{0};

  explicit Parts(std::function<void()> on_durable) : durable(std::move(on_durable)) {
    event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event < 0) throw std::system_error(errno, std::generic_category(), "cannot make the flusher's eventfd");
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() { ::close(event); }

  void wake() noexcept override {
    const int saved = errno;  // of what a signal interrupted
    const std::uint64_t one = 1;
    // Full means that it is awake already.
    [[maybe_unused]] const auto written = ::write(event, &one, sizeof one);
    errno = saved;
  }

  void remove(JournalWriter& writer) noexcept override {
    waiting.fetch_add(1);
    const std::lock_guard lock(mutex);
    waiting.fetch_sub(1);
    const std::size_t erased = std::erase(writers, &writer);
    NFX_ASSERT(erased <= 1);
    journals.fetch_sub(erased, std::memory_order_relaxed);
    writer.attach(nullptr);
  }

  // Of all journals, before more is written and synced: a session may be waiting for it, and it is quick.
  void reserve_space(MonotonicTime now) noexcept {
    for (JournalWriter* writer : writers) writer->reserve_when_due(now);
  }

  [[nodiscard]] bool anything_wanted() {
    const std::lock_guard lock(mutex);
    return std::ranges::any_of(writers, [](const JournalWriter* writer) { return writer->is_wanted(); });
  }
};

namespace {

// What one iteration may change of a journal that others wait for.
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

}  // namespace

JournalFlusher::JournalFlusher(std::function<void()> durable) : parts_(std::make_unique<Parts>(std::move(durable))) {}

JournalFlusher::~JournalFlusher() {
  const std::lock_guard lock(parts_->mutex);
  for (JournalWriter* writer : parts_->writers) writer->attach(nullptr);
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
  Duration next = std::chrono::seconds{1};
  bool changed = false;
  bool worked_ahead = false;
  for (std::size_t i = 0;; ++i) {
    while (parts_->waiting.load() > 0) ::sched_yield();
    const std::lock_guard lock(parts_->mutex);
    if (parts_->space_wanted.exchange(false)) parts_->reserve_space(now.monotonic);
    if (i >= parts_->writers.size()) break;
    JournalWriter& writer = *parts_->writers[i];
    const Published before(writer);
    next = std::min(next, writer.turn(now));
    // One slow step in an iteration, of one journal: the others' syncs do not wait for more.
    if (!worked_ahead) worked_ahead = writer.work_ahead(now.monotonic);
    changed = changed || Published(writer) != before;
  }
  if (changed && parts_->durable) parts_->durable();
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
