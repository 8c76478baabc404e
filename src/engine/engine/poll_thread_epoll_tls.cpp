// Instantiates the poll loop for TLS over epoll.
#include "engine/poll_thread_over_tls.hpp"
#include "transport/epoll_transport.hpp"

namespace nfx {

template class PollLoop<TlsTransport<EpollTransport>, CounterClock<>>;

std::unique_ptr<PollThread> make_epoll_tls_thread(const PollThreadOptions& options) {
  return std::make_unique<PollThreadOver<Encrypted<EpollTransport>>>(options, EpollOptions{});
}

}  // namespace nfx
