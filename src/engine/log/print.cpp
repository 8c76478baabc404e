// The only writes to standard output and standard error. Texts are written whole, across partial writes and signals.
#include "log/print.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

#include "base/error_text.hpp"

namespace nfx {
namespace {

int descriptor(Stream stream) noexcept { return stream == Stream::out ? STDOUT_FILENO : STDERR_FILENO; }

// Also waits if another program has made the shared descriptor non-blocking.
Written write_piece(int fd, std::string_view bytes) noexcept {
  for (;;) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0) return {.bytes = static_cast<std::size_t>(written)};
    if (errno == EAGAIN) {
      pollfd wait{fd, POLLOUT, 0};
      static_cast<void>(::poll(&wait, 1, -1));
    } else if (errno != EINTR) {
      return {.error = errno};
    }
  }
}

int write_all(int fd, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const Written written = write_piece(fd, bytes);
    if (written.error != 0) return written.error;
    bytes.remove_prefix(written.bytes);
  }
  return 0;
}

void require_written(int error) {
  if (error != 0) throw std::runtime_error(cannot("write", "standard output", error));
}

}  // namespace

std::string_view to_string(Stream stream) noexcept { return stream == Stream::out ? "stdout" : "stderr"; }

void print(const SafeText& text) { require_written(write(Stream::out, text)); }

void print_error(const SafeText& text) noexcept { static_cast<void>(write(Stream::err, text)); }

int write(Stream stream, const SafeText& text) noexcept { return write_all(descriptor(stream), text.view()); }

Written write_some(Stream stream, const SafeText& text, std::size_t from) noexcept {
  // The size that a pipe accepts as a whole.
  constexpr std::size_t piece = 4096;
  return write_piece(descriptor(stream), text.view().substr(from, piece));
}

void print_data(std::string_view bytes) {
  if (is_terminal(Stream::out)) {
    throw std::runtime_error(
        "standard output is a terminal, which would execute the control characters in these bytes: give the name of a "
        "file, or a pipe to the program that reads them");
  }
  require_written(write_all(STDOUT_FILENO, bytes));
}

bool is_terminal(Stream stream) noexcept { return ::isatty(descriptor(stream)) == 1; }

TerminalSize terminal_size() noexcept {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
  return {.columns = size.ws_col, .rows = size.ws_row};
}

}  // namespace nfx
