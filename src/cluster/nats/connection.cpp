// Which server is connected to, and what servers answer.
#ifdef NFX_WITH_NATS
#include "nats/connection.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "base/clocks.hpp"
#include "base/json_depth.hpp"

namespace nfx::nats {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds once{1000};            // for an answer to a request, before it is repeated
constexpr milliseconds change_timeout{2000};  // of each server, but for the first connection
constexpr milliseconds attempt_again{250};    // when no server has answered
constexpr std::int64_t unanswered_wait_ms = 100;
constexpr std::size_t batch_messages_max = 65536, batch_bytes_max = std::size_t{64} << 20;  // of an operator's read

constexpr int wrong_last_sequence = 10071, wrong_last_sequence_named = 10164;

// A request for a batch, whose answers come to the returned inbox.
natsStatus request_batch(Link& link, const std::string& subject, const std::string& request, std::string& inbox) {
  if (link.batch_answers == nullptr) {
    link.batch_inbox = new_inbox();
    const natsStatus status =
        natsConnection_SubscribeSync(&link.batch_answers, link.handle.get(), (link.batch_inbox + ".*").c_str());
    if (status != NATS_OK) return status;
    link.subscriptions.emplace_back(link.batch_answers);
  }
  inbox = link.batch_inbox + "." + std::to_string(++link.batches);
  return natsConnection_PublishRequestString(link.handle.get(), subject.c_str(), inbox.c_str(), request.c_str());
}

// After which a request is repeated: the server dropped it, or was lost.
bool has_no_answer(natsStatus status) {
  return status == NATS_TIMEOUT || status == NATS_CONNECTION_CLOSED || status == NATS_IO_ERROR;
}

}  // namespace

