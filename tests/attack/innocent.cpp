// The innocent session of `./dev attack`: logs on to a server that echoes, sends orders at a fixed rate, and measures
// the time until each echo. It never slows down for a slow server: an order that could not be sent yet counts from its
// due time, and one without an echo counts with its age.
//
// A line on standard input ends a phase: the phase's statistics are one JSON object on standard output. The end of
// standard input logs out. Exit code 0: every order was echoed and the session was never disconnected.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "base/clocks.hpp"
#include "cli/command_line.hpp"
#include "nexusfix/base/latency_histogram.hpp"
#include "nexusfix/wire/encoder.hpp"
#include "nexusfix/wire/framer.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace {

using namespace nfx;
using SteadyClock = std::chrono::steady_clock;
using SteadyTime = SteadyClock::time_point;

struct Options {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::string from = "127.1.0.1";
  std::string sender = "INNOCENT";
  std::string target = "NEXUSFIX";
  std::uint32_t rate = 1000;
  std::string ca;  // empty: no TLS
  std::string certificate;
  std::string key;
};

[[noreturn]] void fail(const std::string& what) { throw std::system_error{errno, std::generic_category(), what}; }

void require(bool done, const char* what) {
  if (!done) throw std::runtime_error(what);
}

sockaddr_in address(const std::string& host, std::uint16_t port) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = htons(port);
  require(::inet_pton(AF_INET, host.c_str(), &made.sin_addr) == 1, "--host and --from take IPv4 addresses");
  return made;
}

// A non-blocking connection to a port of this host, encrypted if an authority is given.
class Channel {
 public:
  explicit Channel(const Options& options) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in own = address(options.from, 0), server = address(options.host, options.port);
    if (::bind(fd_, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) fail("bind to " + options.from);
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&server), sizeof server) != 0) fail("connect");
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (!options.ca.empty()) encrypt(options);
    ::fcntl(fd_, F_SETFL, O_NONBLOCK);
  }
  ~Channel() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
    ::close(fd_);
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_; }
  [[nodiscard]] bool ended() const noexcept { return ended_; }

  // Returns the number of bytes moved; 0 if the socket would block, or if the server has closed the connection. Throws
  // if it was reset.
  std::size_t send(const char* bytes, std::size_t size) { return moved(true, const_cast<char*>(bytes), size); }
  std::size_t receive(char* bytes, std::size_t size) { return moved(false, bytes, size); }

 private:
  void encrypt(const Options& options) {
    context_ = SSL_CTX_new(TLS_client_method());
    require(SSL_CTX_load_verify_locations(context_, options.ca.c_str(), nullptr) == 1, "cannot read --ca");
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_mode(context_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if (!options.certificate.empty()) {
      require(SSL_CTX_use_certificate_file(context_, options.certificate.c_str(), SSL_FILETYPE_PEM) == 1 &&
                  SSL_CTX_use_PrivateKey_file(context_, options.key.c_str(), SSL_FILETYPE_PEM) == 1,
              "cannot read --cert or --key");
    }
    ssl_ = SSL_new(context_);
    require(SSL_set_fd(ssl_, fd_) == 1 && SSL_connect(ssl_) == 1, "the TLS handshake failed");
  }

  std::size_t moved(bool out, char* bytes, std::size_t size) {
    if (ssl_ == nullptr) {
      const ssize_t done = out ? ::send(fd_, bytes, size, MSG_NOSIGNAL) : ::recv(fd_, bytes, size, 0);
      if (done > 0) return static_cast<std::size_t>(done);
      if (done < 0 && errno == EAGAIN) return 0;
      if (done == 0) return closed();
      fail("the connection ended");
    }
    const int length = static_cast<int>(std::min<std::size_t>(size, 1 << 20));
    const int done = out ? SSL_write(ssl_, bytes, length) : SSL_read(ssl_, bytes, length);
    if (done > 0) return static_cast<std::size_t>(done);
    const int error = SSL_get_error(ssl_, done);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return 0;
    return closed();
  }

  std::size_t closed() noexcept {
    ended_ = true;
    return 0;
  }

  int fd_ = -1;
  bool ended_ = false;
  SSL_CTX* context_ = nullptr;
  SSL* ssl_ = nullptr;
};

