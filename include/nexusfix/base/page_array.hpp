// An array on pages of its own, zero at first: a page takes memory when it is first written, so that what is large and
// seldom full costs nothing until then.
// Thread: one owner. Cost: a system call to map and one to unmap; the first write to a page is a page fault.
// Errors: map_array() throws std::system_error, which names the bytes and what they are for.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>

#include "nexusfix/base/language.hpp"

namespace nfx {

namespace detail {
struct UnmapPages {
  std::size_t size = 0;
  void operator()(void* pages) const noexcept;
};
[[nodiscard]] void* map_pages(std::size_t size, std::string_view use);
}  // namespace detail

template <class T>
  requires std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>
using PageArray = std::unique_ptr<T[], detail::UnmapPages>;

// `use` ends the sentence "cannot map 65536 bytes for ...", with what the user can do. None for a count of zero.
template <class T>
[[nodiscard]] PageArray<T> map_array(std::size_t count, std::string_view use) {
  if (count == 0) return {};
  const std::size_t size = count * sizeof(T);
  return PageArray<T>(static_cast<T*>(detail::map_pages(size, use)), detail::UnmapPages{size});
}

}  // namespace nfx
