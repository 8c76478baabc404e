// The connection that sets up a rail: before the first write its two ends exchange sizes, addresses and keys, and files
// between processes of one host. Later its end signals the end of the peer.
// Thread: one owner. Cost: non-blocking system calls; not for every poll. Bounds: a card of 4,096 bytes, 24 files.
// Errors: failed() and error(); begin() starts again. Connections of other programs are dropped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "nexusfix/fabric/rail.hpp"

namespace nfx::fabric {

inline constexpr std::size_t max_card = 4096;
inline constexpr std::size_t max_card_files = 24;

// Both ends of a rail have the same kind.
enum class CardKind : std::uint32_t { shm = 1, tcp = 2, libfabric = 3 };

class Rendezvous {
 public:
  // Files of the peer; closed by the destructor.
  struct PeerCard {
    std::vector<std::byte> bytes;
    std::vector<int> files;

    PeerCard() = default;
    PeerCard(const PeerCard&) = delete;
    PeerCard& operator=(const PeerCard&) = delete;
    ~PeerCard() { clear(); }
    void clear() noexcept;
    // The caller owns and closes it from now on.
    [[nodiscard]] int release_file(std::size_t index) noexcept;
  };

  Rendezvous(CardKind kind, RailAddress address);
  ~Rendezvous();
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  // Binds the address now, if this end listens. Port 0 means any free port, which place() then returns.
  [[nodiscard]] std::expected<void, std::string> listen();
  [[nodiscard]] const std::string& place() const noexcept { return address_.place; }

  // Ends the current connection, and starts the next one. `files` only with a Unix socket.
  void begin(std::span<const std::byte> card, std::span<const int> files = {});
  void advance(MonotonicTime now);
  // Both cards have arrived. Later bytes are unread, so the connection can be used further.
  [[nodiscard]] bool complete() const noexcept { return step_ == Step::complete; }
  [[nodiscard]] PeerCard& peer() noexcept { return peer_; }
  // After complete(): whether the peer has closed the connection. For rails that do not read it themselves.
  [[nodiscard]] bool peer_is_gone() noexcept;
  [[nodiscard]] int socket() const noexcept { return socket_; }
  void end() noexcept;
  // The error of the last failed attempt; attempts continue until end().
  [[nodiscard]] std::string_view error() const noexcept { return error_; }

 private:
  enum class Step : std::uint8_t { ended, connect, connecting, exchange, complete };
  struct Header {
    std::uint32_t magic = 0;
    std::uint32_t version = 0;
    std::uint32_t kind = 0;
    std::uint32_t size = 0;
  };

  void start_connect(MonotonicTime now);
  void accept_one(MonotonicTime now);
  void finish_connect(MonotonicTime now);
  void exchange(MonotonicTime now);
  [[nodiscard]] bool send_card();
  [[nodiscard]] bool receive_card();
  [[nodiscard]] bool receive_some(std::span<std::byte> into, std::size_t& have);
  void drop(std::string_view why, int error = 0);
  void take_socket(int socket, MonotonicTime now);
  [[nodiscard]] bool is_unix() const noexcept { return address_.place.starts_with('/'); }

  const CardKind kind_;
  RailAddress address_;
  int listener_ = -1;
  int socket_ = -1;
  Step step_ = Step::ended;
  MonotonicTime retry_at_{};
  MonotonicTime give_up_at_{};
  std::vector<std::byte> own_;  // header and card
  std::vector<int> own_files_;  // borrowed
  std::size_t sent_ = 0;
  Header header_{};
  std::size_t header_have_ = 0;
  std::size_t card_have_ = 0;
  PeerCard peer_;
  std::string error_;
};

}  // namespace nfx::fabric
