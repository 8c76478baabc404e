// An io_uring with one request at a time, and a pair of connected sockets.
// Thread: one owner. Cost: a system call per submit_and_wait(), none with SQPOLL. Errors: std::system_error when the
// kernel refuses; std::runtime_error for a request that fails.
#pragma once

#include <liburing.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>

namespace nfx::bench {

class Ring {
 public:
  // With SQPOLL the kernel's thread runs on `poll_cpu`.
  Ring(unsigned flags, unsigned poll_cpu) {
    io_uring_params params{};
    params.flags = flags;
    if ((flags & IORING_SETUP_SQPOLL) != 0) {
      params.flags |= IORING_SETUP_SQ_AFF;
      params.sq_thread_cpu = poll_cpu;
      params.sq_thread_idle = 2000;
    }
    if (const int error = -io_uring_queue_init_params(64, &ring_, &params); error != 0)
      throw std::system_error(error, std::generic_category(), "io_uring_setup");
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() { io_uring_queue_exit(&ring_); }

  void prepare_nop(std::uint64_t number) noexcept {
    io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
    io_uring_prep_nop(entry);
    io_uring_sqe_set_data64(entry, number);
    expected_ = 0;
  }
  void prepare_send(int fd, const char* bytes, std::size_t size) noexcept {
    io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
    io_uring_prep_send(entry, fd, bytes, size, MSG_NOSIGNAL);
    expected_ = static_cast<int>(size);
  }
  // Completes when all bytes are there.
  void prepare_receive(int fd, char* bytes, std::size_t size) noexcept {
    io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
    io_uring_prep_recv(entry, fd, bytes, size, MSG_WAITALL);
    expected_ = static_cast<int>(size);
  }
  // Gives the number of the request that completed.
  std::uint64_t submit_and_wait() {
    io_uring_submit_and_wait(&ring_, 1);
    io_uring_cqe* entry = nullptr;
    if (io_uring_wait_cqe(&ring_, &entry) != 0) throw std::runtime_error("io_uring gave no completion");
    const std::uint64_t number = io_uring_cqe_get_data64(entry);
    const int result = entry->res;
    io_uring_cqe_seen(&ring_, entry);
    if (result != expected_) throw std::runtime_error("an io_uring request ended with " + std::to_string(result));
    return number;
  }

 private:
  io_uring ring_{};
  int expected_ = 0;
};

struct SocketPair {
  SocketPair() {
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  SocketPair(const SocketPair&) = delete;
  SocketPair& operator=(const SocketPair&) = delete;
  ~SocketPair() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  int ends[2] = {-1, -1};
};

// Empty when a ring can be made this way; SQPOLL also needs a CPU of its own.
[[nodiscard]] inline std::string why_no_ring(unsigned flags, unsigned core, unsigned other) {
  if ((flags & IORING_SETUP_SQPOLL) != 0 && core == other) return "SQPOLL needs a second CPU";
  try {
    const Ring ring{flags, other};
    return {};
  } catch (const std::system_error& error) {
    return error.what();
  }
}

}  // namespace nfx::bench
