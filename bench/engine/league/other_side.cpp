// What the league's engines talk to, the same for all of them and without any engine: `sink` receives the orders of one
// initiator, `load` is the clients of one acceptor, and `hop` is both sides of a proxy. Both check every byte that an
// engine sends: BodyLength, CheckSum, MsgSeqNum and the expected fields.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "peers/peer.hpp"

namespace {

using namespace league;

constexpr char soh = '\x01';

std::uint64_t number_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw std::runtime_error("not a number: " + std::string{text});
  return value;
}

// The value of the first field with this tag after the beginning, or nothing.
std::string_view field(std::string_view message, std::string_view tag) {
  std::array<char, 8> pattern{soh};
  std::copy(tag.begin(), tag.end(), pattern.begin() + 1);
  pattern[tag.size() + 1] = '=';
  const std::size_t at = message.find(std::string_view{pattern.data(), tag.size() + 2});
  if (at == std::string_view::npos) return {};
  const std::size_t begin = at + tag.size() + 2;
  return message.substr(begin, message.find(soh, begin) - begin);
}

[[noreturn]] void refuse(const std::string& what, std::string_view message) {
  std::string text{message};
  std::replace(text.begin(), text.end(), soh, '|');
  throw std::runtime_error("WRONG ANSWER: " + what + ": " + text);
}

// The whole messages at the beginning of a stream; each is passed on once BodyLength and CheckSum are right. Returns
// the number of bytes that they take.
template <class Each>
std::size_t messages_of(std::string_view bytes, Each&& each) {
  std::size_t done = 0;
  while (bytes.size() - done > 32) {
    const std::string_view rest = bytes.substr(done);
    const std::size_t length_at = rest.find(
        "\x01"
        "9=");
    const std::size_t length_end = rest.find(soh, length_at + 1);
    if (length_at > 16 || length_end > 32) refuse("no BodyLength", rest.substr(0, 64));
    const std::size_t size = length_end + 1 + number_of(rest.substr(length_at + 3, length_end - length_at - 3)) + 7;
    if (rest.size() < size) break;
    const std::string_view message = rest.substr(0, size);
    std::uint32_t sum = 0;
    for (const char c : message.substr(0, size - 7)) sum += static_cast<unsigned char>(c);
    const std::string_view end = message.substr(size - 7);
    if (!end.starts_with("10=") || end.back() != soh || number_of(end.substr(3, 3)) != sum % 256)
      refuse("BodyLength or CheckSum", message);
    each(message);
    done += size;
  }
  return done;
}

// "20261130-12:00:00.123", formatted once in each millisecond.
std::string_view utc_now() {
  static std::int64_t of = -1;
  static std::array<char, 32> text{};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  if (ms != std::exchange(of, ms)) {
    const std::time_t seconds = ms / 1000;
    std::tm parts{};
    const std::size_t size = std::strftime(text.data(), text.size(), "%Y%m%d-%H:%M:%S", ::gmtime_r(&seconds, &parts));
    std::snprintf(text.data() + size, text.size() - size, ".%03d", static_cast<int>(ms % 1000));
  }
  return text.data();
}

struct Names {
  std::string version, sender, target;
};

