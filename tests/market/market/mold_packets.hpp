// Packets of MoldUDP64 and SoupBinTCP as servers make them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "nexusfix/market/itch_transport.hpp"

namespace nfx::market::test {

using Bytes = std::vector<std::byte>;

inline Bytes bytes_of(std::string_view text) {
  Bytes bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

inline MoldSession session_of(std::string_view name) {
  MoldSession session;
  session.fill(' ');
  for (std::size_t i = 0; i < name.size(); ++i) session[i] = name[i];
  return session;
}

inline void append_block(Bytes& to, std::span<const std::byte> message) {
  to.push_back(static_cast<std::byte>(message.size() >> 8));
  to.push_back(static_cast<std::byte>(message.size()));
  to.insert(to.end(), message.begin(), message.end());
}

template <class Messages>
Bytes mold_packet(const MoldSession& session, std::uint64_t sequence, const Messages& messages) {
  const auto header = MoldHeader{session, sequence, static_cast<std::uint16_t>(messages.size())}.bytes();
  Bytes packet{header.begin(), header.end()};
  for (const auto& message : messages) append_block(packet, message);
  return packet;
}

// `count` is 0 or mold_end_of_session.
inline Bytes mold_heartbeat(const MoldSession& session, std::uint64_t next, std::uint16_t count = 0) {
  const auto header = MoldHeader{session, next, count}.bytes();
  return {header.begin(), header.end()};
}

inline Bytes soup_packet(char type, std::span<const std::byte> payload = {}) {
  Bytes packet(soup_header_size);
  soup::write_header(type, payload.size(), std::span<std::byte, soup_header_size>{packet});
  packet.insert(packet.end(), payload.begin(), payload.end());
  return packet;
}

inline Bytes soup_login_accepted(std::string_view session, std::uint64_t next) {
  Bytes payload = bytes_of(session);
  payload.resize(10, std::byte{' '});
  payload.resize(30);
  soup::write_number(next, std::span{payload}.subspan<10, 20>());
  return soup_packet(soup::login_accepted, payload);
}

// The message that ends a GLIMPSE snapshot.
inline Bytes glimpse_end_message(std::uint64_t next) {
  Bytes message(21, std::byte{'G'});
  soup::write_number(next, std::span{message}.subspan<1, 20>());
  return message;
}

}  // namespace nfx::market::test
