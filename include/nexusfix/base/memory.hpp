// Memory: arrays on pages of their own, and how far apart the data of different threads is.
// A PageArray is zero at first, and a page takes memory when it is first written, so that what is large and seldom full
// costs nothing until then.
// Thread: one owner. Cost: a system call to map and one to unmap; the first write to a page is a page fault. Huge pages
// are a request: the kernel gives small ones where it has no others, or is configured not to.
// Errors: map_array() throws std::system_error, which names the bytes and what they are for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "nexusfix/base/language.hpp"

namespace nfx {

enum class PageSize : std::uint8_t {
  small,
  huge,  // for tables that are read at random: fewer misses of the TLB, and memory is taken in steps of 2 MiB
};

namespace detail {
struct UnmapPages {
  std::size_t size = 0;
  void operator()(void* pages) const noexcept;
};
[[nodiscard]] void* map_pages(std::size_t size, std::string_view use, PageSize pages);
void take_pages(void* pages, std::size_t size) noexcept;
}  // namespace detail

template <class T>
  requires std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>
using PageArray = std::unique_ptr<T[], detail::UnmapPages>;

// `use` ends the sentence "cannot map 65536 bytes for ...", with what the user can do. None for a count of zero.
template <class T>
[[nodiscard]] PageArray<T> map_array(std::size_t count, std::string_view use, PageSize pages = PageSize::small) {
  if (count == 0) return {};
  const std::size_t size = count * sizeof(T);
  return PageArray<T>(static_cast<T*>(detail::map_pages(size, use, pages)), detail::UnmapPages{size});
}

// For a std::vector of elements that are read at random.
template <class T>
struct HugePageAllocator {
  using value_type = T;
  static_assert(alignof(T) <= 4096);

  HugePageAllocator() = default;
  template <class U>
  HugePageAllocator(const HugePageAllocator<U>&) noexcept {}  // NOLINT: one for another type is made implicitly

  [[nodiscard]] T* allocate(std::size_t count) {
    return static_cast<T*>(detail::map_pages(count * sizeof(T), "a table of many elements", PageSize::huge));
  }
  void deallocate(T* pages, std::size_t count) noexcept { detail::UnmapPages{count * sizeof(T)}(pages); }
  friend bool operator==(HugePageAllocator, HugePageAllocator) noexcept { return true; }
};

// Takes the memory of these elements of an array now, so that their first write causes none of the page faults.
template <class T>
void take_pages(std::span<T> elements) noexcept {
  detail::take_pages(elements.data(), elements.size_bytes());
}

// Two 64-byte lines: the adjacent-line prefetcher of x86 fetches them in pairs, so padding to one line is not enough.
inline constexpr std::size_t cache_line = 128;

}  // namespace nfx
