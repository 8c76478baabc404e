#include "nexusfix/engine/session_stores.hpp"

#include <memory>
#include <utility>

namespace nfx {
namespace {

SessionStore memory_store(const SessionSettings& settings, UtcTime now) {
  MemoryMessageStore store{settings.store, settings.numbers_as_of == UtcTime{} ? now : settings.numbers_as_of};
  store.set_next_inbound(settings.next_inbound);
  store.set_next_outbound(settings.next_outbound);
  if (settings.prefault) store.prefault();
  return SessionStore{std::move(store)};
}

class MemoryStores final : public SessionStores {
 public:
  SessionStore open(const SessionSettings& settings, UtcTime now) override {
    if (settings.store_kind == StoreKind::journal)
      throw StoreError(identity(settings.session) + ": a journal needs an engine, which writes it to disk");
    return memory_store(settings, now);
  }
  void close(SessionStore) noexcept override {}
  bool later(std::function<void()>) override { return false; }
};

}  // namespace

SessionStores& memory_stores() noexcept {
  static MemoryStores stores;
  return stores;
}

JournalStores::JournalStores(Disk& disk, std::function<void()> durable, bool has_worker)
    : disk_(disk),
      flusher_([this, durable = std::move(durable)] {
        changes_.fetch_add(1, std::memory_order_release);
        if (durable) durable();
      }),
      has_worker_(has_worker) {}

SessionStore JournalStores::open(const SessionSettings& settings, UtcTime now) {
  if (settings.store_kind != StoreKind::journal) return memory_store(settings, now);
  const UtcTime begun = settings.numbers_as_of == UtcTime{} ? now : settings.numbers_as_of;
  JournalStore store{disk_, settings.journal, identity(settings.session), begun};
  if (store.recovery().records == 0) {
    store.set_next_inbound(settings.next_inbound, now);
    store.set_next_outbound(settings.next_outbound, now);
  }
  if (settings.prefault) store.prefault();
  flusher_.add(store);
  return SessionStore{std::move(store)};
}

void JournalStores::close(SessionStore store) noexcept {
  JournalStore* journal = store.journal();
  if (journal == nullptr) return;
  // Closing waits for the disk: another thread does it where there is one.
  auto closing = std::make_shared<SessionStore>(std::move(store));
  const auto close_now = [this, closing] { flusher_.remove(*closing->journal()); };
  if (!later(close_now)) close_now();
}

bool JournalStores::later(std::function<void()> job) {
  const std::lock_guard lock{mutex_};
  if (!has_worker_ || ending_) return false;
  jobs_.push_back(std::move(job));
  changed_.notify_one();
  return true;
}

void JournalStores::run_jobs() {
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    std::vector<std::function<void()>> jobs = std::exchange(jobs_, {});
    lock.unlock();
    for (std::function<void()>& job : jobs) {
      job();
      job = nullptr;  // what it held, a store perhaps, is closed before the next one begins
    }
    lock.lock();
  }
}

void JournalStores::end_jobs() {
  const std::lock_guard lock{mutex_};
  ending_ = true;
  changed_.notify_all();
}

}  // namespace nfx
