// Sets up an io_uring with the features of this kernel, and reports missing ones.
#include "transport/io_uring_ring.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <new>
#include <system_error>
#include <utility>

#include "nexusfix/base/assert.hpp"

namespace nfx::detail {

namespace {

constexpr unsigned request_entries = 256;

[[nodiscard]] unsigned completion_entries(const IoUringOptions& options) noexcept {
  // Each buffer may be full and each connection may have ended; the kernel stores further completions elsewhere.
  const std::size_t wanted = 2 * options.receive_buffers + options.max_connections;
  return static_cast<unsigned>(std::bit_ceil(std::clamp<std::size_t>(wanted, 2 * request_entries, 32768)));
}

// Adds the setting to the error: "Operation not permitted: kernel.io_uring_disabled=2".
[[nodiscard]] std::string why_not(int error) {
  std::string text = std::generic_category().message(error);
  if (error == ENOSYS) return text + ": this kernel is built without it, or older than 5.11";
  if (error != EPERM && error != EACCES) return text;
  std::string value;
  std::ifstream in{"/proc/sys/kernel/io_uring_disabled"};
  if (std::getline(in, value) && value != "0") return text + ": kernel.io_uring_disabled=" + value;
  return text + ": a seccomp filter, as containers have one, forbids io_uring_setup";
}

[[noreturn]] void fail(int error) {
  throw std::system_error(error, std::generic_category(), "io_uring is not available (" + why_not(error) + ")");
}

}  // namespace

void IoUringRing::FreeDeleter::operator()(void* memory) const noexcept { std::free(memory); }

IoUringRing::IoUringRing(const IoUringOptions& options) : buffer_size_(options.receive_buffer_size) {
  choose_flags(options);
  try {
    detect_multishot(options);
    describe(options);
  } catch (...) {
    io_uring_queue_exit(&ring_);
    throw;
  }
}

IoUringRing::~IoUringRing() { io_uring_queue_exit(&ring_); }

int IoUringRing::try_flags(const IoUringOptions& options, unsigned flags) noexcept {
  io_uring_params params{};
  params.flags = flags | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP;
  params.cq_entries = completion_entries(options);
  if ((flags & IORING_SETUP_SQPOLL) != 0) {
    const auto idle = std::chrono::ceil<std::chrono::milliseconds>(options.sq_thread_idle);
    params.sq_thread_idle = static_cast<unsigned>(idle.count());
    if (options.sq_thread_cpu >= 0) {
      params.flags |= IORING_SETUP_SQ_AFF;
      params.sq_thread_cpu = static_cast<unsigned>(options.sq_thread_cpu);
    }
  }
  const int error = -io_uring_queue_init_params(request_entries, &ring_, &params);
  if (error != 0) return error;
  if ((params.features & IORING_FEAT_EXT_ARG) == 0 || (params.features & IORING_FEAT_NODROP) == 0) {
    io_uring_queue_exit(&ring_);
    return ENOSYS;
  }
  disabled_at_start_ = (flags & IORING_SETUP_R_DISABLED) != 0;
  features_.available = true;
  features_.single_issuer = (flags & IORING_SETUP_SINGLE_ISSUER) != 0;
  features_.defer_taskrun = (flags & IORING_SETUP_DEFER_TASKRUN) != 0;
  features_.coop_taskrun = (flags & IORING_SETUP_COOP_TASKRUN) != 0;
  features_.sqpoll = (flags & IORING_SETUP_SQPOLL) != 0;
  return 0;
}

// Tries fewer and fewer flags until the kernel accepts them. The ring starts disabled, so that its single issuer is the
// thread that enables it, not the one that constructs it.
void IoUringRing::choose_flags(const IoUringOptions& options) {
  constexpr unsigned single = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_R_DISABLED;
  struct Step {
    bool wanted;
    unsigned flags;
    const char* name;
  };
  const bool defer = options.allow_defer_taskrun && !options.sqpoll;
  const bool coop = options.allow_coop_taskrun && !options.sqpoll;
  const Step ladder[] = {
      {options.sqpoll, IORING_SETUP_SQPOLL | single, "SQPOLL"},
      {defer, IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG | single, "DEFER_TASKRUN"},
      {coop, IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG | single, "SINGLE_ISSUER"},
      {coop, IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG, "COOP_TASKRUN"},
      {true, 0, ""},
  };
  int error = 0;
  for (const Step& step : ladder) {
    if (!step.wanted) continue;
    error = try_flags(options, step.flags);
    if (error == 0) return;
    // Old kernels require a privilege for SQPOLL.
    const bool go_on = error == EINVAL || ((step.flags & IORING_SETUP_SQPOLL) != 0 && error == EPERM);
    if (!go_on) break;
    const bool names_cpu = (step.flags & IORING_SETUP_SQPOLL) != 0 && options.sq_thread_cpu >= 0;
    std::string why = std::generic_category().message(error);
    if (error == EINVAL) why = "the kernel lacks it";
    if (error == EINVAL && names_cpu) why = "no CPU " + std::to_string(options.sq_thread_cpu) + " to pin its thread to";
    missing_ += "; no " + std::string(step.name) + " (" + why + ")";
  }
  fail(error);
}

void IoUringRing::detect_multishot(const IoUringOptions& options) {
  struct ProbeDeleter {
    void operator()(io_uring_probe* probe) const noexcept { io_uring_free_probe(probe); }
  };
  const std::unique_ptr<io_uring_probe, ProbeDeleter> probe{io_uring_get_probe_ring(&ring_)};
  // Multishot requests are flags, which a probe does not list; operations of the same kernel versions are probed
  // instead.
  const auto knows = [&](int operation) { return probe && io_uring_opcode_supported(probe.get(), operation) != 0; };
  const auto decide = [&](bool allowed, bool known, const char* name) {
    if (allowed && known) return true;
    missing_ += std::string("; no ") + name + (allowed ? " (the kernel lacks it)" : " (not allowed by options)");
    return false;
  };
  features_.multishot_accept = decide(options.allow_multishot_accept, knows(IORING_OP_SOCKET), "multishot accept");
  features_.multishot_receive = decide(options.allow_multishot_receive, knows(IORING_OP_SEND_ZC), "multishot receive");
  if (!features_.multishot_receive) return;
  if (const int error = make_buffers(options); error != 0) {
    features_.multishot_receive = false;
    missing_ += "; no multishot receive (buffer ring: " + std::generic_category().message(error) + ")";
  }
}

int IoUringRing::make_buffers(const IoUringOptions& options) {
  buffer_count_ = std::bit_ceil(options.receive_buffers);
  constexpr std::size_t page = 4096;
  const std::size_t ring_bytes = (buffer_count_ * sizeof(io_uring_buf) + page - 1) / page * page;
  buffer_ring_.reset(static_cast<io_uring_buf_ring*>(std::aligned_alloc(page, ring_bytes)));
  if (!buffer_ring_) throw std::bad_alloc();
  buffers_ = std::make_unique<char[]>(buffer_count_ * buffer_size_);  // written to, so that the pages are mapped
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uint64_t>(buffer_ring_.get());
  registration.ring_entries = static_cast<std::uint32_t>(buffer_count_);
  registration.bgid = buffer_group;
  const int error = -io_uring_register_buf_ring(&ring_, &registration, 0);
  if (error != 0) return error;
  io_uring_buf_ring_init(buffer_ring_.get());
  lent_.assign(buffer_count_, 1);
  for (std::size_t i = 0; i < buffer_count_; ++i) give_back(static_cast<std::uint16_t>(i));
  return 0;
}

void IoUringRing::describe(const IoUringOptions& options) {
  std::string used;
  const auto add = [&](bool present, const char* name) {
    if (present) used += (used.empty() ? "" : ", ") + std::string(name);
  };
  add(features_.sqpoll, "SQPOLL");
  add(features_.defer_taskrun, "DEFER_TASKRUN");
  add(features_.coop_taskrun, "COOP_TASKRUN");
  add(features_.single_issuer, "SINGLE_ISSUER");
  add(features_.multishot_accept, "multishot accept");
  add(features_.multishot_receive, "multishot receive");
  if (!options.sqpoll && !options.allow_defer_taskrun) missing_ += "; no DEFER_TASKRUN (not allowed by options)";
  features_.text = "io_uring: " + (used.empty() ? "nothing beyond its first version" : used) + missing_;
}

void IoUringRing::enable() {
  if (enabled_) return;
  if (disabled_at_start_) {
    // liburing declares io_uring_enable_rings, but some versions do not export it.
    if (::syscall(__NR_io_uring_register, ring_.ring_fd, IORING_REGISTER_ENABLE_RINGS, nullptr, 0) != 0) {
      throw std::system_error(errno, std::generic_category(), "enable the io_uring");
    }
  }
  enabled_ = true;
}

io_uring_sqe* IoUringRing::request() noexcept {
  io_uring_sqe* entry = io_uring_get_sqe(&ring_);
  while (entry == nullptr) {
    // This only makes the kernel take requests, so it ends; with SQPOLL, the kernel's thread has to run once.
    io_uring_submit(&ring_);
    if (features_.sqpoll) io_uring_sqring_wait(&ring_);
    prepared_ = 0;
    entry = io_uring_get_sqe(&ring_);
    if (entry == nullptr) io_uring_get_events(&ring_);  // no memory, or too many overflowed completions
  }
  ++prepared_;
  return entry;
}

bool IoUringRing::pump(Duration max_wait) noexcept {
  bool entered = false;
  const bool deferred = features_.defer_taskrun;
  if (prepared_ > 0) {
    const int taken = deferred ? io_uring_submit_and_get_events(&ring_) : io_uring_submit(&ring_);
    NFX_ASSERT(taken != -EEXIST);   // would mean a poll from another thread than the first
    if (taken >= 0) prepared_ = 0;  // otherwise they stay in the queue for the next time
    entered = true;
  }
  if (io_uring_cq_ready(&ring_) > 0) return entered;
  if (max_wait <= Duration::zero()) {
    const unsigned flags = IO_URING_READ_ONCE(*ring_.sq.kflags);
    if ((flags & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) == 0) return entered;
    io_uring_get_events(&ring_);
    return true;
  }
  const auto seconds = std::chrono::floor<std::chrono::seconds>(max_wait);
  __kernel_timespec timeout{};
  timeout.tv_sec = seconds.count();
  timeout.tv_nsec = (max_wait - seconds).count();
  io_uring_cqe* unused = nullptr;
  io_uring_wait_cqes(&ring_, &unused, 1, &timeout, nullptr);
  return true;
}

bool IoUringRing::next(Completion& completion) noexcept {
  if (io_uring_cq_ready(&ring_) == 0) return false;
  const io_uring_cqe& entry = ring_.cq.cqes[*ring_.cq.khead & ring_.cq.ring_mask];
  completion = {entry.user_data, entry.res, entry.flags};
  io_uring_cq_advance(&ring_, 1);
#ifndef NDEBUG
  if (completion.has_buffer()) {
    NFX_REQUIRE(completion.buffer() < buffer_count_);
    NFX_REQUIRE(std::exchange(lent_[completion.buffer()], 1) == 0);  // the kernel fills only buffers that it was given
  }
#endif
  return true;
}

void IoUringRing::give_back(std::uint16_t number) noexcept {
  NFX_ASSERT(number < buffer_count_);
  NFX_ASSERT(std::exchange(lent_[number], 0) == 1);  // no buffer is returned twice
  io_uring_buf_ring_add(buffer_ring_.get(), buffer(number), static_cast<unsigned>(buffer_size_), number,
                        io_uring_buf_ring_mask(static_cast<std::uint32_t>(buffer_count_)), 0);
  io_uring_buf_ring_advance(buffer_ring_.get(), 1);
}

// The kernel refuses this from another thread than the ring's. That is harmless: with DEFER_TASKRUN nothing is received
// outside of that thread's calls.
void IoUringRing::cancel_all() noexcept {
  if (!enabled_) return;
  io_uring_sync_cancel_reg all{};
  all.fd = -1;
  all.flags = IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL;
  all.timeout.tv_nsec = 100'000'000;
  io_uring_register_sync_cancel(&ring_, &all);
}

}  // namespace nfx::detail
