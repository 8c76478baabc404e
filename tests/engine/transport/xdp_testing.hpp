// Shared by the tests over AF_XDP: two network namespaces of the test's own, and a wire between them that the test
// carries frame by frame, so that it can lose, duplicate, delay, hold back and count them.
//
//   namespace of the transport                          namespace of the kernel's TCP
//   xdp0 (10.99.0.2, AF_XDP) == wire0 ... Wire ... wire1 == kernel0 (10.99.0.1)
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "transport/network_namespaces.hpp"
#include "transport/transport_testing.hpp"
#include "transport/xdp_transport.hpp"

namespace nfx::testing {

inline constexpr const char* xdp_host = "10.99.0.2";
inline constexpr const char* kernel_host = "10.99.0.1";
inline constexpr const char* xdp_address = "xdp0 10.99.0.2/24";

// One in so many frames, by seed; 0: none.
struct Weather {
  std::uint32_t loss = 0;
  std::uint32_t duplicate = 0;
  std::uint32_t reorder = 0;  // overtaken by the next three frames, or after 5 ms
  std::uint32_t seed = 1;
};

class Wire {
 public:
  Weather weather;
  bool cut = false;     // all frames are lost
  bool paused = false;  // all frames wait
  std::function<bool(bool from_xdp, std::span<const char> frame)> lose;
  std::function<void(bool from_xdp, std::string& frame)> change;  // a copy that is sent first
  std::size_t lost = 0, duplicated = 0, reordered = 0, carried = 0;

