// Boost.Beast waits for bytes and writes answers; other files decide what a request is and may do.
#include "control/http_server.hpp"

#include "nexusfix/config/engine_config.hpp"

#ifdef NFX_WITH_BEAST

#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <compare>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include "base/error_text.hpp"
#include "base/private_files.hpp"
#include "control/http_request.hpp"
#include "control/work_queue.hpp"
#include "transport/tls_context.hpp"
#include "transport/tls_material.hpp"

namespace nfx::control {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Local = asio::local::stream_protocol;
using Tcp = asio::ip::tcp;
using Encrypted = beast::ssl_stream<beast::basic_stream<Tcp>>;
template <class Protocol>
using Plain = beast::basic_stream<Protocol>;
using boost::system::error_code;

// The answers that clients have not yet received. 32 clients of /metrics that read nothing would hold some 20 MB.
class UnreadAnswers {
 public:
  struct Answer {
    std::string_view user;
    std::size_t bytes = 0;  // 0: its connection is closed
    std::function<void()> close;
  };
  using Place = std::list<Answer>::iterator;

  explicit UnreadAnswers(std::size_t most) : most_(most) {}

  // Makes space by closing connections: of the user with the most bytes, the oldest one.
  [[nodiscard]] Place add(Answer answer) {
    while (bytes_ != 0 && bytes_ + answer.bytes > most_) {
      std::map<std::string_view, std::size_t> held{{answer.user, answer.bytes}};
      for (const Answer& each : answers_) held[each.user] += each.bytes;
      auto most = answers_.end();
      for (auto each = answers_.begin(); each != answers_.end(); ++each) {
        if (each->bytes != 0 && (most == answers_.end() || held[each->user] > held[most->user])) most = each;
      }
      bytes_ -= std::exchange(most->bytes, 0);
      most->close();
    }
    bytes_ += answer.bytes;
    return answers_.insert(answers_.end(), std::move(answer));
  }
  void remove(Place place) {
    bytes_ -= place->bytes;
    answers_.erase(place);
  }

 private:
  const std::size_t most_;
  std::size_t bytes_ = 0;
  std::list<Answer> answers_;  // oldest first
};

// Shared by a listener's connections.
struct Service {
  const HttpLimits& limits;
  const std::function<AnswerOrWork(const Request&)>& answer;
  WorkQueue& work;
  UnreadAnswers& unread;
  const SocketUsers* users = nullptr;     // of the UNIX socket
  const HttpUsers* http_users = nullptr;  // of HTTP
  const TlsContext* tls = nullptr;        // of HTTP with TLS
  std::uint16_t port = 0;
};

Caller peer_of(int fd, const SocketUsers& users) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return {.name = "unknown", .via = "unix"};
  std::array<unsigned, 256> space{};
  socklen_t bytes = sizeof space;
  std::vector<unsigned> groups{peer.gid};
  // A user with more groups than this is identified by the first group.
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, space.data(), &bytes) == 0)
    groups.insert(groups.end(), space.begin(), space.begin() + bytes / sizeof(unsigned));
  return users.caller(peer.uid, groups);
}

// Uses the certificates loaded now, so that a reload affects connections that begin later.
asio::ssl::context context_of(const TlsContext& tls) {
  SSL_CTX* loaded = tls.material()->context.get();
  SSL_CTX_up_ref(loaded);
  return asio::ssl::context{loaded};
}

