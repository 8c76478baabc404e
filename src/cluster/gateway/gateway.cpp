// The thread that owns sessions: it carries out what their owners' steps request, and adds and removes their sessions.
#include "nexusfix/gateway/gateway.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clocks.hpp"
#include "gateway/alone_note.hpp"
#include "gateway/connect.hpp"
#include "gateway/hand_on.hpp"
#include "gateway/members.hpp"
#include "gateway/opener.hpp"
#include "gateway/owned_journal.hpp"
#include "gateway/place.hpp"
#include "gateway/recovered.hpp"
#include "gateway/refusal.hpp"
#include "gateway/tries.hpp"
#include "gateway/turn.hpp"
#include "nats/nats_stream.hpp"
#include "nexusfix/concurrent/worker_thread.hpp"
#include "nexusfix/engine/program.hpp"
#include "store/journal_replica.hpp"

namespace nfx {
namespace gateway {
namespace {

using cluster::Action;
using cluster::ActionKind;
using cluster::Actions;
using cluster::Event;
using cluster::EventKind;
using cluster::GatewayId;
using cluster::StopReason;
using nats::NatsStream;
using nats::SessionIndex;

constexpr Duration idle_sleep{std::chrono::milliseconds{20}};
constexpr Duration retry_after{std::chrono::seconds{1}};  // a takeover that failed
constexpr Duration assign_again{std::chrono::milliseconds{250}};
constexpr int polls_max = 128;
constexpr Duration follow_again{std::chrono::seconds{1}};  // and 1 ms more for each session
constexpr int follows_max = 4;                             // at a time
constexpr Duration settings_again{std::chrono::seconds{1}};
constexpr Duration settle_time{std::chrono::milliseconds{500}};
constexpr Duration lease_request{std::chrono::seconds{1}};
constexpr Duration longest_end{std::chrono::seconds{5}};  // of the end of the gateway

GatewayId random_id() {
  std::random_device random;
  for (;;) {
    const std::uint64_t id = std::uint64_t{random()} << 32 | random();
    if (id != 0) return GatewayId{id};
  }
}

std::string with_remedy(StopReason reason) {
  std::string text{to_string(reason)};
  if (reason == StopReason::corrupt)
    text += ", and no gateway can own the session until it is removed: nfx cluster repair --session NAME lists it";
  return text;
}

class ClusterGateway final : public Gateway {
 public:
  ClusterGateway(Engine& engine, LineLog& lines)
      : engine_(engine),
        config_(engine.config().cluster),
        lines_(lines),
        own_(random_id()),
        members_(config_, own_),
        stream_(connect(config_, [this](const std::string& text) { line(LogLevel::warning, text); })),
        signal_(std::make_shared<WakeSignal>()),
        opener_([this] { signal_->notify(); },
                [&engine](std::string_view name, const std::function<void()>& work) {
                  engine.run_on_housekeeping(name, work);
                }) {
    for (const SessionSettings& settings : engine.config().sessions) {
      if (!settings.is_replicated()) continue;
      if (settings.store_kind != StoreKind::journal)
        throw ConfigError(identity(settings.session) + ": durability: a replicated session has a journal too: set " +
                          "store_kind, or load the configuration with load_program_config()");
      places_.push_back(std::make_unique<Place>(settings, owner_options(config_, settings, own_)));
      places_.back()->index = stream_.add_session(places_.back()->name, own_);
    }
    for (std::size_t i = 0; i < members_.size(); ++i)
      static_cast<void>(stream_.add_session("_gateway-" + members_.name(i), i == members_.self() ? own_ : GatewayId{}));
    settings_index_ = stream_.add_session(OperatorSettings::subject, {});
    stream_.call_on_answer([this] {
      answered_.store(true, std::memory_order_release);
      signal_->notify();
    });
    if (config_.hands_on()) hand_on_.emplace(engine, lines, [this] { signal_->notify(); });
    thread_ = std::thread{[this] { engine_.run_on_housekeeping("nfx-cluster", [this] { run(); }); }};
  }
  ~ClusterGateway() override {
    stop_.store(true, std::memory_order_release);
    signal_->wake();
    thread_.join();
    stream_.call_on_answer({});
  }

