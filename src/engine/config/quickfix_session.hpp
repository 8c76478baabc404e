// One [SESSION] of a QuickFIX settings file, translated to keys and values of NexusFIX's TOML.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/quickfix_file.hpp"
#include "config/quickfix_keys.hpp"
#include "config/quickfix_values.hpp"

namespace nfx::quickfix {

struct Setting {
  std::string key;
  std::string value;                  // as TOML
  std::vector<const Entry*> origins;  // the entries it was translated from; empty if the key is absent
  std::string_view default_of = {};   // then the QuickFIX key that supplies the default
  bool secret = false;
};

struct SessionSettingsText {
  std::size_t line = 0;
  std::vector<Setting> settings;
  bool uses_dictionary = true;
};

// The entry that applies to a session, from its own section or [DEFAULT]; null if there is none.
using EntryLookup = std::function<const Entry*(std::string_view key)>;

// Shared by all sessions of a file. Each key causes at most one warning.
class Translation {
 public:
  Translation(const File& file, std::string_view name, const FileLocator& locate)
      : file_(file), name_(name), locate_(locate), warnings_(file.warnings) {}

  [[nodiscard]] SessionSettingsText translate(const FileSection& section, bool dynamic_template);

  // The engine-wide settings of the file: keys and values of [engine] and [log].
  [[nodiscard]] std::vector<Setting> translate_engine();
  [[nodiscard]] std::vector<Setting> translate_log();

  void warn_once(const Entry& entry, std::string text);
  [[nodiscard]] bool flag(const Entry& entry);  // accepts Y or N, otherwise fail()
  [[noreturn]] void fail(const Entry& entry, const std::string& text) const;
  // Reports a missing key that a session needs.
  [[noreturn]] void fail_missing(const FileSection& section, bool dynamic_template, std::string_view key,
                                 const std::string& fix) const;
  [[noreturn]] void fail(std::size_t line, std::string_view section, std::string_view key,
                         const std::string& text) const;

  [[nodiscard]] const File& file() const noexcept { return file_; }
  // The path, for the TOML, of a file that QuickFIX would read. Warns if another file is used instead.
  [[nodiscard]] std::string dictionary_path(const Entry& entry) { return located(entry, true); }
  [[nodiscard]] std::string path(const Entry& entry) { return located(entry, false); }
  [[nodiscard]] bool is_missing(const Entry& entry) const {
    return locate_ && locate_(unix_path(entry.value), false).place == FilePlace::nowhere;
  }
  // A folder that this process creates. Warns about a Windows path.
  [[nodiscard]] std::string folder(const Entry& entry);
  [[nodiscard]] std::vector<QuickFixWarning>& warnings() noexcept { return warnings_; }

 private:
  [[nodiscard]] std::string located(const Entry& entry, bool is_dictionary);

  const File& file_;
  std::string_view name_;
  const FileLocator& locate_;
  std::vector<QuickFixWarning> warnings_;
  std::set<std::string, KeyOrder> warned_;
};

}  // namespace nfx::quickfix
