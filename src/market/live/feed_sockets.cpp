// Opens lines and connections, and sends.
#include "nexusfix/live/live_feed.hpp"

#include <sys/random.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>
#include <vector>

#include "base/clocks.hpp"
#include "nexusfix/base/assert.hpp"
#include "transport/epoll_transport.hpp"
#include "transport/tls_transport.hpp"

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

struct FeedSockets::Connections {
  struct Line {
    FeedTcpLine options;
    ConnectionId id = no_connection;
    std::uint32_t connection = 0;
    bool failed = false;  // an input `closed` is due
    std::string unsent;
  };
  struct TransportSink;

  explicit Connections(const FeedSocketsOptions& options)
      : plain(epoll_options(options)), encrypted(plain, tls_options(options)) {
    for (const FeedTcpLine& line : options.tcp) {
      Line& made = lines.emplace_back();
      made.options = line;
      made.unsent.reserve(options.unsent);
    }
  }

  [[nodiscard]] Line* find(ConnectionId id) noexcept {
    for (Line& line : lines) {
      if (line.id == id) return &line;
    }
    return nullptr;
  }
  // Null: the feed has no such connection.
  [[nodiscard]] Line* at(std::uint16_t number) noexcept {
    for (Line& line : lines) {
      if (line.options.line == number) return &line;
    }
    return nullptr;
  }
  void send_waiting(Line& line) noexcept {
    if (line.id == no_connection || line.unsent.empty()) return;
    const SendResult result = encrypted.try_send(line.id, line.unsent);
    line.unsent.erase(0, result.sent);  // what is left waits for on_writable
  }

  void forget(Line& line, FeedSocketCounters& counters) noexcept {
    NFX_ASSERT(open > 0);
    --open;
    ++counters.closed;
    line.id = no_connection;
    line.unsent.clear();
  }

  EpollTransport plain;
  TlsTransport<EpollTransport> encrypted;
  std::vector<Line> lines;
  std::size_t open = 0;  // that exist or begin
};

// Called by the transport.
struct FeedSockets::Connections::TransportSink {
  FeedSockets& self;
  SinkRef sink;
  std::size_t count = 0;

  void on_accept(ListenerId, ConnectionId, std::string_view) {}
  void on_connect(ConnectionId id) {
    Line* const line = self.connections_->find(id);
    if (line == nullptr) return;
    std::array<std::uint8_t, 16> random;
    self.random(random);
    ++self.counters_.opened;
    give(*line, InputKind::opened, {reinterpret_cast<const char*>(random.data()), random.size()});
  }
  void on_receive(ConnectionId id, std::span<const char> bytes) {
    Line* const line = self.connections_->find(id);
    if (line == nullptr) return;
    self.counters_.received_bytes += bytes.size();
    give(*line, InputKind::received, {bytes.data(), bytes.size()});
  }
  void on_writable(ConnectionId id) {
    if (Line* const line = self.connections_->find(id)) self.connections_->send_waiting(*line);
  }
  void on_close(ConnectionId id, CloseReason reason) {
    Line* const line = self.connections_->find(id);
    if (line == nullptr) return;
    self.failure_ = to_string(line->options.server) + ": ";
    const std::string_view tls = self.connections_->encrypted.tls_error(line->id);
    self.failure_ += tls.empty() ? to_string(reason) : tls;
    self.connections_->forget(*line, self.counters_);
    give(*line, InputKind::closed, {});
  }
  void give(const Line& line, InputKind kind, std::string_view bytes) {
    ++count;
    const std::optional<UtcTime> stamp =
        kind == InputKind::received ? self.connections_->encrypted.received_at() : std::nullopt;
    sink.give(sink.to, FeedInput{kind, stamp ? StampSource::kernel : StampSource::program, line.options.line,
                                 line.connection, stamp ? *stamp : read_utc(), bytes});
  }
};

FeedSockets::FeedSockets(const FeedSocketsOptions& options)
    : options_(options), connections_(std::make_unique<Connections>(options)) {
  if (!options.udp.empty()) udp_.emplace(udp_options(options), options.receive);
  for (const FeedUdpLine& line : options.udp) {
    std::optional<UdpDestination> server;
    if (line.server) server = destination_of(*line.server);
    udp_lines_.push_back({line.line, server});
  }
}

FeedSockets::~FeedSockets() = default;

int FeedSockets::descriptor() noexcept { return connections_->plain.descriptor(); }

std::vector<int> FeedSockets::descriptors() noexcept {
  std::vector<int> all{descriptor()};
  for (std::uint16_t line = 0; line < udp_lines_.size(); ++line) all.push_back(udp_->descriptor(line));
  return all;
}

std::size_t FeedSockets::poll_tcp(SinkRef sink, Duration longest) {
  Connections& all = *connections_;
  Connections::TransportSink transport_sink{*this, sink};
  for (Connections::Line& line : all.lines) {
    if (!line.failed) continue;
    line.failed = false;
    transport_sink.give(line, InputKind::closed, {});
  }
  if (all.open == 0 && (udp_ || transport_sink.count != 0) && all.encrypted.lingering() == 0)
    return transport_sink.count;
  all.encrypted.poll(transport_sink, transport_sink.count != 0 ? Duration::zero() : longest);
  return transport_sink.count;
}

void FeedSockets::connect(std::uint16_t number) noexcept {
  Connections::Line* const found = connections_->at(number);
  if (found == nullptr) return;
  Connections::Line& line = *found;
  NFX_ASSERT(line.id == no_connection);
  ++counters_.connects;
  ++line.connection;
  try {
    auto begun = connections_->encrypted.connect(line.options.server, line.options.socket);
    if (begun) {
      line.id = *begun;
      ++connections_->open;
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
  Connections::Line* const line = connections_->at(number);
  if (line == nullptr) return false;
  if (line->id == no_connection || line->unsent.size() + bytes.size() > options_.unsent) {
    ++counters_.refused_sends;
    return false;
  }
  line->unsent += bytes;  // within its capacity
  connections_->send_waiting(*line);
  return true;
}

void FeedSockets::close(std::uint16_t number) noexcept {
  Connections::Line* const line = connections_->at(number);
  if (line == nullptr) return;
  line->failed = false;
  if (line->id == no_connection) return;
  connections_->encrypted.close(line->id);
  connections_->forget(*line, counters_);
}

void FeedSockets::wait_for_udp(Duration longest) noexcept {
  const bool mixed = connections_->open != 0 || connections_->encrypted.lingering() != 0;
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
