// Makes the memory, the rings and the XDP program, and moves frames through the rings.
#ifdef NFX_WITH_AF_XDP

#include "transport/xdp_socket.hpp"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <ifaddrs.h>
#include <linux/bpf.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xdp/libxdp.h>
#include <xdp/xsk.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <iterator>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "nexusfix/base/assert.hpp"

namespace nfx::detail {
namespace {

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error < 0 ? -error : error, std::generic_category(), what);
}

std::optional<Ipv4> read_ipv4(std::string_view text) {
  Ipv4 address;
  if (::inet_pton(AF_INET, std::string{text}.c_str(), address.data()) != 1) return std::nullopt;
  return address;
}

template <class Int>
bool read_number(std::string_view text, Int& into, Int most) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc{} && end == text.data() + text.size() && into <= most;
}

// Words between blanks; empty when there are more than `words`.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    words.push_back(text.substr(0, text.find(' ')));
    text.remove_prefix(words.back().size());
  }
  return words;
}

struct Descriptor {
  int fd = -1;
  Descriptor() = default;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

// Whether an interface of the kernel has the address: its connections would lose their frames.
[[nodiscard]] bool kernel_has(const Ipv4& address) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return false;
  bool found = false;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    sockaddr_in own{};
    std::memcpy(&own, each->ifa_addr, sizeof own);
    found = found || std::memcmp(&own.sin_addr, address.data(), address.size()) == 0;
  }
  ::freeifaddrs(all);
  return found;
}

constexpr bpf_insn instruction(int code, int to, int from, std::int16_t offset, std::int32_t number) {
  bpf_insn one{};
  one.code = static_cast<std::uint8_t>(code);
  one.dst_reg = static_cast<std::uint8_t>(to & 0xf);
  one.src_reg = static_cast<std::uint8_t>(from & 0xf);
  one.off = offset;
  one.imm = number;
  return one;
}

// if the frame has an ARP header that asks for `address`, or an IPv4 header to it:
//   return bpf_redirect_map(sockets, rx_queue_index, XDP_PASS)
// return XDP_PASS
int load_program(int sockets, const Ipv4& address) {
  std::int32_t wanted;
  std::memcpy(&wanted, address.data(), sizeof wanted);
  constexpr int r0 = 0, r1 = 1, r2 = 2, r3 = 3, r4 = 4;
  constexpr int compare = 10, pass = 17;  // numbers of instructions
  const auto jump = [](int from, int to) { return static_cast<std::int16_t>(to - from - 1); };
  const bpf_insn program[] = {
      /* 0*/ instruction(BPF_LDX | BPF_MEM | BPF_W, r2, r1, offsetof(xdp_md, data), 0),
      /* 1*/ instruction(BPF_LDX | BPF_MEM | BPF_W, r3, r1, offsetof(xdp_md, data_end), 0),
      /* 2*/ instruction(BPF_ALU64 | BPF_MOV | BPF_X, r4, r2, 0, 0),
      /* 3*/ instruction(BPF_ALU64 | BPF_ADD | BPF_K, r4, 0, 0, 42),  // the headers of Ethernet and ARP
      /* 4*/ instruction(BPF_JMP | BPF_JGT | BPF_X, r4, r3, jump(4, pass), 0),
      /* 5*/ instruction(BPF_LDX | BPF_MEM | BPF_H, r4, r2, 12, 0),  // EtherType
      /* 6*/ instruction(BPF_LDX | BPF_MEM | BPF_W, r3, r2, 38, 0),  // ARP: the address that is asked for
      /* 7*/ instruction(BPF_JMP | BPF_JEQ | BPF_K, r4, 0, jump(7, compare), htons(0x0806)),
      /* 8*/ instruction(BPF_JMP | BPF_JNE | BPF_K, r4, 0, jump(8, pass), htons(0x0800)),
      /* 9*/ instruction(BPF_LDX | BPF_MEM | BPF_W, r3, r2, 30, 0),  // IPv4: destination
      /*10*/ instruction(BPF_JMP32 | BPF_JNE | BPF_K, r3, 0, jump(compare, pass), wanted),
      /*11*/ instruction(BPF_LDX | BPF_MEM | BPF_W, r2, r1, offsetof(xdp_md, rx_queue_index), 0),
      /*12*/ instruction(BPF_LD | BPF_DW | BPF_IMM, r1, BPF_PSEUDO_MAP_FD, 0, sockets),
      /*13*/ instruction(0, 0, 0, 0, 0),
      /*14*/ instruction(BPF_ALU64 | BPF_MOV | BPF_K, r3, 0, 0, XDP_PASS),
      /*15*/ instruction(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map),
      /*16*/ instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
      /*17*/ instruction(BPF_ALU64 | BPF_MOV | BPF_K, r0, 0, 0, XDP_PASS),
      /*18*/ instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
  };
  bpf_prog_load_opts options{};
  options.sz = sizeof options;
  return ::bpf_prog_load(BPF_PROG_TYPE_XDP, "nexusfix", "MIT", program, std::size(program), &options);
}

}  // namespace