// A message with its header and trailer; the body is written with '|'.
std::string composed(const Names& names, std::string_view type, std::uint64_t seq, std::string_view body) {
  std::string fields;
  fields.reserve(256);
  fields.append("35=").append(type).append("|34=").append(std::to_string(seq)).append("|49=").append(names.sender);
  fields.append("|52=").append(utc_now()).append("|56=").append(names.target).append("|").append(body);
  std::string message;
  message.reserve(fields.size() + 32);
  message.append("8=")
      .append(names.version)
      .append("|9=")
      .append(std::to_string(fields.size()))
      .append("|")
      .append(fields);
  std::replace(message.begin(), message.end(), '|', soh);
  std::uint32_t sum = 0;
  for (const char c : message) sum += static_cast<unsigned char>(c);
  message.append("10=").append(std::to_string(1000 + sum % 256), 1, 3).push_back(soh);
  return message;
}

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {
    if (fd < 0) throw std::system_error(errno, std::generic_category(), "socket");
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int fd() const noexcept { return fd_; }
  // All of it. The league's messages to an engine are few at a time, so a full socket is an error of its reader.
  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "send");
      bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
    }
  }
  // Bytes that have arrived, -1 for none yet, 0 at the end.
  [[nodiscard]] ssize_t receive(char* to, std::size_t room) const {
    const ssize_t got = ::recv(fd_, to, room, MSG_DONTWAIT);
    if (got >= 0) return got;
    if (errno == EAGAIN || errno == EINTR) return -1;
    return 0;
  }

 private:
  int fd_;
};

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Any port of the loopback interface; returns it.
std::uint16_t listen_on(const Socket& listener) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(listener.fd(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::listen(listener.fd(), 1) != 0 ||
      ::getsockname(listener.fd(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "listen");
  }
  return ntohs(address.sin_port);
}

Socket connected(std::uint16_t port) {
  Socket socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const sockaddr_in address = loopback(port);
  if (::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::system_error(errno, std::generic_category(), "connect");
  return socket;
}

// The orders of the row `send`: llfix's message, numbered from 1.
class OrderCheck {
 public:
  explicit OrderCheck(std::uint64_t messages_before) : seq_(messages_before) {}
  void operator()(std::string_view message) {
    if (number_of(field(message, "34")) != ++seq_) refuse("MsgSeqNum", message);
    if (field(message, "35") != "D") return;
    if (number_of(field(message, "11")) != ++orders) refuse("ClOrdID", message);
    static constexpr std::array<std::string_view, 12> expected{
        "\x01"
        "49=CLIENT1\x01",
        "\x01"
        "56=EXECUTOR\x01",
        "\x01"
        "50=SNDR_SUB\x01",
        "\x01"
        "57=SRVR_SUB\x01",
        "\x01"
        "55=NOKIA.HE\x01",
        "\x01"
        "54=1\x01",
        "\x01"
        "38=10\x01",
        "\x01"
        "44=10000\x01",
        "\x01"
        "40=2\x01",
        "\x01"
        "59=0\x01",
        "\x01"
        "453=2\x01"
        "448=PARTY1\x01"
        "447=D\x01"
        "452=1\x01"
        "448=PARTY2\x01"
        "447=D\x01"
        "452=3\x01",
        "\x01"
        "60="};
    for (const std::string_view part : expected) {
      if (message.find(part) == std::string_view::npos) refuse("without " + std::string{part.substr(1)}, message);
    }
    if (field(message, "52").size() < 21) refuse("SendingTime without milliseconds", message);
  }
  std::uint64_t orders = 0;

 private:
  std::uint64_t seq_;
};

// Accepts one connection, answers its Logon, and reads until it ends. Checks only then, so that the reader never waits.
void sink(const Options& options) {
  const Socket listener{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const std::uint16_t port = listen_on(listener);
  pin(options.number("cpu"));
  std::cout << "port " << port << std::endl;
  const Socket peer{::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC)};
  const Names names{"FIXT.1.1", "EXECUTOR", "CLIENT1"};
  std::vector<char> received(options.number("bytes"));
  std::size_t used = 0, first = 0;
  std::uint64_t seq = 0, begun = 0, ended = 0, spoken = now_ns();
  while (used < received.size()) {
    const ssize_t got = peer.receive(received.data() + used, received.size() - used);
    if (got == 0) break;
    if (got < 0) {
      if (first != 0 && now_ns() - spoken > 20'000'000'000) {
        peer.send(composed(names, "0", ++seq, ""));
        spoken = now_ns();
      }
      ::sched_yield();  // the engine's helpers run here too
      continue;
    }
    used += static_cast<std::size_t>(got);
    if (first == 0) {
      first = messages_of({received.data(), used}, [&](std::string_view logon) {
        if (field(logon, "35") != "A") refuse("not a Logon", logon);
        peer.send(composed(names, "A", ++seq, "98=0|108=60|1137=7|"));
      });
    } else {
      ended = now_ns();
      if (begun == 0) begun = ended;
      // A Logout is short, and the last message.
      const std::string_view tail{received.data() + used - std::min<std::size_t>(used, 200),
                                  std::min<std::size_t>(used, 200)};
      if (tail.rfind("\x01"
                     "35=5\x01") != std::string_view::npos) {
        peer.send(composed(names, "5", ++seq, ""));
      }
    }
  }
  if (used == received.size()) throw std::runtime_error("more bytes than were expected");
  OrderCheck check{0};
  if (messages_of({received.data(), used}, check) != used) throw std::runtime_error("WRONG ANSWER: half a message");
  std::cout << "orders " << check.orders << "\nseconds " << static_cast<double>(ended - begun) / 1e9 << std::endl;
}

// The same check of what the stand-in for the network kept: its size, then the bytes from the first order on.
void verify(const Options& options) {
  std::ifstream in(options.text("bytes"), std::ios::binary);
  std::uint64_t size = 0;
  in.read(reinterpret_cast<char*>(&size), sizeof size);
  std::string bytes(size, '\0');
  if (!in.read(bytes.data(), static_cast<std::streamsize>(size))) throw std::runtime_error("cannot read the bytes");
  OrderCheck check{1};
  if (messages_of(bytes, check) != bytes.size()) throw std::runtime_error("WRONG ANSWER: half a message");
  std::cout << "orders " << check.orders << std::endl;
}

// One session of `load`.
struct Client {
  Client(Socket its_socket, Names its_names) : socket(std::move(its_socket)), names(std::move(its_names)) {}

  Socket socket;
  Names names;
  std::string in, out;
  std::uint64_t seq_out = 0, seq_in = 0;
  std::uint64_t orders = 0, reports = 0;
  std::vector<std::uint64_t> due;  // of each order
  bool logged_on = false;

  // Times the reports of orders that were due at `timed_from` or later. Returns whether something arrived.
  bool receive(std::span<char> buffer, Times& times, std::uint64_t timed_from) {
    const ssize_t got = socket.receive(buffer.data(), buffer.size());
    if (got < 0) return false;
    if (got == 0) throw std::runtime_error("the engine closed the connection of " + names.sender);
    const std::uint64_t now = now_ns();
    in.append(buffer.data(), static_cast<std::size_t>(got));
    in.erase(0, messages_of(in, [&](std::string_view message) {
               if (number_of(field(message, "34")) != ++seq_in) refuse("MsgSeqNum", message);
               const std::string_view type = field(message, "35");
               if (type == "A") {
                 logged_on = true;
               } else if (type == "8") {
                 if (number_of(field(message, "11")) != ++reports) refuse("ClOrdID", message);
                 for (const std::string_view part : {"\x01"
                                                     "150=0\x01",
                                                     "\x01"
                                                     "39=0\x01",
                                                     "\x01"
                                                     "55=NOKIA.HE\x01",
                                                     "\x01"
                                                     "54=1\x01",
                                                     "\x01"
                                                     "14=0\x01"}) {
                   if (message.find(part) == std::string_view::npos)
                     refuse("without " + std::string{part.substr(1)}, message);
                 }
                 if (number_of(field(message, "151")) != 100 + reports % 900) refuse("LeavesQty", message);
                 if (due[reports - 1] >= timed_from) times.add(static_cast<double>(now - due[reports - 1]));
               } else if (type != "0" && type != "1") {
                 refuse("unexpected", message);
               }
             }));
    return true;
  }
  void order(std::uint64_t when) {
    ++orders;
    due.push_back(when);
    std::string body;
    body.reserve(128);
    body.append("11=").append(std::to_string(orders)).append("|55=NOKIA.HE|54=1|60=").append(utc_now()).append("|38=");
    body.append(std::to_string(100 + orders % 900)).append("|40=2|44=101.25|59=0|");
    out.append(composed(names, "D", ++seq_out, body));
  }
  void flush() {
    socket.send(out);
    out.clear();
  }
};

// Logs on `sessions` clients and sends orders for `warm_up_ms` and `ms`: in turn at `rate` a second, or without one
// `window` outstanding for each client. With no time it keeps the sessions until standard input ends.
void load(const Options& options) {
  const std::uint64_t sessions = options.number("sessions"), warm_up_ns = options.number("warm_up_ms") * 1'000'000;
  const std::uint64_t time_ns = options.number("ms") == 0 ? 0 : warm_up_ns + options.number("ms") * 1'000'000;
  const auto port = static_cast<std::uint16_t>(options.number("port"));
  pin(options.number("cpu"));
  Times times(time_ns / 1000);
  std::vector<char> buffer(256 * 1024);
  std::vector<Client> clients;
  clients.reserve(sessions);
  constexpr std::uint64_t together = 16;  // Logons under way
  constexpr std::uint64_t longest_ns = 60'000'000'000;
  const std::uint64_t begin = now_ns();
  std::uint64_t timed_from = 0;
  const auto poll_one = [&](Client& client) { return client.receive(buffer, times, timed_from); };
  std::uint64_t up = 0;
  while (up < sessions) {
    if (now_ns() - begin > longest_ns) throw std::runtime_error("not all sessions logged on within 60 s");
    while (clients.size() < sessions && clients.size() - up < together) {
      clients.emplace_back(connected(port), Names{"FIX.4.4", "CLIENT" + std::to_string(clients.size()), "VENUE"});
      Client& client = clients.back();
      client.socket.send(composed(client.names, "A", ++client.seq_out, "98=0|108=600|"));
    }
    for (std::size_t i = up; i < clients.size(); ++i) poll_one(clients[i]);
    // In order: a later one may be first, and is counted when those before it are up.
    while (up < clients.size() && clients[up].logged_on) ++up;
  }
  std::cout << "logged_on " << static_cast<double>(now_ns() - begin) / 1e9 << std::endl;
  if (time_ns == 0) return wait_for_end();
  const std::uint64_t rate = options.number("rate"), window = options.number("window");
  const std::uint64_t from = now_ns(), until = from + time_ns;
  std::uint64_t sent = 0, answered = 0, answered_before = 0;
  timed_from = from + warm_up_ns;
  for (std::uint64_t now = from; now < until || answered < sent; now = now_ns()) {
    if (now - from > longest_ns) throw std::runtime_error("orders are without a report after 60 s");
    if (rate != 0) {
      for (std::uint64_t due; (due = from + sent * 1'000'000'000 / rate) <= std::min(now, until); ++sent) {
        clients[sent % sessions].order(due);
        clients[sent % sessions].flush();
      }
    } else {
      for (Client& client : clients) {
        for (; now < until && client.orders - client.reports < window; ++sent) client.order(now_ns());
        client.flush();
      }
    }
    answered = 0;
    bool arrived = false;
    for (Client& client : clients) {
      arrived = poll_one(client) || arrived;
      answered += client.reports;
    }
    if (now < timed_from) answered_before = answered;
    if (!arrived) ::sched_yield();  // the engine's helpers run here too
  }
  std::cout << "orders " << answered - answered_before << "\nseconds "
            << static_cast<double>(now_ns() - timed_from) / 1e9 << std::endl;
  times.write(options.text("times"));
}

// A proxy's client and its market, on one thread: an order every pace_ns, timed from when it is due until the proxy has
// passed it on. Prints the market's port, and begins when the line "PORT" of the proxy arrives.
void hop(const Options& options) {
  pin(options.number("cpu"));
  const Socket listener{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const std::uint16_t port = listen_on(listener);
  std::cout << "port " << port << std::endl;
  const Socket market{::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC)};
  const Names names{"FIX.4.4", "MARKET", "PROXY"};
  std::vector<char> buffer(64 * 1024);
  const std::uint64_t warm_up = options.number("warm_up"), count = options.number("count");
  Times times(count);
  std::string in;
  std::uint64_t seq = 0, seq_in = 0, arrived = 0;
  std::vector<std::uint64_t> due;
  bool up = false;
  const auto poll_market = [&] {
    const ssize_t got = market.receive(buffer.data(), buffer.size());
    if (got < 0) return static_cast<void>(::sched_yield());  // the proxy's helpers run here too
    if (got == 0) throw std::runtime_error("the proxy closed its connection");
    const std::uint64_t now = now_ns();
    in.append(buffer.data(), static_cast<std::size_t>(got));
    in.erase(0, messages_of(in, [&](std::string_view message) {
               if (number_of(field(message, "34")) != ++seq_in) refuse("MsgSeqNum", message);
               const std::string_view type = field(message, "35");
               if (type == "A") {
                 market.send(composed(names, "A", ++seq, "98=0|108=600|"));
                 up = true;
               } else if (type == "D") {
                 if (number_of(field(message, "11")) != ++arrived) refuse("ClOrdID", message);
                 if (number_of(field(message, "38")) != 100 + arrived % 900 || field(message, "55") != "NOKIA.HE" ||
                     field(message, "54") != "1" || field(message, "40") != "2" || field(message, "44") != "101.25" ||
                     field(message, "59") != "0" || field(message, "60").size() != 21 ||
                     field(message, "49") != "PROXY")
                   refuse("not the client's fields", message);
                 if (arrived > warm_up) times.add(static_cast<double>(now - due[arrived - 1]));
               }
             }));
  };
  while (!up) poll_market();
  std::string line;
  std::getline(std::cin, line);
  Client client{connected(static_cast<std::uint16_t>(number_of(line))), {"FIX.4.4", "CLIENT0", "VENUE"}};
  client.out = composed(client.names, "A", ++client.seq_out, "98=0|108=600|");
  client.flush();
  Times unused(0);
  while (!client.logged_on) client.receive(buffer, unused, 0);
  const std::uint64_t from = now_ns(), pace = options.number("pace_ns");
  while (arrived < warm_up + count) {
    const std::uint64_t now = now_ns(), next = from + due.size() * pace;
    if (due.size() < warm_up + count && next <= now) {
      due.push_back(next);
      client.order(next);
      client.flush();
    }
    if (now > next + 30'000'000'000) throw std::runtime_error("an order did not pass within 30 s");
    poll_market();
  }
  times.write(options.text("times"));
  std::cout << "orders " << arrived << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "the other side", {{"sink", sink}, {"verify", verify}, {"load", load}, {"hop", hop}});
}
