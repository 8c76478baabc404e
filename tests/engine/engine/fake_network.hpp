// A network that only records its calls, and Logons as bytes: for tests of single parts of a poll loop.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/loop_network.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/session/session.hpp"
#include "nexusfix/session/session_config.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::test {

class FakeNetwork final : public LoopNetwork {
 public:
  std::expected<ListenerId, TransportError> listen(const Endpoint& endpoint, const SocketOptions&) override {
    listening.push_back(endpoint);
    return ListenerId{listening.size()};
  }
  void close_listener(ListenerId) noexcept override { ++listeners_closed; }
  std::expected<ConnectionId, TransportError> connect(const Endpoint& endpoint, const SocketOptions&) override {
    connects.push_back(endpoint);
    return next_id();
  }
  SendResult try_send(ConnectionId id, std::span<const char> bytes) noexcept override {
    if (std::ranges::find(closed, id) != closed.end()) return {.sent = 0, .closed = true};
    const std::size_t taken = std::min(room, bytes.size());
    room -= taken;
    sent.append(bytes.data(), taken);
    return {.sent = taken};
  }
  void close(ConnectionId id) noexcept override { closed.push_back(id); }
  void hold(ConnectionId, bool held) noexcept override { holds += held ? 1 : -1; }
  std::optional<UtcTime> received_at() const noexcept override { return std::nullopt; }
  void wake() noexcept override { ++wakes; }
  UtcTime time_on_any_thread() const noexcept override { return {}; }
  MonotonicTime monotonic() const noexcept override {
    ++readings;
    return time;
  }

  // Ids with slots from 1 on, each in its first generation.
  ConnectionId next_id() { return ConnectionId{(std::uint64_t{1} << 32) | ++connections}; }

  std::vector<Endpoint> listening;
  std::vector<Endpoint> connects;
  std::vector<ConnectionId> closed;
  std::string sent;
  std::size_t room = SIZE_MAX;  // what try_send takes
  std::uint64_t connections = 0;
  MonotonicTime time{};
  mutable std::size_t readings = 0;  // of the clock
  int holds = 0;
  int listeners_closed = 0;
  int wakes = 0;
};

// A Logon of `sender` to `target`.
inline std::string logon_bytes(std::string sender, std::string target, UtcTime now = {}) {
  SessionConfig config;
  config.sender_comp_id = std::move(sender);
  config.target_comp_id = std::move(target);
  Composer composer{config};
  std::string out(512, '\0');
  out.resize(*composer.compose({.msg_type = msg_type::logon,
                                .seq = SeqNum{1},
                                .body = "98=0\x01"
                                        "108=30\x01"},
                               now, out));
  return out;
}

}  // namespace nfx::test
