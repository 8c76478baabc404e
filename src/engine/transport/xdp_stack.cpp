// lwIP on the frames of an AF_XDP socket: the interface, its timers, and what lwIP calls back.
#ifdef NFX_WITH_AF_XDP

#include <arpa/inet.h>
#include <lwip/etharp.h>
#include <lwip/init.h>
#include <lwip/priv/tcp_priv.h>
#include <netif/ethernet.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/clocks.hpp"
#include "nexusfix/base/assert.hpp"
#include "transport/xdp_frame.hpp"
#include "transport/xdp_impl.hpp"

namespace nfx::detail {
namespace {

constexpr Duration timer_step = std::chrono::milliseconds{TCP_TMR_INTERVAL / timer_rate};
constexpr Duration address_step = std::chrono::milliseconds{ARP_TMR_INTERVAL / timer_rate};
constexpr std::uint32_t polls_per_clock = 16;
constexpr std::size_t frames_per_poll = 64;

[[nodiscard]] std::uint32_t random_number() {
  std::uint32_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    throw std::system_error(errno, std::generic_category(), "getrandom");
  return number;
}

std::atomic_flag stack_in_use;

[[nodiscard]] XdpAddress checked(const XdpOptions& options) {
  check_xdp_options(options);
  return *XdpAddress::parse(options.address);
}

}  // namespace

StackOwner::StackOwner() {
  if (stack_in_use.test_and_set())
    throw std::system_error(EBUSY, std::generic_category(),
                            "AF_XDP: lwIP has one stack per process, and another poll thread uses it");
  static const bool once = [] {
    ::lwip_init();
    ::tcp_ticks = random_number();  // lwIP's initial sequence numbers follow from it
    return true;
  }();
  static_cast<void>(once);
}

StackOwner::~StackOwner() { stack_in_use.clear(); }

XdpImpl::XdpImpl(const XdpOptions& wanted)
    : options(wanted),
      connections(wanted.max_connections),
      address_(checked(wanted)),
      socket_(address_, wanted.frames),
      buffers_(socket_.receive_frames()),
      listeners_(wanted.max_listeners),
      next_port_(static_cast<std::uint16_t>(first_own_port + random_number() % (65536 - first_own_port))) {
  ready_.reserve(wanted.max_connections);
  serving_.reserve(wanted.max_connections);
  for (Connection& connection : connections.all) connection.owner = this;
  for (XdpListener& listener : listeners_) listener.owner = this;
  for (std::uint32_t i = 0; i < buffers_.size(); ++i) {
    buffers_[i].head.custom_free_function = free_buffer;
    buffers_[i].owner = this;
    buffers_[i].number = i;
  }
  wake_ = make_wake_event();
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) throw std::system_error(errno, std::generic_category(), "epoll");
  watch(wake_, true);
  watch(socket_.descriptor(), false);
  const ip4_addr_t own = to_lwip(address_.address), gateway = to_lwip(address_.gateway);
  ip4_addr_t mask{};
  mask.addr = address_.prefix == 0 ? 0 : htonl(~std::uint32_t{0} << (32 - address_.prefix));
  if (::netif_add(&interface_, &own, &mask, &gateway, this, start_interface, ::ethernet_input) == nullptr)
    throw std::runtime_error("AF_XDP: lwIP takes no interface");
  ::netif_set_default(&interface_);
  ::netif_set_link_up(&interface_);
  ::netif_set_up(&interface_);
  next_step_ = read_monotonic() + timer_step;
  next_address_step_ = read_monotonic() + address_step;
  socket_.kick();
}

XdpImpl::~XdpImpl() {
  for (XdpListener& listener : listeners_) {
    if (listener.pcb != nullptr) close_listener(id_of(listener));
  }
  for (Connection& connection : connections.all) {
    if (connection.state != State::free) free_slot(connection);
  }
  while (tcp_active_pcbs != nullptr) ::tcp_abort(tcp_active_pcbs);
  while (tcp_tw_pcbs != nullptr) ::tcp_abort(tcp_tw_pcbs);
  ::netif_remove(&interface_);
  socket_.kick();
  ::close(epoll_);
  ::close(wake_);
}

// The interface.

err_t XdpImpl::start_interface(netif* interface) {
  auto& self = *static_cast<XdpImpl*>(interface->state);
  interface->name[0] = 'x';
  interface->name[1] = 'd';
  interface->output = ::etharp_output;
  interface->linkoutput = send_frame;
  interface->mtu = self.socket_.mtu();
  interface->hwaddr_len = ETH_HWADDR_LEN;
  std::ranges::copy(self.socket_.mac(), interface->hwaddr);
  interface->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET;
  return ERR_OK;
}

err_t XdpImpl::send_frame(netif* interface, pbuf* packet) {
  auto& self = *static_cast<XdpImpl*>(interface->state);
  char* frame = packet->tot_len <= XdpSocket::frame_size ? self.socket_.frame_to_send() : nullptr;
  if (frame == nullptr) {
    self.was_full_ = true;
    return ERR_MEM;
  }
  ::pbuf_copy_partial(packet, frame, packet->tot_len, 0);
  self.socket_.send(packet->tot_len);
  return ERR_OK;
}