  Wire() = default;
  ~Wire() {
    for (const Side& side : sides_) {
      if (side.fd >= 0) ::close(side.fd);
    }
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  [[nodiscard]] bool attach() { return attach(sides_[0], "wire0") && attach(sides_[1], "wire1"); }

  void pump() {
    if (paused) return;
    for (std::size_t from = 0; from < 2; ++from) {
      Side& to = sides_[1 - from];
      std::array<char, 2048> frame;
      for (int i = 0; i < 64; ++i) {
        const ssize_t size = ::recv(sides_[from].fd, frame.data(), frame.size(), MSG_DONTWAIT);
        if (size <= 0) break;
        carry(from == 0, to, {frame.data(), static_cast<std::size_t>(size)});
      }
      const auto now = std::chrono::steady_clock::now();
      while (!to.delayed.empty() && (to.delayed.front().after <= to.sent || to.delayed.front().until <= now)) {
        const std::string late = std::move(to.delayed.front().frame);
        to.delayed.pop_front();
        send(to, late);
      }
    }
  }

 private:
  struct Delayed {
    std::string frame;
    std::size_t after;
    std::chrono::steady_clock::time_point until;
  };
  struct Side {
    int fd = -1;
    std::size_t sent = 0;
    std::deque<Delayed> delayed;  // to be sent on this side
  };

  static bool attach(Side& side, const char* name) {
    side.fd = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(::if_nametoindex(name));
    const int yes = 1, room = 8 << 20;
    ::setsockopt(side.fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    return side.fd >= 0 && ::setsockopt(side.fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof yes) == 0 &&
           ::bind(side.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }

  bool one_in(std::uint32_t count) {
    if (count == 0) return false;
    weather.seed ^= weather.seed << 13;
    weather.seed ^= weather.seed >> 17;
    weather.seed ^= weather.seed << 5;
    return weather.seed % count == 0;
  }

  void carry(bool from_xdp, Side& to, std::span<const char> frame) {
    if (cut || (lose && lose(from_xdp, frame)) || one_in(weather.loss)) {
      ++lost;
      return;
    }
    const std::string copy{frame.data(), frame.size()};
    if (change) {
      std::string changed = copy;
      change(from_xdp, changed);
      if (changed != copy) send(to, changed);
    }
    if (one_in(weather.reorder)) {
      ++reordered;
      to.delayed.push_back({copy, to.sent + 3, std::chrono::steady_clock::now() + std::chrono::milliseconds{5}});
      return;
    }
    send(to, copy);
    if (!one_in(weather.duplicate)) return;
    ++duplicated;
    send(to, copy);
  }

  void send(Side& to, const std::string& frame) {
    ++carried;
    ++to.sent;
    static_cast<void>(::send(to.fd, frame.data(), frame.size(), 0) == std::ssize(frame));
  }

  std::array<Side, 2> sides_;
};

class XdpWorld {
 public:
  Wire wire;

  XdpWorld() : problem_(namespaces_.problem().empty() ? build() : namespaces_.problem()) {}

  // Why this host cannot run the tests; empty if it can.
  static std::string missing() {
    static const std::string problem = [] {
      const XdpWorld world;
      if (!world.problem_.empty()) return world.problem_;
      try {
        const XdpTransport transport{XdpOptions{.address = xdp_address}};
      } catch (const std::exception& error) {
        return std::string{error.what()};
      }
      return std::string{};
    }();
    return problem;
  }

  template <class Function>
  auto in_kernel(const Function& what) const {
    return namespaces_.in_other(what);
  }

 private:
  std::string build() {
    run_command("sysctl -w net.ipv6.conf.all.disable_ipv6=1");
    if (!take_up("xdp0") || !take_up("wire0") || !take_up("wire1") || !wire.attach()) return "the wire cannot be made";
    const bool there = in_kernel([&] {
      run_command("sysctl -w net.ipv6.conf.all.disable_ipv6=1");
      return run_command("ip link set lo up") && run_command("ip addr add 10.99.0.1/24 dev kernel0") &&
             take_up("kernel0");
    });
    return there ? "" : "the kernel's end cannot be made";
  }

  TwoNamespaces namespaces_{
      {"ip link add xdp0 type veth peer name wire0", "ip link add wire1 type veth peer name kernel0 netns OTHER"}};
  std::string problem_;
};

// A transport over the kernel's TCP in the other namespace.
class KernelSide : public EpollTransport {
 public:
  explicit KernelSide(XdpWorld& world)
      : EpollTransport(world.in_kernel([] { return EpollOptions{}; })), world_(world) {}
  std::expected<ListenerId, TransportError> listen(const Endpoint& endpoint, const SocketOptions& options = {}) {
    return world_.in_kernel([&] { return EpollTransport::listen({kernel_host, endpoint.port}, options); });
  }
  std::expected<ConnectionId, TransportError> connect(const Endpoint& endpoint, const SocketOptions& options = {}) {
    return world_.in_kernel([&] { return EpollTransport::connect(endpoint, options); });
  }

 private:
  XdpWorld& world_;
};

class XdpSide : public XdpTransport {
 public:
  explicit XdpSide(const XdpOptions& options = {.address = xdp_address}) : XdpTransport(options) {}
  std::expected<ListenerId, TransportError> listen(const Endpoint& endpoint, const SocketOptions& options = {}) {
    return XdpTransport::listen({xdp_host, endpoint.port}, options);
  }
};

inline constexpr Weather clear_sky{};
inline constexpr Weather bad_weather{.loss = 200, .duplicate = 40, .reorder = 30, .seed = 7};

// Two ends of the wire: the server, or the client, is past the kernel.
template <bool server_is_xdp, const Weather& weather>
struct XdpEnds {
  XdpEnds() { world.wire.weather = weather; }
  static std::string missing() { return XdpWorld::missing(); }
  void advance() { world.wire.pump(); }

  XdpWorld world;
  std::conditional_t<server_is_xdp, XdpSide, KernelSide> server = make<server_is_xdp>();
  std::conditional_t<server_is_xdp, KernelSide, XdpSide> client = make<!server_is_xdp>();
  Duration idle_wait = 0ns;

 private:
  template <bool xdp>
  auto make() {
    if constexpr (xdp) {
      return XdpSide{};
    } else {
      return KernelSide{world};
    }
  }
};

}  // namespace nfx::testing
