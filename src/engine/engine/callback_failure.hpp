// What a callback of the application has thrown, as a line.
// Thread: any. Cost: rethrows once; no allocation, as the exception may be that of memory that has run out. Lifetime:
// made within a catch block.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace nfx {

class CallbackFailure {
 public:
  explicit CallbackFailure(std::string_view callback) noexcept;

  [[nodiscard]] std::string_view callback() const noexcept { return callback_; }
  // Of the exception, as far as there is space for it.
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
