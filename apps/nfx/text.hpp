// Text output: printable bytes, masked secrets, and colours on terminals.
// Thread: any, no state. Cost: allocates; no part of a hot path.
#pragma once

#include <string>
#include <string_view>

#include "base/json_text.hpp"
#include "base/printable.hpp"
#include "cli/command_line.hpp"
#include "nexusfix/base/tag.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "output.hpp"
#include "wire/secret_fields.hpp"

namespace nfx::app {

enum class Colour : std::uint8_t { plain, bold, dim, red, green, yellow, cyan };

class Palette {
 public:
  explicit Palette(bool on) noexcept : on_(on) {}
  // Starts a colour; plain ends it. Empty when colours are off.
  [[nodiscard]] TerminalControl operator()(Colour colour) const noexcept;
  [[nodiscard]] bool on() const noexcept { return on_; }

 private:
  bool on_;
};

// Whether --color means colours on this stream: "auto" means a terminal, unless NO_COLOR is set.
[[nodiscard]] bool use_colour(std::string_view choice, Stream stream);

// The option --color of commands that print to a terminal.
[[nodiscard]] cli::Option color_option(std::string& choice);

// Appends `text` as a JSON string with its quotes: see json_text().
void append_json_text(SafeText& out, std::string_view text);

// Appends a field's value: printable, and *** for a secret unless show_secrets.
void append_value(SafeText& out, Tag tag, std::string_view value, bool show_secrets);

// Appends all fields as "8=FIX.4.4|9=..|", printable and with secrets masked.
void append_raw(SafeText& out, const MessageView& message, bool show_secrets);

// Appends the body as "ClOrdID=abc Side=1(BUY) ...", printable. `dictionary` may be null.
void append_summary(SafeText& out, const MessageView& message, const Dictionary* dictionary, bool show_secrets);

// "YYYYMMDD-HH:MM:SS.mmm".
[[nodiscard]] std::string timestamp(UtcTime time);

}  // namespace nfx::app
