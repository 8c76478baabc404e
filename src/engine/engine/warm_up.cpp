// Makes the sessions that rehearse, and the messages that they receive.
#include "engine/warm_up.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {
namespace {

constexpr std::string_view usual_order =
    "11=REHEARSAL0001\x01"
    "21=1\x01"
    "55=MSFT\x01"
    "54=1\x01"
    "60=20260101-12:00:00.000\x01"
    "38=100\x01"
    "40=2\x01"
    "44=101.25\x01"
    "59=0\x01";
constexpr std::string_view usual_report =
    "37=REHEARSAL0001\x01"
    "11=REHEARSAL0001\x01"
    "17=REHEARSAL0001\x01"
    "150=0\x01"
    "39=0\x01"
    "55=MSFT\x01"
    "54=1\x01"
    "38=100\x01"
    "44=101.25\x01"
    "151=100\x01"
    "14=0\x01"
    "6=0\x01"
    "60=20260101-12:00:00.000\x01";

std::string_view usual_body(std::string_view type) noexcept {
  return type == msg_type::new_order_single ? usual_order : usual_report;
}

std::string_view value_of(const FieldDef& field) noexcept {
  if (!field.open && !field.values.empty()) return field.values.all().front().value;
  switch (format_of(field.type)) {
    case ValueFormat::integer:
    case ValueFormat::number:
    case ValueFormat::sequence_number:
    case ValueFormat::day_of_month:
    case ValueFormat::decimal:
    case ValueFormat::character:
    case ValueFormat::text:
    case ValueFormat::character_list:
    case ValueFormat::text_list: return "1";
    case ValueFormat::boolean: return "Y";
    case ValueFormat::month_year: return "202601";
    case ValueFormat::timestamp: return "20260101-12:00:00.000";
    case ValueFormat::time:
    case ValueFormat::local_time: return "12:00:00";
    case ValueFormat::date: return "20260101";
    case ValueFormat::zoned_time: return "12:00Z";
    case ValueFormat::zoned_timestamp: return "20260101-12:00Z";
    case ValueFormat::data: return {};
  }
  return {};
}

// The required fields of a message of this type; empty where the dictionary has none, or requires groups or data.
std::string required_body(const Dictionary& dictionary, std::string_view type) {
  const MessageDef* const message = dictionary.find_message(type);
  if (message == nullptr) return {};
  std::string body;
  for (const MemberDef& member : message->scope.members()) {
    if (!member.required || member.section != Section::body) continue;
    if (member.group != nullptr || value_of(*member.field).empty()) return {};
    body += std::to_string(value(member.tag)) + '=' + std::string{value_of(*member.field)} + soh;
  }
  return body;
}

// One session that joins, of these limits.
EngineConfig config_of(const EngineConfig& config) {
  EngineConfig own;
  own.max_message_size = config.max_message_size;
  own.max_fields = config.max_fields;
  own.latency = config.latency;
  own.max_dynamic_sessions = 1;
  own.max_pending_logons = own.max_pending_known_logons = 1;
  own.max_known_addresses = 1;
  own.submit_queue_bytes = own.submit_keep_bytes = 64 * 1024;
  return own;
}

// The same checks and the same kind of store, without what would refuse, delay or end it.
SessionSettings settings_of(const SessionDriver& like) {
  SessionSettings own = like.settings();
  SessionConfig& rules = own.session;
  rules.username.clear();
  rules.password = {};
  rules.logon_fields = {};
  rules.environment = Environment::unspecified;
  rules.reset_on_logon = rules.reset_on_logout = rules.reset_on_disconnect = rules.reset_on_error = false;
  rules.refresh_on_logon = rules.send_next_expected_seq_num = false;
  rules.throttle_rate = rules.max_invalid_rate = rules.max_resets_per_hour = 0;
  own.schedule = nullptr;
  own.cancel_on_disconnect = own.cancel_on_logout = false;
  own.send_buffer_size = 128 * 1024;
  own.store = {.retain_messages = 64, .retain_bytes = 64 * 1024};
  own.store_kind = like.journal() != nullptr ? StoreKind::journal : StoreKind::memory;
  own.journal.durability = Durability::interval;
  own.journal.replica = nullptr;
  own.socket = {};
  return own;
}

SessionConfig peer_of(SessionConfig config) {
  config.role = config.role == Role::acceptor ? Role::initiator : Role::acceptor;
  std::swap(config.sender_comp_id, config.target_comp_id);
  std::swap(config.sender_sub_id, config.target_sub_id);
  std::swap(config.sender_location_id, config.target_location_id);
  return config;
}

std::string logon_body(const SessionConfig& config) {
  const auto interval = std::min(config.heartbeat_interval, config.max_heartbeat_interval);
  std::string body =
      "98=0\x01"
      "108=" +
      std::to_string(std::max<std::int64_t>(interval.count(), 1)) + soh;
  if (!config.default_appl_ver_id.empty()) body += "1137=" + config.default_appl_ver_id + soh;
  return body;
}

}  // namespace

