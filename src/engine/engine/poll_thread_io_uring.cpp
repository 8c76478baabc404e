// Instantiates the poll loop for io_uring, with the probe whether this kernel has it.
#include "engine/poll_thread_over.hpp"
#include "transport/io_uring_transport.hpp"

namespace nfx {

template class PollLoop<IoUringTransport, CounterClock<>>;

namespace {

std::unique_ptr<PollThread> make_io_uring_thread(const PollThreadOptions& options) {
  return std::make_unique<PollThreadOver<Plain<IoUringTransport>>>(options, options.config.io_uring);
}

TransportProbe probe(const EngineConfig& config) {
  IoUringFeatures features = probe_io_uring(config.io_uring);
  return {.available = features.available, .text = std::move(features.text)};
}

}  // namespace

const TransportMakers io_uring_makers{
    .plain = make_io_uring_thread, .with_tls = make_io_uring_tls_thread, .probe = probe};

}  // namespace nfx