  std::size_t owned() const noexcept override { return owned_.load(std::memory_order_relaxed); }

 private:
  void line(const Place& place, LogLevel level, const std::string& text) {
    lines_.line({.time = read_utc(), .level = level, .what = "cluster", .session = place.id, .text = text});
    lines_.flush();
  }
  void line(LogLevel level, const std::string& text) {
    lines_.line({.time = read_utc(), .level = level, .what = "cluster", .text = text});
    lines_.flush();
  }

  // The thread.

  void run() {
    for (std::size_t i = 0; i < members_.size(); ++i) stream_.read_lease(index_of_member(i));
    if (hand_on_) std::ranges::for_each(places_, [this](const auto& place) { stream_.read_lease(place->index); });
    while (!stop_.load(std::memory_order_acquire)) {
      turn(read_monotonic());
      if (!answered_.load(std::memory_order_acquire)) sleep();
    }
    end();
  }

  void turn(MonotonicTime now) {
    // What a replay requests is often there already: it is taken in one go, and other sessions wait for no more than
    // that.
    for (int i = 0; i < polls_max; ++i) {
      answered_.store(false, std::memory_order_release);
      stream_.poll([&](SessionIndex session, const Event& event) { on_answer(session, event, now); });
      if (!answered_.load(std::memory_order_acquire)) break;
    }
    opener_.run_ends(now);
    if (hand_on_) hand_on_->serve([this](const std::string& session) { return owner_now(session); });
    if (now >= renew_at_) {
      renew_at_ = now + Duration{config_.lease} / 3;
      stream_.request(index_of_member(members_.self()), {.kind = ActionKind::renew_lease});
    }
    if (now >= settings_at_) {
      settings_at_ = now + settings_again;
      stream_.request(settings_index_, {.kind = ActionKind::read_last});
    }
    for (const auto& place : places_) tend(*place, now);
    tend_server(now);
  }

  // A server that has lost the others still answers pings, refuses publishes, and returns old frames.
  void tend_server(MonotonicTime now) {
    if (server_ != stream_.server()) {
      server_ = stream_.server();
      line(LogLevel::warning, "now connected to " + server_ + " of the cluster");
      stream_.request_reach();
      // What was requested from the one before has no answer.
      for (const auto& place : places_)
        if (place->state.request != 0) give(*place, {.kind = EventKind::failed, .request = place->state.request}, now);
    }
    if (stream_.leaves_server() || !(tries_.in_vain(now) || stream_.lacks_others())) return;
    const std::string why =
        stream_.lacks_others() ? server_ + " does not reach the others" : "no progress with " + server_;
    line(LogLevel::warning, why + ": connecting to another server of the cluster");
    tries_.note_change();
    stream_.leave_server();
  }

  void sleep() {
    const MonotonicTime now = read_monotonic();
    Duration longest = idle_sleep;
    for (const auto& place : places_) {
      if (place->is_open()) longest = std::min(longest, OwnedJournal::look_again);
      longest = std::min(longest, std::max(Duration::zero(), Duration{next_deadline(place->state) - now}));
    }
    signal_->sleep(longest, [this] {
      return answered_.load(std::memory_order_acquire) || stop_.load(std::memory_order_acquire) || opener_.has_ends() ||
             (hand_on_ && hand_on_->waiting()) ||
             std::ranges::any_of(places_, [](const auto& place) { return place->has_records(); });
    });
  }

  // By the last lease that was read.
  [[nodiscard]] std::string owner_now(const std::string& session) const {
    const auto place = std::ranges::find(places_, session, [](const auto& each) { return each->name; });
    if (place == places_.end()) return {};
    return (*place)->owns() ? config_.gateway : members_.name_of((*place)->state.lease_of);
  }

