// Boost.Beast waits for bytes and writes answers; what a request is and may do is decided elsewhere.
#ifdef NFX_WITH_BEAST

#include "control/http_server.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include "control/http_request.hpp"
#include "nexusfix/base/private_files.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx::control {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Local = asio::local::stream_protocol;
using Tcp = asio::ip::tcp;
using boost::system::error_code;

// What a listener's connections have in common.
struct Service {
  const HttpLimits& limits;
  const std::function<Answer(const Request&)>& answer;
  const SocketUsers* users = nullptr;  // of the UNIX socket
  const Tokens* tokens = nullptr;      // of HTTP
  std::uint16_t port = 0;
};

Caller peer_of(int fd, const SocketUsers& users) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return {.name = "unknown", .via = "unix"};
  std::array<unsigned, 256> space{};
  socklen_t bytes = sizeof space;
  std::vector<unsigned> groups{peer.gid};
  // A user of more groups than this is known by the first one.
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, space.data(), &bytes) == 0)
    groups.insert(groups.end(), space.begin(), space.begin() + bytes / sizeof(unsigned));
  return users.caller(peer.uid, groups);
}

// One connection: reads a request, writes its answer, and so on. It ends by itself, or when its time is over.
template <class Protocol>
class Connection : public std::enable_shared_from_this<Connection<Protocol>> {
 public:
  using Ended = std::function<void(Connection*)>;

  Connection(typename Protocol::socket socket, const Service& service, Ended ended)
      : stream_(std::move(socket)),
        service_(service),
        ended_(std::move(ended)),
        reader_({.head_bytes = service.limits.header_bytes, .body_bytes = service.limits.body_bytes}) {
    if (service_.users != nullptr) caller_ = peer_of(stream_.socket().native_handle(), *service_.users);
  }
  ~Connection() { ended_(this); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void read() {
    waits_ = true;
    reader_.begin();
    stream_.expires_after(service_.limits.request_time);
    read_some();
  }
  void cut() noexcept { stream_.close(); }
  [[nodiscard]] bool waits() const noexcept { return waits_; }

 private:
  void read_some() {
    stream_.async_read_some(
        asio::buffer(space_),
        [self = this->shared_from_this()](error_code error, std::size_t size) { self->was_read(error, size); });
  }

  // What ends half way, by its client or by time, is not carried out and has no answer.
  void was_read(error_code error, std::size_t size) {
    if (error) return;
    HttpProgress progress = reader_.take({space_.data(), size});
    if (progress == HttpProgress::incomplete) return read_some();
    waits_ = false;
    if (progress == HttpProgress::complete && stream_.socket().available(error) != 0) progress = reader_.take("?");
    if (progress == HttpProgress::refused) {
      const HttpRefusal& refusal = reader_.refusal();
      return give(problem(refusal.status, refusal.kind, refusal.detail), false);
    }
    give(answer_to(reader_.request()), reader_.request().keep_alive);
  }

  [[nodiscard]] Answer answer_to(const HttpRequest& message) {
    if (service_.tokens != nullptr) {
      if (!host_is_ours(message[HttpField::host], service_.port))
        return problem(421, "wrong-host", "the Host is another one than this address has");
      if (message.has(HttpField::origin) && !origin_is_ours(message[HttpField::origin], service_.port))
        return problem(403, "wrong-origin", "pages of other sites may not use this address");
      caller_ = service_.tokens->caller(message[HttpField::authorization]);
    }
    return service_.answer({.method = message.method,
                            .target = message.target,
                            .if_match = message[HttpField::if_match],
                            .content_type = message[HttpField::content_type],
                            .body = message.body,
                            .caller = caller_});
  }

  void give(Answer answer, bool keep_alive) {
    const bool goes_on = keep_alive && ++requests_ < service_.limits.requests;
    response_ = {};
    response_.version(11);
    response_.result(answer.status);
    response_.keep_alive(goes_on);
    response_.set(http::field::content_type, answer.type);
    response_.set(http::field::cache_control, "no-store");
    response_.set("X-Content-Type-Options", "nosniff");
    if (!answer.etag.empty()) response_.set(http::field::etag, answer.etag);
    if (!answer.allow.empty()) response_.set(http::field::allow, answer.allow);
    if (answer.try_again) response_.set(http::field::retry_after, "1");
    if (answer.authenticate) response_.set(http::field::www_authenticate, "Bearer realm=\"nexusfix\"");
    response_.body() = std::move(answer.body);
    response_.prepare_payload();
    stream_.expires_after(service_.limits.answer_time);
    http::async_write(stream_, response_, [self = this->shared_from_this(), goes_on](error_code error, std::size_t) {
      if (error) return;
      if (goes_on) return self->read();
      error_code ignored;
      self->stream_.socket().shutdown(asio::socket_base::shutdown_send, ignored);
      self->waits_ = true;
      self->stream_.expires_after(self->service_.limits.linger_time);
      self->discard();
    });
  }

  // Closing with bytes unread would reset the connection, and the client might lose the answer.
  void discard() {
    stream_.async_read_some(asio::buffer(space_),
                            [self = this->shared_from_this()](error_code error, std::size_t size) {
                              self->discarded_ += size;
                              if (!error && self->discarded_ < self->service_.limits.linger_bytes) self->discard();
                            });
  }

  beast::basic_stream<Protocol> stream_;
  const Service& service_;
  const Ended ended_;
  Caller caller_;
  std::array<char, 4096> space_;
  HttpRequestReader reader_;
  http::response<http::string_body> response_;
  std::size_t requests_ = 0;
  std::size_t discarded_ = 0;
  bool waits_ = false;
};

template <class Protocol>
class Listener {
 public:
  Listener(asio::io_context& context, Service service) : service_(service), acceptor_(context), timer_(context) {}

