// The Abseil hash tables of SessionIndex, so that programs that include its header need no Abseil.
#include "engine/session_index.hpp"

#include <absl/container/flat_hash_map.h>

#include <string>
#include <tuple>
#include <utility>

namespace nfx {
namespace {

struct OwnedKey {
  std::string listen, begin_string, ours, peers;

  [[nodiscard]] SessionKey view() const noexcept { return {listen, begin_string, ours, peers}; }
};

const SessionKey& view_of(const SessionKey& key) noexcept { return key; }
SessionKey view_of(const OwnedKey& key) noexcept { return key.view(); }

struct KeyHash {
  using is_transparent = void;
  template <class Key>
  std::size_t operator()(const Key& key) const noexcept {
    const SessionKey parts = view_of(key);
    const auto text = [](std::string_view part) { return absl::string_view{part.data(), part.size()}; };
    return absl::Hash<std::tuple<absl::string_view, absl::string_view, absl::string_view, absl::string_view>>{}(
        {text(parts.listen), text(parts.begin_string), text(parts.ours), text(parts.peers)});
  }
};

struct KeyEqual {
  using is_transparent = void;
  template <class Left, class Right>
  bool operator()(const Left& left, const Right& right) const noexcept {
    const SessionKey a = view_of(left), b = view_of(right);
    return a.peers == b.peers && a.ours == b.ours && a.listen == b.listen && a.begin_string == b.begin_string;
  }
};

}  // namespace

struct SessionIndex::Tables {
  absl::flat_hash_map<OwnedKey, std::uint32_t, KeyHash, KeyEqual> by_key;
  absl::flat_hash_map<std::size_t, std::uint32_t> by_session;
};

namespace {

template <class Table, class Key>
std::optional<std::uint32_t> find_in(const Table& table, const Key& key) noexcept {
  const auto found = table.find(key);
  if (found == table.end()) return std::nullopt;
  return found->second;
}

}  // namespace

SessionIndex::SessionIndex() : tables_(std::make_unique<Tables>()) {}
SessionIndex::~SessionIndex() = default;

std::optional<std::uint32_t> SessionIndex::find(const SessionKey& key) const noexcept {
  return find_in(tables_->by_key, key);
}

bool SessionIndex::add(const SessionKey& key, std::uint32_t slot) {
  if (tables_->by_key.contains(key)) return false;
  return tables_->by_key
      .emplace(OwnedKey{std::string{key.listen}, std::string{key.begin_string}, std::string{key.ours},
                        std::string{key.peers}},
               slot)
      .second;
}

bool SessionIndex::remove(const SessionKey& key) noexcept {
  const auto found = tables_->by_key.find(key);
  if (found == tables_->by_key.end()) return false;
  tables_->by_key.erase(found);
  return true;
}

std::optional<std::uint32_t> SessionIndex::find(std::size_t session) const noexcept {
  return find_in(tables_->by_session, session);
}

bool SessionIndex::add(std::size_t session, std::uint32_t slot) {
  return tables_->by_session.emplace(session, slot).second;
}

bool SessionIndex::remove(std::size_t session) noexcept { return tables_->by_session.erase(session) != 0; }

}  // namespace nfx