NatsStream::Connection::Connection(const NatsOptions& with, Use use) : options(with), use_(std::move(use)) {
  for (std::string_view rest = options.url; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    urls_.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (urls_.empty()) throw NatsError{"no address of a server: name one with --url"};
  std::ranges::shuffle(urls_, std::random_device{});
  for (tend(); link_ == nullptr; tend()) {
    if (failures_ == urls_.size()) {
      if (refused_) throw NatsError{failure_};
      throw NatsTimeout{failure_};
    }
    if (attempt_ != nullptr) static_cast<void>(attempt_->wait(once));
  }
}

// A thread that still connects when the process ends could use what libnats has destroyed.
NatsStream::Connection::~Connection() {
  if (attempt_ != nullptr) static_cast<void>(attempt_->wait(change_timeout + Attempt::spare));
}

void NatsStream::Connection::tend() {
  const bool is_lost = link_ == nullptr || link_->is_lost;
  if (!is_lost && !leaves_) return;
  try {
    attempt_ == nullptr ? begin_attempt() : end_attempt();
  } catch (const NatsError& error) {
    refused_ = true;
    note_failure(error.what(), true);
  }
}

void NatsStream::Connection::begin_attempt() {
  if (read_monotonic() < attempt_at_) return;
  const milliseconds timeout{timeout_ms()};
  attempt_ =
      std::make_unique<Attempt>(options, urls_[next_], link_ == nullptr ? timeout : std::min(timeout, change_timeout));
}

void NatsStream::Connection::end_attempt() {
  if (!attempt_->wait(milliseconds{0})) return;
  std::unique_ptr<Link> link;
  const natsStatus status = attempt_->take(link);
  attempt_.reset();
  if (status != NATS_OK) {
    // Others pass when the server runs.
    refused_ = refused_ || (status != NATS_NO_SERVER && status != NATS_TIMEOUT && status != NATS_IO_ERROR &&
                            status != NATS_CONNECTION_CLOSED);
    return note_failure(where() + refusal_of(status, options) + ": " + natsStatus_GetText(status),
                        status != NATS_NO_SERVER);
  }
  use_(*link);
  link_ = std::move(link);
  next_ = (next_ + 1) % urls_.size();
  leaves_ = false;
  failures_ = 0;
  failure_.clear();
}

// The server after it is next. When all were tried, this begins again after a pause; but one that was to be left, and
// is not lost, remains.
void NatsStream::Connection::note_failure(const std::string& text, bool is_telling) {
  next_ = (next_ + 1) % urls_.size();
  if (failure_.empty() || is_telling) failure_ = text;
  ++failures_;
  if (leaves_ && !link_->is_lost && failures_ + 1 >= urls_.size()) {
    next_ = (next_ + 1) % urls_.size();
    leaves_ = false;
    failures_ = 0;
  }
  if (failures_ % urls_.size() == 0) attempt_at_ = read_monotonic() + attempt_again;
}

Link& NatsStream::Connection::open(MonotonicTime until) {
  for (tend(); link_->is_lost; tend()) {
    if (read_monotonic() >= until) throw NatsError{failure_.empty() ? where() + ": no server answers" : failure_};
    if (attempt_ == nullptr || attempt_->wait(attempt_again)) nats_Sleep(1);
  }
  return *link_;
}

Json NatsStream::Connection::ask(const std::string& subject, const Json& body) {
  const std::string text = body.is_null() ? std::string{} : body.dump();
  natsMsg* got = nullptr;
  const MonotonicTime end = read_monotonic() + options.timeout;
  // Servers that are electing drop a request: it is repeated, and each of these may be carried out twice.
  natsStatus status = NATS_OK;
  do {
    if (status != NATS_OK && status != NATS_TIMEOUT) nats_Sleep(unanswered_wait_ms);
    const Link& link = open(end);
    const auto left =
        std::chrono::ceil<milliseconds>(std::clamp<Duration>(end - read_monotonic(), milliseconds{1}, once));
    status = natsConnection_Request(&got, link.handle.get(), subject.c_str(), text.data(),
                                    static_cast<int>(text.size()), left.count());
  } while (has_no_answer(status) && read_monotonic() < end);
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
  const MonotonicTime end = read_monotonic() + options.timeout;
  natsStatus status = NATS_OK;
  // Servers that start or elect drop a request, or do not take it yet: it is repeated, with an inbox of its own,
  // because an answer may come late.
  do {
    if (status != NATS_OK && status != NATS_TIMEOUT) nats_Sleep(unanswered_wait_ms);
    Link& link = open(end);
    std::string inbox;
    status = request_batch(link, subject, text, inbox);
    bool answered = false;
    std::size_t messages = 0, bytes = 0;
    const std::int64_t first_ms = std::min(timeout_ms(), std::int64_t{once.count()});
    for (natsMsg* got = nullptr;
         status == NATS_OK && (status = natsSubscription_NextMsg(&got, link.batch_answers,
                                                                 answered ? timeout_ms() : first_ms)) == NATS_OK;) {
      const Owned<natsMsg> message{got};
      if (natsMsg_GetSubject(got) != inbox) continue;  // of an earlier one
      answered = true;
      const std::string_view code = header_of(got, "Status");
      if (code == "404" || code == "204") return;  // none; the end of this batch
      if (!code.empty()) throw NatsError{what + ": a read was refused: " + std::string{header_of(got, "Description")}};
      bytes += data_of(got).size();
      if (++messages > batch_messages_max || bytes > batch_bytes_max)
        throw NatsError{what + ": the server sends more than was requested; is it a nats-server?"};
      each(got);
    }
    if (answered) throw NatsError{what + ": a read was not completed: " + natsStatus_GetText(status)};
  } while ((has_no_answer(status) || status == NATS_NO_RESPONDERS) && read_monotonic() < end);
  if (status == NATS_TIMEOUT)
    throw NatsError{what + ": no answer to a read; does this user have permission for " + subject + "?"};
  if (status == NATS_NO_RESPONDERS)
    throw NatsError{what + ": no server has it; make it with nfx cluster init, or wait until its servers run"};
  require(status, what);
}

std::string NatsStream::Connection::where() const { return shown_url(options.url); }

std::int64_t NatsStream::Connection::timeout_ms() const {
  return std::chrono::duration_cast<milliseconds>(options.timeout).count();
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
  if (!is_shallow_json(text)) return Json::object();
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
