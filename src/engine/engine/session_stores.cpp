// Opens journals, named after their session, with a flusher each, and runs jobs that wait for a disk on worker threads.
#include "engine/session_stores.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>

#include "engine/clock.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_replica.hpp"

namespace nfx {
namespace {

constexpr std::chrono::seconds longest_close{2};

SessionStore memory_store(const SessionSettings& settings, UtcTime now) {
  MemoryMessageStore store{settings.store, settings.numbers_as_of == UtcTime{} ? now : settings.numbers_as_of};
  store.set_next_inbound(settings.next_inbound);
  store.set_next_outbound(settings.next_outbound);
  if (settings.prefault.value_or(false)) store.prefault();
  return SessionStore{std::move(store)};
}

// Whether the journal in a folder has a message from us to this peer. A journal without messages is not known to be.
bool holds_messages_of(Disk& disk, const std::filesystem::path& folder, const SessionConfig& session) {
  bool ours = false;
  MessageView message;
  static_cast<void>(scan_journal(disk, folder, [&](const JournalRecord& record) {
    if (record.header.kind != RecordKind::message || message.parse(record.body) != WireError::none) return true;
    ours = message.get_view(Tag::SenderCompID) == session.sender_comp_id &&
           message.get_view(Tag::TargetCompID) == session.target_comp_id;
    return false;
  }));
  return ours;
}

// The name of a session's journal: identity(), or its value when the journal was begun. Another session may have had
// the same former name, so the contents of the journal decide.
std::string journal_identity(Disk& disk, const SessionSettings& settings) {
  const std::filesystem::path store = settings.journal.directory;
  std::string name = identity(settings.session);
  const std::string former = former_identity(settings.session);
  if (former.empty() || disk.exists(find_session_folder(disk, store, name))) return name;
  const std::filesystem::path folder = find_session_folder(disk, store, former);
  return disk.exists(folder) && holds_messages_of(disk, folder, settings.session) ? former : name;
}

class MemoryStores final : public SessionStores {
 public:
  SessionStore open(const SessionSettings& settings, UtcTime now) override {
    if (settings.store_kind > StoreKind::memory)
      throw StoreError(identity(settings.session) + ": store = \"" + std::string{to_string(settings.store_kind)} +
                       "\" needs an engine, which writes it to disk");
    return memory_store(settings, now);
  }
  void close(std::string_view, SessionStore) noexcept override {}
  bool later(std::string_view, std::function<void()>) override { return false; }
};

}  // namespace

SessionStores& memory_stores() noexcept {
  static MemoryStores stores;
  return stores;
}

// The work of one thread of run_jobs().
struct JournalStores::Worker {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> jobs;  // bounded by the sessions there may be: each has one at a time
  bool ending = false;
  std::atomic<bool> look{false};  // something has changed, for a busy-polling thread
};

JournalStores::JournalStores(Disk& disk, std::function<void()> durable, StoreHelpers helpers,
                             TemplateStoreLimits limits)
    : disk_(disk), template_stores_(disk, limits) {
  woken_ = durable;
  const auto moved = [this, durable = std::move(durable)] {
    changes_.fetch_add(1, std::memory_order_release);
    if (durable) durable();
  };
  changed_ = moved;
  for (std::uint32_t i = 0; i < std::max(helpers.flushers, std::uint32_t{1}); ++i)
    flushers_.push_back(std::make_unique<JournalFlusher>(moved));
  for (std::uint32_t i = 0; i < helpers.workers; ++i) workers_.push_back(std::make_unique<Worker>());
}

JournalStores::~JournalStores() = default;

// Each counts a journal before it waits for its turn to end, so two journals opened simultaneously seldom get the same.
JournalFlusher& JournalStores::flusher_for(const SessionSettings& settings) {
  if (settings.flusher >= 0) return flusher(static_cast<std::uint32_t>(settings.flusher));
  return **std::ranges::min_element(flushers_, {}, [](const auto& each) { return each->journals(); });
}

SessionStore JournalStores::open(const SessionSettings& settings, UtcTime now) {
  switch (settings.store_kind) {
    case StoreKind::unset:
    case StoreKind::memory: return memory_store(settings, now);
    case StoreKind::journal: return open_journal(settings, now);
  }
  throw StoreError(identity(settings.session) + ": a store of no known kind");
}

SessionStore JournalStores::open_journal(const SessionSettings& settings, UtcTime now) {
  wait_until_closed(identity(settings.session));
  const UtcTime begun = settings.numbers_as_of == UtcTime{} ? now : settings.numbers_as_of;
  const std::string name = journal_identity(disk_, settings);
  if (settings.journal.lean) template_stores_.admit(settings.journal, name, now);
  JournalStore store{disk_, settings.journal, name, begun};
  // Two separate steps, because a kill may come between them. Records that a killed process had only in memory count as
  // well.
  if (!store.recovery().has_inbound) store.set_next_inbound(settings.next_inbound, now);
  if (!store.recovery().has_outbound) store.set_next_outbound(settings.next_outbound, now);
  if (settings.prefault.value_or(false)) store.prefault();
  if (settings.journal.replica != nullptr) settings.journal.replica->call(woken_, changed_);
  store.replicate(now);
  flusher_for(settings).add(store);
  return SessionStore{std::move(store)};
}

void JournalStores::close(std::string_view session, SessionStore store) noexcept {
  if (store.journal() == nullptr) return;
  // A journal leaves its flusher and closes when it is destroyed. That waits for the disk: another thread does it where
  // there is one.
  const std::string name{session};
  const auto closing = std::make_shared<std::optional<SessionStore>>(std::move(store));
  {
    const std::lock_guard lock{closing_mutex_};
    closing_.insert(name);
  }
  const auto close_it = [this, name, closing] {
    closing->reset();
    const std::lock_guard lock{closing_mutex_};
    closing_.erase(closing_.find(name));
    closed_.notify_all();
  };
  if (!later(session, close_it)) close_it();
}

// By another worker of these stores, or by this one before: its jobs have their order.
void JournalStores::wait_until_closed(const std::string& session) {
  std::unique_lock lock{closing_mutex_};
  closed_.wait_for(lock, longest_close, [&] { return !closing_.contains(session); });
}

bool JournalStores::later(std::string_view session, std::function<void()> job) {
  if (workers_.empty()) return false;
  Worker& worker = *workers_[std::hash<std::string_view>{}(session) % workers_.size()];
  const std::lock_guard lock{worker.mutex};
  if (worker.ending) return false;
  worker.jobs.push_back(std::move(job));
  worker.look.store(true, std::memory_order_release);
  worker.changed.notify_one();
  return true;
}

void JournalStores::run_jobs(std::uint32_t number, IdleMode idle, HelperWatch* watch) {
  Worker& worker = *workers_.at(number);
  HelperWatch unseen;
  HelperWatch& watching = watch != nullptr ? *watch : unseen;
  const IdleStrategy waiting{idle};
  const SystemClock clock;
  std::unique_lock lock{worker.mutex};
  for (;;) {
    if (worker.jobs.empty()) {
      if (worker.ending) return;
      if (idle == IdleMode::block) {
        worker.changed.wait(lock);
        continue;
      }
      worker.look.store(false, std::memory_order_relaxed);
      lock.unlock();
      while (!worker.look.load(std::memory_order_acquire)) {
        const MonotonicTime now = clock.monotonic();
        watching.turn_began(now);
        watching.turn_ended(now, true);
        waiting.idle(0);
      }
      lock.lock();
      continue;
    }
    std::function<void()> job = std::move(worker.jobs.front());
    worker.jobs.pop_front();
    lock.unlock();
    watching.turn_began(clock.monotonic());
    job();
    job = nullptr;  // a store that it held is closed before the next job begins
    watching.turn_ended(clock.monotonic(), false);
    lock.lock();
  }
}

void JournalStores::end_jobs() {
  for (const auto& worker : workers_) {
    const std::lock_guard lock{worker->mutex};
    worker->ending = true;
    worker->look.store(true, std::memory_order_release);
    worker->changed.notify_all();
  }
}

}  // namespace nfx
