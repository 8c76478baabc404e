// Receives what the publisher sends until the run is over: by datagrams, by websocket as `nfx market live` does, or by
// FIX on the session that takes the orders too.
// Thread: the calling one. Errors: std::runtime_error when there is no connection to the publisher or the venue.
#pragma once

#include <cstdint>
#include <memory>

#include "demo/venue_process.hpp"
#include "nexusfix/transport/udp.hpp"
#include "t2m/publisher.hpp"
#include "t2m/reader.hpp"

namespace nfx::app::t2m {

// Where market data comes from, but by FIX.
class Receiver {
 public:
  virtual ~Receiver() = default;
  // Whether something came.
  virtual bool turn() = 0;
  // Sleeps until something comes.
  virtual void wait(Duration longest) noexcept = 0;
  // Readable when something has come. For a thread that sleeps.
  [[nodiscard]] virtual int descriptor() noexcept = 0;
  // It is connected and has subscribed.
  [[nodiscard]] virtual bool ready() const noexcept = 0;
};

// All outlive the receiver.
[[nodiscard]] std::unique_ptr<Receiver> make_datagram_receiver(Reader& reader, UdpReceiver& socket);
// The baseline: recvmsg() alone, for a feed of datagrams. One that was not sent like this is an anomaly of the path.
[[nodiscard]] std::unique_ptr<Receiver> make_raw_receiver(Reader& reader, UdpReceiver& socket, const Messages& messages,
                                                          FeedKind feed);
[[nodiscard]] std::unique_ptr<Receiver> make_websocket_receiver(Reader& reader, const MessageOptions& options,
                                                                std::uint16_t port);

// On the calling thread alone.
void receive_alone(Reader& reader, Receiver& receiver, WaitMode mode, PublisherProcess& publisher);
// In the poll loop of the session that the orders take.
void receive_in_engine(Reader& reader, Receiver& receiver, WaitMode mode, PublisherProcess& publisher,
                       demo::VenueProcess& venue);
// By FIX: the venue is the publisher, and its session takes the orders if there are any.
void receive_by_fix(Reader& reader, const RunOptions& options, PublisherProcess& publisher);

}  // namespace nfx::app::t2m
