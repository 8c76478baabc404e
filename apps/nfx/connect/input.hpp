// The input of nfx connect: lines, and the messages in them.
// Thread: one owner; stop() from any. Bounds: a line has at most max_line_size bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace nfx::app {

class LineInput {
 public:
  static constexpr std::size_t max_line_size = 64 * 1024;
  enum class Status : std::uint8_t { line, too_long, end, stopped };

  LineInput();  // standard input
  ~LineInput();
  LineInput(const LineInput&) = delete;
  LineInput& operator=(const LineInput&) = delete;

  // Waits for the next line. Skips lines that are too long.
  [[nodiscard]] Status next(std::string& line);
  [[nodiscard]] std::uint64_t line_number() const noexcept { return line_number_; }
  // Ends a waiting next(), and every later one.
  void stop() noexcept;

 private:
  [[nodiscard]] bool fill();  // false: stopped

  int wake_fd_;
  std::array<char, 16 * 1024> buffer_{};
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  bool ended_ = false;
  std::uint64_t line_number_ = 0;
};

struct LineMessage {
  std::string msg_type;
  std::string body;  // complete fields; optional header fields first
};

// Parses "35=D|55=IBM|54=1", separated by '|' or SOH. Drops fields that the session sets itself. The error says what to
// write instead.
[[nodiscard]] std::expected<LineMessage, std::string> read_line_message(std::string_view line);

}  // namespace nfx::app
