// For any input, append_printable() appends valid UTF-8 without anything that a terminal executes or that changes the
// order or lines of displayed text. Text that already fulfils this is not changed, and no byte is lost.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/printable.hpp"
#include "fuzz_target.hpp"
#include "text_check.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 200000};

namespace {

using nfx::fuzz::is_printable;
using nfx::fuzz::require;

std::string printable(std::string_view bytes) {
  std::string out = "before ";
  nfx::append_printable(out, bytes);
  require(out.starts_with("before "), "what was there stays", out);
  return out.substr(7);
}

// For a text without backslashes before.
std::string unescaped(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    if (text.starts_with("\\x") && text.size() >= 4) {
      bytes += static_cast<char>(std::stoi(std::string{text.substr(2, 2)}, nullptr, 16));
      text.remove_prefix(4);
    } else {
      bytes += text[0];
      text.remove_prefix(1);
    }
  }
  return bytes;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = nfx::fuzz::text_of(data, size);
  const std::string out = printable(bytes);
  require(is_printable(out), "only printable UTF-8 is appended", out);
  require(printable(out) == out, "printable text stays as it is", out);
  require((out == bytes) == is_printable(bytes), "what is escaped was not printable, and the reverse", out);
  require(out.size() <= 4 * bytes.size(), "a byte becomes at most four", out);
  if (!bytes.contains('\\')) require(unescaped(out) == bytes, "no byte is lost", out);
  return 0;
}