  [[nodiscard]] SessionIndex index_of_member(std::size_t member) const noexcept {
    return SessionIndex{static_cast<std::uint32_t>(places_.size() + member)};
  }

  void on_answer(SessionIndex session, const Event& event, MonotonicTime now) {
    const auto index = static_cast<std::size_t>(std::to_underlying(session));
    if (event.kind == EventKind::stored) tries_.note_success();
    if (index < places_.size()) {
      Place& place = *places_[index];
      if (event.kind == EventKind::stored) place.refusal.clear();
      if (event.kind == EventKind::failed && !event.bytes.empty()) note_refusal(place, event.bytes);
      if (event.kind == EventKind::lease) {
        place.knows_lease = true;
        place.lease_end = now + cluster::wait_for_lease(config_.lease);
        if (event.gateway != GatewayId{} && event.gateway != own_) place.free_since.reset();
      }
      if (place.state.phase == cluster::Phase::following && event.request == place.state.request) {
        place.looked = true;
        place.found_nothing = event.kind == EventKind::none;
      }
      return give(place, event, now);
    }
    if (session == settings_index_) {
      if (event.kind == EventKind::found) members_.set(parse_settings(event.bytes));
      return;
    }
    if (event.kind != EventKind::lease || members_.on_lease(index - places_.size(), event.gateway, now)) return;
    if (!std::exchange(name_taken_, true))
      line(LogLevel::error, "another process runs as gateway " + config_.gateway +
                                ": give each process of [cluster] gateways a name of its own");
  }

  void note_refusal(Place& place, std::string_view description) {
    if (is_full(description)) tries_.note_success();  // it is not the server
    std::string text = refusal_text(description);
    if (place.refusal == text) return;
    place.refusal = std::move(text);
    line(place, LogLevel::error, place.refusal);
  }

  // A step of the owner, and what it requests.
  void give(Place& place, const Event& event, MonotonicTime now) {
    Actions actions;
    const std::uint64_t stored = place.state.stored;
    step(place.state, event, now, actions);
    if (place.state.stored > stored) tries_.note_success();  // also where that was found out by a read
    for (const Action& action : actions.list()) {
      switch (action.kind) {
        case ActionKind::publish:
        case ActionKind::read_last:
        case ActionKind::read_next:
          if (place.state.phase != cluster::Phase::following) tries_.note_try(now);
          [[fallthrough]];
        case ActionKind::renew_lease:
        case ActionKind::drop_lease: stream_.request(place.index, action); break;
        case ActionKind::recover:
          tries_.note_success();
          place.recover(action);
          break;
        case ActionKind::own: on_own(place); break;
        case ActionKind::release: break;  // pump() reads state.released
        case ActionKind::stop: on_stop(place, action, now); break;
      }
    }
  }

  // Takeover.

  void want_or_follow(Place& place, MonotonicTime now) {
    if (place.removed || place.writes || place.alone.is_busy() || place.journal.has_files_open()) return;
    if (std::exchange(place.reads_all, false)) {
      give(place, {.kind = EventKind::forget}, now);
      place.recovered = Recovered{place.settings->journal.retain_messages};
    }
    if (!is_wanted(place, now)) return follow_when_due(place, now);
    end_following(place, now);
    place.recovered.frames = 0;
    place.wanted_at = now;
    give(place, {.kind = EventKind::want}, now);
  }

  [[nodiscard]] bool is_wanted(Place& place, MonotonicTime now) {
    if (now < place.not_before || now < begin_at_) return false;
    if (!place.knows_lease) {
      if (now < place.lease_asked + lease_request) return false;
      place.lease_asked = now;
      stream_.read_lease(place.index);
      return false;
    }
    if (place.state.lease_of != GatewayId{} && place.state.lease_of != own_) {
      if (now < place.lease_end) return false;
      give(place, {.kind = EventKind::lease}, now);
    }
    if (!place.free_since) place.free_since = now;
    return place.looked && now >= turn_of(place, members_, {.lease = config_.lease, .begin = begin_at_}, now);
  }