void XdpImpl::free_buffer(pbuf* buffer) {
  auto& freed = *reinterpret_cast<Buffer*>(buffer);
  freed.owner->socket_.give_back(freed.number);
}

void XdpImpl::receive_frames() {
  std::array<ReceivedFrame, frames_per_poll> frames;
  const std::size_t count = socket_.receive(frames);
  for (const ReceivedFrame& frame : std::span{frames}.first(count)) {
    const FrameKind kind = kind_of({frame.data, frame.size}, address_.address);
    if (kind == FrameKind::other || (kind == FrameKind::first_of_connection && too_many_half_open()) ||
        (kind == FrameKind::usable && is_opposite(frame))) {
      socket_.give_back(frame.number);
      continue;
    }
    const auto size = static_cast<std::uint16_t>(frame.size);
    pbuf* packet = ::pbuf_alloced_custom(PBUF_RAW, size, PBUF_REF, &buffers_[frame.number].head, frame.data, size);
    if (interface_.input(packet, &interface_) != ERR_OK) ::pbuf_free(packet);
  }
  if (socket_.lent() > socket_.receive_frames() / 2) [[unlikely]]
    shed_out_of_order();
}

// lwIP ends the process for a segment of one byte, or of a FIN, half of the number space away from the expected one.
bool XdpImpl::is_opposite(const ReceivedFrame& frame) noexcept {
  constexpr std::size_t protocol = 23, from = 26, ports = 34, number = 38;
  const auto read = [&](std::size_t at, auto value) {
    std::memcpy(&value, frame.data + at, sizeof value);
    return value;
  };
  if (frame.data[13] != 0 || frame.data[protocol] != IPPROTO_TCP) return false;
  const std::uint16_t remote = ntohs(read(ports, std::uint16_t{})), local = ntohs(read(ports + 2, std::uint16_t{}));
  for (const tcp_pcb* pcb = tcp_active_pcbs; pcb != nullptr; pcb = pcb->next) {
    if (pcb->remote_port == remote && pcb->local_port == local &&
        ip_2_ip4(&pcb->remote_ip)->addr == read(from, std::uint32_t{}))
      return pcb->rcv_nxt - ntohl(read(number, std::uint32_t{})) == std::uint32_t{1} << 31;
  }
  return false;
}

bool XdpImpl::too_many_half_open() const noexcept {
  std::size_t half_open = 0;
  for (const tcp_pcb* pcb = tcp_active_pcbs; pcb != nullptr; pcb = pcb->next) half_open += pcb->state == SYN_RCVD;
  return half_open >= options.max_half_open;
}

// Segments that wait for an earlier one occupy frames. The peers send them again.
void XdpImpl::shed_out_of_order() noexcept {
  for (tcp_pcb* pcb = tcp_active_pcbs; pcb != nullptr; pcb = pcb->next) {
    if (pcb->ooseq != nullptr) ::tcp_free_ooseq(pcb);
  }
}

void XdpImpl::watch(int descriptor, bool wake_event) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = wake_event ? 1 : 0;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0)
    throw std::system_error(errno, std::generic_category(), "epoll");
}

void XdpImpl::wait(Duration max_wait) {
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(
      std::clamp(std::min(max_wait, time_to_next_step()), Duration::zero(), longest_wait));
  std::array<epoll_event, 8> events;
  const int count =
      ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), static_cast<int>(milliseconds.count()));
  ++counters.epoll_waits;
  for (int i = 0; i < count; ++i) {
    if (events[static_cast<std::size_t>(i)].data.u32 == 1) clear_wake_event(wake_);
  }
  polls_ = polls_per_clock;
}

// Time.

Duration XdpImpl::time_to_next_step() const noexcept {
  const bool busy = tcp_active_pcbs != nullptr || !connections.lingering.empty();
  const MonotonicTime next = busy ? std::min(next_step_, next_address_step_) : next_address_step_;
  return std::max(next - read_monotonic(), Duration::zero());
}

void XdpImpl::keep_time() noexcept {
  if (++polls_ < polls_per_clock) return;
  polls_ = 0;
  const MonotonicTime now = read_monotonic();
  if (!connections.lingering.empty()) sweep_lingering(now);
  if (now < next_step_) return;
  next_step_ = now + timer_step;
  for (std::size_t i = connections.open.size(); i-- > 0;) check_progress(connections.all[connections.open[i]], now);
  ::tcp_tmr();
  limit_time_wait();
  if (now < next_address_step_) return;
  next_address_step_ = now + address_step;
  ::etharp_tmr();
}

