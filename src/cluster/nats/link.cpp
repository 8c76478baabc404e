// Connects to one server.
#ifdef NFX_WITH_NATS
#include "nats/link.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/clocks.hpp"
#include "base/error_text.hpp"
#include "base/private_files.hpp"
#include "nats/checked_input.hpp"

namespace nfx::nats {
namespace {

using std::chrono::milliseconds;

// Threads that connected or read end after their connection does, and use OpenSSL until then: it must not be taken down
// when the process exits. To be said before anything uses OpenSSL.
[[maybe_unused]] const int openssl_stays = ::OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);

constexpr std::int64_t write_ms = 2000;  // of one request, when the server does not read; then it counts as lost
// A server whose machine or network was lost ends no connection: after this many pings without an answer another one is
// connected to.
constexpr std::int64_t ping_again_ms = 1000;
constexpr int unanswered_pings_max = 2;
constexpr std::int64_t first_answer_ms = 2000;

// libnats reads the file when it connects, and then its error names no file.
void require_private(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::is_regular_file(status))
    throw NatsError{"--credentials: " +
                    cannot("read", path, error ? system_text(error.value()) : "it is not a regular file")};
  constexpr fs::perms others = fs::perms::group_all | fs::perms::others_all;
  if ((status.permissions() & others) != fs::perms::none)
    throw NatsError{"--credentials: " +
                    open_to_others(path, static_cast<unsigned>(status.permissions()), "read or change it", "600")};
}

// Servers at which an attempt was given up and has not ended.
class Silent {
 public:
  void add(const std::string& address) {
    const std::lock_guard lock{mutex_};
    addresses_.insert(address);
  }
  void remove(const std::string& address) {
    const std::lock_guard lock{mutex_};
    addresses_.erase(addresses_.find(address));
  }
  [[nodiscard]] bool has(const std::string& address) {
    const std::lock_guard lock{mutex_};
    return addresses_.contains(address);
  }

 private:
  std::mutex mutex_;
  std::multiset<std::string> addresses_;
};

// Is not destroyed: the threads that use it may be the last ones.
Silent& silent() {
  static Silent& all = *new Silent;
  return all;
}

void on_lost(natsConnection*, void* link) {
  std::atomic<bool>& is_lost = static_cast<Link*>(link)->is_lost;
  is_lost.store(true);
  is_lost.notify_all();
}

Owned<natsOptions> make_options(const NatsOptions& options, const std::string& url, milliseconds longest, Link& link) {
  natsOptions* made = nullptr;
  require(natsOptions_Create(&made), "libnats");
  Owned<natsOptions> owned{made};
  require(natsOptions_SetURL(made, url.c_str()), "server " + shown_url(url));
  require(natsOptions_SetTimeout(made, longest.count()), "timeout");
  require(natsOptions_SetSendAsap(made, true), "libnats");
  require(natsOptions_SetAllowReconnect(made, false), "libnats");
  require(natsOptions_SetClosedCB(made, on_lost, &link), "libnats");
  require(natsOptions_SetWriteDeadline(made, write_ms), "libnats");
  require(natsOptions_SetPingInterval(made, ping_again_ms), "libnats");
  require(natsOptions_SetMaxPingsOut(made, unanswered_pings_max), "libnats");
  if (!options.certificate_authority.empty()) {
    require(natsOptions_SetSecure(made, true), "TLS");
    require(natsOptions_LoadCATrustedCertificates(made, options.certificate_authority.c_str()),
            options.certificate_authority);
  }
  if (!options.credentials.empty()) {
    require_private(options.credentials);
    require(natsOptions_SetUserCredentialsFromFiles(made, options.credentials.c_str(), nullptr), options.credentials);
  }
  return owned;
}

// The answer to the first ping is the first thing that libnats parses.
natsStatus connect(Link& link, natsOptions* options) {
  natsConnection* connection = nullptr;
  {
    const ConnectingThread connecting;
    const natsStatus status = connecting.status_of(natsConnection_Connect(&connection, options));
    link.handle.reset(connection);
    if (status != NATS_OK) return status;
  }
  const natsStatus status = natsConnection_FlushTimeout(connection, first_answer_ms);
  if (status != NATS_OK) return status;
  return input_is_checked() ? NATS_OK : NATS_ILLEGAL_STATE;
}

}  // namespace

