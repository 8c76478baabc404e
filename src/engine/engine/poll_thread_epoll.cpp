// Instantiates the poll loop for epoll, so that one unit compiles its templates.
#include "engine/poll_thread_over.hpp"
#include "transport/epoll_transport.hpp"

namespace nfx {

template class PollLoop<EpollTransport, CounterClock<>>;

namespace {

std::unique_ptr<PollThread> make_thread(const PollThreadOptions& options) {
  return std::make_unique<PollThreadOver<Plain<EpollTransport>>>(options, EpollOptions{});
}

}  // namespace

const TransportMakers epoll_makers{.plain = make_thread, .with_tls = make_epoll_tls_thread};

}  // namespace nfx
