// How to send with io_uring: past the ring with send(2); through the ring, where a caller that reuses its bytes has to
// copy them first; or without the kernel's copy, which costs an extra completion. Receiving is the same in all: one
// request at a time into one buffer, busy-polling.
#include <liburing.h>

#include "transport/ping_pong.hpp"
#include "transport/raw_socket.hpp"

namespace nfx::bench {

namespace {

enum class Sending : std::uint8_t { beside, through, zero_copy };

template <Sending How>
class RingEnd {
 public:
  explicit RingEnd(int fd) : socket_(fd) {
    io_uring_params params{};
    params.flags = IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_TASKRUN_FLAG;
    if (const int error = -io_uring_queue_init_params(64, &ring_, &params); error != 0) {
      throw std::system_error(error, std::generic_category(), "io_uring_setup");
    }
    const iovec registered{out_.data(), out_.size()};
    if (How == Sending::zero_copy && io_uring_register_buffers(&ring_, &registered, 1) != 0) {
      io_uring_queue_exit(&ring_);
      throw std::runtime_error("cannot register the send buffer");
    }
    ask_for_input();
    io_uring_submit(&ring_);
  }
  RingEnd(const RingEnd&) = delete;
  RingEnd& operator=(const RingEnd&) = delete;
  ~RingEnd() { io_uring_queue_exit(&ring_); }

  void send(std::span<const char> bytes) {
    if constexpr (How == Sending::beside) {
      if (::send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL) != std::ssize(bytes)) fail();
      return;
    }
    while (outstanding_ > 0) serve();  // the buffer is still the kernel's
    std::memcpy(out_.data(), bytes.data(), bytes.size());
    io_uring_sqe* entry = io_uring_get_sqe(&ring_);
    if (How == Sending::zero_copy) {
      io_uring_prep_send_zc_fixed(entry, socket_.fd(), out_.data(), bytes.size(), MSG_NOSIGNAL, 0, 0);
    } else {
      io_uring_prep_send(entry, socket_.fd(), out_.data(), bytes.size(), MSG_NOSIGNAL);
    }
    io_uring_sqe_set_data64(entry, send_request);
    sent_size_ = static_cast<int>(bytes.size());
    ++outstanding_;
    io_uring_submit_and_get_events(&ring_);
  }

  void receive(std::span<char> bytes) {
    while (!bytes.empty()) {
      while (size_ == 0) serve();
      const std::size_t taken = std::min(size_, bytes.size());
      std::memcpy(bytes.data(), in_.data() + begin_, taken);
      bytes = bytes.subspan(taken);
      begin_ += taken;
      size_ -= taken;
      if (size_ > 0) continue;
      ask_for_input();
      if (How == Sending::beside) io_uring_submit(&ring_);  // otherwise the send takes it along
      if (!bytes.empty()) io_uring_submit(&ring_);
    }
  }

 private:
  static constexpr std::uint64_t send_request = 1, receive_request = 2;

  [[noreturn]] static void fail() { throw std::runtime_error("the other side is gone"); }

  void ask_for_input() {
    io_uring_sqe* entry = io_uring_get_sqe(&ring_);
    io_uring_prep_recv(entry, socket_.fd(), in_.data(), in_.size(), 0);
    io_uring_sqe_set_data64(entry, receive_request);
  }

  void serve() {
    io_uring_cqe* entry = nullptr;
    if (io_uring_peek_cqe(&ring_, &entry) != 0) return cpu_pause();
    if (entry->user_data == receive_request) {
      if (entry->res <= 0) fail();
      begin_ = 0;
      size_ = static_cast<std::size_t>(entry->res);
    } else if ((entry->flags & IORING_CQE_F_NOTIF) != 0) {
      --outstanding_;
    } else {
      if (entry->res != sent_size_) fail();
      if ((entry->flags & IORING_CQE_F_MORE) == 0) --outstanding_;
    }
    io_uring_cqe_seen(&ring_, entry);
  }

  RawSocket socket_;
  io_uring ring_{};
  std::array<char, 4096> in_;
  std::array<char, 4096> out_;
  std::size_t begin_ = 0, size_ = 0;
  int sent_size_ = 0;
  int outstanding_ = 0;
};

template <Sending How>
LatencyHistogram run_ring(const PingPong& plan) {
  return run_both(
      plan,
      [&](const auto& report_port) {
        RingEnd<How> end{accept_one(report_port)};
        answer(end, plan);
      },
      [&](std::uint16_t port) {
        RingEnd<How> end{connect_to(port)};
        return ask(end, plan);
      });
}

std::string missing() {
  io_uring ring{};
  const int error =
      -io_uring_queue_init(8, &ring, IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_R_DISABLED);
  if (error != 0) return "no io_uring with DEFER_TASKRUN here: " + std::generic_category().message(error);
  io_uring_queue_exit(&ring);
  return {};
}

}  // namespace

void add_ring_rows(std::vector<Condition>& rows) {
  const std::string why_not = missing();
  const auto add = [&](const char* name, auto run) {
    rows.push_back({.name = name, .baseline = "raw spin", .why_not = why_not, .run = run, .has_target = false});
  };
  add("raw ring spin, send(2)", run_ring<Sending::beside>);
  add("raw ring spin, SEND", run_ring<Sending::through>);
  add("raw ring spin, SEND_ZC", run_ring<Sending::zero_copy>);
}

}  // namespace nfx::bench
