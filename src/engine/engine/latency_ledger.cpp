// Sessions that come and go, and copies of what they recorded.
#include "engine/latency_ledger.hpp"

namespace nfx {

std::shared_ptr<SessionBook> LatencyLedger::enter(const std::string& session) {
  static std::atomic<std::uint64_t> serials{0};
  auto book = std::make_shared<SessionBook>();
  book->session = session;
  book->serial = serials.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::lock_guard lock{mutex_};
  books_.push_back(book);
  return book;
}

void LatencyLedger::leave(const std::shared_ptr<SessionBook>& book) noexcept {
  if (book == nullptr) return;
  const std::lock_guard lock{mutex_};
  left_.add(book->pages.set());
  std::erase(books_, book);
}

void LatencyLedger::report(LatencyReport& into, std::uint32_t poll_thread, const LoopLatency& loop) const {
  std::vector<std::shared_ptr<const SessionBook>> books;
  ThreadLatency& thread = into.threads.emplace_back();
  thread.poll_thread = poll_thread;
  {
    const std::lock_guard lock{mutex_};
    books.assign(books_.begin(), books_.end());
    thread.stages = left_;
  }
  thread.loop = loop;
  into.sessions.reserve(into.sessions.size() + books.size());
  for (const auto& book : books) {
    into.sessions.push_back({book->session, poll_thread, book->serial, book->pages.set()});
    thread.stages.add(into.sessions.back().stages);
  }
}

}  // namespace nfx