std::optional<XdpAddress> XdpAddress::parse(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() != 2 && (words.size() != 4 || words[2] != "via")) return std::nullopt;
  XdpAddress parsed;
  std::string_view interface = words[0];
  if (const std::size_t colon = interface.rfind(':'); colon != std::string_view::npos) {
    if (!read_number(interface.substr(colon + 1), parsed.queue, 4095U)) return std::nullopt;
    interface = interface.substr(0, colon);
  }
  if (interface.empty() || interface.size() >= IF_NAMESIZE) return std::nullopt;
  parsed.interface = interface;
  const std::size_t slash = words[1].find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto address = read_ipv4(words[1].substr(0, slash));
  if (!address || !read_number<std::uint8_t>(words[1].substr(slash + 1), parsed.prefix, 32)) return std::nullopt;
  parsed.address = *address;
  if (words.size() == 4) {
    const auto gateway = read_ipv4(words[3]);
    if (!gateway) return std::nullopt;
    parsed.gateway = *gateway;
  }
  return parsed;
}

struct XdpSocket::Kernel {
  char* memory = nullptr;
  std::size_t memory_size = 0;
  xsk_umem* umem = nullptr;
  xsk_socket* socket = nullptr;
  xsk_ring_prod fill{}, to_send{};
  xsk_ring_cons sent{}, received{};
  std::vector<std::uint32_t> to_fill;  // given back, not yet passed to the kernel
  std::vector<std::uint32_t> to_use;   // free for sending
  Descriptor sockets;
  Descriptor program;
  Descriptor link;  // its end takes the program from the interface

