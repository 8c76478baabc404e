// Maps anonymous pages for large, seldom full buffers. An allocator would write its own words into them.
#include "nexusfix/base/memory.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>

namespace nfx::detail {

void UnmapPages::operator()(void* pages) const noexcept { ::munmap(pages, size); }

namespace {

constexpr std::size_t small_page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;

void* map(std::size_t size, std::string_view use) {
  void* const pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot map " + std::to_string(size) + " bytes for " + std::string{use});
  }
  return pages;
}

}  // namespace

void* map_pages(std::size_t size, std::string_view use, PageSize pages) {
  if (pages == PageSize::small || size < huge_page) return map(size, use);
  // Aligned to the page size; the pages before and after are returned.
  auto* const mapped = static_cast<std::byte*>(map(size + huge_page, use));
  const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(mapped) % huge_page) % huge_page;
  const std::size_t end = (before + size + small_page - 1) / small_page * small_page;
  if (before != 0) ::munmap(mapped, before);
  if (end != size + huge_page) ::munmap(mapped + end, size + huge_page - end);
  ::madvise(mapped + before, size, MADV_HUGEPAGE);
  return mapped + before;
}

void take_pages(void* pages, std::size_t size) noexcept {
  if (size == 0) return;
#ifdef MADV_POPULATE_WRITE
  if (::madvise(pages, size, MADV_POPULATE_WRITE) == 0) return;
#endif
  auto* const bytes = static_cast<volatile std::byte*>(pages);
  for (std::size_t at = 0; at < size; at += small_page) bytes[at] = bytes[at];
}

}  // namespace nfx::detail
