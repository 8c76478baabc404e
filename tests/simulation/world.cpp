// Runs both engines, their disks and their network event by event, with faults drawn from the seed.
#include "simulation/world.hpp"

#include <algorithm>

namespace nfx::simulation {
namespace {

using namespace std::chrono_literals;

constexpr MonotonicTime never = MonotonicTime::max();
constexpr std::size_t mebibyte = 1024 * 1024;

// 2024-02-26 00:00 UTC, a Monday before a leap day, at a random time of the day.
[[nodiscard]] Instant begin_of(Dice& dice) {
  const UtcTime day{std::chrono::sys_days{std::chrono::year{2024} / 2 / 26}};
  return {day + dice.between(1h, 23h), MonotonicTime{100h}};
}

[[nodiscard]] LedgerFacts facts_of(const Plan& plan, Instant begin) {
  const SessionSettings& venue = *plan.file[index(Side::venue)].session;
  const SessionSettings& trader = *plan.file[index(Side::trader)].session;
  return {.begin = begin,
          .max_latency = venue.session.max_latency,
          .schedules = {venue.schedule, trader.schedule},
          .retain_age = trader.journal.retain_age};
}

// The heap limit of the engine of one session, including its store and flusher, and of its side's network with
// everything in transit. Both depend on the sizes set by draw_plan() and not on time. Half of the first is the queue
// for other threads; opening a journal reads its last file in two pieces of 1 MiB.
constexpr std::size_t engine_bytes_max = 4 * mebibyte;
constexpr std::size_t engine_bytes_max_opening = engine_bytes_max + 2 * mebibyte;
// Up to 320 KiB wait in the faulty transport, in pieces of a few bytes with an overhead of a hundred each.
constexpr std::size_t network_bytes_max = 8 * mebibyte;

}  // namespace

World::World(const RunOptions& options)
    : options_(options),
      plan_(draw_plan(options.seed, options.faults)),
      dice_(options.seed ^ 0x5EED),
      begin_(begin_of(dice_)),
      now_(begin_.monotonic),
      trace_(begin_.monotonic, options.live),
      ledger_(trace_, facts_of(plan_, begin_)) {
  forget_most();
  for (const Side side : {Side::venue, Side::trader}) {
    parties_[index(side)] = std::make_unique<Party>(side, plan_, network_, trace_, ledger_, begin_);
    const Surroundings world{.now = [this] { return now_; },
                             .pass = [this](MonotonicTime until) { advance(until); },
                             .disturb = [this, side] { disturb(side); },
                             .stalled = [this, side] { return stalled(side); }};
    consoles_[index(side)] = std::make_unique<Console>(side, party(side), ledger_, trace_, world);
    const std::size_t i = index(side);
    order_at_[i] = clock_back_at_[i] = flush_at_[i] = room_at_[i] = operator_done_at_[i] = never;
    slow_until_[i] = stalled_until_[i] = now_;
    start_at_[index(side)] = now_;
  }
  party(Side::venue).has(options.defect);
  console(Side::venue).has(options.defect);
}

RunResult World::run() {
  const MonotonicTime end = now_ + options_.hours;
  act();
  settle();
  become_calm();
  while (now_ < end && going_on()) {
    begin(Phase::storm);
    pass(dice_.between(1min, 15min));
    become_calm();
    begin(Phase::weather);
    pass(dice_.between(30min, 12h));
    become_calm();
  }
  RunResult result;
  for (const Side side : {Side::venue, Side::trader}) {
    const FaultCounters network = party(side).network_faults();
    injected_[static_cast<std::size_t>(Fault::split)] += network.small_pieces;
    injected_[static_cast<std::size_t>(Fault::delay)] += network.delayed_pieces;
    injected_[static_cast<std::size_t>(Fault::cut)] += network.cuts;
    injected_[static_cast<std::size_t>(Fault::lose)] += network.losses;
    result.refused_sends += party(side).refused();
    result.reloads += console(side).counts();
  }
  result.violation = ledger_.violation();
  if (result.violation) result.trace = trace_.last();
  result.trace_hash = trace_.hash();
  result.events = trace_.count();
  result.turns = turns_;
  result.simulated = now_ - begin_.monotonic;
  result.logged_on = logged_on_;
  result.counts = ledger_.counts();
  result.refusal_texts = ledger_.refusal_texts();
  result.injected = injected_;
  result.engine_bytes = engine_bytes_;
  for (const Side side : {Side::venue, Side::trader}) {
    result.engine_bytes_most = std::max(result.engine_bytes_most, held_by(engine_of(side)).most);
    result.network_bytes_most = std::max(result.network_bytes_most, held_by(network_of(side)).most);
  }
  return result;
}

void World::begin(Phase phase) {
  phase_ = phase;
  trace_.add(Side::venue, phase == Phase::storm ? "STORM" : phase == Phase::calm ? "CALM" : "WEATHER");
  for (const Side side : {Side::venue, Side::trader}) {
    order_at_[index(side)] = phase == Phase::calm ? never : now_ + dice_.wait(plan_.order_mean);
    if (party(side).running()) party(side).transport()->faulty().change_faults(network_faults(side));
  }
  fault_at_ = phase == Phase::calm    ? never
              : phase == Phase::storm ? now_ + dice_.wait(plan_.storm_mean)
                                      : now_ + dice_.wait(plan_.weather_mean);
  if (phase == Phase::storm && party(Side::trader).running()) party(Side::trader).transport()->breaks(options_.broken);
}

FaultOptions World::network_faults(Side) {
  FaultOptions faults = phase_ == Phase::storm ? plan_.network : FaultOptions{};
  faults.seed = dice_.next();
  return faults;
}

void World::pass(Duration time) {
  const MonotonicTime until = now_ + time;
  while (now_ < until && going_on()) step(until);
}

// Actions of an operator at a console take time, in which the world advances.
void World::step(MonotonicTime until) {
  advance(until);
  for (const Side side : {Side::venue, Side::trader}) {
    if (const auto work = std::exchange(at_console_[index(side)], nullptr); work && going_on()) work();
  }
}

// Advances to the next event, or to `until` if that comes first.
void World::advance(MonotonicTime until) {
  MonotonicTime next = std::min(until, fault_at_);
  for (const Side side : {Side::venue, Side::trader}) {
    const std::size_t i = index(side);
    next = std::min({next, order_at_[i], start_at_[i], clock_back_at_[i], flush_at_[i], room_at_[i],
                     operator_done_at_[i], stalled(side) ? stalled_until_[i] : party(side).next_event()});
  }
  for (const Ghost& ghost : ghosts_) next = std::min(next, ghost.until);
  next = std::max(next, now_ + 1us);  // an event that is immediately due again has to wait for a moment
  if (party(Side::venue).logged_on() && party(Side::trader).logged_on()) logged_on_ += next - now_;
  now_ = next;
  trace_.at(now_);
  ledger_.at(now_);
  for (const auto& each : parties_) each->set_time(now_);
  act();
  settle();
}

// The world's own events at this time.
void World::act() {
  std::erase_if(ghosts_, [&](const Ghost& ghost) { return ghost.until <= now_; });
  for (const Side side : {Side::venue, Side::trader}) {
    const std::size_t i = index(side);
    if (clock_back_at_[i] <= now_) set_clock(side, Duration{});
    if (room_at_[i] <= now_) {
      room_at_[i] = never;
      trace_.add(side, "disk has space again");
      party(side).leave_room_on_disk(test::MemoryDisk::never);
    }
    party(side).allow_reset(now_ <= reset_until_);
    if (operator_done_at_[i] <= now_) end_operations(side);
    if (start_at_[i] <= now_) start(side);
    if (flush_at_[i] <= now_) flush(side);
    if (party(side).store_failed()) party(side).stop_in_order();
    if (order_at_[i] <= now_) {
      if (party(side).running()) party(side).send_one(dice_.below(200));
      order_at_[i] = now_ + dice_.wait(phase_ == Phase::storm ? plan_.order_mean : Duration{10min});
    }
  }
  if (fault_at_ <= now_) {
    inject();
    fault_at_ = now_ + dice_.wait(phase_ == Phase::storm ? plan_.storm_mean : plan_.weather_mean);
  }
}

// Runs both sides until nothing happens any more at this time.
void World::settle() {
  constexpr int most = 100'000;
  int still = 0;
  for (int round = 0; still < 2 && going_on(); ++round) {
    if (round == most) return ledger_.violate(Side::venue, "the two sides never come to rest at this time");
    std::size_t work = 0;
    for (const Side side : {Side::venue, Side::trader}) {
      if (stalled(side)) continue;
      work += party(side).turn();
      ++turns_;
      if (party(side).died() && start_at_[index(side)] == never) after_end(side);
    }
    still = work == 0 ? still + 1 : 0;
  }
  for (const Side side : {Side::venue, Side::trader}) plan_flush(side);
  look_at_memory();
}

void World::look_at_memory() {
  for (const Side side : {Side::venue, Side::trader}) {
    const auto look = [&](std::size_t held, std::size_t most, const char* what) {
      if (held <= most) return;
      ledger_.violate(side, std::string{what} + std::to_string(held) + " bytes of memory, and " + std::to_string(most) +
                                " are the most that it may");
    };
    const Holdings engine = held_by(engine_of(side));
    engine_bytes_ = std::max(engine_bytes_, engine.bytes);
    look(engine.bytes, engine_bytes_max, "its engine holds ");
    look(engine.most, engine_bytes_max_opening, "its engine has held ");
    look(held_by(network_of(side)).most, network_bytes_max, "its network has held ");
  }
}

// Appended records are flushed some time later: soon if messages wait for it.
void World::plan_flush(Side side) {
  if (!party(side).unflushed()) return;
  const bool slow = slow_until_[index(side)] > now_;
  const Duration delay = slow                       ? dice_.between(10ms, 3s)
                         : party(side).holds_back() ? dice_.between(20us, 3ms)
                                                    : dice_.between(1ms, 300ms);
  flush_at_[index(side)] = std::min(flush_at_[index(side)], now_ + delay);
}

void World::flush(Side side) {
  const Duration next = party(side).flush();
  MonotonicTime& at = flush_at_[index(side)];
  if (!party(side).has_session()) {
    at = never;
  } else if (next == Duration::zero()) {
    at = now_ + 1ms;  // there is more to do
  } else if (party(side).disk_full()) {
    at = now_ + 250ms;  // the store tries again once a second
  } else {
    at = now_ + (party(side).durable() ? Duration{10min} : std::max<Duration>(next, 1ms));
  }
}

// A store cannot be opened on a full or failing disk, so an operator repairs that first. The clock is set before the
// sequence numbers, which belong to the session that the clock shows.
void World::repair_host(Side side) {
  party(side).leave_room_on_disk(test::MemoryDisk::never);
  party(side).fail_sync_after(test::MemoryDisk::never);
  room_at_[index(side)] = never;
  if (party(side).crashed() && party(side).utc_offset() != Duration::zero()) set_clock(side, Duration{});
}

void World::start(Side side) {
  start_at_[index(side)] = never;
  if (party(side).running()) return;
  repair_host(side);
  if (options_.faults.has(Fault::restart) && dice_.coin() && party(side).file().session)
    redraw_durability(party(side).file().session->journal, dice_);
  party(side).start(network_faults(side));
  if (side == Side::trader && phase_ == Phase::storm) party(side).transport()->breaks(options_.broken);
}

void World::after_end(Side side) {
  stalled_until_[index(side)] = now_;
  start_at_[index(side)] = now_ + dice_.between(1ms, 30s);
  flush_at_[index(side)] = never;
  if (auto ghost = party(side).take_ghost()) {
    ghost->stop_listening();
    ghosts_.push_back({std::move(ghost), start_at_[index(side)]});
  }
}

void World::set_clock(Side side, Duration offset) {
  clock_back_at_[index(side)] = never;
  trace_.add(side, "clock is off by ms", static_cast<std::uint64_t>(offset.count() / 1'000'000));
  party(side).set_utc_offset(offset);
  party(side).set_time(now_);
}

void World::inject() {
  std::array<Fault, fault_count> possible{};
  std::size_t count = 0;
  for (const Fault fault :
       {Fault::cut, Fault::swallow, Fault::lose, Fault::kill, Fault::crash, Fault::full, Fault::sync, Fault::slow,
        Fault::clock, Fault::restart, Fault::operate, Fault::reload, Fault::stall}) {
    if (options_.faults.has(fault)) possible[count++] = fault;
  }
  if (count == 0) return;
  const Fault fault = possible[dice_.below(count)];
  inject(fault, dice_.coin() ? Side::venue : Side::trader);
}

void World::inject(Fault fault, Side side) {
  Party& target = party(side);
  if (!target.running()) return;
  trace_.add(side, "FAULT", 0, to_string(fault));
  FaultyLoopback& network = target.transport()->faulty();
  const ConnectionId connection = target.transport()->newest();
  switch (fault) {
    case Fault::split:
    case Fault::delay: return;  // made by the transport
    case Fault::cut: return network.cut(connection);
    case Fault::swallow: ++injected_[static_cast<std::size_t>(fault)]; return network.swallow(connection);
    case Fault::lose: return network.lose(connection);
    case Fault::clock:
      if (plan_.clock_step == Duration::zero()) return;
      ++injected_[static_cast<std::size_t>(fault)];
      clock_back_at_[index(side)] = now_ + dice_.between(1s, 10min);
      return set_clock(side, dice_.between(-plan_.clock_step, plan_.clock_step));
    case Fault::kill:
      ++injected_[static_cast<std::size_t>(fault)];
      if (dice_.coin()) return target.kill_at(static_cast<Moment>(dice_.between(1, 4)));
      target.kill(End::killed);
      break;
    case Fault::crash:
      ++injected_[static_cast<std::size_t>(fault)];
      target.kill(End::crashed, dice_.next());
      break;
    case Fault::full:
      ++injected_[static_cast<std::size_t>(fault)];
      target.leave_room_on_disk(dice_.below(4096));
      room_at_[index(side)] = now_ + dice_.between(1s, 5min);
      return;
    case Fault::sync: ++injected_[static_cast<std::size_t>(fault)]; return target.fail_sync_after(dice_.below(4));
    case Fault::slow:
      ++injected_[static_cast<std::size_t>(fault)];
      slow_until_[index(side)] = now_ + dice_.between(1s, 30s);
      return;
    case Fault::restart: ++injected_[static_cast<std::size_t>(fault)]; return target.stop_in_order();
    case Fault::operate: ++injected_[static_cast<std::size_t>(fault)]; return operate(side);
    case Fault::reload: ++injected_[static_cast<std::size_t>(fault)]; return reconfigure(side);
    case Fault::stall:
      ++injected_[static_cast<std::size_t>(fault)];
      stalled_until_[index(side)] = now_ + dice_.between(100ms, 8s);
      return;
  }
  after_end(side);
}

// A random command, but none that loses messages: those are the operator's own decision, and no rule covers them.
void World::operate(Side side) {
  Party& target = party(side);
  if (!target.has_session()) return;
  if (dice_.below(session_command_rows.size() + 1) == 0) return change_live_settings(side);
  const std::uint64_t in = value(*target.next().in), out = value(*target.next().out);
  SessionCommand command{.kind = static_cast<SessionCommandKind>(dice_.below(session_command_rows.size()))};
  Party::Judge judge = [](NextNumbers, const CommandOutcome&) {};
  switch (command.kind) {
    case SessionCommandKind::set: {
      const std::uint64_t step = 1 + dice_.below(20);
      const bool stale = dice_.coin();
      const bool inbound = dice_.coin();
      command.expected = {.in = SeqNum{in}, .out = SeqNum{out + (stale ? 1 : 0)}};
      if (inbound) command.numbers.in = SeqNum{in > step ? in - step : 1};
      if (!inbound) command.numbers.out = SeqNum{stale && dice_.coin() ? 1 : out + step};
      judge = [this, side, expected = command.expected](NextNumbers before, const CommandOutcome& outcome) {
        const NextNumbers after{.in = outcome.session.next_in, .out = outcome.session.next_out};
        if (outcome.status == CommandStatus::done ? before != expected : before != after)
          ledger_.violate(side, "an operator's number was set although the present ones were others");
      };
      break;
    }
    case SessionCommandKind::resend: command.from = SeqNum{1 + dice_.below(in)}; break;
    case SessionCommandKind::reset:
      // An interrupted exchange needs an operator at both ends.
      if (!options_.faults.only(Fault::operate) || !party(Side::venue).logged_on() || !party(Side::trader).logged_on())
        return;
      reset_until_ = now_ + 1s;
      for (const auto& each : parties_) each->allow_reset(true);
      break;
    case SessionCommandKind::remove: return;  // would have to be added again: Fault::reload
    case SessionCommandKind::logout: command.text = "operator"; break;
    case SessionCommandKind::show:
    case SessionCommandKind::logon:
    case SessionCommandKind::disable:
    case SessionCommandKind::enable:
    case SessionCommandKind::drop:
    case SessionCommandKind::test_request:
    case SessionCommandKind::hold:
    case SessionCommandKind::release: break;
  }
  target.operate(command, std::move(judge));
  will_end_operations(side);
}

void World::will_end_operations(Side side) {
  operator_done_at_[index(side)] = std::min(operator_done_at_[index(side)], now_ + dice_.between(1s, 5min));
}

// Like `nfx session change`: the next process starts with the original values.
void World::change_live_settings(Side side) {
  SessionSettings wanted = party(side).settings();
  redraw_live_settings(wanted, dice_);
  at_console_[index(side)] = [this, side, wanted] { console(side).change(wanted); };
}

// An operator removes the session, removes and adds it, changes it, or reloads a file that has been changed or has a
// mistake. Sessions that were removed or are not in the file return when the operations end.
void World::reconfigure(Side side) {
  Party& target = party(side);
  Console& at = console(side);
  auto& work = at_console_[index(side)];
  SessionSettings settings = target.settings();
  redraw_live_settings(settings, dice_);
  redraw_other_settings(settings, dice_);
  switch (dice_.below(6)) {
    case 0: target.remove_session(); break;
    case 1: work = [&at, settings] { at.add(settings); }; break;
    case 2: work = [&at, settings] { at.change(settings); }; break;
    case 3:
      work = [&at, text = with_mistake(target.file().text(), dice_)] { static_cast<void>(at.reload(true, text)); };
      break;
    default:
      redraw_file(target.file(), side, dice_);
      work = [&at, plan_first = dice_.coin()] { static_cast<void>(at.reload(plan_first)); };
      break;
  }
  will_end_operations(side);
}

// Another fault while an operator waits for an answer.
void World::disturb(Side side) {
  if (phase_ == Phase::calm || !options_.faults.has(Fault::reload) || !dice_.chance(150)) return;
  constexpr std::array possible{Fault::kill,  Fault::crash, Fault::full,    Fault::sync,
                                Fault::stall, Fault::cut,   Fault::restart, Fault::operate};
  const Fault fault = possible[dice_.below(possible.size())];
  if (options_.faults.has(fault)) inject(fault, side);
}

// Sessions that an operator has stopped or held may continue, and removed ones return.
void World::end_operations(Side side) {
  operator_done_at_[index(side)] = never;
  ConfigFile& file = party(side).file();
  if (!file.session) file.session = party(side).settings();
  if (party(side).running() && options_.faults.has(Fault::reload)) {
    at_console_[index(side)] = [this, side] { finish_reload(side); };
  }
  for (const SessionCommandKind kind : {SessionCommandKind::release, SessionCommandKind::logon})
    party(side).operate({.kind = kind}, [](NextNumbers, const CommandOutcome&) {});
}

// Repeats until the running sessions equal the file. Changes that need the session to be disconnected wait for the next
// process, or the operator disconnects it.
void World::finish_reload(Side side) {
  constexpr int most = 20;
  Party& target = party(side);
  const std::uint64_t process = target.process();
  for (int attempt = 0;; ++attempt) {
    repair_host(side);
    if (console(side).reload(false) || !going_on() || target.process() != process) break;
    if (attempt == most) {
      // Outside of a calm phase, faults may prevent it.
      if (phase_ == Phase::calm) ledger_.violate(side, "a reload is not complete after 20 attempts");
      break;
    }
    // There are more sessions than places.
    if (attempt == 2 && target.file().others.size() > 1) target.file().others.resize(1);
    if (dice_.coin())
      target.operate({.kind = SessionCommandKind::logout, .text = "operator"}, [](auto, const auto&) {});
    console(side).wait_for_disconnect();
  }
  target.operate({.kind = SessionCommandKind::logon}, [](NextNumbers, const CommandOutcome&) {});
}

bool World::agree() {
  Party& venue = party(Side::venue);
  Party& trader = party(Side::trader);
  return venue.logged_on() && trader.logged_on() && venue.next().in == trader.next().out &&
         trader.next().in == venue.next().out && ledger_.missing() == 0;
}

// No faults and no orders: the sides must reconnect, and nothing may be missing.
void World::become_calm() {
  begin(Phase::calm);
  for (const Side side : {Side::venue, Side::trader}) {
    if (party(side).utc_offset() != Duration::zero()) set_clock(side, Duration{});
    clock_back_at_[index(side)] = never;
    slow_until_[index(side)] = stalled_until_[index(side)] = now_;
    if (operator_done_at_[index(side)] != never) end_operations(side);
    party(side).leave_room_on_disk(test::MemoryDisk::never);
    party(side).fail_sync_after(test::MemoryDisk::never);
    room_at_[index(side)] = never;
    if (!party(side).running()) start_at_[index(side)] = now_;
  }
  const MonotonicTime deadline = now_ + (plan_.hours == Hours::daily ? 2h : 40min);
  while (now_ < deadline && going_on() && (!agree() || at_console_[0] || at_console_[1]))
    step(std::min(deadline, now_ + 1min));
  if (!going_on()) return;
  Party& venue = party(Side::venue);
  Party& trader = party(Side::trader);
  if (!venue.logged_on() || !trader.logged_on())
    return ledger_.violate(venue.logged_on() ? Side::trader : Side::venue,
                           "does not log on, though all faults have ended");
  ledger_.quiet(venue.next(), trader.next());
}

}  // namespace nfx::simulation
