// The client of owners, over plain messages of libnats: publishes with the expected last sequence of their subject, and
// direct gets.
#ifdef NFX_WITH_NATS
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "nats/connection.hpp"

namespace nfx::nats {

using cluster::Action;
using cluster::ActionKind;
using cluster::EventKind;

namespace {

constexpr int needed_level = 2;  // of JetStream's interface, as in nats-server 2.12
constexpr std::size_t answers_max = 65536;
constexpr std::size_t answer_bytes_max = std::size_t{64} << 20;  // of the answers that poll() has not taken
constexpr int pending_max = 65536;                               // messages that libnats holds for a callback
constexpr int pending_bytes_max = 32 << 20;
// A replay reads this much at a time. Each request goes to a server of chance, also to one that the connected server
// has not noticed to be silent, and is then repeated: there must be few of them.
constexpr std::size_t batch_frames = 16384;
constexpr int batch_bytes = 8 << 20;
constexpr std::size_t ahead_bytes_max = std::size_t{2} * batch_bytes;
constexpr std::uint64_t silent_most = 2'500'000'000;  // nanoseconds; servers of a stream hear of each other each second

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
    std::size_t ahead_bytes = 0;
    std::uint64_t batch = 0;    // whose frames still come; 0: none
    std::uint64_t after = 0;    // the last one of it that came
    std::uint64_t waiting = 0;  // the request that the next one of it answers; 0: none
  };

  explicit Parts(const std::string& with) : stream(with), inbox(new_inbox()) {}

  const std::string stream;
  const std::string inbox;
  Link* link = nullptr;
  std::vector<Session> sessions;
  std::uint64_t batches = 0;
  std::uint64_t links = 0;  // that were used
  std::atomic<bool> lacks_others{false};
  std::mutex mutex;  // for data that libnats' threads use: the answers, the names of leases, frames read ahead
  std::vector<Answer> answers;
  std::size_t answer_bytes = 0;
  std::function<void()> answered;
  std::vector<std::pair<std::string, SessionIndex>> leases;
  std::condition_variable changed;  // the answers or the subscriptions
  int subscriptions = 0;            // whose callbacks may run

  static void on_end(void* closure) {
    Parts& parts = *static_cast<Parts*>(closure);
    const std::scoped_lock lock{parts.mutex};
    --parts.subscriptions;
    parts.changed.notify_all();
  }

  void subscribe(Link& to, const std::string& subject, natsMsgHandler handler) {
    natsSubscription* made = nullptr;
    require(natsConnection_Subscribe(&made, to.handle.get(), subject.c_str(), handler, this), to.server);
    to.subscriptions.emplace_back(made);
    require(natsSubscription_SetPendingLimits(made, pending_max, pending_bytes_max), "libnats");
    require(natsSubscription_SetOnCompleteCB(made, on_end, this), "libnats");
    const std::scoped_lock lock{mutex};
    ++subscriptions;
  }

  // From now on; requests to another connection get no answer.
  void use(Link& to) {
    subscribe(to, inbox + ".>", on_reply);
    subscribe(to, "$KV." + stream + ".>", on_renewal);
    const std::scoped_lock lock{mutex};
    link = &to;
    ++links;
    lacks_others = false;
    for (Session& session : sessions) session.batch = 0;
  }

  // A callback may run until its subscription has ended, some time after its connection.
  ~Parts() {
    std::unique_lock lock{mutex};
    changed.wait(lock, [this] { return subscriptions == 0; });
  }

