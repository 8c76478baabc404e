#include "engine/poll_thread_over.hpp"
#include "nexusfix/transport/io_uring_transport.hpp"

namespace nfx {

template class PollLoop<IoUringTransport, CounterClock<>>;

std::unique_ptr<PollThread> make_io_uring_thread(const PollThreadOptions& options) {
  return std::make_unique<PollThreadOver<Plain<IoUringTransport>>>(options, options.config.io_uring);
}

}  // namespace nfx
