// Packets and their faults, requests, and snapshots.
#include "publish/itch_publisher.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/market/itch_feed.hpp"
#include "nexusfix/market/itch_transport.hpp"

namespace nfx::market {
namespace {

constexpr Duration send_wait = std::chrono::milliseconds{10};
constexpr int send_tries = 100;

std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void append_block(std::string& to, std::string_view message) {
  to += static_cast<char>(message.size() >> 8);
  to += static_cast<char>(message.size());
  to += message;
}

std::string header_text(const MoldSession& session, std::uint64_t sequence, std::uint16_t count) {
  const auto bytes = MoldHeader{session, sequence, count}.bytes();
  return std::string{text_of(bytes)};
}

void append_soup(std::string& to, char type, std::string_view payload) {
  std::array<std::byte, soup_header_size> header;
  soup::write_header(type, payload.size(), header);
  to += text_of(header);
  to += payload;
}

std::string soup_number(std::uint64_t number) {
  std::array<std::byte, 20> digits;
  soup::write_number(number, digits);
  return std::string{text_of(digits)};
}

}  // namespace

ItchPublisher::ItchPublisher(const ItchPublisherOptions& options)
    : options_(options), random_(options.seed), parser_(options.midnight), books_(options.books) {
  NFX_REQUIRE(!options.lines.empty() && options.lines.size() <= 2 && options.history != 0);
  NFX_REQUIRE(options.session.size() <= session_.size() && options.packet_bytes >= 128);
  session_.fill(' ');
  std::ranges::copy(options.session, session_.begin());
  for (std::size_t i = 0; i < options.lines.size(); ++i) {
    lines_.push_back({UdpSender{options.lines[i]}, options.faults[i], {}});
  }
  if (options.requests) requests_.emplace(std::vector{UdpLineOptions{"requests", *options.requests, 0}});
  if (options.snapshots) snapshots_.emplace(StreamServerOptions{.listen = *options.snapshots});
  history_.resize(options.history);
  begin_packet();
}

std::uint16_t ItchPublisher::request_port() const noexcept {
  return requests_ ? requests_->lines().front().address.port : std::uint16_t{0};
}

void ItchPublisher::begin_packet() {
  packet_ = header_text(session_, next_, 0);
  packet_messages_ = 0;
}

void ItchPublisher::add(std::span<const std::byte> message, UtcTime at) {
  Kept& kept = history_[next_ % history_.size()];
  NFX_REQUIRE(message.size() >= itch::Header::size && message.size() <= kept.bytes.size());
  kept.size = static_cast<std::uint16_t>(message.size());
  std::memcpy(kept.bytes.data(), message.data(), message.size());
  const auto time = static_cast<std::uint64_t>((at - options_.midnight).count());
  for (std::size_t i = 0; i < 6; ++i) {
    kept.bytes[itch::Header::time.offset + i] = static_cast<char>(time >> (8 * (5 - i)));
  }
  const std::string_view bytes{kept.bytes.data(), kept.size};
  parser_.message(std::as_bytes(std::span{bytes}), {.sequence = next_},
                  [this](const Event& event) { books_.event(event); });
  if (packet_.size() + 2 + bytes.size() > options_.packet_bytes) flush(sent_);
  append_block(packet_, bytes);
  ++packet_messages_;
  ++next_;
  ++counters_.messages;
}

void ItchPublisher::flush(MonotonicTime now) {
  if (packet_messages_ == 0) return;
  const auto count = header_text(session_, next_ - packet_messages_, packet_messages_);
  std::ranges::copy(count, packet_.begin());
  send(packet_, now);
  begin_packet();
}

void ItchPublisher::send(const std::string& packet, MonotonicTime now) {
  for (Line& line : lines_) send_on(line, packet);
  sent_ = now;
}

void ItchPublisher::send_on(Line& line, const std::string& packet) {
  if (happens(line.faults.lost)) {
    ++counters_.lost;
    return;
  }
  if (line.held.empty() && happens(line.faults.reordered)) {
    line.held = packet;
    return;
  }
  send_now(line, packet);
  if (happens(line.faults.duplicated)) send_now(line, packet);
  if (!line.held.empty()) send_now(line, std::exchange(line.held, {}));
}

void ItchPublisher::send_now(Line& line, const std::string& packet) {
  UdpSent result = line.sender.send(packet);
  for (int i = 0; result == UdpSent::busy && i < send_tries; ++i) {
    line.sender.wait(send_wait);
    result = line.sender.send(packet);
  }
  ++(result == UdpSent::sent ? counters_.packets : counters_.refused);
}

void ItchPublisher::end(MonotonicTime now) {
  flush(now);
  ended_ = true;
  send(header_text(session_, next_, mold_end_of_session), now);
}

std::size_t ItchPublisher::serve(MonotonicTime now) {
  std::size_t count = 0;
  if (requests_) count += requests_->poll([this](const UdpDatagram& datagram) { answer(datagram); });
  if (snapshots_) count += snapshots_->poll(*this, Duration::zero());
  if (now - sent_ >= options_.heartbeat) {
    flush(now);
    send(header_text(session_, next_, ended_ ? mold_end_of_session : std::uint16_t{0}), now);
  }
  return count;
}

// With as many messages as one packet holds.
void ItchPublisher::answer(const UdpDatagram& datagram) {
  if (datagram.bytes.size() != mold_header_size) return;
  const auto bytes = std::as_bytes(std::span{datagram.bytes});
  const MoldHeader wanted = MoldHeader::read(bytes.first<mold_header_size>());
  const std::uint64_t end = next_ - packet_messages_;
  if (wanted.session != session_ || wanted.sequence == 0 || wanted.sequence >= end) return;
  if (next_ - wanted.sequence > history_.size()) {
    ++counters_.too_old;
    return;
  }
  std::string packet = header_text(session_, wanted.sequence, 0);
  std::uint16_t count = 0;
  for (std::uint64_t i = wanted.sequence; i < end && count < wanted.count; ++i, ++count) {
    const Kept& kept = history_[i % history_.size()];
    if (packet.size() + 2 + kept.size > options_.packet_bytes) break;
    append_block(packet, {kept.bytes.data(), kept.size});
  }
  std::ranges::copy(header_text(session_, wanted.sequence, count), packet.begin());
  (void)requests_->send(0, destination_of(datagram), packet);
  ++counters_.requests;
}

void ItchPublisher::opened(ConnectionId id) { logins_[std::to_underlying(id)] = {}; }

void ItchPublisher::closed(ConnectionId id) { logins_.erase(std::to_underlying(id)); }

// A login gets the snapshot; heartbeats and the logout need no answer.
void ItchPublisher::received(ConnectionId id, std::string_view bytes) {
  const auto found = logins_.find(std::to_underlying(id));
  if (found == logins_.end()) return;
  std::string& login = found->second;
  login += bytes.substr(0, soup::login_request_size - std::min(login.size(), soup::login_request_size));
  if (login.size() < soup::login_request_size) return;
  const bool is_login = login[2] == soup::login_request;
  logins_.erase(found);
  if (!is_login) return snapshots_->close(id);
  ++counters_.snapshots;
  snapshots_->send(id, snapshot_bytes());
}

std::string ItchPublisher::snapshot_bytes() const {
  std::string out;
  append_soup(out, soup::login_accepted, "GLIMPSE   " + soup_number(1));
  const auto add = [&out](const auto& message) { append_soup(out, soup::sequenced, text_of(message.bytes())); };
  const ItchDirectory& directory = parser_.directory();
  for (std::uint32_t i = 1; i <= directory.highest(); ++i) {
    const auto locate = static_cast<std::uint16_t>(i);
    const ItchStock& stock = directory.at(locate);
    if (stock.symbol().empty()) continue;
    itch::Message<itch::StockDirectory> entry{locate, 0};
    add(entry.set(itch::StockDirectory::stock, stock.symbol())
            .set(itch::StockDirectory::market_category, stock.market_category)
            .set(itch::StockDirectory::round_lot_size, stock.round_lot));
    const auto index = books_.instruments().find(InstrumentId{i});
    if (!index) continue;
    books_.orders().book(*index).for_each_order([&](const OrderView& order) {
      itch::Message<itch::AddOrder> message{locate, 0};
      message.set(itch::AddOrder::order, std::to_underlying(order.id));
      message.set(itch::AddOrder::side, order.side == Side::bid ? 'B' : 'S');
      message.set(itch::AddOrder::shares, static_cast<std::uint32_t>(order.quantity));
      message.set(itch::AddOrder::stock, stock.symbol());
      add(message.set(itch::AddOrder::price, static_cast<std::uint32_t>(order.price.nano / 100'000)));
    });
  }
  append_soup(out, soup::sequenced, "G" + soup_number(next_));
  return out;
}

}  // namespace nfx::market