  void open(const typename Protocol::endpoint& endpoint, const std::string& name, bool reuse) {
    error_code error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error && reuse) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(64, error);
    if (error) throw ConfigError("[control] cannot listen on " + name + ": " + error.message());
  }
  [[nodiscard]] auto& acceptor() noexcept { return acceptor_; }
  [[nodiscard]] Service& service() noexcept { return service_; }

  void accept() {
    acceptor_.async_accept([this](error_code error, typename Protocol::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) return accept_later();
      begin(std::move(socket));
      accept();
    });
  }

 private:
  // Perhaps there are no more descriptors: not again immediately.
  void accept_later() {
    timer_.expires_after(std::chrono::milliseconds{100});
    timer_.async_wait([this](error_code error) {
      if (!error) accept();
    });
  }

  void begin(typename Protocol::socket socket) {
    if (connections_->size() >= service_.limits.connections) {
      const auto idle = std::ranges::find_if(*connections_, [](const auto* each) { return each->waits(); });
      if (idle == connections_->end()) return;  // closes the new one
      (*idle)->cut();
      connections_->erase(idle);
    }
    const auto made = std::make_shared<Connection<Protocol>>(
        std::move(socket), service_,
        [connections = connections_](Connection<Protocol>* ended) { connections->remove(ended); });
    connections_->push_back(made.get());
    made->read();
  }

  Service service_;
  using Connections = std::list<Connection<Protocol>*>;
  std::shared_ptr<Connections> connections_ = std::make_shared<Connections>();  // the oldest first
  typename Protocol::acceptor acceptor_;
  asio::steady_timer timer_;
};

