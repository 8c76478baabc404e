// Compares a new version of a configuration file with the version that an engine runs with, key by key, and returns the
// effect of each difference. For `nfx engine reload` and `nfx session change`, docs/control.md.
// Thread: any. Cost: parses the file. Errors: ConfigError from load_with_keys(), naming file, line and fix.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/config/engine_config.hpp"

namespace nfx {

// A key that is set in the file.
struct GivenKey {
  std::string value{};  // as TOML on one line; secrets mostly as names, equal only if the secrets are; never print it
  std::string shown{};  // printable form, with secrets as "***"
  std::string place{};  // "engine.toml:12"
};
using GivenKeys = std::map<std::string, GivenKey, std::less<>>;

// The keys that a file sets; keys left at their defaults are not included.
struct ConfigKeys {
  std::map<std::string, GivenKeys, std::less<>> sections;  // "engine", "log", "control", "placement.poll"
  std::vector<GivenKeys> sessions;                         // in the order of EngineConfig::sessions, with [defaults]
};

struct ConfigWithKeys {
  EngineConfig config;
  ConfigKeys keys;
};

// Reads and checks a configuration in either format, as load_any_config does.
[[nodiscard]] ConfigWithKeys load_with_keys(const std::filesystem::path& file);
// The keys in the text of a configuration that was read successfully before.
[[nodiscard]] ConfigKeys keys_of(std::string_view text, const std::filesystem::path& file);

enum class ChangeNeeds : std::uint8_t {
  nothing,     // can be changed while the session is logged on
  disconnect,  // the session is removed and added again, so it must be disconnected first
  restart,     // the engine must be restarted
};
[[nodiscard]] std::string_view to_string(ChangeNeeds needs) noexcept;

// An unset key has its default as value.
struct KeyChange {
  std::string section{};  // "session", "engine", "placement.poll"
  std::string key{};
  std::string before{};
  std::string after{};
  std::string place{};  // of the new value; of the old one if the key is no longer set
  ChangeNeeds needs = ChangeNeeds::restart;
};

[[nodiscard]] std::vector<KeyChange> changes_of_session(const GivenKeys& before, const GivenKeys& after);
// The changes in all sections except the sessions.
[[nodiscard]] std::vector<KeyChange> changes_of_engine(const ConfigKeys& before, const ConfigKeys& after);
// The most that any of the changes needs.
[[nodiscard]] ChangeNeeds need_of(const std::vector<KeyChange>& changes) noexcept;

}  // namespace nfx
