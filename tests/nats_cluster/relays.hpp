// TCP relays on loopback that can be cut like a network: bytes sent before wait, and neither end of the connection
// notices.
// Thread: one of its own; set() from any. Cost: a copy in each direction. Errors: std::runtime_error from add().
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace nfx::test {

enum class Flow : std::uint8_t {
  both,
  requests,  // only to the target: its answers wait
  none,
};

class Relays {
 public:
  Relays();
  ~Relays();
  Relays(const Relays&) = delete;
  Relays& operator=(const Relays&) = delete;

  // Adds a port that leads to this one, and returns its index.
  std::size_t add(std::uint16_t target);
  [[nodiscard]] std::uint16_t port(std::size_t relay) const;
  void set(std::size_t relay, Flow flow);

 private:
  struct Relay {
    int listener = -1;
    std::uint16_t port = 0, target = 0;
    std::atomic<Flow> flow{Flow::both};
  };
  struct Pair {
    const Relay* relay = nullptr;
    std::array<int, 2> fds{-1, -1};                               // the connecting side, the target
    std::array<std::string, 2> wait;                              // pending bytes for that side
    [[nodiscard]] bool is_open(std::size_t side) const noexcept;  // bytes arrive from that side
  };

  void run();
  void accept_from(const Relay& relay);
  [[nodiscard]] static bool carry(Pair& pair, std::size_t from, short events);

  mutable std::mutex mutex_;  // of relays_
  std::deque<Relay> relays_;
  std::list<Pair> pairs_;  // used by the thread
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace nfx::test
