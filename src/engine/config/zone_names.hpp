// Names of time zones in files of other systems, and the IANA name of each. There is no other list.
// Thread: any. Cost: one pass over the table. Errors: none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nfx::config {

enum class ZoneNameKind : std::uint8_t {
  windows,  // "SE Asia Standard Time"
  java,     // "PST"
  former,   // "US/Eastern": the same zone under a name that not every host has
};

struct ZoneName {
  std::string_view name;
  std::string_view iana;
  ZoneNameKind kind;
};

[[nodiscard]] std::span<const ZoneName> zone_names_of_others() noexcept;

// In any letter case; null when no system has the name, or IANA has it.
[[nodiscard]] const ZoneName* find_zone_name(std::string_view name) noexcept;

// "Etc/GMT-8" of "GMT+8", "UTC+08:00" and "GMT+0800"; none for other names, and for offsets with minutes.
[[nodiscard]] std::optional<std::string> zone_of_offset(std::string_view name);

}  // namespace nfx::config