class Innocent {
 public:
  explicit Innocent(const Options& options)
      : channel_(options),
        header_({.begin_string = "FIX.4.4", .sender_comp_id = options.sender, .target_comp_id = options.target}),
        encoder_(buffer_),
        interval_(std::chrono::nanoseconds{std::chrono::seconds{1}} / options.rate) {}

  void run() {
    begin("A").append<Tag::EncryptMethod>(0).append<Tag::HeartBtInt>(30).append(Tag::ResetSeqNumFlag, true);
    end();
    flush();
    const SteadyTime patience = SteadyClock::now() + std::chrono::seconds{20};
    while (!logged_on_) {
      require(SteadyClock::now() < patience, "no answer to the Logon");
      wait(std::chrono::milliseconds{100});
      read();
    }
    std::puts("{\"logged_on\": true}");
    std::fflush(stdout);
    trade();
    log_out();
  }

 private:
  // Maximum number of orders without an echo; a minute's worth at a thousand per second.
  static constexpr std::size_t max_outstanding = 65536;
  struct Order {
    SteadyTime due;
    bool counted = true;  // its latency is in a histogram, or there is no such order
  };

  FieldWriter& begin(std::string_view type) {
    const auto now = read_utc();
    encoder_.begin(header_, type, SeqNum{++number_}, now);
    return encoder_.fields();
  }
  void end() {
    const std::string_view message = encoder_.finish();
    require(!message.empty(), "a message did not fit");
    unsent_.append(message);
  }
  void flush() {
    std::size_t done = 0;
    while (done < unsent_.size()) {
      const std::size_t more = channel_.send(unsent_.data() + done, unsent_.size() - done);
      if (more == 0) break;
      done += more;
    }
    unsent_.erase(0, done);
  }

  // Waits until data can be read or written, a phase ends, or the time has passed.
  void wait(std::chrono::nanoseconds time) {
    const auto writable = static_cast<short>(unsent_.empty() ? 0 : POLLOUT);
    std::array<pollfd, 2> ends{
        {{channel_.fd(), static_cast<short>(POLLIN | writable), 0}, {finished_ ? -1 : STDIN_FILENO, POLLIN, 0}}};
    const auto left = std::max(time, std::chrono::nanoseconds{});
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    const timespec limit{seconds.count(), (left - seconds).count()};
    ::ppoll(ends.data(), ends.size(), &limit, nullptr);
    if (ends[1].revents == 0) return;
    std::array<char, 256> words{};
    const ssize_t size = ::read(STDIN_FILENO, words.data(), words.size());
    if (size <= 0) finished_ = true;
    for (ssize_t i = 0; i < size; ++i) {
      if (words[static_cast<std::size_t>(i)] == '\n') end_phase();
    }
  }

  void trade() {
    SteadyTime due = SteadyClock::now();
    while (!finished_) {
      while (due <= SteadyClock::now()) {
        require(sent_ - echoed_ < max_outstanding, "the server answers nothing");
        orders_[sent_ % max_outstanding] = {due, false};
        begin("D").append<Tag::ClOrdID>(sent_++).append<Tag::Symbol>("IBM").append<Tag::Side>('1');
        const auto now = read_utc();
        encoder_.fields().append(Tag::TransactTime, now).append<Tag::OrderQty>(100).append<Tag::OrdType>('1');
        end();
        ++phase_sent_;
        due += interval_;
        // A delay because this process was not scheduled is not the server's fault.
        if (unsent_.size() < 4096) {
          const SteadyTime now_steady = SteadyClock::now();
          orders_[(sent_ - 1) % max_outstanding].due = now_steady;
          due = std::max(due, now_steady - interval_);
          flush();
        }
      }
      wait(due - SteadyClock::now());
      flush();
      read();
    }
  }

  void log_out() {
    const SteadyTime patience = SteadyClock::now() + std::chrono::seconds{5};
    while (echoed_ < sent_ && SteadyClock::now() < patience) {
      wait(std::chrono::milliseconds{10});
      flush();
      read();
    }
    require(echoed_ == sent_, "orders were not echoed");
    begin("5");
    end();
    flush();
    while (!logged_out_) {
      require(SteadyClock::now() < patience, "no answer to the Logout");
      wait(std::chrono::milliseconds{10});
      read();
    }
  }

