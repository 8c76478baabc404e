// The versions of FIX: what BeginString, ApplVerID and our files call them.
#include <algorithm>
#include <array>

#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/dictionary/load.hpp"

namespace nfx {
namespace {

struct KnownVersion {
  std::string_view name;
  std::string_view appl_ver_id;
  std::string_view file;
};

constexpr std::array versions{
    KnownVersion{"FIX.4.0", "2", "FIX40.xml"},       KnownVersion{"FIX.4.1", "3", "FIX41.xml"},
    KnownVersion{"FIX.4.2", "4", "FIX42.xml"},       KnownVersion{"FIX.4.3", "5", "FIX43.xml"},
    KnownVersion{"FIX.4.4", "6", "FIX44.xml"},       KnownVersion{"FIX.5.0", "7", "FIX50.xml"},
    KnownVersion{"FIX.5.0SP1", "8", "FIX50SP1.xml"}, KnownVersion{"FIX.5.0SP2", "9", "FIX50SP2.xml"},
    KnownVersion{"FIXT.1.1", "", "FIXT11.xml"},
};

}  // namespace

std::string_view appl_ver_id_of(std::string_view version_name) noexcept {
  const auto* at = std::ranges::find(versions, version_name, &KnownVersion::name);
  return at == versions.end() ? std::string_view{} : at->appl_ver_id;
}

std::string_view version_of_appl_ver_id(std::string_view appl_ver_id) noexcept {
  if (appl_ver_id.empty()) return {};
  const auto* at = std::ranges::find(versions, appl_ver_id, &KnownVersion::appl_ver_id);
  return at == versions.end() ? std::string_view{} : at->name;
}

std::string_view shipped_file(std::string_view version_name) noexcept {
  const auto* at = std::ranges::find(versions, version_name, &KnownVersion::name);
  return at == versions.end() ? std::string_view{} : at->file;
}

}  // namespace nfx