Encrypted stream_of(Tcp::socket socket, const Service& service, const Encrypted* /*kind*/) {
  asio::ssl::context context = context_of(*service.tls);
  Encrypted stream{std::move(socket), context};
  SSL_set_verify(stream.native_handle(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return stream;
}
template <class Protocol>
Plain<Protocol> stream_of(typename Protocol::socket socket, const Service& /*service*/,
                          const Plain<Protocol>* /*kind*/) {
  return Plain<Protocol>{std::move(socket)};
}

// One connection: reads a request, writes its answer, and repeats. It ends by itself, or when its time is over.
template <class Protocol, class Stream>
class Connection : public std::enable_shared_from_this<Connection<Protocol, Stream>> {
 public:
  using Ended = std::function<void(Connection*)>;
  static constexpr bool is_encrypted = std::is_same_v<Stream, Encrypted>;

  Connection(typename Protocol::socket socket, const Service& service, Ended ended)
      : stream_(stream_of(std::move(socket), service, static_cast<const Stream*>(nullptr))),
        service_(service),
        ended_(std::move(ended)),
        reader_({.head_bytes = service.limits.header_bytes, .body_bytes = service.limits.body_bytes}) {
    if (service_.users != nullptr) caller_ = peer_of(lowest().socket().native_handle(), *service_.users);
  }
  ~Connection() {
    was_taken();
    ended_(this);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void begin() {
    if constexpr (is_encrypted) {
      lowest().expires_after(service_.limits.request_time);
      stream_.async_handshake(asio::ssl::stream_base::server, [self = this->shared_from_this()](error_code error) {
        if (error) return;
        const detail::OwnedX509 certificate{SSL_get1_peer_certificate(self->stream_.native_handle())};
        if (certificate == nullptr) return;
        self->certificate_ = detail::peer_of(certificate.get());
        self->caller_ = self->service_.http_users->caller(self->certificate_);
        self->read();
      });
    } else {
      read();
    }
  }
  void cut() noexcept { lowest().close(); }
  // Whether it waits for its client, to send a request or to take the answer. Otherwise it waits for the worker.
  [[nodiscard]] bool waits() const noexcept { return !at_work_; }
  [[nodiscard]] auto waiting_since() const noexcept { return since_; }
  // Empty if it has not proved a right yet.
  [[nodiscard]] std::string_view user() const noexcept {
    return caller_.role == Role::none ? std::string_view{} : caller_.name;
  }

 private:
  void begin_wait() {
    at_work_ = false;
    since_ = std::chrono::steady_clock::now();
  }
  [[nodiscard]] auto& lowest() noexcept { return beast::get_lowest_layer(stream_); }

  void read() {
    begin_wait();
    reader_.begin();
    lowest().expires_after(service_.limits.request_time);
    read_some();
  }

  // Whether bytes of another request have arrived.
  [[nodiscard]] bool has_more() {
    if constexpr (is_encrypted) {
      return SSL_pending(stream_.native_handle()) != 0;
    } else {
      error_code error;
      return lowest().socket().available(error) != 0;
    }
  }

  void read_some() {
    stream_.async_read_some(
        asio::buffer(space_),
        [self = this->shared_from_this()](error_code error, std::size_t size) { self->was_read(error, size); });
  }

  // An incomplete request, ended by its client or by a time limit, is not carried out and has no answer.
  void was_read(error_code error, std::size_t size) {
    if (error) return;
    HttpProgress progress = reader_.take({space_.data(), size});
    if (progress == HttpProgress::incomplete) return read_some();
    at_work_ = true;
    if (progress == HttpProgress::complete && has_more()) progress = reader_.take("?");
    if (progress == HttpProgress::refused) {
      const HttpRefusal& refusal = reader_.refusal();
      return give(problem(refusal.status, refusal.kind, refusal.detail), false);
    }
    AnswerOrWork made = answer_or_regret();
    if (Work* work = std::get_if<Work>(&made)) return wait_for(std::move(*work));
    give(std::get<Answer>(std::move(made)), reader_.request().keep_alive);
  }

  // If there is no memory for a request, it is refused, and the other connections continue.
  [[nodiscard]] AnswerOrWork answer_or_regret() {
    try {
      return answer_to(reader_.request());
    } catch (const std::bad_alloc&) {
      return no_memory();
    }
  }
  [[nodiscard]] static Answer no_memory() {
    return problem(503, "no-memory", "the engine has no memory for this request: raise its limit, or ask for less");
  }

  // The connection ends on this thread, because the posted function is its last owner.
  void wait_for(Work work) {
    work.run = [run = std::move(work.run)] {
      try {
        return run();
      } catch (const std::bad_alloc&) {
        return no_memory();
      }
    };
    service_.work.put(std::move(work),
                      [self = this->shared_from_this(), here = stream_.get_executor()](Answer answer) mutable {
                        asio::post(here, [self = std::move(self), answer = std::move(answer)]() mutable {
                          self->give(std::move(answer), self->reader_.request().keep_alive);
                        });
                      });
  }

  [[nodiscard]] AnswerOrWork answer_to(const HttpRequest& message) {
    if (service_.http_users != nullptr) {
      if (!host_is_ours(message[HttpField::host], service_.port))
        return problem(421, "wrong-host", "the Host header does not match this address");
      if (message.has(HttpField::origin) && !origin_is_ours(message[HttpField::origin], service_.port, is_encrypted))
        return problem(403, "wrong-origin", "requests of other origins are refused");
      if constexpr (is_encrypted) {
        caller_ = service_.http_users->caller(certificate_);
      } else {
        caller_ = service_.http_users->caller(message[HttpField::authorization]);
      }
    }
    return service_.answer({.method = message.method,
                            .target = message.target,
                            .if_match = message[HttpField::if_match],
                            .content_type = message[HttpField::content_type],
                            .accept = message[HttpField::accept],
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
    begin_wait();
    lowest().expires_after(service_.limits.answer_time);
    unread_ = service_.unread.add({.user = user(), .bytes = response_.body().size(), .close = [this] { cut(); }});
    http::async_write(stream_, response_, [self = this->shared_from_this(), goes_on](error_code error, std::size_t) {
      self->was_taken();
      if (error) return;
      if (goes_on) return self->read();
      self->lowest().expires_after(self->service_.limits.linger_time);
      self->end();
    });
  }

  void was_taken() {
    if (unread_) service_.unread.remove(*std::exchange(unread_, std::nullopt));
  }

  void end() {
    if constexpr (is_encrypted) {
      stream_.async_shutdown(
          [self = this->shared_from_this()](error_code) {});  // both sides have closed, or the time is over
    } else {
      error_code ignored;
      lowest().socket().shutdown(asio::socket_base::shutdown_send, ignored);
      discard();
    }
  }

  // Closing with unread bytes would reset the connection, and the client might lose the answer.
  void discard() {
    stream_.async_read_some(asio::buffer(space_),
                            [self = this->shared_from_this()](error_code error, std::size_t size) {
                              self->discarded_ += size;
                              if (!error && self->discarded_ < self->service_.limits.linger_bytes) self->discard();
                            });
  }

  Stream stream_;
  const Service& service_;
  const Ended ended_;
  Caller caller_;
  TlsPeer certificate_;  // of a TLS client
  std::array<char, 4096> space_;
  HttpRequestReader reader_;
  http::response<http::string_body> response_;
  std::optional<UnreadAnswers::Place> unread_;  // while it is written
  std::size_t requests_ = 0;
  std::size_t discarded_ = 0;
  bool at_work_ = false;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();  // start of the current wait
};

template <class Protocol, class Stream>
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
      try {
        begin(std::move(socket));
      } catch (const std::bad_alloc&) {  // which closes it
        return accept_later();
      }
      const auto wait = time_until_room();
      if (wait <= std::chrono::steady_clock::duration::zero()) return accept();
      accept_after(wait);
    });
  }

 private:
  // There may be no free descriptors, so it does not retry immediately.
  void accept_later() { accept_after(std::chrono::milliseconds{100}); }
  void accept_after(std::chrono::steady_clock::duration wait) {
    timer_.expires_after(wait);
    timer_.async_wait([this](error_code error) {
      if (!error) accept();
    });
  }

  void begin(typename Protocol::socket socket) {
    if (connections_->size() >= service_.limits.connections) {
      const auto idle = least_needed();
      if (idle == connections_->end()) return;  // closes the new one
      (*idle)->cut();
      connections_->erase(idle);
    }
    if constexpr (std::is_same_v<Protocol, Tcp>) {
      // Prevents the last part of an answer from waiting 40 ms for the client's delayed ACK.
      error_code ignored;
      socket.set_option(Tcp::no_delay{true}, ignored);
    }
    const auto made = std::make_shared<Peer>(std::move(socket), service_,
                                             [connections = connections_](Peer* ended) { connections->remove(ended); });
    connections_->push_back(made.get());
    made->begin();
  }

  using Peer = Connection<Protocol, Stream>;
  using Connections = std::list<Peer*>;
  // Among the connections of the user with the most, the one that has waited longest for its client. So one user cannot
  // take places from others. Clients without a proved right count as one user.
  [[nodiscard]] typename Connections::iterator least_needed() const {
    std::map<std::string_view, std::size_t> held;
    for (const Peer* each : *connections_) ++held[each->user()];
    auto least = connections_->end();
    for (auto each = connections_->begin(); each != connections_->end(); ++each) {
      if (!(*each)->waits()) continue;
      const auto more = least == connections_->end() ? std::strong_ordering::greater
                                                     : held[(*each)->user()] <=> held[(*least)->user()];
      if (more > 0 || (more == 0 && (*each)->waiting_since() < (*least)->waiting_since())) least = each;
    }
    return least;
  }
  [[nodiscard]] std::chrono::steady_clock::duration time_until_room() const {
    if (connections_->size() < service_.limits.connections) return {};
    const auto idle = least_needed();
    if (idle == connections_->end()) return {};
    return (*idle)->waiting_since() + service_.limits.least_time - std::chrono::steady_clock::now();
  }

  Service service_;
  std::shared_ptr<Connections> connections_ = std::make_shared<Connections>();  // oldest first
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
    throw ConfigError("[control] socket: " + cannot("set owner, group and mode of", path, errno) +
                      "; remove socket_owner, or run with CAP_CHOWN");
  }
}

