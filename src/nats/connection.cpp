// Connects, and reads what servers answer.
#ifdef NFX_WITH_NATS
#include "nats/connection.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace nfx::nats {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds once{1000};            // for an answer to a request, before it is repeated
constexpr milliseconds change_timeout{2000};  // of each server, in a change of the server
constexpr std::int64_t unanswered_wait_ms = 100;
constexpr std::int64_t spare_ms = 1000;  // of the connecting to all servers, beyond the timeouts of each
constexpr int unended_max = 4;           // attempts to connect that were given up, and have not ended
std::atomic<int> unended{0};
// A server whose machine or network was lost ends no connection: after this many pings without an answer another one is
// connected to.
constexpr std::int64_t ping_again_ms = 1000;
constexpr int unanswered_pings_max = 2;

constexpr int wrong_last_sequence = 10071, wrong_last_sequence_named = 10164;

// Without users and passwords.
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

// HOST:PORT of one.
std::string address_of(const std::string& url) {
  std::string address = shown_url(url);
  if (const std::size_t scheme = address.find("://"); scheme != std::string::npos) address.erase(0, scheme + 3);
  const std::size_t host_end = address.find(']');  // of an address of IPv6
  if (address.find(':', host_end == std::string::npos ? 0 : host_end) == std::string::npos) address += ":4222";
  return address;
}

// libnats reads the file when it connects, and then its error names no file.
void require_private(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::is_regular_file(status)) throw NatsError{path + ": there is no such file of credentials (--credentials)"};
  constexpr fs::perms others = fs::perms::group_all | fs::perms::others_all;
  if ((status.permissions() & others) != fs::perms::none)
    throw NatsError{path + ": other users may use these credentials (--credentials); run chmod 600 on the file"};
}

struct Attempt {
  Owned<natsOptions> options;
  std::mutex mutex;
  std::condition_variable ended;
  natsConnection* connection = nullptr;
  std::optional<natsStatus> status;
  bool abandoned = false;
};

// Connects, or gives up after `longest`: libnats before 3.8 does not return from a server that accepts a connection and
// then does not answer. Such an attempt has a thread of its own until that connection ends; while unended_max have not
// ended, nothing is connected to.
natsStatus connect_within(milliseconds longest, Owned<natsOptions> options, Owned<natsConnection>& connection) {
  if (unended.load() >= unended_max) return NATS_TIMEOUT;
  const auto attempt = std::make_shared<Attempt>();
  attempt->options = std::move(options);
  const auto run = [attempt] {
    natsConnection* made = nullptr;
    const natsStatus status = natsConnection_Connect(&made, attempt->options.get());
    Owned<natsConnection> unwanted{made};
    const std::lock_guard lock{attempt->mutex};
    attempt->status = status;
    if (attempt->abandoned)
      --unended;
    else
      attempt->connection = unwanted.release();
    attempt->ended.notify_one();
  };
  try {
    std::thread{run}.detach();
  } catch (const std::system_error&) {
    return NATS_SYS_ERROR;
  }
  std::unique_lock lock{attempt->mutex};
  if (!attempt->ended.wait_for(lock, longest, [&] { return attempt->status.has_value(); })) {
    attempt->abandoned = true;
    ++unended;
    return NATS_TIMEOUT;
  }
  connection.reset(attempt->connection);
  return *attempt->status;
}

// What to write instead, between the address and the text of libnats.
std::string refusal_of(natsStatus status, const NatsOptions& options) {
  if (status == NATS_SSL_ERROR) {
    if (options.certificate_authority.empty())
      return ": the server requires TLS; name the file of its certificate authority with --ca";
    return ": the server's certificate was not verified with --ca " + options.certificate_authority;
  }
  if (status == NATS_SECURE_CONNECTION_WANTED) return ": the server has no TLS; leave --ca out";
  if (status == NATS_OK || status == NATS_NO_SERVER || options.credentials.empty()) return {};
  return ": not connected with --credentials " + options.credentials;
}

}  // namespace

