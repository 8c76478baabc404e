// Whatever a dictionary file holds, reading it gives a dictionary or one line of explanation, and what is read can be
// written and read again to the same.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/dictionary/model.hpp"
#include "nexusfix/dictionary/model_overlay.hpp"

extern "C" const std::size_t nfx_fuzz_control_size = 0;

namespace {

void require(bool condition, const char* what, const std::string& text) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n%s\n", what, text.c_str());
  std::abort();
}

void check_error(const nfx::DictionaryError& error) {
  const std::string line = error.what();
  require(line.starts_with("f.xml:"), "an error starts with its place", line);
}

// The same over a base: an overlay changes the last dictionary that was read.
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
