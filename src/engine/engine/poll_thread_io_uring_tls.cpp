// Instantiates the poll loop for TLS over io_uring.
#include "engine/poll_thread_over_tls.hpp"
#include "transport/io_uring_transport.hpp"

namespace nfx {

template class PollLoop<TlsTransport<IoUringTransport>, CounterClock<>>;

std::unique_ptr<PollThread> make_io_uring_tls_thread(const PollThreadOptions& options) {
  return std::make_unique<PollThreadOver<Encrypted<IoUringTransport>>>(options, options.config.io_uring);
}

}  // namespace nfx
