// The FIX versions, one row each. Sessions, configuration checks, dictionaries and help texts take them from here.
// To add one, add its row here and its file to dictionaries/. The rows are in the order in which FIX published them.
// Thread: any, no state. Cost: a look-up compares with nine rows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

// The versions that the session layer distinguishes. A later one includes the rules of the earlier ones.
enum class SessionRules : std::uint8_t { fix40, fix41, fix42, fix43, fix44, fixt11 };

struct FixVersion {
  std::string_view name;                // "FIX.5.0SP2": in configuration files, in messages and in dictionaries
  std::string_view label;               // "FIX 5.0 SP2": in prose
  std::string_view appl_ver_id;         // ApplVerID(1128), "9"; empty: it defines no application messages
  std::string_view file;                // in dictionaries/
  std::optional<SessionRules> session;  // empty: not a BeginString(8), its messages are sent over FIXT.1.1
};

inline constexpr std::array fix_versions{
    FixVersion{"FIX.4.0", "FIX 4.0", "2", "FIX40.xml", SessionRules::fix40},
    FixVersion{"FIX.4.1", "FIX 4.1", "3", "FIX41.xml", SessionRules::fix41},
    FixVersion{"FIX.4.2", "FIX 4.2", "4", "FIX42.xml", SessionRules::fix42},
    FixVersion{"FIX.4.3", "FIX 4.3", "5", "FIX43.xml", SessionRules::fix43},
    FixVersion{"FIX.4.4", "FIX 4.4", "6", "FIX44.xml", SessionRules::fix44},
    FixVersion{"FIX.5.0", "FIX 5.0", "7", "FIX50.xml", std::nullopt},
    FixVersion{"FIX.5.0SP1", "FIX 5.0 SP1", "8", "FIX50SP1.xml", std::nullopt},
    FixVersion{"FIX.5.0SP2", "FIX 5.0 SP2", "9", "FIX50SP2.xml", std::nullopt},
    FixVersion{"FIXT.1.1", "FIXT 1.1", "", "FIXT11.xml", SessionRules::fixt11},
};

// Null when there is no such version.
[[nodiscard]] constexpr const FixVersion* find_version(std::string_view name) noexcept {
  for (const FixVersion& each : fix_versions) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

// The version whose session layer carries application versions that have none.
inline constexpr const FixVersion& transport_version = *find_version("FIXT.1.1");

// The last version with application messages: what is assumed of messages over FIXT.1.1 that name no version.
inline constexpr const FixVersion& newest_application_version = *[] {
  const FixVersion* newest = nullptr;
  for (const FixVersion& each : fix_versions) {
    if (!each.appl_ver_id.empty()) newest = &each;
  }
  return newest;
}();

// Whether a session can have this BeginString(8).
[[nodiscard]] constexpr bool is_begin_string(std::string_view name) noexcept {
  const FixVersion* version = find_version(name);
  return version != nullptr && version->session.has_value();
}

// The rules of the latest session layer for a BeginString that has no row.
[[nodiscard]] constexpr SessionRules session_rules(std::string_view begin_string) noexcept {
  const FixVersion* version = find_version(begin_string);
  return version != nullptr && version->session ? *version->session : SessionRules::fixt11;
}

// ApplVerID(1128) of a version, "9" for "FIX.5.0SP2", and back. Empty when there is none.
[[nodiscard]] constexpr std::string_view appl_ver_id_of(std::string_view version_name) noexcept {
  const FixVersion* version = find_version(version_name);
  return version == nullptr ? std::string_view{} : version->appl_ver_id;
}
[[nodiscard]] constexpr std::string_view version_of_appl_ver_id(std::string_view appl_ver_id) noexcept {
  for (const FixVersion& each : fix_versions) {
    if (!appl_ver_id.empty() && each.appl_ver_id == appl_ver_id) return each.name;
  }
  return {};
}

// The name of the dictionary that is shipped for a version: "FIX50SP2.xml". Empty: none is.
[[nodiscard]] constexpr std::string_view shipped_file(std::string_view version_name) noexcept {
  const FixVersion* version = find_version(version_name);
  return version == nullptr ? std::string_view{} : version->file;
}

}  // namespace nfx