class Rehearsal::Stores final : public SessionStores {
 public:
  SessionStore open(const SessionSettings& settings, UtcTime) override {
    if (settings.store_kind == StoreKind::journal) return SessionStore{JournalStore::without_files()};
    return SessionStore{MemoryMessageStore{settings.store}};
  }
  void close(std::string_view, SessionStore) noexcept override {}
  bool later(std::string_view, std::function<void()>) override { return false; }
};

class Rehearsal::Program final : public Application {
 public:
  Program(Application& program, bool sells)
      : program_(program), answer_type_(sells ? msg_type::execution_report : msg_type::new_order_single) {}
  Handled on_message(SessionHandle& session, const MessageView& message) override {
    const SeqNum before = session.next_outbound();
    program_.on_rehearsal(session, message);
    if (session.next_outbound() == before)
      std::ignore = session.send({.msg_type = answer_type_, .body = usual_body(answer_type_)});
    return Handled::done;
  }

 private:
  Application& program_;
  const std::string_view answer_type_;
};

Rehearsal::Rehearsal(const LoopContext& loop, const SessionDriver& like)
    : config_(config_of(loop.config)),
      stores_(std::make_unique<Stores>()),
      program_(std::make_unique<Program>(*loop.callbacks.application, like.is_acceptor())),
      parts_({.config = config_,
              .thread = loop.thread,
              .network = loop.network,
              .callbacks = Callbacks{*program_},
              .stores = *stores_,
              .now = loop.now()}),
      session_(&parts_.sessions.begin_to_exist(std::make_unique<SessionDriver>(
          parts_.context,
          SessionDriverOptions{.settings = settings_of(like), .number = like.id(), .now = loop.now().utc}))),
      peer_(peer_of(session_->config())),
      type_(like.is_acceptor() ? msg_type::new_order_single : msg_type::execution_report) {
  const Dictionary* const dictionary = session_->config().dictionary;
  body_ = dictionary == nullptr ? std::string{usual_body(type_)} : required_body(*dictionary, type_);
  if (body_.empty()) type_.clear();
  type_.reserve(16);
  body_.reserve(bytes_.size());
  session_->prepare_connection();
  log_on(loop.now());
}

Rehearsal::~Rehearsal() = default;

void Rehearsal::log_on(Instant now) {
  session_->attach(connection);
  const std::string body = logon_body(session_->config());
  const auto size = peer_.compose({.msg_type = msg_type::logon, .seq = first_seq_num, .body = body}, now.utc, bytes_);
  if (size) parts_.receiver.receive_first(*session_, {bytes_.data(), *size});
  end();
}

