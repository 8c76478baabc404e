// Zone names used by other systems, with the IANA name of each. There is no other list.
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
  former,   // "US/Eastern": a former name of the same zone, missing on some hosts
};

struct ZoneName {
  std::string_view name;
  std::string_view iana;
  ZoneNameKind kind;
};

[[nodiscard]] std::span<const ZoneName> zone_names_of_others() noexcept;

// Ignores case; null if no system has the name, or if it is an IANA name.
[[nodiscard]] const ZoneName* find_zone_name(std::string_view name) noexcept;

// "Etc/GMT-8" for "GMT+8", "UTC+08:00" and "GMT+0800". None for other names, and for offsets with minutes.
[[nodiscard]] std::optional<std::string> zone_of_offset(std::string_view name);

}  // namespace nfx::config
