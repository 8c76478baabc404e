// Sends datagrams through a connected, non-blocking socket.
#include "nexusfix/transport/udp.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error_text.hpp"
#include "transport/udp_socket.hpp"

namespace nfx {

using namespace detail;

UdpSender::UdpSender(const UdpAddress& to) {
  if (to.port == 0) throw UdpError(to_string(to) + ": cannot send to port 0; give the receiver's port");
  const UdpSocketAddress address = socket_address_of(to);
  UdpSocket socket(address);
  const auto require = [&](bool done, const char* what) {
    if (!done) throw UdpError(to_string(to) + ": " + what + ": " + system_text(errno));
  };
  if (address.multicast && address.interface != 0) {
    if (address.is_ipv4()) {
      ip_mreqn by{};
      by.imr_ifindex = static_cast<int>(address.interface);
      require(::setsockopt(socket.fd(), IPPROTO_IP, IP_MULTICAST_IF, &by, sizeof by) == 0,
              "the interface cannot send multicast");
    } else {
      require(socket.set(IPPROTO_IPV6, IPV6_MULTICAST_IF, static_cast<int>(address.interface)),
              "the interface cannot send multicast");
    }
  }
  require(::connect(socket.fd(), address.get(), address.size) == 0,
          address.multicast ? "no route to the group; give its interface: GROUP:PORT@INTERFACE" : "no route to it");
  fd_ = socket.release();
}

UdpSender::~UdpSender() {
  if (fd_ >= 0) ::close(fd_);
}

UdpSender::UdpSender(UdpSender&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

UdpSent UdpSender::send(std::string_view datagram) noexcept {
  // A refusal belongs to an earlier datagram, so this one is tried once more.
  for (int tries = 0; tries < 2; ++tries) {
    if (::send(fd_, datagram.data(), datagram.size(), MSG_NOSIGNAL) >= 0) return UdpSent::sent;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == EINTR) return UdpSent::busy;
    if (errno != ECONNREFUSED) return UdpSent::refused;
  }
  return UdpSent::refused;
}

void UdpSender::wait(Duration longest) noexcept {
  pollfd writable{fd_, POLLOUT, 0};
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(longest / std::chrono::seconds{1});
  timeout.tv_nsec = static_cast<long>((longest % std::chrono::seconds{1}).count());
  ::ppoll(&writable, 1, &timeout, nullptr);
}

}  // namespace nfx