  void read() {
    std::array<char, 65536> bytes;
    while (const std::size_t size = channel_.receive(bytes.data(), bytes.size())) received_.append(bytes.data(), size);
    std::size_t taken = 0;
    while (true) {
      const std::string_view rest = std::string_view{received_}.substr(taken);
      const Frame frame = next_frame(rest);
      if (frame.status == FrameStatus::need_more) break;
      require(frame.status == FrameStatus::complete, "the server sent a garbled message");
      take(rest.substr(0, frame.size));
      taken += frame.size;
    }
    received_.erase(0, taken);
    require(logged_out_ || !channel_.ended(), "the server closed the connection");
  }

  void take(std::string_view bytes) {
    require(view_.parse(bytes) == WireError::none, "the server sent a garbled message");
    const std::string_view type = view_.msg_type();
    if (type == "D") return take_echo();
    if (type == "A") logged_on_ = true;
    if (type == "1") {
      begin("0").append(Tag::TestReqID, view_.get_view(Tag::TestReqID));
      end();
      flush();
    }
    if (type == "5" || type == "3" || type == "j" || type == "2") {
      logged_out_ = type == "5";
      if (!finished_ || type != "5")
        throw std::runtime_error("the server sent " + std::string{type} + ": " +
                                 std::string{view_.get_view(Tag::Text)});
    }
  }

  void take_echo() {
    const std::string_view text = view_.get_view(Tag::ClOrdID);
    std::uint64_t id = 0;
    std::from_chars(text.data(), text.data() + text.size(), id);
    require(id == echoed_, "an echo is missing or out of order");
    Order& order = orders_[echoed_++ % max_outstanding];
    if (!order.counted) latencies_.record(SteadyClock::now() - order.due);
    order.counted = true;
  }

  void end_phase() {
    const SteadyTime now = SteadyClock::now();
    std::uint64_t waiting = 0;
    for (std::uint64_t id = echoed_; id < sent_; ++id) {
      Order& order = orders_[id % max_outstanding];
      if (!order.counted) latencies_.record(now - order.due);
      order.counted = true;
      ++waiting;
    }
    const auto us = [this](double percent) { return static_cast<double>(latencies_.percentile(percent)) / 1000; };
    std::printf(
        "{\"sent\": %llu, \"waiting\": %llu, \"p50_us\": %.1f, \"p99_us\": %.1f, \"p999_us\": %.1f, \"max_us\": "
        "%.1f}\n",
        static_cast<unsigned long long>(std::exchange(phase_sent_, 0)), static_cast<unsigned long long>(waiting),
        us(50), us(99), us(99.9), static_cast<double>(latencies_.max()) / 1000);
    std::fflush(stdout);
    latencies_.clear();
  }

  Channel channel_;
  std::array<char, 1024> buffer_;
  HeaderTemplate header_;
  Encoder encoder_;
  std::chrono::nanoseconds interval_;
  MessageView view_;
  LatencyHistogram latencies_;
  std::vector<Order> orders_ = std::vector<Order>(max_outstanding);
  std::string unsent_, received_;
  std::uint32_t number_ = 0;
  std::uint64_t sent_ = 0, echoed_ = 0, phase_sent_ = 0;
  bool logged_on_ = false, logged_out_ = false, finished_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  static Options options;
  const cli::Command command{
      .name = "attack_innocent",
      .summary = "The innocent session during the attacks of `./dev attack`: sends orders and measures their echoes",
      .options = {
          {.names = "--host", .target = &options.host, .help = "Address of the server"},
          {.names = "--port", .target = &options.port, .help = "Port of the server", .required = true},
          {.names = "--from", .target = &options.from, .help = "Own address"},
          {.names = "--sender", .target = &options.sender, .help = "Own CompID"},
          {.names = "--target", .target = &options.target, .help = "The server's CompID"},
          {.names = "--rate", .target = &options.rate, .help = "Orders per second", .range = cli::Range{1, 10000}},
          {.names = "--ca",
           .target = &options.ca,
           .help = "Authority of the server; encrypts",
           .kind = cli::Kind::file},
          {.names = "--cert", .target = &options.certificate, .help = "Own certificate", .kind = cli::Kind::file},
          {.names = "--key", .target = &options.key, .help = "Its key", .kind = cli::Kind::file}}};
  if (const auto exit_code = cli::parse(command, argc, argv)) return *exit_code;
  try {
    Innocent{options}.run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "attack_innocent: %s\n", error.what());
    return 1;
  }
}
