// Instantiates the poll loop for io_uring, with the probe whether this kernel has it.
#include "engine/poll_thread_over.hpp"
#include "transport/io_uring_transport.hpp"

namespace nfx {

template class PollLoop<IoUringTransport, CounterClock<>>;
template class PollLoop<TlsTransport<IoUringTransport>, CounterClock<>>;

namespace {

IoUringOptions io_uring_options(const EngineConfig& config) { return config.io_uring; }

TransportProbe probe(const EngineConfig& config) {
  IoUringFeatures features = probe_io_uring(config.io_uring);
  return {.available = features.available, .text = std::move(features.text)};
}

}  // namespace

const TransportMakers io_uring_makers = makers_over<IoUringTransport, io_uring_options>(probe);

}  // namespace nfx
