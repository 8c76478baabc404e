// Opens UDP lines, and reads them in batches with the kernel's metadata of each datagram: its time, and the number of
// drops.
#include "nexusfix/transport/udp.hpp"

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/sock_diag.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>

#include "base/call_trace.hpp"
#include "base/error_text.hpp"
#include "nexusfix/base/assert.hpp"
#include "transport/address.hpp"
#include "transport/udp_socket.hpp"

namespace nfx {

using namespace detail;

namespace {

constexpr std::uint32_t batch_max = 1024;
constexpr std::uint32_t datagram_min = 64;
constexpr std::uint32_t datagram_max = 65536;
constexpr std::size_t lines_max = 1024;
// Time stamps (three) and the count of drops, each with its header.
constexpr std::size_t control_size = CMSG_SPACE(sizeof(scm_timestamping)) + CMSG_SPACE(sizeof(std::uint32_t));

struct Control {
  alignas(cmsghdr) std::array<char, control_size> bytes;
};

[[nodiscard]] UtcTime time_of(const timespec& at) noexcept {
  return UtcTime{std::chrono::seconds{at.tv_sec} + std::chrono::nanoseconds{at.tv_nsec}};
}

[[nodiscard]] bool is_set(const timespec& at) noexcept { return at.tv_sec != 0 || at.tv_nsec != 0; }

// For a datagram that neither card nor kernel has stamped.
[[gnu::cold, gnu::noinline]] UtcTime read_clock() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return time_of(now);
}

void bind_line(const UdpLineOptions& line, const UdpSocketAddress& address, UdpSocket& socket) {
  // Other receivers of a group on this host get their own copies. A unicast address has one receiver.
  if (address.multicast) (void)socket.set(SOL_SOCKET, SO_REUSEADDR, 1);
  if (!address.is_ipv4()) (void)socket.set(IPPROTO_IPV6, IPV6_V6ONLY, 1);
  if (::bind(socket.fd(), address.get(), address.size) == 0) return;
  const int error = errno;
  std::string text = "line " + line.name + ": " + cannot("listen on", to_string(line.address), error);
  switch (error) {
    case EADDRINUSE: text += "; 'ss -uanp' lists the process that uses it: end it, or give another port"; break;
    case EADDRNOTAVAIL: text += "; give an address of this host, or a group"; break;
    case EACCES: text += "; give a port from 1024, or give the program CAP_NET_BIND_SERVICE"; break;
    default: break;
  }
  throw UdpError(text);
}

void join(const UdpLineOptions& line, const UdpSocketAddress& address, UdpSocket& socket) {
  if (!address.multicast) return;
  int result = 0;
  if (address.is_ipv4()) {
    // Receives only this group, not all groups that other sockets of the host have joined.
    (void)socket.set(IPPROTO_IP, IP_MULTICAST_ALL, 0);
    ip_mreqn group{address.ipv4().sin_addr, {}, static_cast<int>(address.interface)};
    result = ::setsockopt(socket.fd(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof group);
  } else {
    ipv6_mreq group{address.ipv6().sin6_addr, address.interface};
    result = ::setsockopt(socket.fd(), IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, &group, sizeof group);
  }
  if (result == 0) return;
  const int error = errno;
  std::string text = "line " + line.name + ": " + cannot("join", to_string(line.address), error);
  if (error == ENODEV && address.interface == 0) text += "; give the group's interface: GROUP:PORT@INTERFACE";
  if (error == ENOBUFS) text += "; raise net.ipv4.igmp_max_memberships";
  throw UdpError(text);
}

// Exceeding net.core.rmem_max requires CAP_NET_ADMIN. The kernel reports twice the size it allows.
void enlarge(int wanted, UdpSocket& socket, UdpLine& line) {
  const auto given = [&] { return socket.get(SOL_SOCKET, SO_RCVBUF) / 2; };
  if (wanted > 0) (void)socket.set(SOL_SOCKET, SO_RCVBUF, wanted);
  if (wanted > given()) (void)socket.set(SOL_SOCKET, SO_RCVBUFFORCE, wanted);
  line.receive_buffer = given();
  if (line.receive_buffer >= wanted) return;
  line.warnings.push_back("the receive buffer has " + std::to_string(line.receive_buffer) + " bytes instead of " +
                          std::to_string(wanted) + ": run `sysctl -w net.core.rmem_max=" + std::to_string(wanted) +
                          "`, or give the program CAP_NET_ADMIN");
}

void request_notes(UdpSocket& socket, UdpLine& line) {
  constexpr int software = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
  constexpr int hardware = SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
  if (!socket.set(SOL_SOCKET, SO_TIMESTAMPING, software | hardware)) {
    line.warnings.push_back("no time stamps of card or kernel: SO_TIMESTAMPING: " + system_text(errno));
  }
  if (!socket.set(SOL_SOCKET, SO_RXQ_OVFL, 1)) {
    line.warnings.push_back("datagrams that the kernel drops are counted late: SO_RXQ_OVFL: " + system_text(errno));
  }
}

[[nodiscard]] std::uint16_t bound_port(const UdpSocket& socket) noexcept {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in&>(address).sin_port
                                            : reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
}

void check(const std::vector<UdpLineOptions>& lines, const UdpReceiverOptions& options) {
  if (lines.empty() || lines.size() > lines_max) throw UdpError("a receiver: expected 1 to 1024 lines");
  if (options.batch == 0 || options.batch > batch_max)
    throw UdpError("a receiver's batch: expected 1 to 1024 datagrams");
  if (options.datagram_bytes < datagram_min || options.datagram_bytes > datagram_max) {
    throw UdpError("a receiver's datagram_bytes: expected 64 to 65536");
  }
}

}  // namespace

struct UdpReceiver::State {
  struct Line {
    UdpSocket socket;
    UdpCounters counters;
    std::uint32_t drops_seen = 0;  // the kernel's count, modulo 2^32
  };

