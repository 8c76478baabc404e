// Sends UDP datagrams to one address or multicast group: for replays and generators.
// Thread: one owner. Cost: one system call per datagram, no allocation after construction. Errors: the constructor
// throws UdpError; afterwards send() returns what became of the datagram.
#pragma once

#include <cstdint>
#include <string_view>

#include "nexusfix/base/time.hpp"
#include "nexusfix/transport/udp_address.hpp"

namespace nfx {

enum class UdpSent : std::uint8_t {
  sent,
  busy,     // the socket's send buffer is full: wait() and send it again
  refused,  // nothing receives there, or it is too long, or the network is down; dropped
};

class UdpSender {
 public:
  // Multicast leaves by the address's interface, one hop, and reaches receivers on this host too.
  explicit UdpSender(const UdpAddress& to);
  ~UdpSender();
  UdpSender(UdpSender&& other) noexcept;
  UdpSender& operator=(UdpSender&&) = delete;

  [[nodiscard]] UdpSent send(std::string_view datagram) noexcept;
  void wait(Duration longest) noexcept;  // until the send buffer has space

 private:
  int fd_ = -1;
};

}  // namespace nfx
