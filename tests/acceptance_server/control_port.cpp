// Reads one line of a request, sets a sequence number, writes one line of an answer.
#include "control_port.hpp"
#include "engine/engine_operations.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>
#include <system_error>

namespace {

constexpr std::size_t longest_request = 4096;

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::optional<std::size_t> number_of(const nfx::EngineConfig& config, std::string_view session) {
  for (std::size_t i = 0; i < config.sessions.size(); ++i) {
    if (nfx::identity(config.sessions[i].session) == session) return i;
  }
  return std::nullopt;
}

}  // namespace

ControlPort::ControlPort(nfx::Engine& engine, std::uint16_t port)
    : engine_(engine), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  if (listener_ < 0 || ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_, 8) != 0)
    throw std::system_error(errno, std::generic_category(), "control port " + std::to_string(port));
  thread_ = std::thread{[this] { serve(); }};
}

ControlPort::~ControlPort() {
  ::shutdown(listener_, SHUT_RDWR);  // ends the wait for a client
  thread_.join();
  ::close(listener_);
}

void ControlPort::serve() {
  for (;;) {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return;
    }
    const timeval most{.tv_sec = 5, .tv_usec = 0};
    ::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    answer(client);
    ::close(client);
  }
}

void ControlPort::answer(int client) {
  std::string request;
  char bytes[1024];
  while (!request.contains("\r\n\r\n") && request.size() < longest_request) {
    const ssize_t got = ::recv(client, bytes, sizeof bytes, 0);
    if (got <= 0) return;
    request.append(bytes, static_cast<std::size_t>(got));
  }
  const Reply reply = reply_to(request.substr(0, request.find("\r\n")));
  const std::string text =
      "HTTP/1.1 " + std::to_string(reply.status) + (reply.status == 200 ? " OK" : " Refused") +
      "\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: " + std::to_string(reply.text.size() + 1) +
      "\r\n\r\n" + reply.text + '\n';
  static_cast<void>(::send(client, text.data(), text.size(), MSG_NOSIGNAL));
}

ControlPort::Reply ControlPort::reply_to(std::string_view request) {
  constexpr std::string_view begin = "GET /set?";
  if (!request.starts_with(begin)) return {404, "expected GET /set?session=...&NEXTSENDERSEQNUM=..."};
  std::string_view query = request.substr(begin.size());
  query = query.substr(0, query.find(' '));
  std::optional<std::size_t> session;
  nfx::SessionCommand command{.kind = nfx::SessionCommandKind::set};
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string name = decoded(pair.substr(0, equals));
    const std::string value = decoded(pair.substr(std::min(equals + 1, pair.size())));
    if (name == "session") {
      session = number_of(engine_.config(), value);
      if (!session) return {404, "there is no session " + value};
      continue;
    }
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool sender = name == "NEXTSENDERSEQNUM";
    if (error != std::errc{} || end != value.data() + value.size() || (!sender && name != "NEXTTARGETSEQNUM"))
      return {400, "expected NEXTSENDERSEQNUM or NEXTTARGETSEQNUM with a number, not " + name + "=" + value};
    (sender ? command.numbers.out : command.numbers.in) = nfx::SeqNum{number};
  }
  if (!session) return {400, "no session"};
  const nfx::CommandOutcome outcome = nfx::EngineOperations{engine_}.command(*session, command);
  return {outcome ? 200U : 409U, std::string{nfx::explain(outcome)}};
}
