// JetStream over plain messages of libnats: publishes with the expected last sequence of their subject, and direct
// gets.
#ifdef NFX_WITH_NATS
#include "nexusfix/nats/nats_stream.hpp"

#include <nats/nats.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

namespace nfx::nats {

using cluster::Action;
using cluster::ActionKind;
using cluster::EventKind;
using Json = nlohmann::json;

namespace {

constexpr int needed_level = 2;  // of JetStream's interface: that of nats-server 2.12
constexpr int wrong_last_sequence = 10071, wrong_last_sequence_named = 10164;
constexpr int stream_not_found = 10059;
constexpr std::size_t answers_max = 65536;
constexpr int batch_frames = 256;  // that a replay reads at a time
constexpr int batch_bytes = 8 << 20;

struct Destroy {
  void operator()(natsConnection* connection) const { natsConnection_Destroy(connection); }
  void operator()(natsOptions* options) const { natsOptions_Destroy(options); }
  void operator()(natsMsg* message) const { natsMsg_Destroy(message); }
  void operator()(natsSubscription* subscription) const { natsSubscription_Destroy(subscription); }
};
template <class T>
using Owned = std::unique_ptr<T, Destroy>;

void require(natsStatus status, const std::string& what) {
  if (status != NATS_OK) throw NatsError{what + ": " + natsStatus_GetText(status)};
}

std::uint64_t number_of(std::string_view text) {
  std::uint64_t number = 0;
  static_cast<void>(std::from_chars(text.data(), text.data() + text.size(), number));
  return number;
}

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

bool is_token(std::string_view name) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  return !name.empty() && name.size() <= 128 && name.find_first_not_of(allowed) == std::string_view::npos;
}

std::string_view data_of(const natsMsg* message) {
  return {natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))};
}

std::string_view header_of(natsMsg* message, const char* key) {
  const char* value = nullptr;
  return natsMsgHeader_Get(message, key, &value) == NATS_OK && value != nullptr ? value : std::string_view{};
}

// What no server answers is an object without members.
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

}  // namespace

std::string_view missing_package() noexcept { return {}; }

struct NatsStream::Parts {
  struct Session {
    std::string subject;
    std::string lease_subject;
    cluster::GatewayId gateway{};

    // Frames that were read ahead, each with the sequence of the one before it: a replay requests one after the other.
    struct Ahead {
      std::uint64_t after;
      Answer answer;
    };
    std::deque<Ahead> ahead;
    std::uint64_t batch = 0;    // whose frames still come; 0: none
    std::uint64_t after = 0;    // the last one of it that came
    std::uint64_t waiting = 0;  // the request that the next one of it answers; 0: none
  };

  NatsOptions options;
  std::string inbox;
  std::vector<Session> sessions;
  std::uint64_t batches = 0;
  std::mutex mutex;  // of what libnats' threads reach: the answers, the names of leases, what is read ahead
  std::vector<Answer> answers;
  std::function<void()> answered;
  std::vector<std::pair<std::string, SessionIndex>> leases;
  Owned<natsConnection> connection;
  Owned<natsSubscription> replies, renewals;  // destroyed before the connection
  std::condition_variable changed;            // the answers or the subscriptions
  int subscriptions = 0;                      // whose callbacks may run

  static void on_end(void* closure) {
    Parts& parts = *static_cast<Parts*>(closure);
    const std::scoped_lock lock{parts.mutex};
    --parts.subscriptions;
    parts.changed.notify_all();
  }

  void subscribe(Owned<natsSubscription>& to, const std::string& subject, natsMsgHandler handler) {
    natsSubscription* made = nullptr;
    require(natsConnection_Subscribe(&made, connection.get(), subject.c_str(), handler, this), shown_url(options.url));
    to.reset(made);
    require(natsSubscription_SetOnCompleteCB(made, on_end, this), "libnats");
    const std::scoped_lock lock{mutex};
    ++subscriptions;
  }

  // A callback may run until its subscription has ended, which libnats does in its own time.
  ~Parts() {
    replies.reset();
    renewals.reset();
    std::unique_lock lock{mutex};
    changed.wait(lock, [this] { return subscriptions == 0; });
  }

