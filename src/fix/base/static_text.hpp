// Text that a constexpr function assembles at compile time, for tables whose help names the rows of another table.
// Thread: any. Cost: none at run time. Lifetime: static.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

// The result of such a function: a text of bounded length. A longer text does not compile.
class StaticTextBuilder {
 public:
  static constexpr std::size_t capacity = 1024;

  constexpr StaticTextBuilder& operator+=(std::string_view text) {
    for (const char c : text) characters_.at(size_++) = c;
    return *this;
  }
  [[nodiscard]] constexpr std::string_view view() const noexcept { return {characters_.data(), size_}; }

 private:
  std::array<char, capacity> characters_{};
  std::size_t size_ = 0;
};

namespace detail {
template <auto make>
struct StaticText {
  static constexpr std::size_t size = make().view().size();
  static constexpr std::array<char, size> characters = [] {
    std::array<char, size> result{};
    const StaticTextBuilder text = make();
    std::ranges::copy(text.view(), result.begin());
    return result;
  }();
};
}  // namespace detail

// `make` is a function, or a lambda without captures, that returns a StaticTextBuilder.
template <auto make>
inline constexpr std::string_view static_text{detail::StaticText<make>::characters.data(),
                                              detail::StaticText<make>::size};

}  // namespace nfx
