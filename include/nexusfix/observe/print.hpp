// The one place that writes to standard output and standard error; a test over the sources keeps it the only one.
// Thread: any; a text is one write where the system takes it whole. Cost: a system call that waits for a slow reader,
// so what must not wait prints through a LineLog. Errors: print() throws std::runtime_error for what cannot be written;
// print_error() has no other place to report it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "nexusfix/observe/safe_text.hpp"

namespace nfx {

enum class Stream : std::uint8_t { out, err };

[[nodiscard]] std::string_view to_string(Stream stream) noexcept;  // "stdout"

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