  void add(Answer answer) {
    const std::scoped_lock lock{mutex};
    add_locked(std::move(answer));
  }
  void add_locked(Answer answer) {
    // A lost answer is one that the owner requests again.
    if (answers.size() < answers_max) answers.push_back(std::move(answer));
    changed.notify_all();
    if (answered) answered();
  }

  static void on_reply(natsConnection*, natsSubscription*, natsMsg* message, void* closure) {
    const Owned<natsMsg> owned{message};
    static_cast<Parts*>(closure)->reply(message);
  }
  static void on_renewal(natsConnection*, natsSubscription*, natsMsg* message, void* closure) {
    const Owned<natsMsg> owned{message};
    static_cast<Parts*>(closure)->renewal(message);
  }

  // Replies come to INBOX.SESSION.KIND.REQUEST.
  void reply(natsMsg* message) {
    std::string_view subject = natsMsg_GetSubject(message);
    subject.remove_prefix(std::min(subject.size(), inbox.size() + 1));
    const std::size_t first = std::min(subject.find('.'), subject.size());
    const std::size_t second = std::min(subject.find('.', first + 1), subject.size());
    if (second >= subject.size()) return;
    Answer answer{.session = SessionIndex{static_cast<std::uint32_t>(number_of(subject.substr(0, first)))},
                  .kind = EventKind::failed,
                  .request = number_of(subject.substr(second + 1)),
                  .bytes = {}};
    const char kind = subject[first + 1];
    const std::string_view status = header_of(message, "Status");
    if (kind == 'b') return read_ahead(message, status, std::move(answer));
    if (kind == 'p') {
      if (status.empty()) read_acknowledgement(data_of(message), answer);
    } else if (status.empty()) {
      answer.kind = EventKind::found;
      answer.sequence = number_of(header_of(message, "Nats-Sequence"));
      answer.bytes = data_of(message);
    } else if (status == "404") {
      answer.kind = EventKind::none;
    }
    if (kind == 'l') {
      if (answer.kind == EventKind::failed) return;
      answer.gateway = answer.kind == EventKind::found ? number_of(answer.bytes) : 0;
      answer.kind = EventKind::lease;
    }
    add(std::move(answer));
  }

  // One frame of a batch, or its end.
  void read_ahead(natsMsg* message, std::string_view status, Answer answer) {
    const std::scoped_lock lock{mutex};
    if (static_cast<std::size_t>(std::to_underlying(answer.session)) >= sessions.size()) return;
    Session& session = sessions[std::to_underlying(answer.session)];
    if (answer.request != session.batch) return;  // an earlier one
    answer.request = std::exchange(session.waiting, 0);
    if (status.empty()) {
      answer.kind = EventKind::found;
      answer.sequence = number_of(header_of(message, "Nats-Sequence"));
      answer.bytes = data_of(message);
      const std::uint64_t after = std::exchange(session.after, answer.sequence);
      if (answer.request != 0) return add_locked(std::move(answer));
      return session.ahead.push_back({after, std::move(answer)});
    }
    session.batch = 0;
    if (answer.request == 0) return;
    if (status == "204") return request_batch(answer.session, session, answer.request);
    if (status == "404") answer.kind = EventKind::none;
    add_locked(std::move(answer));
  }

  void request_batch(SessionIndex index, Session& session, std::uint64_t request) {
    session.ahead.clear();
    session.batch = ++batches;
    session.waiting = request;
    const Json body{{"seq", session.after + 1},
                    {"next_by_subj", session.subject},
                    {"batch", batch_frames},
                    {"max_bytes", batch_bytes}};
    send("$JS.API.DIRECT.GET." + options.stream, reply_subject(index, 'b', session.batch), body.dump(), nullptr, {});
  }

  // The first frame after a sequence: of those that were read ahead, or with the next ones.
  void read_next(SessionIndex index, std::uint64_t request, std::uint64_t sequence) {
    const std::scoped_lock lock{mutex};
    Session& session = sessions.at(std::to_underlying(index));
    if (!session.ahead.empty() && session.ahead.front().after == sequence) {
      Answer answer = std::move(session.ahead.front().answer);
      session.ahead.pop_front();
      answer.request = request;
      return add_locked(std::move(answer));
    }
    const bool comes = session.batch != 0 && session.waiting == 0 && session.ahead.empty() && session.after == sequence;
    if (comes) {
      session.waiting = request;
      return;
    }
    session.after = sequence;
    request_batch(index, session, request);
  }