NatsStream::Connection::Connection(const NatsOptions& with, const std::string& leaving) : options(with) {
  natsOptions* made = nullptr;
  require(natsOptions_Create(&made), "libnats");
  Owned<natsOptions> chosen{made};
  std::vector<std::string> urls;
  for (std::string_view rest = options.url; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    urls.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (const auto left = std::ranges::find(urls, address_of(leaving), address_of); left != urls.end())
    std::ranges::rotate(urls, left + 1);
  require(natsOptions_SetNoRandomize(made, !leaving.empty()), "libnats");
  std::vector<const char*> pointers;
  for (const std::string& url : urls) pointers.push_back(url.c_str());
  require(natsOptions_SetServers(made, pointers.data(), static_cast<int>(pointers.size())),
          "servers " + shown_url(options.url));
  const std::int64_t longest_ms =
      leaving.empty() ? timeout_ms() : std::min<std::int64_t>(timeout_ms(), change_timeout.count());
  require(natsOptions_SetTimeout(made, longest_ms), "timeout");
  require(natsOptions_SetSendAsap(made, true), "libnats");
  require(natsOptions_SetMaxReconnect(made, -1), "libnats");
  require(natsOptions_SetReconnectWait(made, 250), "libnats");
  require(natsOptions_SetPingInterval(made, ping_again_ms), "libnats");
  require(natsOptions_SetMaxPingsOut(made, unanswered_pings_max), "libnats");
  // What is published while no server is connected is lost: its owner publishes it again.
  require(natsOptions_SetReconnectBufSize(made, 0), "libnats");
  if (!options.certificate_authority.empty()) {
    require(natsOptions_SetSecure(made, true), "TLS");
    require(natsOptions_LoadCATrustedCertificates(made, options.certificate_authority.c_str()),
            options.certificate_authority);
  }
  if (!options.credentials.empty()) {
    require_private(options.credentials);
    require(natsOptions_SetUserCredentialsFromFiles(made, options.credentials.c_str(), nullptr), options.credentials);
  }
  // Of each server: to connect, and to exchange the first messages.
  const milliseconds longest{2 * longest_ms * static_cast<std::int64_t>(urls.size()) + spare_ms};
  const natsStatus connected = connect_within(longest, std::move(chosen), handle);
  require(connected, where() + refusal_of(connected, options));
}

Json NatsStream::Connection::ask(const std::string& subject, const Json& body) {
  const std::string text = body.is_null() ? std::string{} : body.dump();
  natsMsg* got = nullptr;
  // Servers that are electing drop a request: it is repeated, and each of these may be carried out twice.
  natsStatus status = NATS_TIMEOUT;
  for (auto left = std::chrono::duration_cast<milliseconds>(options.timeout);
       status == NATS_TIMEOUT && left > milliseconds{0}; left -= once) {
    status = natsConnection_Request(&got, handle.get(), subject.c_str(), text.data(), static_cast<int>(text.size()),
                                    std::min(left, once).count());
  }
  if (status == NATS_NO_RESPONDERS)
    throw NatsError{where() + ": JetStream does not answer; enable it, or give this user permission for " + subject};
  if (status == NATS_TIMEOUT)
    throw NatsTimeout{where() + ": no answer to " + subject + "; does this user have permission for it?"};
  require(status, where() + ": " + subject);
  const Owned<natsMsg> message{got};
  return json_of(data_of(got));
}

void NatsStream::Connection::read_batch(const std::string& stream, const Json& request,
                                        const std::function<void(natsMsg*)>& each) {
  const std::string what = where() + ": stream " + stream, subject = "$JS.API.DIRECT.GET." + stream;
  const std::string text = request.dump();
  const auto end = std::chrono::steady_clock::now() + options.timeout;
  natsStatus status = NATS_OK;
  if (batch_answers == nullptr) {
    batch_inbox = new_inbox();
    require(natsConnection_SubscribeSync(&batch_answers, handle.get(), (batch_inbox + ".*").c_str()), what);
    subscriptions.emplace_back(batch_answers);
  }
  // Servers that start or elect drop a request, or do not take it yet: it is repeated, with an inbox of its own,
  // because an answer may come late.
  do {
    if (status == NATS_NO_RESPONDERS) nats_Sleep(unanswered_wait_ms);
    const std::string inbox = batch_inbox + "." + std::to_string(++batches);
    require(natsConnection_PublishRequestString(handle.get(), subject.c_str(), inbox.c_str(), text.c_str()), what);
    bool answered = false;
    const std::int64_t first_ms = std::min(timeout_ms(), std::int64_t{once.count()});
    for (natsMsg* got = nullptr;
         (status = natsSubscription_NextMsg(&got, batch_answers, answered ? timeout_ms() : first_ms)) == NATS_OK;) {
      const Owned<natsMsg> message{got};
      if (natsMsg_GetSubject(got) != inbox) continue;  // of an earlier one
      answered = true;
      const std::string_view code = header_of(got, "Status");
      if (code == "404" || code == "204") return;  // none; the end of this batch
      if (!code.empty()) throw NatsError{what + ": a read was refused: " + std::string{header_of(got, "Description")}};
      each(got);
    }
    if (answered) throw NatsError{what + ": a read was not completed: " + natsStatus_GetText(status)};
  } while ((status == NATS_TIMEOUT || status == NATS_NO_RESPONDERS) && std::chrono::steady_clock::now() < end);
  if (status == NATS_TIMEOUT)
    throw NatsError{what + ": no answer to a read; does this user have permission for " + subject + "?"};
  if (status == NATS_NO_RESPONDERS)
    throw NatsError{what + ": no server has it; make it with nfx cluster init, or wait until its servers run"};
  require(status, what);
}

std::string NatsStream::Connection::where() const { return shown_url(options.url); }

std::string NatsStream::Connection::server() const {
  std::array<char, 512> url{};
  if (natsConnection_GetConnectedUrl(handle.get(), url.data(), url.size()) != NATS_OK) return {};
  return shown_url(url.data());
}

std::int64_t NatsStream::Connection::timeout_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(options.timeout).count();
}

void require(natsStatus status, const std::string& what) {
  if (status != NATS_OK) throw NatsError{what + ": " + natsStatus_GetText(status)};
}

std::string new_inbox() {
  natsInbox* made = nullptr;
  require(natsInbox_Create(&made), "libnats");
  std::string inbox = made;
  natsInbox_Destroy(made);
  return inbox;
}

bool is_token(std::string_view name) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  return !name.empty() && name.size() <= 128 && name.find_first_not_of(allowed) == std::string_view::npos;
}

std::uint64_t number_of(std::string_view text) {
  std::uint64_t number = 0;
  static_cast<void>(std::from_chars(text.data(), text.data() + text.size(), number));
  return number;
}

std::string_view data_of(const natsMsg* message) {
  return {natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))};
}

std::string_view header_of(natsMsg* message, const char* key) {
  const char* value = nullptr;
  return natsMsgHeader_Get(message, key, &value) == NATS_OK && value != nullptr ? value : std::string_view{};
}

Json json_of(std::string_view text) {
  Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  return json.is_object() ? json : Json::object();
}

std::uint64_t number_in(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::string text_in(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

Json object_in(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_object() ? *found : Json::object();
}

bool is_wrong_last_sequence(const Json& answer) {
  const std::uint64_t code = number_in(object_in(answer, "error"), "err_code");
  return code == wrong_last_sequence || code == wrong_last_sequence_named;
}

}  // namespace nfx::nats
#endif
