// The other side of a session, whose messages the caller writes.
#include "testing/raw_peer.hpp"

#include <algorithm>
#include <utility>

#include "log/message_text.hpp"
#include "nexusfix/testing/network.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/framer.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "wire/wrong_checksum.hpp"

namespace nfx::testing {
namespace {

SessionConfig config_of(std::string name, std::string venue) {
  SessionConfig config;
  config.sender_comp_id = std::move(name);
  config.target_comp_id = std::move(venue);
  return config;
}

[[noreturn]] void throw_no_message(std::string_view bytes) {
  std::string text = "received bytes that are no FIX message: ";
  append_message_text(text, bytes.substr(0, 200), {});
  throw TestError(text);
}

// Splits the messages at the start of `bytes`, and returns their total length.
std::size_t split(std::string_view bytes, std::vector<std::string>& into) {
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    const std::string_view rest = bytes.substr(taken);
    const Frame frame = next_frame(rest, most_message_size);
    if (frame.status == FrameStatus::need_more) break;
    if (frame.status != FrameStatus::complete) throw_no_message(rest);
    into.emplace_back(rest.substr(0, frame.size));
    taken += frame.size;
  }
  return taken;
}

}  // namespace

std::string fields_of(std::string_view text) {
  std::string fields{text};
  if (text.contains(soh)) return fields;
  std::ranges::replace(fields, '|', soh);
  if (!fields.empty() && fields.back() != soh) fields += soh;
  return fields;
}

RawPeer::RawPeer(LoopbackNetwork& network, const ManualClock& clock, std::string name, LoopbackOptions options,
                 std::string venue)
    : transport_(network, options), clock_(clock) {
  identify(config_of(std::move(name), std::move(venue)));
}

void RawPeer::begin(ConnectionId id) {
  id_ = id;
  closed = false;
  received.clear();
}

void RawPeer::connect(std::uint16_t port, std::string from) {
  SocketOptions options;
  if (!from.empty()) options.from = {std::move(from), 4711};
  begin(*transport_.connect({"venue", port}, options));
  read();
}

void RawPeer::listen(std::uint16_t port) {
  if (const auto listener = transport_.listen({"venue", port}, {}); !listener) throw TestError(listener.error().text());
}

void RawPeer::on_accept(ListenerId, ConnectionId id, std::string_view) {
  if (connected()) return transport_.close(id);
  begin(id);
}

std::string RawPeer::message(std::string_view type, std::string_view body, std::uint64_t number, bool poss_dup) {
  const std::string original = poss_dup ? std::string{composer_->sending_time(clock_.now().utc)} : std::string{};
  std::string out(body.size() + 1024, '\0');
  const auto size = composer_->compose(
      {.msg_type = type, .seq = SeqNum{number}, .poss_dup = poss_dup, .orig_sending_time = original, .body = body},
      clock_.now().utc, out);
  if (!size) throw TestError("a message of type \"" + std::string{type} + "\" cannot be written");
  out.resize(*size);
  return out;
}
std::string RawPeer::next(std::string_view type, std::string_view body) { return message(type, body, seq++); }
std::string RawPeer::garbled(std::string_view type, std::string_view body) {
  return with_wrong_checksum(message(type, body, 99));
}
std::string RawPeer::logon(std::string_view more) {
  return next(msg_type::logon, fields_of("98=0|108=30|") + std::string{more});
}

std::size_t RawPeer::send(std::string_view bytes) { return transport_.try_send(id_, bytes).sent; }
std::size_t RawPeer::read() { return transport_.poll(*this, Duration::zero()); }
void RawPeer::close() { transport_.close(std::exchange(id_, no_connection)); }

std::vector<std::string> RawPeer::messages() const {
  std::vector<std::string> result;
  split(received, result);
  return result;
}
std::vector<std::string> RawPeer::take_messages() {
  std::vector<std::string> result;
  received.erase(0, split(received, result));
  return result;
}
std::string RawPeer::get(const std::string& message, Tag tag) {
  MessageView view;
  if (view.parse(message) != WireError::none) throw_no_message(message);
  return std::string{view.get_view(tag)};
}
std::vector<std::string> RawPeer::all(Tag tag) const {
  std::vector<std::string> result;
  for (const std::string& each : messages()) result.push_back(get(each, tag));
  return result;
}

}  // namespace nfx::testing
