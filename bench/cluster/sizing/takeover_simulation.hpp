// The loss of a site in virtual time: gateways and servers that are gone, leases that end, takeovers through queues of
// servers, and peers that log on again. Discrete events from one seed: the same result on every machine.
// Thread: any; pure. Cost: some hundred nanoseconds for each event, 64 bytes for each session. Errors: none; the
// options are in their ranges.
//
// A session of a lost gateway waits until its lease has ended, then for a place among the takeovers that its next
// gateway runs at a time. A takeover reads the last frame, publishes an epoch and reads the frames of the replay. Reads
// go to a random server that is alive; publishes to the leader of the session's stream, and cost the followers time
// too. A publish to a stream without a leader is lost and sent again after the owner's timeout. A peer tries to log on
// at its interval; a gateway takes a bounded number of Logons each second and refuses the others.
#pragma once

#include <cstdint>

namespace nfx::bench {

struct TakeoverOptions {
  std::uint64_t seed = 1;
  std::uint32_t sessions = 10'000;
  std::uint32_t gateways = 100;
  std::uint32_t sites = 3;    // gateways, servers and leaders are divided among them in turn; the first is lost
  std::uint32_t servers = 3;  // at least one for each site
  std::uint32_t streams = 3;
  std::uint32_t replicas = 3;
  double lease_s = 5;
  double answer_timeout_s = 2;
  double election_min_s = 4, election_max_s = 9;
  std::uint32_t replay_frames = 100;     // of each session
  std::uint32_t takeovers_at_once = 64;  // of a gateway
  double round_trip_us = 400;            // of a request, without waiting for other requests
  double publish_us = 100;               // of a server's processor, for each copy
  double read_us = 30;
  double reconnect_s = 5;            // between two attempts of a peer, with a tenth of jitter
  std::uint32_t logons_per_s = 200;  // that a gateway takes
};

struct Spread {
  double p50 = 0, p99 = 0, max = 0;
};

struct TakeoverResult {
  std::uint32_t moved = 0;  // sessions of lost gateways, all of which are owned at the end
  Spread owned_s;           // since the loss of the site
  Spread logged_on_s;
  std::uint32_t elections = 0;  // streams that had their leader there
  double election_s_max = 0;
  std::uint64_t lost_requests = 0;  // to streams without a leader
  std::uint64_t publishes = 0, reads = 0;
  double busiest_server = 0;             // most of a second that one server worked
  double busiest_second_s = 0;           // when
  std::uint64_t requests_per_s_max = 0;  // of one server
  std::uint32_t logons_per_s_max = 0;    // that one gateway took
  std::uint64_t logons_refused = 0;
  std::uint64_t events = 0;
  std::uint64_t digest = 0;  // of all times
};

[[nodiscard]] TakeoverResult simulate_takeover(const TakeoverOptions& options);

}  // namespace nfx::bench
