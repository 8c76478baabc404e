// SoupBinTCP 3.00, the client's side: numbered messages of a server over TCP. And GLIMPSE, which sends a snapshot of
// all ITCH books that way. Thread: one owner. Cost: a packet that is whole in the received bytes is not copied; the
// buffer for one that is not is taken when the client is made. Lifetime: a message borrows the received bytes, or the
// buffer's, during the call of the sink. Errors: what the server does is a state with a reason; from then on nothing
// more is read.
//
//    0        2      3
//   | length | type | payload ...       length: of type and payload
//
// The sink has two functions:
//   message(std::uint64_t sequence, std::span<const std::byte>)
//   send(std::span<const std::byte>)      to the server
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "nexusfix/base/time.hpp"
#include "nexusfix/market/itch_bytes.hpp"

namespace nfx::market {

inline constexpr std::size_t soup_header_size = 3;
inline constexpr std::size_t soup_max_packet_size = 2 + 65535;

// Types of packets.
namespace soup {
inline constexpr char debug = '+';
inline constexpr char login_accepted = 'A';
inline constexpr char login_rejected = 'J';
inline constexpr char sequenced = 'S';
inline constexpr char unsequenced = 'U';
inline constexpr char server_heartbeat = 'H';
inline constexpr char end_of_session = 'Z';
inline constexpr char login_request = 'L';
inline constexpr char client_heartbeat = 'R';
inline constexpr char logout_request = 'O';
inline constexpr std::size_t login_request_size = soup_header_size + 46;
inline constexpr std::size_t login_accepted_size = soup_header_size + 30;

// A number as SoupBinTCP and GLIMPSE write it: 20 characters, digits with spaces before them. Empty: it is not one.
[[nodiscard]] std::optional<std::uint64_t> read_number(std::span<const std::byte, 20> text) noexcept;
void write_number(std::uint64_t number, std::span<std::byte, 20> out) noexcept;
// The two bytes of length, and the type.
void write_header(char type, std::size_t payload_size, std::span<std::byte, soup_header_size> out) noexcept;
}  // namespace soup

struct SoupLogin {
  std::string username;        // at most 6 characters
  std::string password;        // at most 10
  std::string session;         // at most 10; empty: the current one
  std::uint64_t sequence = 1;  // the first message wanted; 0: the next one to be sent
};

struct SoupOptions {
  Duration heartbeat{1'000'000'000};         // the client sends one when it has sent nothing for this time
  Duration silence_timeout{15'000'000'000};  // the server is given up when nothing comes for this time
};

enum class SoupState : std::uint8_t {
  closed,      // not connected
  logging_in,  // the login was sent
  logged_in,
  ended,   // the server has ended the session
  failed,  // see failure(): close the connection
};
[[nodiscard]] std::string_view to_string(SoupState state) noexcept;

enum class SoupFailure : std::uint8_t {
  none,
  not_authorised,       // the server does not know the user or the password
  session_unavailable,  // the server does not have the session
  rejected,             // another reason, that the protocol does not define
  malformed,            // a packet without a type, of a wrong length, or with an invalid number
  unexpected,           // a packet that a server does not send, or not now
  silence,              // nothing came for the timeout
};
[[nodiscard]] std::string_view to_string(SoupFailure failure) noexcept;

class SoupClient {
 public:
  explicit SoupClient(const SoupOptions& options = {});

  // The connection is open: sends the login. What was received on an earlier connection is forgotten.
  template <class Sink>
  void connected(const SoupLogin& login, MonotonicTime now, Sink&& sink) {
    sink.send(begin(login, now));
  }

  // Bytes as they come, in any pieces.
  template <class Sink>
  void received(std::span<const std::byte> bytes, MonotonicTime now, Sink&& sink);

  // Heartbeats and the timeout. As often as the poll loop runs.
  template <class Sink>
  void tick(MonotonicTime now, Sink&& sink) {
    if (now >= due_ && heartbeat_due(now)) sink.send(heartbeat_bytes());
  }

  // tick() does nothing before.
  [[nodiscard]] MonotonicTime due_at() const noexcept { return due_; }

  template <class Sink>
  void logout(Sink&& sink) {
    if (state_ == SoupState::logged_in) sink.send(logout_bytes());
  }

  // The connection is closed, by whichever side. A failure stays to be read.
  void disconnected() noexcept;

  [[nodiscard]] SoupState state() const noexcept { return state_; }
  [[nodiscard]] SoupFailure failure() const noexcept { return failure_; }
  [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_; }
  // Of the login that was accepted, with its padding.
  [[nodiscard]] std::string_view session() const noexcept { return {session_.data(), session_.size()}; }

 private:
  [[nodiscard]] std::span<const std::byte> begin(const SoupLogin& login, MonotonicTime now) noexcept;
  [[nodiscard]] bool heartbeat_due(MonotonicTime now) noexcept;
  [[nodiscard]] static std::span<const std::byte> heartbeat_bytes() noexcept;
  [[nodiscard]] static std::span<const std::byte> logout_bytes() noexcept;
  // Takes bytes for the packet that the buffer holds the beginning of. How many; the packet is whole when its size is
  // there.
  [[nodiscard]] std::size_t complete_kept(std::span<const std::byte> bytes) noexcept;
  void keep(std::span<const std::byte> bytes) noexcept;
  [[nodiscard]] bool kept_is_whole() const noexcept {
    return kept_size_ >= 2 && kept_size_ == 2U + load_big_endian<std::uint16_t>(kept_.get());
  }
  // Every packet but sequenced ones.
  void take_control(std::span<const std::byte> packet) noexcept;
  void accept(std::span<const std::byte> payload) noexcept;
  void reject(std::span<const std::byte> payload) noexcept;
  void fail(SoupFailure failure) noexcept;

  [[nodiscard]] bool reads() const noexcept {
    return state_ == SoupState::logging_in || state_ == SoupState::logged_in;
  }

  // `packet` with its length.
  template <class Sink>
  void take(std::span<const std::byte> packet, Sink& sink) {
    const bool sequenced = packet.size() >= soup_header_size && static_cast<char>(packet[2]) == soup::sequenced;
    if (!sequenced || state_ != SoupState::logged_in) [[unlikely]]
      return take_control(packet);
    sink.message(next_++, packet.subspan(soup_header_size));
  }

  SoupOptions options_;
  SoupState state_ = SoupState::closed;
  SoupFailure failure_ = SoupFailure::none;
  std::uint64_t next_ = 1;
  std::array<char, 10> session_{};
  MonotonicTime heard_{};
  MonotonicTime sent_{};
  MonotonicTime due_ = MonotonicTime::max();
  std::array<std::byte, soup::login_request_size> login_{};
  std::size_t kept_size_ = 0;
  std::unique_ptr<std::byte[]> kept_;
};

template <class Sink>
void SoupClient::received(std::span<const std::byte> bytes, MonotonicTime now, Sink&& sink) {
  heard_ = now;
  if (reads() && kept_size_ != 0) {
    bytes = bytes.subspan(complete_kept(bytes));
    if (!kept_is_whole()) return;
    const std::size_t size = std::exchange(kept_size_, 0);
    take({kept_.get(), size}, sink);
  }
  while (reads() && bytes.size() >= 2) {
    const std::size_t size = 2U + load_big_endian<std::uint16_t>(bytes.data());
    if (bytes.size() < size) break;
    take(bytes.first(size), sink);
    bytes = bytes.subspan(size);
  }
  if (reads()) keep(bytes);
}

}  // namespace nfx::market
