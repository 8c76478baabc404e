// One of the two engines: its process that starts, stops and is killed, its disk, clock and application.
#include "simulation/party.hpp"

#include <array>
#include <utility>

#include "engine/poll_loop_impl.hpp"
#include "nexusfix/wire/field_writer.hpp"

namespace nfx {

// The other files of the simulator use the loop without its bodies.
template class PollLoop<simulation::ProcessTransport, ManualClock>;

namespace simulation {
namespace {

constexpr std::size_t no_session = SIZE_MAX;

}  // namespace

Party::Party(Side side, const Plan& plan, LoopbackNetwork& network, Trace& trace, Ledger& ledger, Instant now)
    : side_(side),
      file_(plan.file[index(side)]),
      settings_(*file_.session),
      network_(network),
      trace_(trace),
      ledger_(ledger),
      begin_(now.monotonic),
      utc_begin_(now.utc),
      clock_{now},
      numbers_since_(now.utc) {}

void Party::set_utc_offset(Duration offset) {
  utc_offset_ = offset;
  ledger_.set_clock(side_, offset);
}

void Party::leave_room_on_disk(std::uint64_t bytes) {
  disk_.fill(bytes);
  ledger_.disk_full(side_, bytes != test::MemoryDisk::never);
}

Party::~Party() {
  strike();
  loop_.reset();
}

void Party::set_time(MonotonicTime now) noexcept { clock_.time = {utc_begin_ + (now - begin_) + utc_offset_, now}; }

void Party::start(const FaultOptions& faults) {
  trace_.add(side_, "process starts");
  struck_ = died_ = stopping_ = false;
  moment_ = Moment::none;
  ++process_;
  std::string text = file_.text();
  config_ = parse_config(text, "engine.toml", "/");
  config_.file_text = std::move(text);
  if (file_.session) settings_ = config_.sessions.front();
  number_ = file_.session ? 0 : no_session;
  numbers_used_ = config_.sessions.size();
  {
    const Holding network{network_of(side_)};
    last_left_by_ = no_connection;
    transport_ = std::make_unique<ProcessTransport>(
        side_, network_, faults, [this] { return clock_.now().monotonic; },
        [this](ConnectionId id, std::string_view message) {
          if (struck_) return;
          const Holding world{Holder::world};
          if (std::exchange(last_left_by_, id) != id) ++connections_used_;
          ledger_.left(side_, connections_used_, message);
        });
  }
  const Holding engine{engine_of(side_)};
  try {
    flusher_ = std::make_unique<JournalFlusher>();
    loop_ = std::make_unique<Loop>(config_, 0, *transport_, clock_, *this, *this);
    loop_->start();
  } catch (const std::exception& error) {
    const Holding world{Holder::world};
    ledger_.violate(side_, error.what());
  }
}

std::size_t Party::turn() {
  if (loop_ == nullptr) return 0;
  const UtcTime now = clock_.now().utc;
  const Schedule* const schedule = settings_.schedule.get();
  ledger_.may_reset(side_, reset_allowed_ || (schedule != nullptr && !schedule->same_session(numbers_since_, now)));
  const std::size_t work = [&] {
    const Holding engine{engine_of(side_)};
    return loop_->turn(Duration::zero());
  }();
  if (struck_) {
    if (store_open_) between_turns_ = false;
    end_process(End::killed, 0);
    return work;
  }
  if (const SessionHandle* const there = session()) account(*there);
  if (durable()) ledger_.synced(side_);
  if (stopping_ && loop_->finished()) {
    trace_.add(side_, "process ends in order");
    end_process(End::orderly, 0);
  }
  return work;
}

// The sequence numbers after an iteration, or at the session's end.
void Party::account(const SessionHandle& session) {
  ledger_.stands(side_, session.next_inbound(), session.next_outbound(),
                 session.journal()->condition() != StoreCondition::failed);
  if (std::exchange(numbering_, ledger_.numbering(side_)) != ledger_.numbering(side_))
    numbers_since_ = clock_.now().utc;
  creation_time_ = session.journal()->creation_time();
}

NextNumbers Party::next() const noexcept {
  return {.in = session()->next_inbound(), .out = session()->next_outbound()};
}

void Party::operate(SessionCommand command, Judge judge) {
  if (loop_ == nullptr) return;
  const auto call = std::make_shared<LoopCall>(
      [this, command = std::move(command), judge = std::move(judge)](OperatorRequests& requests) {
        if (!has_session()) return;
        const NextNumbers before = next();
        const CommandOutcome outcome = [&] {
          const Holding engine{engine_of(side_)};
          return requests.command(number_, command);
        }();
        const Holding world{Holder::world};
        trace_.add(side_, "operator", static_cast<std::uint64_t>(outcome.status), row_of(command.kind).name);
        if (outcome.status == CommandStatus::no_such_session || outcome.status == CommandStatus::being_removed) return;
        if (outcome.status == CommandStatus::done) ++commands_done_;
        if (outcome.status == CommandStatus::done && command.kind == SessionCommandKind::set)
          ledger_.operated(side_, command.numbers);
        if (outcome.status == CommandStatus::done && command.kind == SessionCommandKind::resend)
          ledger_.operated(side_, {.in = command.from});
        judge(before, outcome);
      });
  static_cast<void>(loop_->push(call));
}

void Party::remove_session() {
  operate({.kind = SessionCommandKind::remove, .text = "operator"}, [](NextNumbers, const CommandOutcome&) {});
}

void Party::add_session(const SessionSettings& settings, AddedSession as) {
  const std::size_t number = [&] {
    const Holding engine{engine_of(side_)};
    return loop_->add(settings, as);
  }();
  numbers_used_ = number + 1;
  if (!is_own(identity(settings.session))) return;
  trace_.add(side_, "operator adds the session");
  settings_ = settings;
  number_ = number;
}

MonotonicTime Party::next_event() const {
  if (loop_ == nullptr) return MonotonicTime::max();
  const Duration wait = loop_->until_next_deadline();
  MonotonicTime due = wait == Duration::max() ? MonotonicTime::max() : loop_->turn_times().began + wait;
  if (const auto piece = transport_->faulty().next_due()) due = std::min(due, *piece);
  return due;
}

void Party::kill(End end, std::uint64_t seed) {
  if (loop_ == nullptr) return;
  if (store_open_) between_turns_ = true;
  strike();
  end_process(end, seed);
}

FaultCounters Party::network_faults() const noexcept {
  FaultCounters sum = faults_of_the_dead_;
  if (transport_ == nullptr) return sum;
  const FaultCounters& now = transport_->faulty().counters();
  sum.small_pieces += now.small_pieces;
  sum.delayed_pieces += now.delayed_pieces;
  sum.cuts += now.cuts;
  sum.losses += now.losses;
  sum.swallowed_bytes += now.swallowed_bytes;
  return sum;
}

void Party::stop_in_order() {
  if (loop_ == nullptr || std::exchange(stopping_, true)) return;
  trace_.add(side_, "process is requested to stop");
  loop_->request_stop();
}

// From here on no operation of the process has an effect outside.
void Party::strike() noexcept {
  if (std::exchange(struck_, true)) return;
  disk_.die_at(0);
  static_cast<void>(disk_.sync_folder("/"));  // the change at which it dies
  if (transport_) transport_->strike_dead();
}

bool Party::strikes(Moment moment) noexcept {
  if (moment_ != moment || struck_) return struck_;
  trace_.add(side_, "is struck", static_cast<std::uint64_t>(moment));
  strike();
  return true;
}

void Party::end_process(End end, std::uint64_t seed) {
  if (end == End::orderly && store_open_) between_turns_ = true;
  trace_.add(side_, "process is gone", 0, to_string(end));
  died_ = true;
  // A store that was closed earlier is in no better condition.
  end_ = store_open_ ? end : std::max(end_, end);
  if (std::exchange(store_open_, false)) failed_ = store_failed();
  if (transport_ != nullptr) faults_of_the_dead_ = network_faults();
  loop_.reset();
  flusher_.reset();
  if (defect_ != Defect::leaves_memory) hoard_ = decltype(hoard_){};
  if (const std::size_t bytes = held_by(engine_of(side_)).bytes; bytes != 0)
    ledger_.violate(side_, "its process has ended without freeing " + std::to_string(bytes) + " bytes of memory");
  if (end == End::killed) disk_.kill();
  if (end == End::crashed) disk_.crash(static_cast<test::MemoryDisk::Keep>(seed % 3), seed);
  if (end == End::crashed) {
    ghost_ = std::move(transport_);
  } else {
    transport_.reset();
  }
}

// The store.

const JournalStore* Party::journal() const noexcept {
  const SessionHandle* const there = session();
  return there == nullptr ? nullptr : there->journal();
}
bool Party::unflushed() const noexcept { return has_session() && journal()->position() != flushed_; }
// Whether all appended records are durable; records refused by a failed store never are.
bool Party::durable() const noexcept {
  return has_session() && !store_failed() && journal()->counts().refused == 0 &&
         journal()->durable() >= journal()->position();
}
bool Party::holds_back() const noexcept { return has_session() && journal()->holds_back(); }
bool Party::disk_full() const noexcept { return has_session() && journal()->disk_full(); }
bool Party::store_failed() const noexcept { return has_session() && journal()->condition() == StoreCondition::failed; }

// The flusher is attached only during its turn. Otherwise a poll thread that has to wait for the disk syncs itself;
// with a flusher it would wait for another thread.
Duration Party::flush() {
  if (!has_session()) return Duration::max();
  auto& store = const_cast<JournalStore&>(*journal());
  flushed_ = store.position();
  const Duration next = [&] {
    const Holding engine{engine_of(side_)};
    flusher_->add(store);
    const Duration wait = flusher_->turn(clock_.now());
    flusher_->remove(store);
    return wait;
  }();
  if (durable()) ledger_.synced(side_);
  return next;
}

SessionStore Party::open(const SessionSettings& settings, UtcTime now) {
  if (!is_own(identity(settings.session))) return memory_stores().open(settings, now);
  JournalStore store{seen_disk_, settings.journal, identity(settings.session), now};
  last_durability_ = std::exchange(durability_, settings.journal.durability);
  store_open_ = true;
  if (opened_before_) {
    if (std::exchange(defect_, defect_ == Defect::forgets_a_number ? Defect::none : defect_) ==
        Defect::forgets_a_number) {
      store.set_next_outbound(previous(store.next_outbound()), now);
    }
    compare(store);
    repair(store, now);
  }
  opened_before_ = true;
  creation_time_ = store.creation_time();
  flushed_ = 0;
  return SessionStore{std::move(store)};
}

void Party::close(std::string_view, SessionStore) noexcept {}

bool Party::later(std::string_view, std::function<void()>) { return false; }

void Party::compare(const JournalStore& store) {
  const Holding world{Holder::world};
  const bool newer = store.creation_time() > creation_time_;
  ledger_.reopened(side_,
                   {.end = end_,
                    .durability = last_durability_,
                    .between_turns = between_turns_,
                    .same_numbering = store.creation_time() >= creation_time_,
                    .new_numbering = newer && ledger_.numbering(side_) == numbering_,
                    .failed = failed_,
                    .next_inbound = store.next_inbound(),
                    .next_outbound = store.next_outbound()},
                   [&](SeqNum seq) {
                     const Holding engine{engine_of(side_)};
                     return store.read(seq);
                   });
}

// The steps of an operator after a power loss that lost sequence numbers: no number may be below a sent one.
void Party::repair(JournalStore& store, UtcTime now) {
  const bool forgot_reset = store.creation_time() < creation_time_;
  if (end_ != End::crashed) return;
  SeqNum outbound = store.next_outbound();
  SeqNum inbound = store.next_inbound();
  if (forgot_reset) {
    store.reset(now);
    outbound = ledger_.safe_outbound(side_);
    inbound = ledger_.safe_inbound(side_);
  } else if (outbound >= ledger_.safe_outbound(side_)) {
    return;
  } else {
    outbound = ledger_.safe_outbound(side_);
  }
  store.set_number({false, outbound, RecordFlag::by_operator, "the host crashed"}, now);
  store.set_number({true, inbound, RecordFlag::by_operator, "the host crashed"}, now);
  const Holding world{Holder::world};
  ledger_.repaired(side_, inbound, outbound);
}

bool Party::logged_on() const noexcept { return has_session() && session()->logged_on(); }

// Its journal closes in order, unless the process has died in this iteration.
void Party::on_removed(SessionHandle& session) {
  const Holding world{Holder::world};
  if (struck_ || session.id() != number_) return;
  trace_.add(side_, "has no session");
  account(session);
  failed_ = session.journal()->condition() == StoreCondition::failed;
  store_open_ = false;
  end_ = End::orderly;
  between_turns_ = true;
}

void Party::on_logon(SessionHandle&) {
  const Holding world{Holder::world};
  if (strikes(Moment::logged_on)) return;
  trace_.add(side_, "is logged on");
}

void Party::on_logout(SessionHandle&, std::string_view reason) {
  const Holding world{Holder::world};
  ledger_.connection_ended(side_);
  if (!struck_) trace_.add(side_, "is logged out", 0, reason);
}

void Party::on_notice(SessionHandle&, Notice notice, SeqNum seq, std::string_view text) {
  const Holding world{Holder::world};
  if (!struck_) trace_.add(side_, to_string(notice).data(), value(seq), text);
}

void Party::on_traffic(SessionHandle&, Direction direction, std::string_view message) {
  const Holding world{Holder::world};
  if (struck_) return;
  if (direction == Direction::in) return ledger_.received(side_, message);
  ledger_.composed(side_, message);
  strikes(Moment::made_message);
}

bool Party::on_resend(SessionHandle&, const MessageView&) { return defect_ != Defect::resends_nothing; }

Handled Party::on_message(SessionHandle& session, const MessageView& message) {
  const Holding world{Holder::world};
  if (strikes(Moment::takes_message)) return Handled::done;
  const bool first = ledger_.delivered(side_, message);
  if (std::exchange(defect_, defect_ == Defect::delivers_twice ? Defect::none : defect_) == Defect::delivers_twice)
    ledger_.delivered(side_, message);
  if (strikes(Moment::took_message)) return Handled::done;
  if (defect_ == Defect::hoards || defect_ == Defect::leaves_memory) {
    const Holding engine{engine_of(side_)};
    hoard_.push_back(std::make_unique<char[]>(config_.max_message_size));
  }
  // An order is answered with a report, once.
  if (!first || side_ != Side::venue) return Handled::done;
  std::array<char, 24> order{};
  const std::string_view id = message.get_view(Tag::ClOrdID);
  id.copy(order.data(), order.size());
  if (!send(session, "8", {order.data(), id.size()}, id.size())) ++refused_;
  return Handled::done;
}

Duration Party::on_turn(Instant) {
  const Holding world{Holder::world};
  if (struck_) return Duration::max();
  for (const std::size_t size : std::exchange(wanted_, {})) {
    if (!has_session() || !send(*session(), side_ == Side::trader ? "D" : "8", "NONE", size)) ++refused_;
    if (struck_) break;
  }
  return Duration::max();
}

bool Party::send(SessionHandle& session, std::string_view type, std::string_view order, std::size_t text_size) {
  static constexpr std::string_view filler =
      "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz"
      "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz";
  std::array<char, 1024> buffer;
  FieldWriter body{buffer};
  if (type == "D") {
    body.append(Tag::ClOrdID, next_id_);
  } else {
    body.append(Tag::OrderID, order).append(Tag::ExecID, next_id_);
  }
  body.append(Tag::Symbol, "NFX").append(Tag::OrderQty, 100 + next_id_ % 900);
  body.append(Tag::Text, filler.substr(0, 1 + text_size % filler.size()));
  const std::uint64_t id = next_id_++;
  const auto sent = [&] {
    const Holding engine{engine_of(side_)};
    return session.send({.msg_type = type, .body = body.view(), .header_fields = {}});
  }();
  if (!sent || struck_) return sent.has_value();
  ledger_.acknowledged(side_, *sent, id);
  return true;
}

}  // namespace simulation
}  // namespace nfx
