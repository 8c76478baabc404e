// How many members a plain struct has: a table of its members proves with it, while the program is compiled, that it
// has a row for each. Thread: any. Cost: none when the program runs.
#pragma once

#include <cstddef>
#include <utility>

#include "nexusfix/base/language.hpp"

namespace nfx {

namespace detail {
// Stands for the value of any member.
struct AnyMember {
  template <class T>
  constexpr operator T() const noexcept;  // declared for the compiler alone, never called
};

template <class Struct, std::size_t... index>
[[nodiscard]] consteval bool takes(std::index_sequence<index...>) {
  return requires { Struct{(static_cast<void>(index), AnyMember{})...}; };
}
}  // namespace detail

// The most values that `Struct` can be made of. It has no base class, no constructor and no array.
template <class Struct, std::size_t count = 0>
[[nodiscard]] consteval std::size_t member_count() {
  if constexpr (detail::takes<Struct>(std::make_index_sequence<count + 1>{})) {
    return member_count<Struct, count + 1>();
  } else {
    return count;
  }
}

}  // namespace nfx
