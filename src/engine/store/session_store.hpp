// The store of one session, in memory or on disk. The choice is made at start and costs one compare per call. Thread,
// cost, lifetime, errors: as the inner store; see store.hpp, memory_message_store.hpp, journal_store.hpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "nexusfix/store/store_options.hpp"
#include "store/journal_store.hpp"
#include "store/memory_message_store.hpp"
#include "store/store.hpp"

namespace nfx {

namespace detail {

template <class, class... Stores>
struct OneOf {
  using type = std::variant<Stores...>;
};
#define NFX_STORE_TYPE(name, type, help) , type
using AnyStore = OneOf<void NFX_STORES(NFX_STORE_TYPE)>::type;
#undef NFX_STORE_TYPE

}  // namespace detail

class SessionStore {
  using Any = detail::AnyStore;

  // One compare for each store except the first, starting with the last.
  template <std::size_t Last = std::variant_size_v<Any> - 1, class Self, class F>
  static decltype(auto) call(Self& self, F&& f) {
    if constexpr (Last == 0) {
      return f(*std::get_if<0>(&self.store_));
    } else {
      if (auto* store = std::get_if<Last>(&self.store_)) return f(*store);
      return call<Last - 1>(self, std::forward<F>(f));
    }
  }

 public:
  template <class Store>
    requires(!std::same_as<Store, SessionStore> && std::constructible_from<Any, Store>)
  explicit SessionStore(Store store) : store_(std::move(store)) {}

  // The journal; null if everything is in memory.
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
  // With the peer's message that was processed; a journal stores it as well.
  void set_next_inbound(SeqNum seq, UtcTime now = {}, std::string_view received = {}) noexcept {
    call(*this, [&](auto& store) { store.set_next_inbound(seq, now, received); });
  }
  // A number set by an operator, with the reason for the journal's record. False if it did not fit.
  [[nodiscard]] bool set_number(const NumberChange& change, UtcTime now) noexcept {
    if (JournalStore* in = journal()) return in->set_number(change, now);
    if (change.inbound) {
      set_next_inbound(change.seq, now);
    } else {
      call(*this, [&](auto& store) { store.forget_from(change.seq); });
      set_next_outbound(change.seq, now);
    }
    return true;
  }
  // The peer was asked to reset both sequence numbers and has not answered. Only a journal records this, for the next
  // process. The next reset or sent message ends it.
  void record_asked_reset(UtcTime now) noexcept {
    if (JournalStore* in = journal()) in->record_asked_reset(now);
  }
  [[nodiscard]] bool reset_asked() const noexcept { return journal() != nullptr && journal()->reset_asked(); }
  [[nodiscard]] UtcTime creation_time() const noexcept {
    return call(*this, [](const auto& store) { return store.creation_time(); });
  }
  void reset(UtcTime now) noexcept {
    call(*this, [&](auto& store) { store.reset(now); });
  }
  // The approximate size of messages that can be resent; for a journal, of all readable records.
  [[nodiscard]] std::uint64_t stored_bytes() const noexcept {
    return call(*this, [](const auto& store) { return store.stored_bytes(); });
  }
  // Prefetches what the next append uses.
  void warm() const noexcept {
    call(*this, [](const auto& store) { store.warm(); });
  }
  [[nodiscard]] StoreCounts counts() const noexcept {
    return call(*this, [](const auto& store) { return store.counts(); });
  }

 private:
  Any store_;
};

static_assert(MessageStore<SessionStore>);

}  // namespace nfx
