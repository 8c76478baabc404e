// Opens lines and connections, and sends.
#include "nexusfix/live/feed_sockets.hpp"

#include <sys/random.h>
#include <time.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "nexusfix/base/assert.hpp"

namespace nfx::market {

namespace {

// While a connection and UDP lines exist, neither is waited for longer.
constexpr Duration mixed_wait = std::chrono::milliseconds{1};

std::vector<UdpLineOptions> udp_options(const FeedSocketsOptions& options) {
  std::vector<UdpLineOptions> lines;
  for (const FeedUdpLine& line : options.udp) lines.push_back(line.udp);
  return lines;
}

EpollOptions epoll_options(const FeedSocketsOptions& options) {
  EpollOptions made;
  made.receive_buffer_size = options.tcp_receive_bytes;
  made.max_connections = 64;
  made.max_listeners = 1;
  return made;
}

TlsTransportOptions tls_options(const FeedSocketsOptions& options) {
  TlsTransportOptions made;
  made.receive_buffer = options.tcp_receive_bytes;
  return made;
}

}  // namespace

FeedSockets::FeedSockets(const FeedSocketsOptions& options)
    : options_(options), plain_(epoll_options(options)), encrypted_(plain_, tls_options(options)) {
  if (!options.udp.empty()) udp_.emplace(udp_options(options), options.receive);
  for (const FeedUdpLine& line : options.udp) {
    std::optional<UdpDestination> server;
    if (line.server) server = destination_of(*line.server);
    udp_lines_.push_back({line.line, server});
  }
  for (const FeedTcpLine& line : options.tcp) {
    TcpLine& made = tcp_.emplace_back();
    made.options = line;
    made.unsent.reserve(options.unsent);
  }
}

FeedSockets::~FeedSockets() = default;

FeedSockets::TcpLine* FeedSockets::find(ConnectionId id) noexcept {
  for (TcpLine& line : tcp_) {
    if (line.id == id) return &line;
  }
  return nullptr;
}

FeedSockets::TcpLine& FeedSockets::tcp_line(std::uint16_t number) noexcept {
  for (TcpLine& line : tcp_) {
    if (line.options.line == number) return line;
  }
  NFX_REQUIRE(false);
  return tcp_.front();
}

void FeedSockets::connect(std::uint16_t number) noexcept {
  TcpLine& line = tcp_line(number);
  NFX_ASSERT(line.id == no_connection);
  ++counters_.connects;
  ++line.connection;
  try {
    auto begun = encrypted_.connect(line.options.server, line.options.socket);
    if (begun) {
      line.id = *begun;
      ++open_;
      return;
    }
    failure_ = begun.error().text();
  } catch (const std::exception& error) {
    failure_ = error.what();
  }
  ++counters_.closed;
  line.failed = true;
}

bool FeedSockets::send(std::uint16_t number, std::string_view bytes) noexcept {
  for (std::size_t i = 0; i < udp_lines_.size(); ++i) {
    if (udp_lines_[i].line != number) continue;
    const bool sent = udp_lines_[i].server &&
                      udp_->send(static_cast<std::uint16_t>(i), *udp_lines_[i].server, bytes) == UdpSent::sent;
    counters_.refused_sends += sent ? 0 : 1;
    return sent;
  }
  TcpLine& line = tcp_line(number);
  if (line.id == no_connection || line.unsent.size() + bytes.size() > options_.unsent) {
    ++counters_.refused_sends;
    return false;
  }
  line.unsent += bytes;  // within its capacity
  send_waiting(line);
  return true;
}

void FeedSockets::send_waiting(TcpLine& line) noexcept {
  if (line.id == no_connection || line.unsent.empty()) return;
  const SendResult result = encrypted_.try_send(line.id, line.unsent);
  line.unsent.erase(0, result.sent);  // what is left waits for on_writable
}

void FeedSockets::close(std::uint16_t number) noexcept {
  TcpLine& line = tcp_line(number);
  line.failed = false;
  if (line.id == no_connection) return;
  encrypted_.close(line.id);
  forget(line);
}

void FeedSockets::forget(TcpLine& line) noexcept {
  NFX_ASSERT(open_ > 0);
  --open_;
  ++counters_.closed;
  line.id = no_connection;
  line.unsent.clear();
}

void FeedSockets::note_failure(const TcpLine& line, CloseReason reason) {
  failure_ = to_string(line.options.server) + ": ";
  const std::string_view tls = encrypted_.tls_error(line.id);
  failure_ += tls.empty() ? to_string(reason) : tls;
}

void FeedSockets::wait_for_udp(Duration longest) noexcept {
  const bool mixed = open_ != 0 || encrypted_.lingering() != 0;
  udp_->wait(mixed ? std::min(longest, mixed_wait) : longest);
}

void FeedSockets::random(std::span<std::uint8_t> out) noexcept {
  NFX_ASSERT(out.size() <= random_.size());
  if (random_left_ < out.size()) {
    std::size_t filled = 0;
    while (filled < random_.size()) {
      const ssize_t got = ::getrandom(random_.data() + filled, random_.size() - filled, 0);
      NFX_REQUIRE(got > 0 || errno == EINTR);
      if (got > 0) filled += static_cast<std::size_t>(got);
    }
    random_left_ = random_.size();
  }
  std::memcpy(out.data(), random_.data() + random_.size() - random_left_, out.size());
  random_left_ -= out.size();
}

}  // namespace nfx::market
