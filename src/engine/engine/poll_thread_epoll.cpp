// Instantiates the poll loop for epoll, so that one unit compiles its templates.
#include "engine/poll_thread_over.hpp"
#include "transport/epoll_transport.hpp"

namespace nfx {

template class PollLoop<EpollTransport, CounterClock<>>;
template class PollLoop<TlsTransport<EpollTransport>, CounterClock<>>;

namespace {

EpollOptions epoll_options(const EngineConfig&) { return {}; }

}  // namespace

const TransportMakers epoll_makers = makers_over<EpollTransport, epoll_options>();

}  // namespace nfx