// Removes the socket of a process that has ended; a socket in use is kept.
void make_way(const std::string& path) {
  struct stat facts{};
  if (::lstat(path.c_str(), &facts) != 0) return;
  if (!S_ISSOCK(facts.st_mode)) throw ConfigError("[control] socket: " + path + " is not a socket: remove it");
  asio::io_context context;
  Local::socket probe{context};
  error_code error;
  probe.connect(Local::endpoint{path}, error);
  if (!error)
    throw ConfigError("[control] socket: " + path +
                      " is in use by another process; end that one, or choose another socket");
  if (error == asio::error::connection_refused) ::unlink(path.c_str());
}

}  // namespace

struct HttpServer::Parts {
  explicit Parts(HttpServerOptions given)
      : options(std::move(given)),
        users(options.config),
        http_users(std::make_shared<HttpUsers>(options.config)),
        tls(tls_of(options.config)),
        unread(options.limits.answer_bytes),
        local(context,
              {.limits = options.limits, .answer = options.answer, .work = work, .unread = unread, .users = &users}),
        tcp(context, {.limits = options.limits,
                      .answer = options.answer,
                      .work = work,
                      .unread = unread,
                      .http_users = http_users.get()}),
        encrypted(context, {.limits = options.limits,
                            .answer = options.answer,
                            .work = work,
                            .unread = unread,
                            .http_users = http_users.get(),
                            .tls = tls.get()}) {
    if (!options.config.socket.empty()) open_socket();
    if (options.config.http.host.empty()) return;
    if (tls != nullptr) {
      open_http(encrypted);
    } else {
      open_http(tcp);
    }
  }
  static std::shared_ptr<TlsContext> tls_of(const ControlConfig& config) {
    if (!config.encrypted()) return nullptr;
    TlsOptions wanted;
    wanted.certificate = config.tls_certificate;
    wanted.key = config.tls_key;
    wanted.key_password_env = config.tls_key_password_env;
    wanted.ca = config.tls_ca;
    wanted.crl = config.tls_crl;
    wanted.client_certificate = ClientCertificate::require;
    try {
      return std::make_shared<TlsContext>(std::move(wanted));
    } catch (const TlsError& error) {
      throw ConfigError(std::string{"[control] "} + error.what());
    }
  }
  ~Parts() {
    // If somebody removed the socket, another process may now own the path.
    struct stat facts{};
    const bool ours = made_socket && ::lstat(options.config.socket.c_str(), &facts) == 0 &&
                      std::pair{facts.st_dev, facts.st_ino} == *made_socket;
    if (ours) ::unlink(options.config.socket.c_str());
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  void open_socket() {
    const std::string& path = options.config.socket;
    const std::filesystem::path folder = std::filesystem::path{path}.parent_path();
    if (const std::string wrong = folder_problem(folder.empty() ? "." : folder, FolderLink::allowed); !wrong.empty())
      throw ConfigError("[control] socket: " + wrong);
    make_way(path);
    // Prevents connections before the socket has its owner and mode.
    const mode_t before = ::umask(0177);
    try {
      local.open(Local::endpoint{path}, path, false);
    } catch (...) {
      ::umask(before);
      throw;
    }
    ::umask(before);
    struct stat facts{};
    if (::lstat(path.c_str(), &facts) == 0) made_socket = {facts.st_dev, facts.st_ino};
    try {
      give_away(options.config);
    } catch (...) {
      ::unlink(path.c_str());
      throw;
    }
    local.accept();
  }
  template <class Stream>
  void open_http(Listener<Tcp, Stream>& listener) {
    const Endpoint& at = options.config.http;
    error_code error;
    const auto address = asio::ip::make_address(at.host, error);
    if (error || !address.is_loopback())
      throw ConfigError("[control] http: " + to_string(at) + " is not a loopback address: write \"127.0.0.1:PORT\"");
    listener.open(Tcp::endpoint{address, at.port}, to_string(at), true);
    port = listener.service().port = listener.acceptor().local_endpoint().port();
    listener.accept();
  }

  const HttpServerOptions options;
  const SocketUsers users;
  const std::shared_ptr<HttpUsers> http_users;
  const std::shared_ptr<TlsContext> tls;
  UnreadAnswers unread;  // outlives the context, whose destructor destroys the connections
  asio::io_context context{1};
  WorkQueue work;
  Listener<Local, Plain<Local>> local;
  Listener<Tcp, Plain<Tcp>> tcp;
  Listener<Tcp, Encrypted> encrypted;
  std::uint16_t port = 0;
  std::optional<std::pair<::dev_t, ::ino_t>> made_socket;
};

bool http_supported() noexcept { return true; }

HttpServer::HttpServer(HttpServerOptions options) : parts_(std::make_unique<Parts>(std::move(options))) {}
HttpServer::~HttpServer() = default;
// An exception from a handler that is out of memory ends its connection.
void HttpServer::run() {
  for (;;) {
    try {
      parts_->context.run();
      return;
    } catch (const std::bad_alloc&) {
    }
  }
}
void HttpServer::run_work() { parts_->work.run(); }
void HttpServer::stop() noexcept {
  parts_->context.stop();
  parts_->work.stop();
}
std::uint16_t HttpServer::http_port() const noexcept { return parts_->port; }
std::function<std::string()> HttpServer::reload() const {
  return [users = std::weak_ptr{parts_->http_users}, tls = std::weak_ptr{parts_->tls}] {
    std::string problem;
    if (const auto alive = users.lock()) problem = alive->reload();
    if (const auto alive = tls.lock()) {
      if (const auto done = alive->reload(); !done) problem += (problem.empty() ? "" : "; ") + done.error();
    }
    return problem;
  };
}

}  // namespace nfx::control

#else  // the constructor names the package

namespace nfx::control {

struct HttpServer::Parts {};

bool http_supported() noexcept { return false; }
HttpServer::HttpServer(HttpServerOptions) { throw ConfigError(std::string{http_unsupported}); }
HttpServer::~HttpServer() = default;
void HttpServer::run() {}
void HttpServer::run_work() {}
void HttpServer::stop() noexcept {}
std::uint16_t HttpServer::http_port() const noexcept { return 0; }
std::function<std::string()> HttpServer::reload() const { return {}; }

}  // namespace nfx::control

#endif