  // What a takeover would read is read before, and is in the journal.
  void follow_when_due(Place& place, MonotonicTime now) {
    if (place.state.phase == cluster::Phase::following) return;
    if (place.follows) {
      if (place.is_write_due() && !std::exchange(place.written, true)) return write(place);
      if (!is_behind(place.state)) return end_following(place, now);
    } else {
      if (now < place.follow_at || follows_ == follows_max) return;
      const bool looks = !place.looked && place.free_since;  // to own it, perhaps
      if (!looks && !members_.is_next(place.name, now)) return end_following(place, now);
      place.follows = true;
      ++follows_;
    }
    place.written = false;
    give(place, {.kind = EventKind::follow}, now);
  }

  void end_following(Place& place, MonotonicTime now) {
    if (std::exchange(place.follows, false)) --follows_;
    place.follow_at = now + follow_again + std::chrono::milliseconds{places_.size()};
  }

  void write(Place& place) {
    place.writes = true;
    const auto result = std::make_shared<Written>();
    opener_.add([&place, result] { *result = place.standby.write(place.recovered, read_utc()); },
                [this, &place, result](MonotonicTime) { on_written(place, *result); });
  }

  void on_written(Place& place, const Written& result) {
    place.writes = false;
    if (!result.error.empty()) {
      place.reads_all = result.changed;
      if (std::exchange(place.last_warning, result.error) != result.error)
        line(place, LogLevel::warning, "a takeover would take longer: " + result.error);
    }
    if (result.followed.given_up != 0) line(place, LogLevel::info, given_up_text(result.followed.given_up));
    if (result.followed.archived) line(place, LogLevel::error, result.followed.archived->text());
  }

  // The journal is compared with what was read, and opened, on the other thread.
  void on_own(Place& place) {
    struct Preparation {
      Recovered stream;
      Opened result;
    };
    const auto preparation = std::make_shared<Preparation>();
    preparation->stream = std::exchange(place.recovered, Recovered{place.settings->journal.retain_messages});
    preparation->stream.counters = place.state.counters;
    preparation->result.frames = preparation->stream.frames;
    const auto replica = std::make_shared<JournalReplica>(
        signal_, [preparation, limits = upload_limits(place.state.options)](JournalStore& journal, UtcTime now) {
          preparation->result.comparison = compare(journal, preparation->stream, now, limits);
          preparation->result.folder = journal.folder();
          preparation->result.noted = AloneNote::read(posix_disk(), journal.folder()).has_value();
          preparation->stream = Recovered{0};
        });
    place.journal.begin(replica, preparation->stream.began);
    place.alone.reset();
    place.stage = Stage::opening;
    SessionSettings settings = *place.settings;
    settings.journal.replica = replica;
    opener_.add(
        [this, &place, preparation, settings = std::move(settings)]() mutable {
          Opened& result = preparation->result;
          try {
            place.standby.close();
            result.number = engine_.add_session(std::move(settings));
          } catch (const std::exception& error) {
            result.error = error.what();
            result.changed = dynamic_cast<const JournalChanged*>(&error) != nullptr;
          }
        },
        [this, &place, preparation](MonotonicTime now) { on_opened(place, preparation->result, now); });
  }

  void on_opened(Place& place, Opened& result, MonotonicTime now) {
    place.number = result.number;
    if (!result.error.empty()) {
      if (std::exchange(place.last_error, result.error) != result.error)
        line(place, LogLevel::error, "is not served: " + result.error);
      place.journal.end();
      place.stage = Stage::none;
      place.reads_all = true;
      place.not_before = now + Duration{config_.lease};
      if (!result.changed) place.unable_until = now + turn_of_all(members_, config_.lease);
      if (place.owns()) give(place, {.kind = EventKind::retire}, now);
      return;
    }
    place.last_error.clear();
    if (!place.owns()) return leave(place, "another gateway owns the session now");
    place.stage = Stage::serving;
    owned_.fetch_add(1, std::memory_order_relaxed);
    line(place, LogLevel::info, owned_text(place.state, result, now - place.wanted_at));
    if (result.comparison.archived) line(place, LogLevel::error, result.comparison.archived->text());
    place.journal.open(std::move(result.comparison.upload));
    place.alone.open(std::move(result.folder), result.noted);
    pump(place, now);
  }

