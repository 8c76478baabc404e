// One io_uring with its ring of receive buffers: step-by-step setup, requests and completions.
// Thread: the one that called enable(); construction may be elsewhere. Cost: one pass over shared memory; functions
// that call the kernel say so.
#pragma once

#include <liburing.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/io_uring_transport.hpp"

namespace nfx::detail {

struct Completion {
  std::uint64_t request = 0;
  std::int32_t result = 0;
  std::uint32_t flags = 0;

  [[nodiscard]] bool more() const noexcept { return (flags & IORING_CQE_F_MORE) != 0; }
  [[nodiscard]] bool has_buffer() const noexcept { return (flags & IORING_CQE_F_BUFFER) != 0; }
  [[nodiscard]] std::uint16_t buffer() const noexcept {
    return static_cast<std::uint16_t>(flags >> IORING_CQE_BUFFER_SHIFT);
  }
};

class IoUringRing {
 public:
  static constexpr std::uint16_t buffer_group = 1;

  // Throws std::system_error if io_uring is not available.
  explicit IoUringRing(const IoUringOptions& options);
  ~IoUringRing();
  IoUringRing(const IoUringRing&) = delete;
  IoUringRing& operator=(const IoUringRing&) = delete;

  [[nodiscard]] const IoUringFeatures& features() const noexcept { return features_; }

  // Makes the calling thread the owner of the ring. Throws std::system_error.
  void enable();
  [[nodiscard]] bool enabled() const noexcept { return enabled_; }

  // A request entry, to be filled before the next call. Calls the kernel if the queue is full.
  [[nodiscard]] io_uring_sqe* request() noexcept;
  // Submits requests and collects completions. Calls the kernel only if there are any, and otherwise waits up to
  // max_wait. Returns whether it called the kernel.
  bool pump(Duration max_wait) noexcept;
  [[nodiscard]] bool next(Completion& completion) noexcept;

  [[nodiscard]] char* buffer(std::uint16_t number) const noexcept { return buffers_.get() + number * buffer_size_; }
  void give_back(std::uint16_t number) noexcept;

  // Ends all requests before their buffers are released.
  void cancel_all() noexcept;

 private:
  struct FreeDeleter {
    void operator()(void* memory) const noexcept;
  };

  [[nodiscard]] int try_flags(const IoUringOptions& options, unsigned flags) noexcept;
  void choose_flags(const IoUringOptions& options);
  void detect_multishot(const IoUringOptions& options);
  [[nodiscard]] int make_buffers(const IoUringOptions& options);
  void describe(const IoUringOptions& options);

  io_uring ring_{};
  IoUringFeatures features_;
  bool disabled_at_start_ = false;
  bool enabled_ = false;
  unsigned prepared_ = 0;  // requests that the kernel has not yet taken
  std::unique_ptr<io_uring_buf_ring, FreeDeleter> buffer_ring_;
  std::unique_ptr<char[]> buffers_;
  std::size_t buffer_size_ = 0;
  std::size_t buffer_count_ = 0;
  std::vector<char> lent_;  // checked builds: by buffer, 1 between its completion and its return
  std::string missing_;     // features that are missing, and why
};

}  // namespace nfx::detail
