// Receives the publisher's messages until the run is over. A Trader reads the sockets of a live feed, in the poll loop
// of its orders' session if there are orders. With FIX it uses the session that has the market data too.
// Thread: the calling one. Errors: std::runtime_error when there is no connection to the publisher or the venue.
#pragma once

#include <cstdint>
#include <memory>

#include "demo/venue_process.hpp"
#include "nexusfix/live/live_feed.hpp"
#include "nexusfix/recording/recording.hpp"
#include "t2m/publisher.hpp"
#include "t2m/run.hpp"
#include "t2m/stamps.hpp"

namespace nfx::app::t2m {

class Receiver {
 public:
  virtual ~Receiver() = default;
  // `venue` is null where it is the publisher, or there are no orders.
  virtual void receive(PublisherProcess& publisher, demo::VenueProcess* venue) = 0;
  [[nodiscard]] virtual Measurement& measurement() noexcept = 0;
  // Adds the final state of the books and the orders.
  virtual void add_to(RunResult& result) const = 0;
};

// All outlive the receiver. `recorder` may be null; otherwise it gets every input, so that a replay has the same books
// and orders. The sockets are for a feed by sockets.
struct ReceiverParts {
  const RunOptions& options;
  const Messages& messages;
  nfx::market::FeedSockets& sockets;
  nfx::market::Recorder* recorder = nullptr;
};
[[nodiscard]] std::unique_ptr<Receiver> make_receiver(const ReceiverParts& parts);
// The baseline: recvmsg() alone, for a feed of datagrams. One that was not sent like this is a misfit.
[[nodiscard]] std::unique_ptr<Receiver> make_raw_receiver(const ReceiverParts& parts);

// Shared by both kinds, which run on the calling thread alone: turn() returns whether something came, wait() sleeps
// until then.
template <class Turn, class Wait>
void receive_alone(Measurement& measurement, WaitMode mode, Turn&& turn, Wait&& wait) {
  for (std::uint32_t turns = 1;; ++turns) {
    if (turn()) continue;
    mode == WaitMode::block ? wait(Duration{10'000'000}) : cpu_pause();
    if ((mode == WaitMode::block || turns % 4096 == 0) && measurement.over(read_clocks().monotonic)) return;
  }
}
void begin(Measurement& measurement, PublisherProcess& publisher);

}  // namespace nfx::app::t2m
