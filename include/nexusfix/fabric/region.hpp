// Memory that rails write from and into: pages of its own, on a chosen node, in huge pages where the kernel has them,
// and shareable with a process of this host, which a rail over shared memory needs.
// Thread: make() from the thread that polls the rails, after it is pinned; then any, as plain memory.
// Cost: make() writes to every page, so that none is missing later; the rest is inline. Errors: make() returns a text
// that names the region and what to change. Missing huge pages, or another node than requested, are no
// error: page_kind() and node() report what the memory has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx::fabric {

struct RegionOptions {
  std::string use;         // for error texts and the kernel's lists: "standby-journal"
  std::uint64_t size = 0;  // bytes, rounded up to whole pages
  int node = -1;           // -1: the node of the CPU that the thread runs on
  bool huge_pages = true;
};

enum class PageKind : std::uint8_t {
  small,
  transparent,  // requested; the kernel may give huge ones (/sys/kernel/mm/transparent_hugepage/shmem_enabled)
  huge,         // from the pool of the kernel (vm.nr_hugepages)
};
[[nodiscard]] std::string_view to_string(PageKind kind) noexcept;

class Region {
 public:
  [[nodiscard]] static std::expected<Region, std::string> make(const RegionOptions& options);

  Region() noexcept = default;
  Region(Region&& other) noexcept;
  Region& operator=(Region&& other) noexcept;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region();

  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {data_, size_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] const std::string& use() const noexcept { return use_; }
  [[nodiscard]] PageKind page_kind() const noexcept { return page_kind_; }
  // Where the first page is; -1: the kernel does not report it.
  [[nodiscard]] int node() const noexcept { return node_; }
  // The file of the memory, sealed against another size; the region owns it.
  [[nodiscard]] int file() const noexcept { return file_; }

  // Whether `length` bytes from `offset` on are inside.
  [[nodiscard]] bool contains(std::uint64_t offset, std::uint64_t length) const noexcept {
    return offset <= size_ && length <= size_ - offset;
  }

 private:
  void release() noexcept;

  std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
  int file_ = -1;
  int node_ = -1;
  PageKind page_kind_ = PageKind::small;
  std::string use_;
};

}  // namespace nfx::fabric