  // Returns 0 or a negative error. The kernel frees a queue only some time after its last user has gone.
  int open(const XdpAddress& address, std::uint32_t half) {
    const xsk_umem_config sizes{
        .fill_size = half, .comp_size = half, .frame_size = frame_size, .frame_headroom = 0, .flags = 0};
    xsk_socket_config options{};
    options.rx_size = options.tx_size = half;
    options.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD;
    options.bind_flags = XDP_USE_NEED_WAKEUP;  // without a copy where the driver can
    int error = 0;
    for (int tries = 0; tries < 100; ++tries) {
      error = ::xsk_umem__create(&umem, memory, memory_size, &fill, &sent, &sizes);
      if (error != 0) return error;
      error =
          ::xsk_socket__create(&socket, address.interface.c_str(), address.queue, umem, &received, &to_send, &options);
      if (error == 0) return 0;
      ::xsk_umem__delete(std::exchange(umem, nullptr));
      if (error != -EBUSY) return error;
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return error;
  }

  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  ~Kernel() {
    if (link.fd >= 0) ::close(std::exchange(link.fd, -1));
    if (socket != nullptr) ::xsk_socket__delete(socket);
    if (umem != nullptr) ::xsk_umem__delete(umem);
    if (memory != nullptr) ::munmap(memory, memory_size);
  }
};

XdpSocket::XdpSocket(const XdpAddress& address, std::uint32_t frames)
    : half_(frames / 2), kernel_(std::make_unique<Kernel>()) {
  NFX_REQUIRE(half_ >= 64 && (half_ & (half_ - 1)) == 0);
  const int index = static_cast<int>(::if_nametoindex(address.interface.c_str()));
  if (index == 0) fail(errno, "interface " + address.interface);
  if (kernel_has(address.address)) fail(EADDRINUSE, "the kernel has this address: choose one that it does not have");
  {
    Descriptor any;
    any.fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq request{};
    address.interface.copy(request.ifr_name, IFNAMSIZ - 1);
    if (::ioctl(any.fd, SIOCGIFHWADDR, &request) != 0) fail(errno, "MAC address of " + address.interface);
    std::memcpy(mac_.data(), request.ifr_hwaddr.sa_data, mac_.size());
    if (::ioctl(any.fd, SIOCGIFMTU, &request) == 0)
      mtu_ = static_cast<std::uint16_t>(std::clamp(request.ifr_mtu, 576, 1500));
  }
  Kernel& kernel = *kernel_;
  ::libxdp_set_print(nullptr);
  ::libbpf_set_print(nullptr);
  kernel.memory_size = std::size_t{frames} * frame_size;
  void* memory =
      ::mmap(nullptr, kernel.memory_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) fail(errno, "memory for frames");
  kernel.memory = static_cast<char*>(memory);
  const std::string queue = address.interface + " queue " + std::to_string(address.queue);
  if (const int error = kernel.open(address, half_); error != 0)
    fail(error, "AF_XDP socket on " + queue +
                    (error == -EBUSY || error == -EINVAL
                         ? " (does the queue exist, and does no other program use it?)"
                         : " (needs CAP_NET_RAW, and CAP_IPC_LOCK or a larger RLIMIT_MEMLOCK)"));
  descriptor_ = ::xsk_socket__fd(kernel.socket);
  kernel.sockets.fd = ::bpf_map_create(BPF_MAP_TYPE_XSKMAP, "nexusfix", 4, 4, address.queue + 1, nullptr);
  if (kernel.sockets.fd < 0) fail(errno, "XDP program (needs CAP_BPF and CAP_NET_ADMIN)");
  kernel.program.fd = load_program(kernel.sockets.fd, address.address);
  if (kernel.program.fd < 0) fail(errno, "XDP program (needs CAP_BPF and CAP_NET_ADMIN)");
  if (::bpf_map_update_elem(kernel.sockets.fd, &address.queue, &descriptor_, BPF_ANY) != 0)
    fail(errno, "XDP program's socket");
  kernel.link.fd = ::bpf_link_create(kernel.program.fd, index, BPF_XDP, nullptr);
  if (kernel.link.fd < 0) fail(errno, "XDP program on " + address.interface + " (is another one there?)");
  kernel.to_fill.reserve(half_);
  kernel.to_use.reserve(half_);
  for (std::uint32_t i = 0; i < half_; ++i) {
    kernel.to_fill.push_back(i);
    kernel.to_use.push_back(half_ + i);
  }
  refill();
}

XdpSocket::~XdpSocket() = default;

void XdpSocket::refill() noexcept {
  Kernel& kernel = *kernel_;
  const auto count = static_cast<std::uint32_t>(kernel.to_fill.size());
  std::uint32_t at = 0;
  if (count == 0 || ::xsk_ring_prod__reserve(&kernel.fill, count, &at) != count) return;
  for (const std::uint32_t number : kernel.to_fill)
    *::xsk_ring_prod__fill_addr(&kernel.fill, at++) = std::uint64_t{number} * frame_size;
  kernel.to_fill.clear();
  ::xsk_ring_prod__submit(&kernel.fill, count);
}

std::size_t XdpSocket::receive(std::span<ReceivedFrame> into) noexcept {
  Kernel& kernel = *kernel_;
  refill();
  std::uint32_t at = 0;
  const std::uint32_t count = ::xsk_ring_cons__peek(&kernel.received, static_cast<std::uint32_t>(into.size()), &at);
  if (count == 0) {
    if (::xsk_ring_prod__needs_wakeup(&kernel.fill)) [[unlikely]]
      ::recvfrom(descriptor_, nullptr, 0, MSG_DONTWAIT, nullptr, nullptr);
    return 0;
  }
  for (ReceivedFrame& frame : into.first(count)) {
    const xdp_desc& descriptor = *::xsk_ring_cons__rx_desc(&kernel.received, at++);
    frame = {.data = kernel.memory + descriptor.addr,
             .size = descriptor.len,
             .number = static_cast<std::uint32_t>(descriptor.addr / frame_size)};
  }
  ::xsk_ring_cons__release(&kernel.received, count);
  lent_ += count;
  return count;
}

void XdpSocket::give_back(std::uint32_t number) noexcept {
  NFX_ASSERT(number < half_ && lent_ > 0 && kernel_->to_fill.size() < half_);
  --lent_;
  kernel_->to_fill.push_back(number);
}

void XdpSocket::reclaim_sent() noexcept {
  Kernel& kernel = *kernel_;
  std::uint32_t at = 0;
  const std::uint32_t count = ::xsk_ring_cons__peek(&kernel.sent, half_, &at);
  if (count == 0) return;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t address = *::xsk_ring_cons__comp_addr(&kernel.sent, at + i);
    kernel.to_use.push_back(static_cast<std::uint32_t>(address / frame_size));
  }
  ::xsk_ring_cons__release(&kernel.sent, count);
}

char* XdpSocket::frame_to_send() noexcept {
  if (kernel_->to_use.size() < half_ / 2) reclaim_sent();
  return kernel_->to_use.empty() ? nullptr : kernel_->memory + std::size_t{kernel_->to_use.back()} * frame_size;
}

void XdpSocket::send(std::size_t size) noexcept {
  Kernel& kernel = *kernel_;
  NFX_ASSERT(!kernel.to_use.empty() && size <= frame_size);
  std::uint32_t at = 0;
  const std::uint32_t reserved = ::xsk_ring_prod__reserve(&kernel.to_send, 1, &at);
  NFX_ASSERT(reserved == 1);  // the ring has as many places as there are frames
  static_cast<void>(reserved);
  *::xsk_ring_prod__tx_desc(&kernel.to_send, at) = {
      .addr = std::uint64_t{kernel.to_use.back()} * frame_size, .len = static_cast<std::uint32_t>(size), .options = 0};
  kernel.to_use.pop_back();
  ::xsk_ring_prod__submit(&kernel.to_send, 1);
  to_kick_ = true;
}

// The kernel sends at most 32 frames per call of a driver that copies; the rest is sent with the next one.
void XdpSocket::kick() noexcept {
  if (!to_kick_) return;
  to_kick_ = ::xsk_ring_prod__needs_wakeup(&kernel_->to_send) &&
             ::sendto(descriptor_, nullptr, 0, MSG_DONTWAIT, nullptr, 0) != 0;
}

}  // namespace nfx::detail

#endif  // NFX_WITH_AF_XDP
