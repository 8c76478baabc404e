// Allocates the memory of a region: huge pages before small ones, on the chosen node, and all of it immediately.
#include "nexusfix/fabric/rail.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/enumerator_name.hpp"
#include "nexusfix/base/memory.hpp"

#ifndef MFD_HUGE_2MB
#define MFD_HUGE_2MB (21U << 26)
#endif

namespace nfx::fabric {
namespace {

constexpr std::uint64_t small_page = 4096;
constexpr std::uint64_t huge_page = std::uint64_t{2} << 20;
constexpr int max_node = 1023;  // maximum of all kernels
constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

std::uint64_t round_up(std::uint64_t size, std::uint64_t page) { return (size + page - 1) / page * page; }

std::string failure(const RegionOptions& options, std::string_view what) {
  return "region " + options.use + ": " + std::string{what};
}
std::string failure_of_kernel(const RegionOptions& options, std::string_view what) {
  return failure(options, std::string{what} + ": " + std::generic_category().message(errno));
}

struct Mapped {
  void* data = MAP_FAILED;
  int file = -1;

  [[nodiscard]] bool ok() const noexcept { return data != MAP_FAILED; }
  void undo(std::uint64_t size) const noexcept {
    const int error = errno;
    if (data != MAP_FAILED) ::munmap(data, size);
    if (file >= 0) ::close(file);
    errno = error;
  }
};

Mapped map(const std::string& use, std::uint64_t size, unsigned flags) {
  Mapped mapped;
  mapped.file = ::memfd_create(use.substr(0, 200).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);
  if (mapped.file < 0) return mapped;
  if (::ftruncate(mapped.file, static_cast<off_t>(size)) != 0) return mapped;
  // Without the seal, a process that shares the memory could truncate it, and the next access would end this program.
  if (::fcntl(mapped.file, F_ADD_SEALS, seals) != 0) return mapped;
  mapped.data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, mapped.file, 0);
  return mapped;
}

// Values of the kernel's interface; libnuma is not needed for two calls.
constexpr int policy_bind = 2;
constexpr int policy_of_address = 1 | 2;  // MPOL_F_NODE | MPOL_F_ADDR

bool bind_to_node(void* data, std::uint64_t size, int node) noexcept {
  constexpr std::size_t word = 8 * sizeof(unsigned long);
  std::array<unsigned long, (max_node + 1) / word> nodes{};
  nodes[static_cast<std::size_t>(node) / word] = 1UL << (static_cast<std::size_t>(node) % word);
  return ::syscall(SYS_mbind, data, size, policy_bind, nodes.data(), max_node + 1, 0) == 0;
}

int node_of(void* data) noexcept {
  int node = -1;
  if (::syscall(SYS_get_mempolicy, &node, nullptr, 0, data, policy_of_address) != 0) return -1;
  return node;
}

// Writes to every page. Returns false if the memory does not suffice, which would otherwise be SIGBUS at the first
// access.
bool take(void* data, std::uint64_t size) noexcept {
#ifdef MADV_POPULATE_WRITE
  if (::madvise(data, size, MADV_POPULATE_WRITE) == 0) return true;
  if (errno != EINVAL) return false;
#endif
  detail::take_pages(data, size);
  return true;
}

}  // namespace

std::string_view to_string(PageKind kind) noexcept { return enumerator_name(kind); }

std::expected<Region, std::string> Region::make(const RegionOptions& options) {
  if (options.size == 0) return std::unexpected(failure(options, "a size of 0 bytes; write at least 1"));
  if (options.size > std::uint64_t{1} << 46) return std::unexpected(failure(options, "a size of more than 64 TiB"));
  if (options.node < -1 || options.node > max_node)
    return std::unexpected(failure(options, "node " + std::to_string(options.node) + " is not one from 0 to 1023"));

  Region region;
  region.use_ = options.use;
  Mapped mapped;
  if (options.huge_pages && options.size >= huge_page) {
    region.size_ = round_up(options.size, huge_page);
    mapped = map(options.use, region.size_, MFD_HUGETLB | MFD_HUGE_2MB);
    region.page_kind_ = PageKind::huge;
  }
  if (!mapped.ok()) {
    mapped.undo(region.size_);
    region.size_ = round_up(options.size, small_page);
    mapped = map(options.use, region.size_, 0);
    region.page_kind_ = PageKind::small;
  }
  if (!mapped.ok()) {
    mapped.undo(region.size_);
    return std::unexpected(failure_of_kernel(options, "cannot map " + std::to_string(region.size_) + " bytes"));
  }
  region.data_ = static_cast<std::byte*>(mapped.data);
  region.file_ = mapped.file;
  if (options.huge_pages && region.page_kind_ == PageKind::small && region.size_ >= huge_page &&
      ::madvise(region.data_, region.size_, MADV_HUGEPAGE) == 0)
    region.page_kind_ = PageKind::transparent;
  if (options.node >= 0 && !bind_to_node(region.data_, region.size_, options.node) && errno == EINVAL)
    return std::unexpected(failure(
        options, "node " + std::to_string(options.node) + " has no memory here; `nfx host topology` lists the nodes"));
  if (!take(region.data_, region.size_)) {
    return std::unexpected(failure_of_kernel(
        options, "no memory for " + std::to_string(region.size_) + " bytes; make it smaller, or free memory"));
  }
  region.node_ = node_of(region.data_);
  return region;
}

Region::Region(Region&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      file_(std::exchange(other.file_, -1)),
      node_(other.node_),
      page_kind_(other.page_kind_),
      use_(std::move(other.use_)) {}

Region& Region::operator=(Region&& other) noexcept {
  if (this == &other) return *this;
  release();
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  file_ = std::exchange(other.file_, -1);
  node_ = other.node_;
  page_kind_ = other.page_kind_;
  use_ = std::move(other.use_);
  return *this;
}

Region::~Region() { release(); }

void Region::release() noexcept {
  if (data_ != nullptr) ::munmap(data_, size_);
  if (file_ >= 0) ::close(file_);
  data_ = nullptr;
  file_ = -1;
}

}  // namespace nfx::fabric
