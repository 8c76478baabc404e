// Frames of one queue of a network interface, past the kernel's stack: an AF_XDP socket, its memory, and the XDP
// program that gives it the frames for one IPv4 address and leaves all others to the kernel. Thread: one owner. Cost:
// receive() makes no system call; send() is one sendto per kick(). No allocation after the constructor. Bounded:
// `frames` buffers, half of them for receiving. A frame for which no buffer is free is dropped by the kernel. Lifetime:
// the program leaves the interface with this object, or with the process. Errors: the constructor throws
// std::system_error, whose text says what is missing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "transport/xdp_frame.hpp"

namespace nfx::detail {

// "INTERFACE[:QUEUE] ADDRESS/PREFIX [via GATEWAY]"
struct XdpAddress {
  std::string interface;
  std::uint32_t queue = 0;
  Ipv4 address{};
  std::uint8_t prefix = 0;
  Ipv4 gateway{};  // all zero: none

  [[nodiscard]] static std::optional<XdpAddress> parse(std::string_view text);
};

struct ReceivedFrame {
  char* data = nullptr;
  std::uint32_t size = 0;
  std::uint32_t number = 0;  // for give_back
};

class XdpSocket {
 public:
  static constexpr std::size_t frame_size = 2048;

  XdpSocket(const XdpAddress& address, std::uint32_t frames);
  ~XdpSocket();
  XdpSocket(const XdpSocket&) = delete;
  XdpSocket& operator=(const XdpSocket&) = delete;

  // Received frames, which are the caller's until give_back.
  [[nodiscard]] std::size_t receive(std::span<ReceivedFrame> into) noexcept;
  void give_back(std::uint32_t number) noexcept;
  [[nodiscard]] std::uint32_t lent() const noexcept { return lent_; }  // received and not given back
  [[nodiscard]] std::uint32_t receive_frames() const noexcept { return half_; }

  // A frame of frame_size bytes to fill and send; null if all are being sent.
  [[nodiscard]] char* frame_to_send() noexcept;
  void send(std::size_t size) noexcept;
  // Passes the sent frames to the driver, if it has to be told.
  void kick() noexcept;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] const std::array<std::uint8_t, 6>& mac() const noexcept { return mac_; }
  [[nodiscard]] std::uint16_t mtu() const noexcept { return mtu_; }

 private:
  struct Kernel;  // what libxdp and libbpf make

  void reclaim_sent() noexcept;
  void refill() noexcept;

  std::uint32_t half_;
  std::uint32_t lent_ = 0;
  int descriptor_ = -1;
  bool to_kick_ = false;
  std::uint16_t mtu_ = 1500;
  std::array<std::uint8_t, 6> mac_{};
  std::unique_ptr<Kernel> kernel_;
};

}  // namespace nfx::detail