  UdpReceiverOptions options;
  std::vector<Line> lines;
  std::vector<pollfd> polled;
  // For one batch of any line.
  std::vector<mmsghdr> messages;
  std::vector<iovec> pieces;
  std::vector<sockaddr_storage> senders;
  std::vector<Control> controls;
  std::vector<char> bytes;
  std::vector<UdpDatagram> datagrams;

  explicit State(const UdpReceiverOptions& given)
      : options(given),
        messages(given.batch),
        pieces(given.batch),
        senders(given.batch),
        controls(given.batch),
        bytes(std::size_t{given.batch} * given.datagram_bytes),
        datagrams(given.batch) {
    for (std::size_t i = 0; i < given.batch; ++i) {
      pieces[i] = {bytes.data() + i * given.datagram_bytes, given.datagram_bytes};
      msghdr& header = messages[i].msg_hdr;
      header.msg_name = &senders[i];
      header.msg_iov = &pieces[i];
      header.msg_iovlen = 1;
      header.msg_control = controls[i].bytes.data();
      reset(header);
    }
  }

  // Resets the fields that the kernel has overwritten.
  static void reset(msghdr& header) noexcept {
    header.msg_namelen = sizeof(sockaddr_storage);
    header.msg_controllen = control_size;
    header.msg_flags = 0;
  }

  // A datagram waiting in the socket has the count of its arrival, and read_drops() may have seen a later one.
  static void note_drops(Line& line, std::uint32_t drops) noexcept {
    if (static_cast<std::int32_t>(drops - line.drops_seen) <= 0) return;
    line.counters.kernel_drops += drops - line.drops_seen;
    line.drops_seen = drops;
  }

