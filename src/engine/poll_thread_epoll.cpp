#include "engine/poll_thread_over.hpp"
#include "nexusfix/transport/epoll_transport.hpp"

namespace nfx {

template class PollLoop<EpollTransport, CounterClock<>>;

std::unique_ptr<PollThread> make_epoll_thread(const PollThreadOptions& options) {
  return std::make_unique<PollThreadOver<Plain<EpollTransport>>>(options, EpollOptions{});
}

}  // namespace nfx