  void add(Answer answer) {
    const std::scoped_lock lock{mutex};
    add_locked(std::move(answer));
  }
  void add_locked(Answer answer) {
    // A lost answer is one that the owner requests again.
    if (answers.size() < answers_max && answer_bytes + answer.bytes.size() <= answer_bytes_max) {
      answer_bytes += answer.bytes.size();
      answers.push_back(std::move(answer));
    }
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
    if (kind == 's') return read_reach(data_of(message), answer.request);
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

  // Only a leader answers, and states when it has heard of each of the others.
  void read_reach(std::string_view text, std::uint64_t of_link) {
    const Json cluster = object_in(json_of(text), "cluster");
    const auto others = cluster.find("replicas");
    if (others == cluster.end() || !others->is_array()) return;
    const auto silent = static_cast<std::size_t>(
        std::ranges::count_if(*others, [](const Json& other) { return number_in(other, "active") > silent_most; }));
    const std::scoped_lock lock{mutex};
    if (of_link == links) lacks_others = 2 * silent > others->size();
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
      // More than was requested: the rest is requested when the owner comes to it.
      if (session.ahead.size() >= batch_frames || session.ahead_bytes + answer.bytes.size() > ahead_bytes_max) {
        session.batch = 0;
        return;
      }
      session.ahead_bytes += answer.bytes.size();
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
    session.ahead_bytes = 0;
    session.batch = ++batches;
    session.waiting = request;
    const Json body{{"seq", session.after + 1},
                    {"next_by_subj", session.subject},
                    {"batch", batch_frames},
                    {"max_bytes", batch_bytes}};
    send("$JS.API.DIRECT.GET." + stream, reply_subject(index, 'b', session.batch), body.dump(), nullptr, {});
  }

  // Takes the first frame after a sequence from the frames read ahead, or with the next request.
  void read_next(SessionIndex index, std::uint64_t request, std::uint64_t sequence) {
    const std::scoped_lock lock{mutex};
    Session& session = sessions.at(std::to_underlying(index));
    if (!session.ahead.empty() && session.ahead.front().after == sequence) {
      Answer answer = std::move(session.ahead.front().answer);
      session.ahead.pop_front();
      session.ahead_bytes -= answer.bytes.size();
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
    if (is_wrong_last_sequence(json)) answer.kind = EventKind::refused;
    if (const Json error = object_in(json, "error"); !error.empty()) {
      if (answer.kind == EventKind::failed) answer.bytes = text_in(error, "description");
      return;
    }
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
    static_cast<void>(natsConnection_PublishMsg(link->handle.get(), made));
  }

  std::string reply_subject(SessionIndex session, char kind, std::uint64_t request) const {
    return inbox + "." + std::to_string(std::to_underlying(session)) + "." + kind + "." + std::to_string(request);
  }
};

NatsStream::NatsStream(const NatsOptions& options) {
  if (!is_token(options.stream)) throw NatsError{"stream " + options.stream + ": use letters, digits, - and _"};
  parts_ = std::make_unique<Parts>(options.stream);
  connection_ = std::make_unique<Connection>(options, [parts = parts_.get()](Link& link) { parts->use(link); });
  Connection& connection = *connection_;
  const Json info = connection.ask("$JS.API.INFO", nullptr);
  // Servers that elect a leader, and servers without JetStream, answer with an error and no level.
  if (const Json error = object_in(info, "error"); !error.empty())
    throw NatsError{connection.where() + ": JetStream does not answer yet, or is not enabled for this user: " +
                    text_in(error, "description")};
  const std::uint64_t level = number_in(object_in(info, "api"), "level");
  if (level < needed_level)
    throw NatsError{connection.where() + ": nats-server is older than 2.12 (JetStream level " + std::to_string(level) +
                    ", not " + std::to_string(needed_level) +
                    "); its conditional publishes had two winners: install 2.12 or later"};
}

NatsStream::NatsStream(NatsStream&&) noexcept = default;
NatsStream& NatsStream::operator=(NatsStream&& other) noexcept {
  connection_ = std::move(other.connection_);  // before what its subscriptions call
  parts_ = std::move(other.parts_);
  taken_ = std::move(other.taken_);
  return *this;
}

NatsStream::~NatsStream() = default;

SessionIndex NatsStream::add_session(std::string_view name, cluster::GatewayId gateway) {
  if (!is_token(name)) throw NatsError{"session " + std::string{name} + ": use letters, digits, - and _"};
  Parts& parts = *parts_;
  const SessionIndex index{static_cast<std::uint32_t>(parts.sessions.size())};
  Parts::Session added;
  added.subject = parts.stream + ".s." + std::string{name};
  added.lease_subject = "$KV." + parts.stream + "." + std::string{name};
  added.gateway = gateway;
  const std::scoped_lock lock{parts.mutex};
  parts.sessions.push_back(std::move(added));
  parts.leases.emplace_back(parts.sessions.back().lease_subject, index);
  return index;
}

void NatsStream::request(SessionIndex session, const Action& action) {
  Parts& parts = *parts_;
  const Parts::Session& chosen = parts.sessions.at(std::to_underlying(session));
  const std::string get = "$JS.API.DIRECT.GET." + parts.stream;
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
  parts.send("$JS.API.DIRECT.GET.KV_" + parts.stream, parts.reply_subject(session, 'l', 0),
             Json{{"last_by_subj", subject}}.dump(), nullptr, {});
}

void NatsStream::take_answers() {
  connection_->tend();
  const std::scoped_lock lock{parts_->mutex};
  taken_.swap(parts_->answers);
  parts_->answer_bytes = 0;
}

void NatsStream::wait(Duration most) {
  std::unique_lock lock{parts_->mutex};
  parts_->changed.wait_for(lock, most, [&] { return !parts_->answers.empty(); });
}

void NatsStream::flush() {
  static_cast<void>(natsConnection_FlushTimeout(connection_->link().handle.get(), connection_->timeout_ms()));
}

void NatsStream::leave_server() {
  parts_->lacks_others = false;
  connection_->leave();
}

bool NatsStream::leaves_server() const { return connection_->leaves(); }

void NatsStream::request_reach() {
  Parts& parts = *parts_;
  parts.send("$JS.API.STREAM.INFO." + parts.stream, parts.reply_subject(SessionIndex{}, 's', parts.links), {}, nullptr,
             {});
}

bool NatsStream::lacks_others() const { return parts_->lacks_others; }

const std::string& NatsStream::server() const { return connection_->link().server; }

void NatsStream::call_on_answer(std::function<void()> answered) {
  const std::scoped_lock lock{parts_->mutex};
  parts_->answered = std::move(answered);
}

}  // namespace nfx::nats
#endif