  static void read_notes(msghdr& header, Line& line, UdpDatagram& datagram) noexcept {
    datagram.stamp = StampSource::none;
    for (cmsghdr* at = CMSG_FIRSTHDR(&header); at != nullptr; at = CMSG_NXTHDR(&header, at)) {
      if (at->cmsg_level != SOL_SOCKET) continue;
      if (at->cmsg_type == SCM_TIMESTAMPING) {
        scm_timestamping stamps{};
        std::memcpy(&stamps, CMSG_DATA(at), sizeof stamps);
        const bool hardware = is_set(stamps.ts[2]);
        if (!hardware && !is_set(stamps.ts[0])) continue;
        datagram.stamp = hardware ? StampSource::hardware : StampSource::kernel;
        datagram.received = time_of(stamps.ts[hardware ? 2 : 0]);
      } else if (at->cmsg_type == SO_RXQ_OVFL) {
        std::uint32_t drops = 0;
        std::memcpy(&drops, CMSG_DATA(at), sizeof drops);
        note_drops(line, drops);
      }
    }
    if (datagram.stamp != StampSource::none) return;
    ++line.counters.unstamped;
    datagram.stamp = StampSource::program;
    datagram.received = read_clock();
  }
};

UdpReceiver::UdpReceiver(const std::vector<UdpLineOptions>& lines, const UdpReceiverOptions& options) {
  check(lines, options);
  state_ = std::make_unique<State>(options);
  state_->lines.reserve(lines.size());
  for (const UdpLineOptions& line : lines) {
    const UdpSocketAddress address = socket_address_of(line.address);
    UdpSocket socket(address);
    UdpLine& opened = lines_.emplace_back(UdpLine{line.name, line.address, 0, {}});
    // Before binding, so that the first datagrams already have the space and the time stamps.
    enlarge(line.receive_buffer, socket, opened);
    request_notes(socket, opened);
    bind_line(line, address, socket);
    join(line, address, socket);
    opened.address.port = bound_port(socket);
    state_->polled.push_back({socket.fd(), POLLIN, 0});
    state_->lines.push_back({std::move(socket), {}, 0});
  }
}

UdpReceiver::~UdpReceiver() = default;
UdpReceiver::UdpReceiver(UdpReceiver&&) noexcept = default;

std::span<const UdpDatagram> UdpReceiver::receive(std::uint16_t number) noexcept {
  NFX_TRACE();
  NFX_ASSERT(number < lines_.size());
  State& state = *state_;
  State::Line& line = state.lines[number];
  const int got = ::recvmmsg(line.socket.fd(), state.messages.data(), state.options.batch, MSG_DONTWAIT, nullptr);
  if (got < 0) {
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) ++line.counters.errors;
    return {};
  }
  NFX_ASSERT(static_cast<std::uint32_t>(got) <= state.options.batch);
  for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i) {
    mmsghdr& message = state.messages[i];
    UdpDatagram& datagram = state.datagrams[i];
    NFX_ASSERT(message.msg_len <= state.options.datagram_bytes);
    datagram.bytes = {static_cast<const char*>(state.pieces[i].iov_base), message.msg_len};
    datagram.line = number;
    datagram.truncated = (message.msg_hdr.msg_flags & MSG_TRUNC) != 0;
    datagram.sender = {reinterpret_cast<const std::byte*>(&state.senders[i]), message.msg_hdr.msg_namelen};
    State::read_notes(message.msg_hdr, line, datagram);
    ++line.counters.datagrams;
    line.counters.bytes += message.msg_len;
    line.counters.truncated += datagram.truncated ? 1 : 0;
    State::reset(message.msg_hdr);
  }
  return {state.datagrams.data(), static_cast<std::size_t>(got)};
}

UdpSent UdpReceiver::send(std::uint16_t number, const UdpDestination& to, std::string_view datagram) noexcept {
  NFX_ASSERT(number < lines_.size());
  const auto* const address = reinterpret_cast<const sockaddr*>(to.bytes.data());
  const int fd = state_->lines[number].socket.fd();
  if (::sendto(fd, datagram.data(), datagram.size(), MSG_NOSIGNAL | MSG_DONTWAIT, address, to.size) >= 0) {
    return UdpSent::sent;
  }
  const bool busy = errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == EINTR;
  return busy ? UdpSent::busy : UdpSent::refused;
}

int UdpReceiver::descriptor(std::uint16_t line) const noexcept {
  NFX_ASSERT(line < lines_.size());
  return state_->lines[line].socket.fd();
}

void UdpReceiver::wait(Duration longest) noexcept {
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(longest / std::chrono::seconds{1});
  timeout.tv_nsec = static_cast<long>((longest % std::chrono::seconds{1}).count());
  ::ppoll(state_->polled.data(), state_->polled.size(), &timeout, nullptr);
}

void UdpReceiver::read_drops(std::uint16_t number) noexcept {
  NFX_ASSERT(number < lines_.size());
  std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
  socklen_t size = sizeof memory;
  State::Line& line = state_->lines[number];
  if (::getsockopt(line.socket.fd(), SOL_SOCKET, SO_MEMINFO, memory.data(), &size) != 0) return;
  State::note_drops(line, memory[SK_MEMINFO_DROPS]);
}

const UdpCounters& UdpReceiver::counters(std::uint16_t line) const noexcept {
  NFX_ASSERT(line < lines_.size());
  return state_->lines[line].counters;
}

UdpDestination destination_of(const UdpAddress& address) {
  const UdpSocketAddress found = socket_address_of(address);
  UdpDestination to;
  NFX_REQUIRE(found.size <= to.bytes.size());
  std::memcpy(to.bytes.data(), found.get(), found.size);
  to.size = found.size;
  return to;
}

UdpDestination destination_of(const UdpDatagram& datagram) noexcept {
  UdpDestination to;
  if (datagram.sender.size() > to.bytes.size()) return to;
  std::ranges::copy(datagram.sender, to.bytes.begin());
  to.size = static_cast<std::uint32_t>(datagram.sender.size());
  return to;
}

std::string sender_of(const UdpDatagram& datagram) {
  sockaddr_storage address{};
  if (datagram.sender.size() > sizeof address) return {};
  std::memcpy(&address, datagram.sender.data(), datagram.sender.size());
  const auto endpoint = endpoint_of(address, static_cast<socklen_t>(datagram.sender.size()));
  return endpoint ? to_string(*endpoint) : std::string{};
}

}  // namespace nfx