  static void read_acknowledgement(std::string_view text, Answer& answer) {
    const Json json = json_of(text);
    const Json error = object_in(json, "error");
    const auto code = number_in(error, "err_code");
    if (code == wrong_last_sequence || code == wrong_last_sequence_named) answer.kind = EventKind::refused;
    if (!error.empty()) return;
    answer.sequence = number_in(json, "seq");
    if (answer.sequence != 0) answer.kind = EventKind::stored;
  }

  void renewal(natsMsg* message) {
    const std::string_view subject = natsMsg_GetSubject(message);
    Answer answer{.kind = EventKind::lease, .gateway = number_of(data_of(message)), .bytes = {}};
    {
      const std::scoped_lock lock{mutex};
      const auto found = std::ranges::find(leases, subject, &std::pair<std::string, SessionIndex>::first);
      if (found == leases.end()) return;
      answer.session = found->second;
    }
    add(std::move(answer));
  }

  void send(const std::string& subject, const std::string& reply_to, std::string_view data, const char* header,
            const std::string& value) {
    natsMsg* made = nullptr;
    if (natsMsg_Create(&made, subject.c_str(), reply_to.empty() ? nullptr : reply_to.c_str(), data.data(),
                       static_cast<int>(data.size())) != NATS_OK)
      return;  // as lost as on the network
    const Owned<natsMsg> message{made};
    if (header != nullptr && natsMsgHeader_Set(made, header, value.c_str()) != NATS_OK) return;
    static_cast<void>(natsConnection_PublishMsg(connection.get(), made));
  }

  std::string reply_subject(SessionIndex session, char kind, std::uint64_t request) const {
    return inbox + "." + std::to_string(std::to_underlying(session)) + "." + kind + "." + std::to_string(request);
  }

  // An operator's request and its answer.
  Json ask(const std::string& subject, const Json& body) {
    const std::string text = body.is_null() ? std::string{} : body.dump();
    natsMsg* got = nullptr;
    // Servers that are electing drop a request: it is repeated, and each of these may be carried out twice.
    using std::chrono::milliseconds;
    constexpr milliseconds once{1000};
    natsStatus status = NATS_TIMEOUT;
    for (auto left = std::chrono::duration_cast<milliseconds>(options.timeout);
         status == NATS_TIMEOUT && left > milliseconds{0}; left -= once) {
      status = natsConnection_Request(&got, connection.get(), subject.c_str(), text.data(),
                                      static_cast<int>(text.size()), std::min(left, once).count());
    }
    if (status == NATS_NO_RESPONDERS)
      throw NatsError{shown_url(options.url) +
                      ": JetStream does not answer; enable it, or give this user permission for " + subject};
    if (status == NATS_TIMEOUT)
      throw NatsTimeout{shown_url(options.url) + ": no answer to " + subject +
                        "; does this user have permission for it?"};
    require(status, shown_url(options.url) + ": " + subject);
    const Owned<natsMsg> message{got};
    return json_of(data_of(got));
  }
};