void Rehearsal::learn(const MessageView& message) noexcept {
  const std::string_view type = message.msg_type();
  if (is_session_msg_type(type) || type.size() > type_.capacity()) return;
  // The body is what follows the header.
  std::uint32_t first = 0;
  while (first < message.size() && is_header_tag(message.tag_at(first))) ++first;
  if (first + 1 >= message.size()) return;
  const std::string_view last_of_header = message.value_at(first - 1), check_sum = message.value_at(message.size() - 1);
  const char* const begin = last_of_header.data() + last_of_header.size() + 1;
  const std::string_view body{begin, static_cast<std::size_t>(check_sum.data() - begin) - 3};
  if (body.size() + 512 > bytes_.size()) return;
  type_.assign(type);
  body_.assign(body);
  learned_ = true;
}

bool Rehearsal::begin(Instant now) noexcept {
  if (type_.empty() || !session_->logged_on() || session_->inbound().parked.held()) return false;
  if (session_->counters().rejected != rejected_) {
    rejected_ = session_->counters().rejected;
    type_.clear();  // until one is learned
    learned_ = false;
    return false;
  }
  parts_.context.loop_thread.enter();
  parts_.context.time.set(now);
  const auto size = peer_.compose({.msg_type = type_, .seq = session_->next_inbound(), .body = body_}, now.utc, bytes_);
  size_ = size.value_or(0);
  return size_ != 0;
}

void Rehearsal::end() noexcept {
  parts_.context.dirty.drain([](std::uint32_t) {});  // at the Logon
  parts_.context.recorder.turn_ended();
  session_->rewind();
  ++count_;
}

WarmUp::WarmUp() = default;
WarmUp::~WarmUp() = default;

void WarmUp::begin(const LoopContext& loop, const SessionTable& sessions, Duration interval) {
  interval_ = interval;
  sessions.for_each([&](const SessionDriver& session) {
    if (rehearsals_.size() < most_rehearsals) rehearsals_.push_back(std::make_unique<Rehearsal>(loop, session));
  });
  due_ = loop.now().monotonic;
}

Rehearsal* WarmUp::next(const SessionTable& sessions, Instant now) noexcept {
  const std::size_t places = sessions.places();
  due_ = now.monotonic + std::max<Duration>(interval_ / std::max<std::size_t>(places, 1), shortest_step);
  if (places == 0) return nullptr;
  if (in_a_row_ == 0) place_ = place_ + 1 < places ? place_ + 1 : 0;
  SessionDriver* const session = sessions.at(place_);
  if (session == nullptr) return nullptr;
  Rehearsal* const rehearsal = of(*session);
  const bool own = rehearsal != nullptr && rehearsal->number() == session->id();
  const bool silent = now.utc - session->last_traffic() >= interval_;
  // A message after a silence is not the one to learn from, unless there was none.
  const bool learns = own && (silent ? !rehearsal->has_learned() : now.monotonic >= next_lesson_);
  if (learns && !silent) next_lesson_ = now.monotonic + shortest_lesson;
  if (learns || silent) session->teach(learns ? rehearsal : nullptr);
  if (!silent) return nullptr;
  session->warm();
  return rehearsal;
}

void WarmUp::took(Duration time) noexcept {
  shortest_ = std::min(shortest_, time);
  const bool slow = time > 2 * shortest_;
  in_a_row_ = slow && in_a_row_ + 1 < most_in_a_row ? in_a_row_ + 1 : 0;
  if (in_a_row_ != 0) due_ = MonotonicTime{};
}

Rehearsal* WarmUp::of(const SessionDriver& session) noexcept {
  if (rehearsals_.empty()) return nullptr;
  const auto own = std::ranges::find(rehearsals_, session.id(), [](const auto& each) { return each->number(); });
  return own != rehearsals_.end() ? own->get() : rehearsals_[session.id() % rehearsals_.size()].get();
}

std::uint64_t WarmUp::rehearsals() const noexcept {
  std::uint64_t count = 0;
  for (const auto& each : rehearsals_) count += each->count();
  return count;
}

}  // namespace nfx
