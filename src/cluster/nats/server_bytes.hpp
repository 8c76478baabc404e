// Checks a nats-server's bytes before libnats reads them. libnats (all versions up to 3.14 at least) adds a message's
// size, which the server states, to an index of type int, and allocates that size: one line ends the process. Accepts
// only bytes that nats-server writes: whole lines that end with CR LF, in upper case, and messages of at most
// message_max bytes. Pure: no socket, no libnats.
// Thread: one for each connection. Cost: a look at each byte of a line, and at the last two bytes of a message. Bounds:
// a line of INFO info_max, others line_max.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nfx::nats {

class ServerBytes {
 public:
  // Answers of JetStream about 100,000 sessions have some 10 MB; a read of frames is requested in parts of 8 MiB.
  static constexpr std::size_t message_max = std::size_t{16} << 20;
  static constexpr std::size_t header_max = std::size_t{16} << 10;  // libnats joins folded lines in quadratic time
  static constexpr std::size_t info_max = std::size_t{64} << 10;
  static constexpr std::size_t line_max = 1000;  // subjects and numbers: libnats has 1 KiB for them

  // False: no nats-server sends that, or it exceeds a bound; the connection has to end, and every later call is false.
  [[nodiscard]] bool take(std::string_view bytes);

 private:
  [[nodiscard]] bool take_line(std::string_view line);
  [[nodiscard]] bool take_message(std::string_view arguments, bool has_header);
  [[nodiscard]] bool fail() noexcept;

  std::string line_;         // that has begun, in earlier bytes
  std::size_t message_ = 0;  // bytes of the message's content that still come
  unsigned end_ = 0;         // bytes of the CR LF after a message that still come
  bool failed_ = false;
};

}  // namespace nfx::nats