NatsStream::NatsStream(const NatsOptions& options) : parts_(std::make_unique<Parts>()) {
  if (!is_token(options.stream)) throw NatsError{"stream " + options.stream + ": use letters, digits, - and _"};
  Parts& parts = *parts_;
  parts.options = options;
  natsOptions* made = nullptr;
  require(natsOptions_Create(&made), "libnats");
  const Owned<natsOptions> chosen{made};
  std::vector<std::string> urls;
  for (std::string_view rest = options.url; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    urls.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::vector<const char*> pointers;
  for (const std::string& url : urls) pointers.push_back(url.c_str());
  require(natsOptions_SetServers(made, pointers.data(), static_cast<int>(pointers.size())),
          "servers " + shown_url(options.url));
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(options.timeout).count();
  require(natsOptions_SetTimeout(made, milliseconds), "timeout");
  require(natsOptions_SetSendAsap(made, true), "libnats");
  require(natsOptions_SetMaxReconnect(made, -1), "libnats");
  require(natsOptions_SetReconnectWait(made, 250), "libnats");
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
  natsConnection* connection = nullptr;
  const natsStatus connected = natsConnection_Connect(&connection, made);
  require(connected, shown_url(options.url) + refusal_of(connected, options));
  parts.connection.reset(connection);
  natsInbox* inbox = nullptr;
  require(natsInbox_Create(&inbox), "libnats");
  parts.inbox = inbox;
  natsInbox_Destroy(inbox);
  parts.subscribe(parts.replies, parts.inbox + ".>", Parts::on_reply);
  parts.subscribe(parts.renewals, "$KV." + options.stream + ".>", Parts::on_renewal);
  const std::uint64_t level = number_in(object_in(parts.ask("$JS.API.INFO", nullptr), "api"), "level");
  if (level < needed_level)
    throw NatsError{shown_url(options.url) + ": nats-server is older than 2.12 (JetStream level " +
                    std::to_string(level) + ", not " + std::to_string(needed_level) +
                    "); its conditional publishes had two winners: install 2.12 or later"};
}

NatsStream::NatsStream(NatsStream&&) noexcept = default;
NatsStream& NatsStream::operator=(NatsStream&&) noexcept = default;

NatsStream::~NatsStream() = default;

SessionIndex NatsStream::add_session(std::string_view name, cluster::GatewayId gateway) {
  if (!is_token(name)) throw NatsError{"session " + std::string{name} + ": use letters, digits, - and _"};
  Parts& parts = *parts_;
  const SessionIndex index{static_cast<std::uint32_t>(parts.sessions.size())};
  const std::string& stream = parts.options.stream;
  Parts::Session added;
  added.subject = stream + ".s." + std::string{name};
  added.lease_subject = "$KV." + stream + "." + std::string{name};
  added.gateway = gateway;
  const std::scoped_lock lock{parts.mutex};
  parts.sessions.push_back(std::move(added));
  parts.leases.emplace_back(parts.sessions.back().lease_subject, index);
  return index;
}

void NatsStream::request(SessionIndex session, const Action& action) {
  Parts& parts = *parts_;
  const Parts::Session& chosen = parts.sessions.at(std::to_underlying(session));
  const std::string get = "$JS.API.DIRECT.GET." + parts.options.stream;
  const std::uint64_t sequence = std::to_underlying(action.sequence);
  switch (action.kind) {
    case ActionKind::publish:
      return parts.send(chosen.subject, parts.reply_subject(session, 'p', action.request), action.bytes,
                        "Nats-Expected-Last-Subject-Sequence", std::to_string(sequence));
    case ActionKind::read_last:
      return parts.send(get, parts.reply_subject(session, 'r', action.request),
                        Json{{"last_by_subj", chosen.subject}}.dump(), nullptr, {});
    case ActionKind::read_next: return parts.read_next(session, action.request, sequence);
    case ActionKind::renew_lease:
      return parts.send(chosen.lease_subject, {}, std::to_string(std::to_underlying(chosen.gateway)), nullptr, {});
    case ActionKind::drop_lease: return parts.send(chosen.lease_subject, {}, "0", nullptr, {});
    case ActionKind::recover:
    case ActionKind::own:
    case ActionKind::release:
    case ActionKind::stop: return;  // for the caller
  }
}

void NatsStream::read_lease(SessionIndex session) {
  Parts& parts = *parts_;
  const std::string& subject = parts.sessions.at(std::to_underlying(session)).lease_subject;
  parts.send("$JS.API.DIRECT.GET.KV_" + parts.options.stream, parts.reply_subject(session, 'l', 0),
             Json{{"last_by_subj", subject}}.dump(), nullptr, {});
}

void NatsStream::take_answers() {
  const std::scoped_lock lock{parts_->mutex};
  taken_.swap(parts_->answers);
}

void NatsStream::wait(Duration most) {
  std::unique_lock lock{parts_->mutex};
  parts_->changed.wait_for(lock, most, [&] { return !parts_->answers.empty(); });
}

void NatsStream::flush() {
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(parts_->options.timeout).count();
  static_cast<void>(natsConnection_FlushTimeout(parts_->connection.get(), milliseconds));
}

void NatsStream::call_on_answer(std::function<void()> answered) {
  const std::scoped_lock lock{parts_->mutex};
  parts_->answered = std::move(answered);
}

Duration NatsStream::lease() {
  const std::string stream = "KV_" + parts_->options.stream;
  const Json info = parts_->ask("$JS.API.STREAM.INFO." + stream, nullptr);
  if (const Json error = object_in(info, "error"); !error.empty())
    throw NatsError{"stream " + stream + ": " + text_in(error, "description") + "; make it with nfx cluster init"};
  return Duration{static_cast<std::int64_t>(number_in(object_in(info, "config"), "max_age"))};
}

void NatsStream::create(const StreamLimits& limits) {
  Parts& parts = *parts_;
  const std::string& name = parts.options.stream;
  const auto make = [&](const std::string& stream, Json config) {
    config["name"] = stream;
    config["storage"] = "file";
    config["retention"] = "limits";
    config["num_replicas"] = limits.replicas;
    config["allow_direct"] = true;
    const Json error = object_in(parts.ask("$JS.API.STREAM.CREATE." + stream, config), "error");
    if (!error.empty()) throw NatsError{"stream " + stream + " was not made: " + text_in(error, "description")};
  };
  make(name, {{"subjects", {name + ".s.*"}},
              {"discard", "new"},
              {"max_bytes", limits.bytes_max},
              {"max_msgs_per_subject", -1},
              {"duplicate_window", 0}});
  make("KV_" + name, {{"subjects", {"$KV." + name + ".*"}},
                      {"discard", "old"},
                      {"max_msgs_per_subject", 1},
                      {"max_age", limits.lease.count()},
                      {"duplicate_window", 0}});
}

std::vector<CheckLine> NatsStream::check() {
  Parts& parts = *parts_;
  const std::string& name = parts.options.stream;
  std::vector<CheckLine> lines;
  lines.push_back({true, "the servers are nats-server 2.12 or later"});
  for (const std::string& stream : {name, "KV_" + name}) {
    const Json info = parts.ask("$JS.API.STREAM.INFO." + stream, nullptr);
    if (const Json error = object_in(info, "error"); !error.empty()) {
      const bool is_missing = number_in(error, "err_code") == stream_not_found;
      lines.push_back({false, "stream " + stream + ": " + text_in(error, "description") +
                                  (is_missing ? "; make it with nfx cluster init" : "")});
      continue;
    }
    const Json config = object_in(info, "config"), state = object_in(info, "state");
    const std::uint64_t replicas = number_in(config, "num_replicas");
    lines.push_back(
        {replicas >= 3, "stream " + stream + " has " + std::to_string(replicas) +
                            (replicas >= 3 ? " replicas" : " replica; a lost machine loses it: make it with 3")});
    if (stream != name) continue;
    const bool discards_new = text_in(config, "discard") == "new";
    lines.push_back({discards_new, discards_new
                                       ? "stream " + stream + " refuses when it is full"
                                       : "stream " + stream + " drops old frames when it is full: set discard to new"});
    const std::uint64_t most = number_in(config, "max_bytes"), used = number_in(state, "bytes");
    const bool has_space = most == 0 || used < most / 10 * 9;
    lines.push_back(
        {has_space, "stream " + stream + " uses " + std::to_string(used) + " of " + std::to_string(most) +
                        (has_space ? " bytes" : " bytes: it is full, raise max_bytes or purge reset sessions")});
    const std::string error = write_error();
    lines.push_back(
        {error.empty(), "stream " + stream + (error.empty() ? " can be written" : " cannot be written: " + error)});
  }
  return lines;
}

std::string NatsStream::write_error() {
  Parts& parts = *parts_;
  const std::string subject = parts.options.stream + ".s._check";
  natsMsg* made = nullptr;
  require(natsMsg_Create(&made, subject.c_str(), nullptr, "", 0), "libnats");
  const Owned<natsMsg> message{made};
  // No subject comes that far, so nothing is stored.
  require(natsMsgHeader_Set(made, "Nats-Expected-Last-Subject-Sequence", "9007199254740991"), "libnats");
  natsMsg* got = nullptr;
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(parts.options.timeout).count();
  const natsStatus status = natsConnection_RequestMsg(&got, parts.connection.get(), made, milliseconds);
  if (status == NATS_TIMEOUT)
    return "no answer: give this user permission to publish to " + parts.options.stream + ".s.*";
  if (status != NATS_OK) return natsStatus_GetText(status);
  const Owned<natsMsg> answer{got};
  Answer read;
  Parts::read_acknowledgement(data_of(got), read);
  return read.kind == EventKind::refused
             ? std::string{}
             : "unexpected answer: " + text_in(object_in(json_of(data_of(got)), "error"), "description");
}

std::vector<StoredSession> NatsStream::list() {
  Parts& parts = *parts_;
  const std::string& name = parts.options.stream;
  const Json info = parts.ask("$JS.API.STREAM.INFO." + name, {{"subjects_filter", ">"}});
  if (const Json error = object_in(info, "error"); !error.empty())
    throw NatsError{"stream " + name + ": " + text_in(error, "description")};
  std::vector<StoredSession> sessions;
  const std::string before = name + ".s.";
  const Json subjects = object_in(object_in(info, "state"), "subjects");
  for (const auto& [subject, count] : subjects.items()) {
    // What begins with _ is not a session.
    if (subject.starts_with(before) && !subject.substr(before.size()).starts_with('_') && count.is_number_unsigned())
      sessions.push_back({subject.substr(before.size()), count.get<std::uint64_t>()});
  }
  std::ranges::sort(sessions, {}, &StoredSession::name);
  return sessions;
}

namespace {

// "2026-01-31T12:00:00.123456789Z"
UtcTime time_of(std::string_view stamp) {
  std::string text;
  for (const char c : stamp)
    if (c != '-' && c != 'Z') text += c == 'T' ? '-' : c;
  const auto parsed = parse_utc_timestamp(text);
  return parsed ? parsed->time : UtcTime{};
}

}  // namespace

StreamState NatsStream::state() {
  const std::string& name = parts_->options.stream;
  const Json info = parts_->ask("$JS.API.STREAM.INFO." + name, nullptr);
  if (const Json error = object_in(info, "error"); !error.empty())
    throw NatsError{"stream " + name + ": " + text_in(error, "description") + "; make it with nfx cluster init"};
  return {.replicas = static_cast<std::uint32_t>(number_in(object_in(info, "config"), "num_replicas")),
          .bytes = number_in(object_in(info, "state"), "bytes"),
          .leader = text_in(object_in(info, "cluster"), "leader")};
}

std::vector<StoredFrame> NatsStream::read_after(std::string_view session, std::uint64_t sequence, std::uint32_t most) {
  Parts& parts = *parts_;
  const std::string& name = parts.options.stream;
  const std::string where = shown_url(parts.options.url) + ": stream " + name;
  if (!is_token(session)) throw NatsError{"session " + std::string{session} + ": use letters, digits, - and _"};
  natsInbox* made_inbox = nullptr;
  require(natsInbox_Create(&made_inbox), "libnats");
  const std::string inbox = made_inbox;
  natsInbox_Destroy(made_inbox);
  natsSubscription* made = nullptr;
  require(natsConnection_SubscribeSync(&made, parts.connection.get(), inbox.c_str()), where);
  const Owned<natsSubscription> answers{made};
  const std::string body = Json{{"seq", sequence + 1},
                                {"next_by_subj", name + ".s." + std::string{session}},
                                {"batch", most},
                                {"max_bytes", 16 * cluster::max_frame_size}}
                               .dump();
  require(natsConnection_PublishRequestString(parts.connection.get(), ("$JS.API.DIRECT.GET." + name).c_str(),
                                              inbox.c_str(), body.c_str()),
          where);
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(parts.options.timeout).count();
  std::vector<StoredFrame> frames;
  for (;;) {
    natsMsg* got = nullptr;
    const natsStatus status = natsSubscription_NextMsg(&got, made, milliseconds);
    if (status == NATS_NO_RESPONDERS)
      throw NatsError{where + ": no server has it; make it with nfx cluster init, or wait until its servers run"};
    if (status == NATS_TIMEOUT)
      throw NatsError{where + ": no answer to a read; does this user have permission for $JS.API.DIRECT.GET." + name +
                      "?"};
    require(status, where);
    const Owned<natsMsg> message{got};
    const std::string_view code = header_of(got, "Status");
    if (code == "404" || code == "204") return frames;  // none; the end of this batch
    if (!code.empty()) throw NatsError{where + ": a read was refused: " + std::string{header_of(got, "Description")}};
    frames.push_back({.sequence = number_of(header_of(got, "Nats-Sequence")),
                      .stored = time_of(header_of(got, "Nats-Time-Stamp")),
                      .bytes = std::string{data_of(got)}});
  }
}

}  // namespace nfx::nats
#endif
