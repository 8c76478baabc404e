// Any dictionary file gives a dictionary or a one-line error, and writing and reading a dictionary gives the same one:
// QuickFIX XML, Orchestra, overlays, and two dictionaries combined.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dictionary/model_overlay.hpp"
#include "fuzz_target.hpp"
#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/dictionary/model.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text};

namespace {

using nfx::fuzz::require;

void check_error(const nfx::DictionaryError& error) {
  const std::string line = error.what();
  require(line.starts_with("f.xml:"), "an error starts with its place", line);
}

// The combination of two dictionaries can be written and read again.
void check_combined(const nfx::DictionaryModel& transport, const nfx::DictionaryModel& application) {
  try {
    const std::string written = nfx::to_xml(nfx::combine(transport, application));
    require(nfx::to_xml(nfx::read_dictionary(written, "f.xml")) == written, "a combination reads back", written);
  } catch (const nfx::DictionaryError& error) {
    check_error(error);
  }
}

// The same for an overlay on a base: the overlay changes the dictionary read last.
void check_overlay(std::string_view xml, const nfx::DictionaryModel& base) {
  try {
    const nfx::OverlayModel overlay = nfx::read_overlay(xml, "f.xml");
    const std::string written = nfx::overlay_to_xml(overlay);
    require(nfx::overlay_to_xml(nfx::read_overlay(written, "f.xml")) == written, "an overlay reads back", written);
    static_cast<void>(nfx::find_problems(nfx::apply_overlay(base, overlay)));
  } catch (const nfx::DictionaryError& error) {
    check_error(error);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static nfx::DictionaryModel base;
  const std::string_view xml(reinterpret_cast<const char*>(data), size);
  try {
    nfx::DictionaryModel model = nfx::read_dictionary(xml, "f.xml");
    const std::string written = nfx::to_xml(model);
    require(nfx::to_xml(nfx::read_dictionary(written, "f.xml")) == written, "a dictionary reads back", written);
    const bool sound = nfx::find_problems(model).empty();
    check_combined(base, model);
    base = std::move(model);
    try {
      static_cast<void>(nfx::Dictionary::build(base));
      require(sound, "what has problems is not built", written);
    } catch (const nfx::DictionaryError& error) {
      require(!sound, "what has no problems is built", written);
      check_error(error);
    }
  } catch (const nfx::DictionaryError& error) {
    check_error(error);
  }
  std::vector<std::string> problems;
  try {
    static_cast<void>(nfx::read_dictionary(xml, "f.xml", &problems));
  } catch (const nfx::DictionaryError& error) {
    check_error(error);
  }
  check_overlay(xml, base);
  return 0;
}
