// The keys of a configuration file: one row each, with how its value is read, its default and what it means.
// parse_config applies them, config_reference prints them; there is no other list.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/value.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/config/schedule_config.hpp"

namespace nfx::config {

// A session as the file describes it; the dictionary is loaded when all keys are known.
struct SessionDraft {
  SessionDraft();  // in a file of its own: inlined, g++ 12 takes the settings for uninitialised

  SessionSettings settings;
  std::string dictionary;  // file name, "none", or empty for the one that fits the version
  std::string transport_dictionary;
  std::vector<std::string> dictionary_overlays;
  std::vector<std::string> application_dictionaries;  // "FIX.4.4=FIX44.xml"
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
  std::string (*show)(const Target&);  // a default-made target's value, as it would stand in the file
  std::string_view meaning;
};

// Draft to settings but for the dictionaries: schedule, validation, password, store. Throws KeyProblem.
void finish(SessionDraft& draft);

// What is wrong with values that only make sense together.
class KeyProblem : public BadValue {
 public:
  KeyProblem(std::string key, const std::string& text) : BadValue(text), key_(std::move(key)) {}
  [[nodiscard]] const std::string& key() const noexcept { return key_; }

 private:
  std::string key_;
};

[[nodiscard]] std::span<const Key<EngineConfig>> engine_keys() noexcept;
[[nodiscard]] std::span<const Key<PlacementRequest>> placement_keys() noexcept;
[[nodiscard]] std::span<const Key<RoleRequest>> role_keys() noexcept;  // of [placement.poll] and the other roles
[[nodiscard]] std::span<const Key<LogConfig>> log_keys() noexcept;
[[nodiscard]] std::span<const Key<SessionDraft>> session_keys() noexcept;

}  // namespace nfx::config
