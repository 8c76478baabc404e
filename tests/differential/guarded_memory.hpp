// Memory between two inaccessible pages: a read or write outside of it ends the program.
// Thread: any, one per object. Cost: three system calls at construction, none later.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

namespace nfx::test {

// Which of the two inaccessible pages the bytes are next to.
enum class Against { page_in_front, page_behind };

class GuardedMemory {
 public:
  // Space for at least `size` bytes: the size is rounded up to whole pages.
  explicit GuardedMemory(std::size_t size) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    usable_ = (size + page - 1) / page * page;
    mapped_ = usable_ + 2 * page;
    base_ = static_cast<char*>(mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED) std::abort();
    first_ = base_ + page;
    if (usable_ != 0 && mprotect(first_, usable_, PROT_READ | PROT_WRITE) != 0) std::abort();
  }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory() { munmap(base_, mapped_); }

  [[nodiscard]] std::size_t size() const noexcept { return usable_; }
  [[nodiscard]] std::span<char> first(std::size_t count) noexcept { return {first_, count}; }
  [[nodiscard]] std::span<char> last(std::size_t count) noexcept { return {first_ + usable_ - count, count}; }

  // A copy directly after the first page or before the last one.
  [[nodiscard]] std::string_view place(std::string_view bytes, Against against) noexcept {
    const std::span<char> room = against == Against::page_in_front ? first(bytes.size()) : last(bytes.size());
    if (!bytes.empty()) std::memcpy(room.data(), bytes.data(), bytes.size());
    return {room.data(), room.size()};
  }

 private:
  char* base_ = nullptr;
  char* first_ = nullptr;
  std::size_t usable_ = 0;
  std::size_t mapped_ = 0;
};

}  // namespace nfx::test