// Shared by an attempt to connect and its thread.
struct Attempt::Result {
  std::mutex mutex;
  std::condition_variable ended;
  std::optional<natsStatus> status;
  std::unique_ptr<Link> link;
  bool is_abandoned = false;
};

Link::~Link() {
  if (handle == nullptr) return;
  natsConnection_Close(handle.get());
  is_lost.wait(false);  // another thread may be closing it
}

Attempt::Attempt(const NatsOptions& options, const std::string& url, milliseconds longest)
    : address_(shown_url(url)), end_(read_monotonic() + longest + spare), result_(std::make_shared<Result>()) {
  if (silent().has(address_)) {
    result_->status = NATS_TIMEOUT;
    return;
  }
  auto link = std::make_unique<Link>();
  link->server = address_;
  Owned<natsOptions> chosen = make_options(options, url, longest, *link);
  const auto run = [](const std::shared_ptr<Result>& result, std::unique_ptr<Link> made, Owned<natsOptions> with) {
    const natsStatus status = connect(*made, with.get());
    const std::lock_guard lock{result->mutex};
    result->status = status;
    if (result->is_abandoned)
      silent().remove(made->server);
    else if (status == NATS_OK)
      result->link = std::move(made);
    result->ended.notify_one();
  };
  try {
    std::thread{run, result_, std::move(link), std::move(chosen)}.detach();
  } catch (const std::system_error&) {
    result_->status = NATS_SYS_ERROR;
  }
}

Attempt::~Attempt() {
  const std::lock_guard lock{result_->mutex};
  if (result_->status) return;
  result_->is_abandoned = true;
  silent().add(address_);
}

bool Attempt::wait(milliseconds most) {
  std::unique_lock lock{result_->mutex};
  const MonotonicTime until = std::min(end_, read_monotonic() + most);
  return result_->ended.wait_until(lock, until, [&] { return result_->status.has_value(); }) ||
         read_monotonic() >= end_;
}

natsStatus Attempt::take(std::unique_ptr<Link>& link) {
  const std::lock_guard lock{result_->mutex};
  link = std::move(result_->link);
  return result_->status.value_or(NATS_TIMEOUT);
}

std::string refusal_of(natsStatus status, const NatsOptions& options) {
  if (status == NATS_SSL_ERROR) {
    if (options.certificate_authority.empty())
      return ": the server requires TLS; name the file of its certificate authority with --ca";
    return ": the server's certificate was not verified with --ca " + options.certificate_authority;
  }
  if (status == NATS_SECURE_CONNECTION_WANTED) return ": the server has no TLS; leave --ca out";
  if (status == NATS_ILLEGAL_STATE)
    return std::string{": libnats "} + nats_GetVersion() +
           " does not let its input be checked, without which a server can end this process; link it as a shared "
           "library, as the package libnats-dev does";
  if (status == NATS_NO_SERVER) return ": cannot connect; start a server, or name others with --url";
  if (status == NATS_TIMEOUT) return ": a server accepts the connection and does not answer; restart it";
  if (status == NATS_OK || options.credentials.empty()) return {};
  return ": not connected with --credentials " + options.credentials;
}

std::string shown_url(std::string_view urls) {
  std::string text;
  while (!urls.empty()) {
    std::string_view one = urls.substr(0, urls.find(','));
    urls.remove_prefix(std::min(one.size() + 1, urls.size()));
    const std::size_t scheme = one.find("://"), at = one.rfind('@');
    if (!text.empty()) text += ',';
    if (scheme != std::string_view::npos) text += one.substr(0, scheme + 3);
    if (at != std::string_view::npos)
      one.remove_prefix(at + 1);
    else if (scheme != std::string_view::npos)
      one.remove_prefix(scheme + 3);
    text += one;
  }
  return text;
}

void require(natsStatus status, const std::string& what) {
  if (status != NATS_OK) throw NatsError{what + ": " + natsStatus_GetText(status)};
}

}  // namespace nfx::nats
#endif
