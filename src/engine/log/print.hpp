// Text that a terminal or a log may receive, and the one place that prints it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/printable.hpp"
#include "nexusfix/log/log_format.hpp"

namespace nfx {

// Text that a terminal or a log may receive. Everything that is printed is a SafeText, so that a raw string cannot be
// printed by mistake. Bytes of a peer, a file or the command line are escaped when they are appended, line feeds too.
// Only literals of this program's source are appended unchanged, which the compiler checks.
// Thread: a value. Cost: allocates; no part of a hot path.

// A string literal without control characters except line feeds. Anything else does not compile.
class Literal {
 public:
  template <std::size_t N>
  consteval Literal(const char (&text)[N]) : text_{text, N - 1} {
    for (const char c : text_) {
      if (c != '\n' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7F))
        throw "a literal that is printed has no control characters";
    }
  }
  [[nodiscard]] constexpr std::string_view view() const noexcept { return text_; }

 private:
  std::string_view text_;
};

class LiteralCharacter {
 public:
  consteval LiteralCharacter(char c) : c_{c} {
    if (c != '\n' && (c < 0x20 || c > 0x7E)) throw "a character that is printed is printable ASCII or a line feed";
  }
  [[nodiscard]] constexpr char value() const noexcept { return c_; }

 private:
  char c_;
};

// A control sequence of this program for a terminal: a literal too, so that nothing from outside can be part of it.
class TerminalControl {
 public:
  constexpr TerminalControl() = default;  // nothing
  template <std::size_t N>
  consteval explicit TerminalControl(const char (&text)[N]) : text_{text, N - 1} {}
  [[nodiscard]] constexpr std::string_view view() const noexcept { return text_; }

 private:
  std::string_view text_;
};

// A literal with "{}" where each of the arguments is put.
template <class... Arguments>
class BasicFormat {
 public:
  template <std::size_t N>
  consteval BasicFormat(const char (&text)[N]) : text_{Literal{text}.view()} {
    std::size_t places = 0;
    for (std::size_t at = text_.find("{}"); at != std::string_view::npos; at = text_.find("{}", at + 2)) ++places;
    if (places != sizeof...(Arguments)) throw "a format has as many {} as arguments follow";
  }
  [[nodiscard]] constexpr std::string_view view() const noexcept { return text_; }

 private:
  std::string_view text_;
};
template <class... Arguments>
using Format = BasicFormat<std::type_identity_t<Arguments>...>;

class SafeText {
 public:
  SafeText() = default;
  SafeText(Literal text) : text_{text.view()} {}

  // Several lines of untrusted text, such as a table made elsewhere: line feeds stay, all else is escaped. What is in
  // such a text has to be escaped where it is made if it must not begin a line.
  [[nodiscard]] static SafeText lines(std::string_view text) {
    SafeText safe;
    append_printable_lines(safe.text_, text);
    return safe;
  }

  SafeText& operator+=(Literal text) {
    text_ += text.view();
    return *this;
  }
  SafeText& operator+=(LiteralCharacter c) {
    text_ += c.value();
    return *this;
  }
  SafeText& operator+=(TerminalControl control) {
    text_ += control.view();
    return *this;
  }
  SafeText& operator+=(const SafeText& text) {
    text_ += text.text_;
    return *this;
  }
  // Untrusted: escaped.
  template <class Text>
    requires(std::convertible_to<const Text&, std::string_view> && !std::is_array_v<Text>)
  SafeText& operator+=(const Text& text) {
    append_printable(text_, text);
    return *this;
  }
  template <std::integral Number>
    requires(!std::same_as<Number, char> && !std::same_as<Number, bool>)
  SafeText& operator+=(Number number) {
    text_ += std::to_string(number);
    return *this;
  }

  // add("{} of {} bytes\n", done, total)
  template <class... Arguments>
  SafeText& add(Format<Arguments...> format, const Arguments&... arguments) {
    std::string_view rest = format.view();
    [[maybe_unused]] const auto add_one = [&](const auto& argument) {
      const std::size_t at = rest.find("{}");
      text_ += rest.substr(0, at);
      rest.remove_prefix(at + 2);
      if constexpr (std::is_array_v<std::remove_cvref_t<decltype(argument)>>) {
        *this += std::string_view{argument};  // of "{}", yes ? "yes" : "not"
      } else {
        *this += argument;
      }
    };
    (add_one(arguments), ...);
    text_ += rest;
    return *this;
  }

  SafeText& append_spaces(std::size_t count) {
    text_.append(count, ' ');
    return *this;
  }
  // Spaces until there are `width` bytes from `from` on.
  SafeText& pad_to(std::size_t from, std::size_t width) {
    return size() < from + width ? append_spaces(from + width - size()) : *this;
  }

  [[nodiscard]] std::string_view view() const noexcept { return text_; }
  [[nodiscard]] std::size_t size() const noexcept { return text_.size(); }
  [[nodiscard]] bool empty() const noexcept { return text_.empty(); }
  void clear() noexcept { text_.clear(); }

 private:
  std::string text_;
};

// A SafeText of one format: made("line {}: {}", number, error.what()).
template <class... Arguments>
[[nodiscard]] SafeText made(Format<Arguments...> format, const Arguments&... arguments) {
  SafeText text;
  text.add<Arguments...>(format, arguments...);
  return text;
}

// The one place that writes to standard output and standard error; a test over the sources keeps it the only one.
// Thread: any; a text is one write where the system takes it whole. Cost: a system call that waits for a slow reader,
// so what must not wait prints through a LineLog. Errors: print() throws std::runtime_error for what cannot be written;
// print_error() has no other place to report it.

void print(const SafeText& text);
template <class... Arguments>
void print(Format<Arguments...> format, const Arguments&... arguments) {
  print(made<Arguments...>(format, arguments...));
}

void print_error(const SafeText& text) noexcept;
template <class... Arguments>
void print_error(Format<Arguments...> format, const Arguments&... arguments) {
  print_error(made<Arguments...>(format, arguments...));
}

// Writes all of it, waiting where the reader is slow. Returns 0 or what errno was.
[[nodiscard]] int write(Stream stream, const SafeText& text) noexcept;
// One piece of it, from this byte on.
struct Written {
  std::size_t bytes = 0;
  int error = 0;
};
[[nodiscard]] Written write_some(Stream stream, const SafeText& text, std::size_t from) noexcept;

// Bytes of a file format that another program reads, to standard output. Throws std::runtime_error where that is a
// terminal, which would execute what is in them.
void print_data(std::string_view bytes);

[[nodiscard]] bool is_terminal(Stream stream) noexcept;

struct TerminalSize {
  std::size_t columns = 0;  // 0: no terminal, or unknown
  std::size_t rows = 0;
};
[[nodiscard]] TerminalSize terminal_size() noexcept;  // of standard output

}  // namespace nfx
