// One io_uring with its ring of receive buffers: set up step by step, filled with requests, read from.
// Thread: the one that called enable(); construction may be elsewhere. Cost: one pass over shared memory, and a call of
// the kernel where a function states it.
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

  // Throws std::system_error when there is no io_uring.
  explicit IoUringRing(const IoUringOptions& options);
  ~IoUringRing();
  IoUringRing(const IoUringRing&) = delete;
  IoUringRing& operator=(const IoUringRing&) = delete;

  [[nodiscard]] const IoUringFeatures& features() const noexcept { return features_; }

  // Makes the calling thread the ring's. Throws std::system_error.
  void enable();
  [[nodiscard]] bool enabled() const noexcept { return enabled_; }

  // An entry for a request, to be filled before the next call. Calls the kernel when the queue is full.
  [[nodiscard]] io_uring_sqe* request() noexcept;
  // Hands over what was requested and collects what is done; calls the kernel when there is something of either.
  // Waits up to max_wait when there is nothing. True when it called the kernel.
  bool pump(Duration max_wait) noexcept;
  [[nodiscard]] bool next(Completion& completion) noexcept;

  [[nodiscard]] char* buffer(std::uint16_t number) const noexcept { return buffers_.get() + number * buffer_size_; }
  void give_back(std::uint16_t number) noexcept;

  // Ends all requests before their buffers go.
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
  unsigned prepared_ = 0;  // requests that the kernel has not taken yet
  std::unique_ptr<io_uring_buf_ring, FreeDeleter> buffer_ring_;
  std::unique_ptr<char[]> buffers_;
  std::size_t buffer_size_ = 0;
  std::size_t buffer_count_ = 0;
  std::vector<char> lent_;  // checked builds: by buffer, 1 while a completion has brought it and it was not given back
  std::string missing_;     // what was left out, and why
};

}  // namespace nfx::detail
