// The keys of a configuration file: one row each, with its reader, default and meaning. The reader, help and
// documentation use these rows; there is no other list. To add a key, add its member and its row.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "config/schedule_config.hpp"
#include "config/value.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx::config {

// The treatment of irregularities in a dictionary that have an obvious meaning.
enum class DictionaryProblems : std::uint8_t { repair, refuse };
[[nodiscard]] constexpr std::string_view to_string(DictionaryProblems problems) noexcept {
  switch (problems) {
    case DictionaryProblems::repair: return "repair";
    case DictionaryProblems::refuse: return "refuse";
  }
  return "?";
}

// A session as the file describes it; the dictionary is loaded when all keys are known.
struct SessionDraft {
  SessionDraft();

  SessionSettings settings;
  std::string dictionary;  // file name, "none", or empty for the shipped dictionary of the version
  std::string transport_dictionary;
  std::vector<std::string> dictionary_overlays;
  std::vector<std::string> application_dictionaries;  // "FIX.4.4=FIX44.xml"
  DictionaryProblems dictionary_problems = DictionaryProblems::repair;
  ScheduleTexts schedule;
  std::string password_env;
  bool tls_mentioned = false;
  ValidationChecks checks;
  ValidationMode validation = ValidationMode::strict;
  std::vector<ValidationOverride> validation_overrides;
};

template <class Target>
struct Key {
  std::string_view name;
  std::string_view kind;
  void (*read)(Target&, const Value&);
  std::string (*show)(const Target&);  // the value of a target with defaults, in the syntax of the file
  std::string_view meaning;            // self-contained: the effect, the unit, when to change it, an example
  std::int64_t least = 0;              // for integers
  std::int64_t most = 0;
  std::string (*choices)(const Target&) = nullptr;  // the choices of an enumeration: "\"hash\" or \"balanced\""
};

// Whether a table is well-formed: names are unique, help texts are sentences, ranges are ordered.
template <class Target, std::size_t count>
[[nodiscard]] consteval bool rows_are_sound(const std::array<Key<Target>, count>& rows) {
  for (std::size_t i = 0; i < count; ++i) {
    const Key<Target>& row = rows[i];
    for (const char c : row.name) {
      if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_') return false;
    }
    if (row.name.empty() || row.read == nullptr || row.show == nullptr) return false;
    if (row.meaning.size() < 25 || row.meaning.size() > 320 || !row.meaning.ends_with('.')) return false;
    if (row.meaning[0] >= 'a' && row.meaning[0] <= 'z' && !row.meaning.starts_with("store = ")) return false;
    if (row.meaning.contains('|') || row.meaning.contains('\n')) return false;  // must fit into a Markdown table
    if (row.least > row.most || (row.kind == "integer") != (row.least != row.most)) return false;
    if (row.choices != nullptr && row.kind != "text") return false;
    for (std::size_t k = 0; k < i; ++k) {
      if (rows[k].name == row.name) return false;
    }
  }
  return true;
}

// "integer, 1 to 1024", "\"hash\" or \"balanced\"", "boolean".
template <class Target>
[[nodiscard]] std::string type_text(const Key<Target>& key) {
  if (key.choices != nullptr) return key.choices(Target{});
  if (key.least == key.most) return std::string{key.kind};
  return std::string{key.kind} + ", " + std::to_string(key.least) + " to " + std::to_string(key.most);
}

// Completes a draft after its keys are read, except for its dictionaries. Throws KeyProblem.
void finish(SessionDraft& draft);

// A value that contradicts another one.
class KeyProblem : public BadValue {
 public:
  KeyProblem(std::string key, const std::string& text) : BadValue(text), key_(std::move(key)) {}
  [[nodiscard]] const std::string& key() const noexcept { return key_; }

 private:
  std::string key_;
};

// A key of an earlier version. It is accepted with a warning, and its value is ignored.
struct DroppedKey {
  std::string_view section, name;
  std::string_view why;
};
inline constexpr auto dropped_keys =
    std::to_array<DroppedKey>({{"engine", "latency_every", "each message is measured"}});
[[nodiscard]] constexpr bool is_dropped(std::string_view section, std::string_view name) noexcept {
  return std::ranges::any_of(dropped_keys,
                             [&](const DroppedKey& each) { return each.section == section && each.name == name; });
}

[[nodiscard]] std::span<const Key<EngineConfig>> engine_keys() noexcept;
[[nodiscard]] std::span<const Key<PlacementRequest>> placement_keys() noexcept;
[[nodiscard]] std::span<const Key<RoleRequest>> role_keys() noexcept;  // keys of [placement.poll] and the other roles
[[nodiscard]] std::span<const Key<LogConfig>> log_keys() noexcept;
[[nodiscard]] std::span<const Key<ControlConfig>> control_keys() noexcept;
[[nodiscard]] std::span<const Key<ClusterConfig>> cluster_keys() noexcept;
[[nodiscard]] std::span<const Key<SessionDraft>> session_keys() noexcept;

}  // namespace nfx::config