// user_timeout_s, which lwIP does not have.
void XdpImpl::check_progress(Connection& connection, MonotonicTime now) noexcept {
  const tcp_pcb* pcb = connection.pcb;
  if (pcb == nullptr || connection.tuning.user_timeout_s <= 0) return;
  if (pcb->unacked == nullptr && pcb->unsent == nullptr) {
    connection.progress = MonotonicTime::max();
  } else if (connection.progress == MonotonicTime::max() || pcb->lastack != connection.acknowledged) {
    connection.acknowledged = pcb->lastack;
    connection.progress = now;
  } else if (now - connection.progress >= std::chrono::seconds{connection.tuning.user_timeout_s}) {
    abort(connection);
    connections.make_broken(connection, CloseReason::timed_out);
    enlist(connection);
  }
}

void XdpImpl::sweep_lingering(MonotonicTime now) noexcept {
  for (std::size_t i = connections.lingering.size(); i-- > 0;) {
    Connection& connection = connections.all[connections.lingering[i]];
    if (connection.pcb != nullptr && connection.pcb->state == TIME_WAIT) {
      static_cast<void>(let_go(connection));
      free_slot(connection);
    } else if (now >= connection.linger_until) {
      ++counters.linger_cut_short;
      free_slot(connection);
    }
  }
}

// lwIP keeps any number of them. Those beyond the limit are the oldest, at the end of its list.
void XdpImpl::limit_time_wait() noexcept {
  std::size_t left = options.max_connections;
  tcp_pcb* pcb = tcp_tw_pcbs;
  for (; pcb != nullptr && left > 0; --left) pcb = pcb->next;
  while (pcb != nullptr) ::tcp_abort(std::exchange(pcb, pcb->next));
}

// lwIP's callbacks.

err_t XdpImpl::on_accept(void* argument, tcp_pcb* pcb, err_t error) {
  if (error != ERR_OK || pcb == nullptr) return ERR_VAL;
  auto& listener = *static_cast<XdpListener*>(argument);
  XdpImpl& self = *listener.owner;
  Connection* connection = self.take_slot();
  if (connection == nullptr) {
    ++self.counters.refused_full;
    ::tcp_arg(pcb, nullptr);
    return ERR_MEM;  // lwIP resets it
  }
  connection->announcement = Announcement::accepted;
  connection->listener = self.id_of(listener);
  self.attach(*connection, pcb, listener.tuning);
  self.connections.make_open(*connection);
  self.enlist(*connection);
  ++self.counters.accepted;
  return ERR_OK;
}

err_t XdpImpl::on_connected(void* argument, tcp_pcb*, err_t) {
  auto& connection = *static_cast<Connection*>(argument);
  connection.announcement = Announcement::connected;
  connection.owner->connections.make_open(connection);
  connection.owner->enlist(connection);
  return ERR_OK;
}

err_t XdpImpl::on_received(void* argument, tcp_pcb* pcb, pbuf* bytes, err_t) {
  if (argument == nullptr) {
    if (bytes != nullptr) ::pbuf_free(bytes);
    return ERR_OK;
  }
  auto& connection = *static_cast<Connection*>(argument);
  XdpImpl& self = *connection.owner;
  if (bytes == nullptr) {
    connection.ended = true;
    if (connection.state == State::open) self.enlist(connection);
    return ERR_OK;  // of a lingering connection: sweep_lingering
  }
  const std::uint16_t size = bytes->tot_len;
  if (connection.state == State::lingering) {
    ::pbuf_free(bytes);
    if (size <= connection.linger_bytes) {
      connection.linger_bytes -= size;
      ::tcp_recved(pcb, size);
      return ERR_OK;
    }
    ++self.counters.linger_flooded;
    self.free_slot(connection);
    return ERR_ABRT;
  }
  if (connection.held) {
    for (const pbuf* part = bytes; part != nullptr; part = part->next)
      connection.kept.append(static_cast<const char*>(part->payload), part->len);
    ::pbuf_free(bytes);
    return ERR_OK;
  }
  (connection.received == nullptr ? connection.received : connection.last_received->next) = bytes;
  while (bytes->next != nullptr) bytes = bytes->next;
  connection.last_received = bytes;
  self.enlist(connection);
  return ERR_OK;
}

err_t XdpImpl::on_acknowledged(void* argument, tcp_pcb*, std::uint16_t) {
  if (argument == nullptr) return ERR_OK;
  auto& connection = *static_cast<Connection*>(argument);
  if (connection.wants_write && connection.state == State::open) connection.owner->enlist(connection);
  return ERR_OK;
}

// lwIP has freed the connection.
void XdpImpl::on_gone(void* argument, err_t error) {
  if (argument == nullptr) return;
  auto& connection = *static_cast<Connection*>(argument);
  XdpImpl& self = *connection.owner;
  connection.pcb = nullptr;
  if (connection.state == State::lingering) return self.free_slot(connection);
  const bool connecting = connection.state == State::connecting;
  const CloseReason reason = error == ERR_RST    ? (connecting ? CloseReason::refused : CloseReason::reset)
                             : error == ERR_CLSD ? CloseReason::peer_closed
                                                 : CloseReason::timed_out;
  self.connections.make_broken(connection, reason);
  self.enlist(connection);
}

}  // namespace nfx::detail

#endif  // NFX_WITH_AF_XDP
