// How a ring is made, and what an io_uring transport keeps for its connections.
// Thread: values.
#pragma once

#include <cstddef>

#include "nexusfix/base/time.hpp"

namespace nfx {

struct IoUringOptions {
  std::size_t receive_buffer_size = 8 * 1024;  // the most that one on_receive brings, except after hold
  std::size_t receive_buffers = 256;           // shared by all connections; rounded up to a power of two
  std::size_t max_connections = 1024;          // accepted, connecting and lingering together
  std::size_t max_listeners = 16;
  std::size_t accept_limit = 16;       // per poll
  std::size_t completion_limit = 256;  // per poll
  int listen_backlog = 128;
  Duration linger_time = std::chrono::seconds(2);         // how long close() continues to deliver in the background
  std::size_t linger_bytes = 256 * 1024;                  // ... and how much of the peer's it drops before it resets
  Duration accept_pause = std::chrono::milliseconds(50);  // after accept found no descriptor or memory

  // Steps of the ladder that may be taken; each is left out when false, or when the kernel lacks it.
  bool allow_defer_taskrun = true;      // the kernel completes receives only within poll
  bool allow_coop_taskrun = true;       // otherwise: ... whenever the thread is in the kernel, without interrupting it
  bool allow_multishot_accept = true;   // one request per listener instead of one per connection
  bool allow_multishot_receive = true;  // one request per connection, which fills buffers of a ring
  bool sqpoll = false;                  // a kernel thread takes requests: no call to submit, one core more
  int sq_thread_cpu = -1;               // ... the CPU that it is pinned to; -1: any
  Duration sq_thread_idle = std::chrono::milliseconds(50);  // ... and how long it busy-polls before it sleeps
};

}  // namespace nfx