  // The end of an ownership.

  void on_stop(Place& place, const Action& action, MonotonicTime now) {
    const StopReason reason = action.reason;
    place.not_before = std::max(place.not_before, now + retry_after);
    place.knows_lease = reason != StopReason::retired && reason != StopReason::abandoned && place.knows_lease;
    if (place.stage == Stage::none) {
      if (reason == StopReason::unreadable || reason == StopReason::corrupt)
        line(place, LogLevel::error,
             "did not get an owner here: " + (place.refusal.empty() ? with_remedy(reason) : place.refusal));
      return;
    }
    place.keep(action.count);
    if (reason == StopReason::retired) return;
    if (place.journal.loses_changes(action.count))
      line(place, LogLevel::error,
           "a reset, or a change by an operator, of its sequence numbers was not stored, and has no effect any more");
    if (reason == StopReason::fenced || reason == StopReason::corrupt)
      line(place, LogLevel::warning, "no longer owned by this gateway: " + with_remedy(reason));
    place.journal.fence(to_string(reason));
    if (place.stage == Stage::serving) leave(place, to_string(reason));
  }

  // Its session goes; what it has recorded until then still goes to the stream, where this gateway owns it.
  void leave(Place& place, std::string_view text) {
    if (place.stage == Stage::serving) owned_.fetch_sub(1, std::memory_order_relaxed);
    place.stage = Stage::leaving;
    static_cast<void>(engine_.remove_session(place.number, text));
  }

  // Not by this gateway: an operator has removed it, until the next start.
  void on_removed(Place& place) {
    line(place, LogLevel::warning, "no longer owned by this gateway: its session was removed, until the next start");
    place.removed = true;
    leave(place, "removed");
  }

  void end_leaving_when_due(Place& place, MonotonicTime now) {
    if (!place.journal.closed() && !ending_) return;
    if (place.owns()) {
      if (place.state.retiring || place.journal.has_rest(place.state)) return;
      return give(place, {.kind = EventKind::retire}, now);
    }
    if (place.state.phase != cluster::Phase::idle) return;
    place.journal.end();
    place.stage = Stage::none;
  }

  // Records.

  void pump(Place& place, MonotonicTime now) {
    if (!place.is_open() || !place.owns()) return;
    const bool ends = place.journal.closed() || ending_;
    if (!place.journal.append_to(place.state, ends, [&](const Event& event) { give(place, event, now); }))
      return cut(place, "its sequence numbers went back without a reset, which a cluster does not store", now);
    place.journal.release(place.state, place.alone.continues());
    if (!ends) place.journal.look(now);
  }

  // The session ends here, and may have an owner again.
  void cut(Place& place, const std::string& why, MonotonicTime now) {
    line(place, LogLevel::error, "no longer owned by this gateway: " + why);
    place.journal.fence(why);
    give(place, {.kind = EventKind::abandon}, now);
  }

  void check_cluster(Place& place, MonotonicTime now) {
    const bool waits =
        !place.state.flight.bytes.empty() && now - place.state.flight.sent > Duration{config_.lost_after};
    if (!waits) {
      if (place.alone.end()) line(place, LogLevel::info, "the cluster answers again");
      if (place.journal.is_stored(place.state)) place.alone.forget(opener_);
      return;
    }
    const std::string duration = " for " + std::to_string(config_.lost_after.count()) + " ms";
    const std::string why = (place.refusal.empty() ? "the cluster has not answered" : "nothing was stored") + duration +
                            (place.refusal.empty() ? "" : ": " + place.refusal);
    if (config_.when_lost == WhenLost::stop) return cut(place, why, now);
    if (!place.alone.continues() && !place.alone.is_busy()) continue_alone(place, why);
  }

