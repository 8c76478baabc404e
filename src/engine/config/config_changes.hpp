// What another version of a configuration file has differently from the one that an engine runs with, key by key, and
// what each difference needs. For `nfx engine reload` and `nfx session change`, docs/control.md.
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

// A key as a file has it.
struct GivenKey {
  std::string value{};  // as TOML on one line, most secrets as names that differ where they do; never print it
  std::string shown{};  // to print: secrets as "***"
  std::string place{};  // "engine.toml:12"
};
using GivenKeys = std::map<std::string, GivenKey, std::less<>>;

// The keys of a file, without those that it leaves at their defaults.
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
// The keys of the text of a configuration that has been read before.
[[nodiscard]] ConfigKeys keys_of(std::string_view text, const std::filesystem::path& file);

enum class ChangeNeeds : std::uint8_t {
  nothing,     // it can be made while the session is logged on
  disconnect,  // the session is removed and added, which needs it to be without a connection
  restart,     // of the engine
};
[[nodiscard]] std::string_view to_string(ChangeNeeds needs) noexcept;

// The value of a key that is not given is its default.
struct KeyChange {
  std::string section{};  // "session", "engine", "placement.poll"
  std::string key{};
  std::string before{};
  std::string after{};
  std::string place{};  // where the new value is; where the old one was, for a key that is not given any more
  ChangeNeeds needs = ChangeNeeds::restart;
};

[[nodiscard]] std::vector<KeyChange> changes_of_session(const GivenKeys& before, const GivenKeys& after);
// Of all sections but the sessions.
[[nodiscard]] std::vector<KeyChange> changes_of_engine(const ConfigKeys& before, const ConfigKeys& after);
// What the changes need together.
[[nodiscard]] ChangeNeeds need_of(const std::vector<KeyChange>& changes) noexcept;

}  // namespace nfx
