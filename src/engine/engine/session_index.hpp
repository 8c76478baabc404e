// Finds the slot of a session by the names in a Logon, and of a session that came while the engine runs by its number.
// Thread: one owner, a poll loop. Cost: a look-up is a hash and a probe, and never allocates; adding allocates.
// Sessions that are connected are found by their connection instead, in a dense table, so none of this runs for a
// message after the Logon. The tables live in the library: a program that includes this header needs no Abseil, and
// cannot disagree with the library about their layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace nfx {

// The key of an acceptor: the names on both sides, and the listen address.
struct SessionKey {
  std::string_view listen;  // "127.0.0.1:9878"
  std::string_view begin_string;
  std::string_view ours;
  std::string_view peers;
};

class SessionIndex {
 public:
  SessionIndex();
  ~SessionIndex();
  SessionIndex(const SessionIndex&) = delete;
  SessionIndex& operator=(const SessionIndex&) = delete;

  [[nodiscard]] std::optional<std::uint32_t> find(const SessionKey& key) const noexcept;
  // False when there is one of this key already, which stays.
  bool add(const SessionKey& key, std::uint32_t slot);
  bool remove(const SessionKey& key) noexcept;

  [[nodiscard]] std::optional<std::uint32_t> find(std::size_t session) const noexcept;
  bool add(std::size_t session, std::uint32_t slot);
  bool remove(std::size_t session) noexcept;

 private:
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

}  // namespace nfx
