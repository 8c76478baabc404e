// What is typed or piped into nfx connect: lines, and the messages they mean.
// Thread: one owner; stop() from any. Bounds: a line has max_line_size bytes at most.
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

  // Waits for the next line. What was too long is skipped.
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

// Reads "35=D|55=IBM|54=1", separated by '|' or SOH. Fields that the session sets are left out. The error names
// what to write instead.
[[nodiscard]] std::expected<LineMessage, std::string> read_line_message(std::string_view line);

}  // namespace nfx::app
