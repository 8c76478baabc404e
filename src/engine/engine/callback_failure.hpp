// The exception that a callback of the application threw, as a line of text.
// Thread: any. Cost: rethrows once; no allocation, because memory may have run out. Lifetime: made within a catch
// block.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace nfx {

class CallbackFailure {
 public:
  explicit CallbackFailure(std::string_view callback) noexcept;

  [[nodiscard]] std::string_view callback() const noexcept { return callback_; }
  // The text of the exception, as far as it fits.
  [[nodiscard]] std::string_view what() const noexcept { return text().substr(callback_.size() + 2); }
  // "on_message: what()".
  [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), size_}; }

 private:
  void add(std::string_view part) noexcept;

  std::string_view callback_;
  std::array<char, 256> text_;
  std::size_t size_ = 0;
};

}  // namespace nfx