void give_away(const ControlConfig& config) {
  const std::string& path = config.socket;
  const auto mode = static_cast<mode_t>(std::strtoul(config.socket_mode.c_str(), nullptr, 8));
  uid_t owner = static_cast<uid_t>(-1);
  gid_t group = static_cast<gid_t>(-1);
  if (!config.socket_owner.empty()) {
    const passwd* user = ::getpwnam(config.socket_owner.c_str());
    if (user == nullptr) throw ConfigError("[control] socket_owner: this host has no user " + config.socket_owner);
    owner = user->pw_uid;
  }
  if (!config.socket_group.empty()) {
    const ::group* found = ::getgrnam(config.socket_group.c_str());
    if (found == nullptr) throw ConfigError("[control] socket_group: this host has no group " + config.socket_group);
    group = found->gr_gid;
  }
  if (::chown(path.c_str(), owner, group) != 0 || ::chmod(path.c_str(), mode) != 0) {
    throw ConfigError("[control] socket " + path + ": cannot set owner, group and mode: " + std::strerror(errno) +
                      "; remove socket_owner or run with CAP_CHOWN");
  }
}

// The socket of a process that has ended is removed; a socket that a process serves is not.
void make_way(const std::string& path) {
  struct stat facts{};
  if (::lstat(path.c_str(), &facts) != 0) return;
  if (!S_ISSOCK(facts.st_mode))
    throw ConfigError("[control] socket: " + path + " is there and is not a socket: remove it");
  asio::io_context context;
  Local::socket probe{context};
  error_code error;
  probe.connect(Local::endpoint{path}, error);
  if (!error) throw ConfigError("[control] socket: another process serves " + path + ": name another one, or end it");
  if (error == asio::error::connection_refused) ::unlink(path.c_str());
}

}  // namespace

struct HttpServer::Parts {
  explicit Parts(HttpServerOptions given)
      : options(std::move(given)),
        users(options.config),
        tokens(options.config.http.host.empty() ? Tokens{} : Tokens::load(options.config.tokens)),
        local(context, {.limits = options.limits, .answer = options.answer, .users = &users}),
        tcp(context, {.limits = options.limits, .answer = options.answer, .tokens = &tokens}) {
    if (!options.config.socket.empty()) open_socket();
    if (!options.config.http.host.empty()) open_http();
  }
  ~Parts() {
    if (made_socket) ::unlink(options.config.socket.c_str());
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  void open_socket() {
    const std::string& path = options.config.socket;
    const std::filesystem::path folder = std::filesystem::path{path}.parent_path();
    if (const std::string wrong = folder_problem(folder.empty() ? "." : folder, FolderLink::allowed); !wrong.empty())
      throw ConfigError("[control] socket: " + wrong);
    make_way(path);
    // No other process connects before it has its owner and mode.
    const mode_t before = ::umask(0177);
    try {
      local.open(Local::endpoint{path}, path, false);
    } catch (...) {
      ::umask(before);
      throw;
    }
    ::umask(before);
    made_socket = true;
    try {
      give_away(options.config);
    } catch (...) {
      ::unlink(path.c_str());
      throw;
    }
    local.accept();
  }
  void open_http() {
    const Endpoint& at = options.config.http;
    error_code error;
    const auto address = asio::ip::make_address(at.host, error);
    if (error || !address.is_loopback())
      throw ConfigError("[control] http: " + to_string(at) + " is not a loopback address: write \"127.0.0.1:PORT\"");
    tcp.open(Tcp::endpoint{address, at.port}, to_string(at), true);
    tcp.service().port = tcp.acceptor().local_endpoint().port();
    tcp.accept();
  }

  const HttpServerOptions options;
  const SocketUsers users;
  const Tokens tokens;
  asio::io_context context{1};
  Listener<Local> local;
  Listener<Tcp> tcp;
  bool made_socket = false;
};

bool http_supported() noexcept { return true; }

HttpServer::HttpServer(HttpServerOptions options) : parts_(std::make_unique<Parts>(std::move(options))) {}
HttpServer::~HttpServer() = default;
void HttpServer::run() { parts_->context.run(); }
void HttpServer::stop() noexcept { parts_->context.stop(); }
std::uint16_t HttpServer::http_port() const noexcept { return parts_->tcp.service().port; }

}  // namespace nfx::control

#endif
