// Counts the members of a plain struct at compile time, so that a table of its members can prove that it has a row for
// each.
// Thread: any. Cost: none at run time.
#pragma once

#include <cstddef>
#include <utility>

#include "nexusfix/base/language.hpp"

namespace nfx {

namespace detail {
// Converts to any member's type.
struct AnyMember {
  template <class T>
  constexpr operator T() const noexcept;  // only declared, never called
};

template <class Struct, std::size_t... index>
[[nodiscard]] consteval bool takes(std::index_sequence<index...>) {
  return requires { Struct{(static_cast<void>(index), AnyMember{})...}; };
}
}  // namespace detail

// The largest number of values that can initialise `Struct`, which has no base class, constructor or array.
template <class Struct, std::size_t count = 0>
[[nodiscard]] consteval std::size_t member_count() {
  if constexpr (detail::takes<Struct>(std::make_index_sequence<count + 1>{})) {
    return member_count<Struct, count + 1>();
  } else {
    return count;
  }
}

}  // namespace nfx
