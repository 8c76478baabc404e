// Maps anonymous pages for buffers that are large and seldom full, which an allocator would write its own words into.
#include "nexusfix/base/page_array.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace nfx::detail {

void UnmapPages::operator()(void* pages) const noexcept { ::munmap(pages, size); }

void* map_pages(std::size_t size, std::string_view use) {
  void* const pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot map " + std::to_string(size) + " bytes for " + std::string{use});
  }
  return pages;
}

}  // namespace nfx::detail