  void continue_alone(Place& place, const std::string& why) {
    const AloneNote note{.began = place.journal.stored_begin().last(), .counters = place.state.flight.end};
    place.alone.note(opener_, note, [this, &place, why](const std::string& error, MonotonicTime now) {
      if (place.stage == Stage::none || !place.owns()) return;
      if (!error.empty()) return cut(place, why + ", and its journal alone is not enough: " + error, now);
      place.alone.begin();
      line(place, LogLevel::error, why + ": it continues with its journal alone, as when_lost has it");
    });
  }

  void tend(Place& place, MonotonicTime now) {
    if (now >= next_deadline(place.state)) give(place, {}, now);
    pump(place, now);
    if (place.stage != Stage::none && place.owns()) check_cluster(place, now);
    const bool assigns = now >= place.assign_at;
    if (assigns) place.assign_at = now + assign_again;
    switch (place.stage) {
      case Stage::none:
        if (place.is_candidate()) return ending_ ? void() : want_or_follow(place, now);
        // Also where a lost gateway comes back; but it has lost the session to a claim.
        if (assigns && !place.claims() && members_.owner_of(place.name, now).gateway != members_.self())
          give(place, {.kind = EventKind::abandon}, now);
        return;
      case Stage::opening: return;
      case Stage::serving:
        if (place.journal.closed()) return on_removed(place);
        if (ending_ || (assigns && gives_up(place, members_, now)))
          leave(place, "the session continues on another gateway");
        return;
      case Stage::leaving: return end_leaving_when_due(place, now);
    }
  }

  // The poll threads have ended: what the journals have is stored, and the sessions are given up.
  void end() {
    ending_ = true;
    const MonotonicTime deadline = read_monotonic() + longest_end;
    for (const auto& place : places_) {
      if (place->stage == Stage::none && place->state.phase != cluster::Phase::idle)
        give(*place, {.kind = EventKind::abandon}, read_monotonic());
    }
    const auto busy = [](const auto& place) { return place->stage != Stage::none; };
    while (std::ranges::any_of(places_, busy) && read_monotonic() < deadline) {
      turn(read_monotonic());
      if (std::ranges::any_of(places_, busy))
        signal_->sleep(OwnedJournal::look_again, [this] { return answered_.load(); });
    }
    for (const auto& place : places_) {
      if (busy(place)) line(*place, LogLevel::error, "the cluster has not stored all of it: its journal has the rest");
    }
    stream_.request(index_of_member(members_.self()), {.kind = ActionKind::drop_lease});
    stream_.flush();
  }

  Engine& engine_;
  const ClusterConfig& config_;
  LineLog& lines_;
  const GatewayId own_;
  Members members_;
  NatsStream stream_;
  std::string server_ = stream_.server();
  std::shared_ptr<WakeSignal> signal_;
  std::vector<std::unique_ptr<Place>> places_;
  SessionIndex settings_index_{};
  MonotonicTime settings_at_{};
  MonotonicTime renew_at_{};
  Tries tries_;
  const MonotonicTime begin_at_ = read_monotonic() + settle_time;  // who is alive is known by then
  bool ending_ = false;
  bool name_taken_ = false;
  int follows_ = 0;
  std::atomic<bool> answered_{false}, stop_{false};
  std::atomic<std::size_t> owned_{0};
  Opener opener_;
  std::optional<HandOn> hand_on_;
  std::thread thread_;
};

std::shared_ptr<void> part_of(Engine& engine, LineLog& lines) { return make_gateway(engine, lines); }

}  // namespace
}  // namespace gateway

std::unique_ptr<Gateway> make_gateway(Engine& engine, LineLog& lines) {
  if (!engine.config().cluster.wanted()) return nullptr;
  return std::make_unique<gateway::ClusterGateway>(engine, lines);
}

void use_cluster() noexcept { set_cluster_part(gateway::part_of); }

}  // namespace nfx
