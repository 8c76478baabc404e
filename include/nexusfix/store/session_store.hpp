// The store of one session, in memory or on disk: the choice is made at start, each call costs one compare for it.
// Thread, cost, lifetime, errors: those of the store inside; see store.hpp, memory_message_store.hpp,
// journal_store.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "nexusfix/store/journal_store.hpp"
#include "nexusfix/store/memory_message_store.hpp"
#include "nexusfix/store/store.hpp"

namespace nfx {

class SessionStore {
  template <class Self, class F>
  static decltype(auto) call(Self& self, F&& f) {
    if (auto* journal = std::get_if<JournalStore>(&self.store_)) return f(*journal);
    return f(*std::get_if<MemoryMessageStore>(&self.store_));
  }

 public:
  explicit SessionStore(MemoryMessageStore store) : store_(std::move(store)) {}
  explicit SessionStore(JournalStore store) : store_(std::move(store)) {}

  // The journal; null when everything is in memory.
  [[nodiscard]] JournalStore* journal() noexcept { return std::get_if<JournalStore>(&store_); }
  [[nodiscard]] const JournalStore* journal() const noexcept { return std::get_if<JournalStore>(&store_); }
  [[nodiscard]] MemoryMessageStore* memory() noexcept { return std::get_if<MemoryMessageStore>(&store_); }

  bool append(SeqNum seq, std::string_view bytes, UtcTime now = {}) noexcept {
    return call(*this, [&](auto& store) { return store.append(seq, bytes, now); });
  }
  [[nodiscard]] std::optional<std::string_view> read(SeqNum seq) const noexcept {
    return call(*this, [&](const auto& store) { return store.read(seq); });
  }
  template <class Visitor>
  std::size_t for_each(SeqNum first, SeqNum last, Visitor&& visitor) const {
    return call(*this, [&](const auto& store) { return store.for_each(first, last, visitor); });
  }
  [[nodiscard]] SeqNum oldest_kept() const noexcept {
    return call(*this, [](const auto& store) { return store.oldest_kept(); });
  }
  [[nodiscard]] SeqNum next_outbound() const noexcept {
    return call(*this, [](const auto& store) { return store.next_outbound(); });
  }
  [[nodiscard]] SeqNum next_inbound() const noexcept {
    return call(*this, [](const auto& store) { return store.next_inbound(); });
  }
  void set_next_outbound(SeqNum seq, UtcTime now = {}) noexcept {
    call(*this, [&](auto& store) { store.set_next_outbound(seq, now); });
  }
  void set_next_inbound(SeqNum seq, UtcTime now = {}) noexcept {
    call(*this, [&](auto& store) { store.set_next_inbound(seq, now); });
  }
  [[nodiscard]] UtcTime creation_time() const noexcept {
    return call(*this, [](const auto& store) { return store.creation_time(); });
  }
  void reset(UtcTime now) noexcept {
    call(*this, [&](auto& store) { store.reset(now); });
  }
  [[nodiscard]] StoreCounts counts() const noexcept {
    return call(*this, [](const auto& store) { return store.counts(); });
  }

 private:
  std::variant<MemoryMessageStore, JournalStore> store_;
};

static_assert(MessageStore<SessionStore>);

}  // namespace nfx
