// The thread that owns sessions: it carries out what their owners' steps request, and adds and removes their sessions.
#include "nexusfix/gateway/gateway.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clocks.hpp"
#include "gateway/hand_on.hpp"
#include "gateway/journal_jobs.hpp"
#include "gateway/ownership.hpp"
#include "gateway/replicated_session.hpp"
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
constexpr int polls_max = 128;
constexpr Duration follow_again{std::chrono::seconds{1}};  // and 1 ms more for each session
constexpr int follows_max = 4;                             // at a time
constexpr Duration settings_again{std::chrono::seconds{1}};
constexpr Duration settle_time{std::chrono::milliseconds{500}};
constexpr int decisions_max = 8;                          // of a session in one turn
constexpr Duration longest_end{std::chrono::seconds{5}};  // of the end of the gateway

GatewayId random_id() {
  std::random_device random;
  for (;;) {
    const std::uint64_t id = std::uint64_t{random()} << 32 | random();
    if (id != 0) return GatewayId{id};
  }
}

void require_lease(const ClusterConfig& config, Duration lease) {
  if (lease == Duration{config.lease}) return;
  const auto seconds = std::to_string(std::chrono::duration_cast<std::chrono::seconds>(lease).count());
  throw ConfigError("[cluster] lease_s: the streams of " + config.stream + " were made with a lease of " + seconds +
                    " seconds: write lease_s = " + seconds);
}

// The machine's servers may start at the same time, or be in the middle of an election: that is waited for.
template <class Warns>
nats::NatsStream connect(const ClusterConfig& config, Warns&& warns) {
  constexpr std::chrono::milliseconds pause{250};
  std::string servers;
  for (const std::string& server : config.servers) servers += (servers.empty() ? "" : ",") + server;
  const nats::NatsOptions options{.url = servers,
                                  .credentials = config.credentials,
                                  .certificate_authority = config.certificate_authority,
                                  .stream = config.stream};
  if (const std::string plain = nats::plain_servers(options); !plain.empty())
    warns("without TLS to " + plain +
          ": others on the network can read and change the messages; write tls:// before the addresses and name ca");
  bool waited = false;
  for (const MonotonicTime end = read_monotonic() + std::chrono::seconds{20};;) {
    try {
      nats::NatsStream stream{options};
      require_lease(config, stream.lease());
      return stream;
    } catch (const nats::NatsTimeout& failure) {
      if (read_monotonic() + pause >= end) throw;
      if (!std::exchange(waited, true)) warns(failure.what() + std::string{": it is tried again for 20 seconds"});
    }
    std::this_thread::sleep_for(pause);
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
        rules_{.lease = config_.lease, .when_lost = config_.when_lost, .lost_after = config_.lost_after},
        stream_(connect(config_, [this](const std::string& text) { line(LogLevel::warning, text); })),
        signal_(std::make_shared<WakeSignal>()),
        jobs_([this] { signal_->notify(); },
              [&engine](std::string_view name, const std::function<void()>& work) {
                engine.run_on_housekeeping(name, work);
              }) {
    for (const SessionSettings& settings : engine.config().sessions) {
      if (!settings.is_replicated()) continue;
      if (settings.store_kind != StoreKind::journal)
        throw ConfigError(identity(settings.session) + ": durability: a replicated session has a journal too: set " +
                          "store_kind, or load the configuration with load_program_config()");
      sessions_.push_back(std::make_unique<ReplicatedSession>(settings, owner_options(config_, settings, own_)));
      sessions_.back()->index = stream_.add_session(sessions_.back()->known.name, own_);
    }
    rules_.begin = read_monotonic() + settle_time;  // the live gateways are known after this time
    rules_.follow_again = follow_again + std::chrono::milliseconds{sessions_.size()};
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
  void line(const ReplicatedSession& session, LogLevel level, const std::string& text) {
    lines_.line({.time = read_utc(), .level = level, .what = "cluster", .session = session.id, .text = text});
    lines_.flush();
  }
  void line(LogLevel level, const std::string& text) {
    lines_.line({.time = read_utc(), .level = level, .what = "cluster", .text = text});
    lines_.flush();
  }

  // The thread.

  void run() {
    for (std::size_t i = 0; i < members_.size(); ++i) stream_.read_lease(index_of_member(i));
    if (hand_on_) std::ranges::for_each(sessions_, [this](const auto& session) { stream_.read_lease(session->index); });
    while (!stop_.load(std::memory_order_acquire)) {
      turn(read_monotonic());
      if (!answered_.load(std::memory_order_acquire)) sleep();
    }
    end();
  }

  void turn(MonotonicTime now) {
    // The answer to a replay's request has often arrived already: it is taken at once, and other sessions wait for no
    // more than that.
    for (int i = 0; i < polls_max; ++i) {
      answered_.store(false, std::memory_order_release);
      stream_.poll([&](SessionIndex index, const Event& event) { on_answer(index, event, now); });
      if (!answered_.load(std::memory_order_acquire)) break;
    }
    jobs_.run_ends(now);
    if (hand_on_) hand_on_->serve([this](const std::string& session) { return owner_now(session); });
    if (now >= renew_at_) {
      renew_at_ = now + Duration{config_.lease} / 3;
      stream_.request(index_of_member(members_.self()), {.kind = ActionKind::renew_lease});
    }
    if (now >= settings_at_) {
      settings_at_ = now + settings_again;
      stream_.request(settings_index_, {.kind = ActionKind::read_last});
    }
    for (const auto& session : sessions_) tend(*session, now);
    tend_server(now);
  }

  // A server that has lost the others still answers pings, refuses publishes, and returns old frames.
  void tend_server(MonotonicTime now) {
    if (server_ != stream_.server()) {
      server_ = stream_.server();
      line(LogLevel::warning, "now connected to " + server_ + " of the cluster");
      stream_.request_reach();
      // Requests to the previous server get no answer.
      for (const auto& session : sessions_)
        if (session->owner.request != 0)
          give(*session, {.kind = EventKind::failed, .request = session->owner.request}, now);
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
    for (const auto& session : sessions_) {
      if (session->is_open()) longest = std::min(longest, OwnedJournal::look_again);
      const MonotonicTime next = std::min(next_deadline(session->owner), session->decision.until);
      longest = std::min(longest, std::max(Duration::zero(), Duration{next - now}));
    }
    signal_->sleep(longest, [this] {
      return answered_.load(std::memory_order_acquire) || stop_.load(std::memory_order_acquire) || jobs_.has_ends() ||
             (hand_on_ && hand_on_->waiting()) ||
             std::ranges::any_of(sessions_, [](const auto& session) { return session->has_records(); });
    });
  }

  // By the last lease that was read.
  [[nodiscard]] std::string owner_now(const std::string& name) const {
    const auto session = std::ranges::find(sessions_, name, [](const auto& each) { return each->known.name; });
    if (session == sessions_.end()) return {};
    return (*session)->owns() ? config_.gateway : members_.name_of((*session)->owner.lease_of);
  }

  [[nodiscard]] SessionIndex index_of_member(std::size_t member) const noexcept {
    return SessionIndex{static_cast<std::uint32_t>(sessions_.size() + member)};
  }

  void on_answer(SessionIndex at, const Event& event, MonotonicTime now) {
    const auto index = static_cast<std::size_t>(std::to_underlying(at));
    if (event.kind == EventKind::stored) tries_.note_success();
    if (index < sessions_.size()) {
      ReplicatedSession& session = *sessions_[index];
      if (event.kind == EventKind::stored) session.refusal.clear();
      if (event.kind == EventKind::failed && !event.bytes.empty()) note_refusal(session, event.bytes);
      if (event.kind == EventKind::lease) note_lease(session.known, event.gateway, members_, rules_, now);
      if (session.owner.phase == cluster::Phase::following && event.request == session.owner.request) {
        session.known.looked = true;
        session.known.found_nothing = event.kind == EventKind::none;
      }
      return give(session, event, now);
    }
    if (at == settings_index_) {
      if (event.kind == EventKind::found) members_.set(parse_settings(event.bytes));
      return;
    }
    if (event.kind != EventKind::lease || members_.on_lease(index - sessions_.size(), event.gateway, now)) return;
    if (!std::exchange(name_taken_, true))
      line(LogLevel::error,
           "another process runs as gateway " + config_.gateway + ": names in [cluster] gateways must be unique");
  }

  void note_refusal(ReplicatedSession& session, std::string_view description) {
    if (is_full(description)) tries_.note_success();  // it is not the server
    std::string text = refusal_text(description);
    if (session.refusal == text) return;
    session.refusal = std::move(text);
    line(session, LogLevel::error, session.refusal);
  }

  // A step of the owner, and what it requests.
  void give(ReplicatedSession& session, const Event& event, MonotonicTime now) {
    Actions actions;
    const std::uint64_t stored = session.owner.stored;
    step(session.owner, event, now, actions);
    if (session.owner.stored > stored) tries_.note_success();  // also where that was found out by a read
    for (const Action& action : actions.list()) {
      switch (action.kind) {
        case ActionKind::publish:
        case ActionKind::read_last:
        case ActionKind::read_next:
          if (session.owner.phase != cluster::Phase::following) tries_.note_try(now);
          [[fallthrough]];
        case ActionKind::renew_lease:
        case ActionKind::drop_lease: stream_.request(session.index, action); break;
        case ActionKind::recover:
          tries_.note_success();
          session.recover(action);
          break;
        case ActionKind::own: on_own(session); break;
        case ActionKind::release: break;  // pump() reads owner.released
        case ActionKind::stop: on_stop(session, action, now); break;
      }
    }
  }

  // Carries out what is to be done for the session now.
  void tend(ReplicatedSession& session, MonotonicTime now) {
    if (now >= next_deadline(session.owner)) give(session, {}, now);
    pump(session, now);
    for (int i = 0; i < decisions_max; ++i) {
      OwnershipFacts facts = session.facts();
      facts.may_follow = follows_ < follows_max;
      facts.gateway_ends = ending_;
      const int followed = session.known.follows ? 1 : 0;
      session.decision = decide(session.known, facts, members_, rules_, now);
      follows_ += (session.known.follows ? 1 : 0) - followed;
      if (session.decision.act == Act::wait) return;
      carry_out(session, session.decision.act, now);
    }
  }

  void carry_out(ReplicatedSession& session, Act act, MonotonicTime now) {
    switch (act) {
      case Act::wait: return;
      case Act::read_again:
        give(session, {.kind = EventKind::forget}, now);
        session.recovered = Recovered{session.settings->journal.retain_messages};
        return;
      case Act::ask_for_lease: return stream_.read_lease(session.index);
      case Act::end_lease: return give(session, {.kind = EventKind::lease}, now);
      case Act::own:
        session.recovered.frames = 0;
        session.wanted_at = now;
        return give(session, {.kind = EventKind::want}, now);
      case Act::follow: return give(session, {.kind = EventKind::follow}, now);
      case Act::write: return write(session);
      case Act::abandon: return give(session, {.kind = EventKind::abandon}, now);
      case Act::cut: return cut(session, lost_text(session), now);
      case Act::write_note: return write_note(session);
      case Act::continue_alone:
        return line(session, LogLevel::error,
                    lost_text(session) + ": it continues with its journal alone (when_lost = \"continue\")");
      case Act::continue_with_cluster: return line(session, LogLevel::info, "the cluster answers again");
      case Act::remove_note:
        return jobs_.add([&session] { AloneNote::remove(posix_disk(), session.folder); },
                         [&session](MonotonicTime) { session.known.note = NoteState::none; });
      case Act::end_removed:
        line(session, LogLevel::warning,
             "no longer owned by this gateway: its session was removed, until the next start");
        return leave(session, "removed");
      case Act::give_up: return leave(session, "the session continues on another gateway");
      case Act::retire: return give(session, {.kind = EventKind::retire}, now);
      case Act::close:
        session.journal.end();
        session.known.stage = Stage::none;
        return;
    }
  }

  void write(ReplicatedSession& session) {
    session.writes = true;
    const auto result = std::make_shared<FollowersJournal::Written>();
    jobs_.add([&session, result] { *result = session.standby.write(session.recovered, read_utc()); },
              [this, &session, result](MonotonicTime) { on_written(session, *result); });
  }

  void on_written(ReplicatedSession& session, const FollowersJournal::Written& result) {
    session.writes = false;
    if (!result.error.empty()) {
      session.known.reads_all = result.changed;
      if (std::exchange(session.last_warning, result.error) != result.error)
        line(session, LogLevel::warning, "a takeover would take longer: " + result.error);
    }
    if (result.followed.given_up != 0) line(session, LogLevel::info, given_up_text(result.followed.given_up));
    if (result.followed.archived) line(session, LogLevel::error, result.followed.archived->text());
  }

  // The journal is compared with what was read, and opened, on the other thread.
  void on_own(ReplicatedSession& session) {
    struct Preparation {
      Recovered stream;
      Opened result;
    };
    const auto preparation = std::make_shared<Preparation>();
    preparation->stream = std::exchange(session.recovered, Recovered{session.settings->journal.retain_messages});
    preparation->stream.counters = session.owner.counters;
    preparation->result.frames = preparation->stream.frames;
    const auto replica = std::make_shared<JournalReplica>(
        signal_, [preparation, limits = upload_limits(session.owner.options)](JournalStore& journal, UtcTime now) {
          preparation->result.comparison = compare(journal, preparation->stream, now, limits);
          preparation->result.folder = journal.folder();
          preparation->result.noted = AloneNote::read(posix_disk(), journal.folder()).has_value();
          preparation->stream = Recovered{0};
        });
    session.journal.begin(replica, preparation->stream.began);
    session.known.note = NoteState::none;
    session.known.alone = false;
    session.known.stage = Stage::opening;
    SessionSettings settings = *session.settings;
    settings.journal.replica = replica;
    jobs_.add(
        [this, &session, preparation, settings = std::move(settings)]() mutable {
          Opened& result = preparation->result;
          try {
            session.standby.close();
            result.number = engine_.add_session(std::move(settings));
          } catch (const std::exception& error) {
            result.error = error.what();
            result.changed = dynamic_cast<const JournalChanged*>(&error) != nullptr;
          }
        },
        [this, &session, preparation](MonotonicTime now) { on_opened(session, preparation->result, now); });
  }

  void on_opened(ReplicatedSession& session, Opened& result, MonotonicTime now) {
    session.number = result.number;
    if (!result.error.empty()) {
      if (std::exchange(session.last_error, result.error) != result.error)
        line(session, LogLevel::error, "is not served: " + result.error);
      session.journal.end();
      session.known.stage = Stage::none;
      note_not_opened(session.known, result.changed, members_, rules_, now);
      if (session.owns()) give(session, {.kind = EventKind::retire}, now);
      return;
    }
    session.last_error.clear();
    if (!session.owns()) return leave(session, "another gateway owns the session now");
    session.known.stage = Stage::serving;
    owned_.fetch_add(1, std::memory_order_relaxed);
    line(session, LogLevel::info, owned_text(session.owner, result, now - session.wanted_at));
    if (result.comparison.archived) line(session, LogLevel::error, result.comparison.archived->text());
    session.journal.open(std::move(result.comparison.upload));
    session.folder = std::move(result.folder);
    if (result.noted) session.known.note = NoteState::kept;
    pump(session, now);
  }

  // The end of an ownership.

  void on_stop(ReplicatedSession& session, const Action& action, MonotonicTime now) {
    const StopReason reason = action.reason;
    note_stop(session.known, reason, now);
    if (session.known.stage == Stage::none) {
      if (reason == StopReason::unreadable || reason == StopReason::corrupt)
        line(session, LogLevel::error,
             "cannot be owned by this gateway: " + (session.refusal.empty() ? with_remedy(reason) : session.refusal));
      return;
    }
    session.keep(action.count);
    if (reason == StopReason::retired) return;
    if (session.journal.loses_changes(action.count))
      line(session, LogLevel::error,
           "a reset, or a change by an operator, of its sequence numbers was not stored and is lost");
    if (reason == StopReason::fenced || reason == StopReason::corrupt)
      line(session, LogLevel::warning, "no longer owned by this gateway: " + with_remedy(reason));
    session.journal.fence(to_string(reason));
    if (session.known.stage == Stage::serving) leave(session, to_string(reason));
  }

  // Its session goes; what it has recorded until then still goes to the stream, where this gateway owns it.
  void leave(ReplicatedSession& session, std::string_view text) {
    if (session.known.stage == Stage::serving) owned_.fetch_sub(1, std::memory_order_relaxed);
    session.known.stage = Stage::leaving;
    static_cast<void>(engine_.remove_session(session.number, text));
  }

  // Records.

  void pump(ReplicatedSession& session, MonotonicTime now) {
    if (!session.is_open() || !session.owns()) return;
    const bool ends = session.journal.closed() || ending_;
    if (!session.journal.append_to(session.owner, ends, [&](const Event& event) { give(session, event, now); }))
      return cut(session, "its sequence numbers went back without a reset, which a cluster does not store", now);
    session.journal.release(session.owner, session.known.alone);
    if (!ends) session.journal.look(now);
  }

  // The session ends here, and may have an owner again.
  void cut(ReplicatedSession& session, const std::string& why, MonotonicTime now) {
    line(session, LogLevel::error, "no longer owned by this gateway: " + why);
    session.journal.fence(why);
    give(session, {.kind = EventKind::abandon}, now);
  }

  // Why a session is cut, or continues alone.
  [[nodiscard]] std::string lost_text(const ReplicatedSession& session) const {
    const bool refused = !session.refusal.empty();
    return (refused ? "nothing was stored" : "the cluster has not answered") + std::string{" for "} +
           std::to_string(config_.lost_after.count()) + " ms" + (refused ? ": " + session.refusal : "") +
           session.note_error;
  }

  void write_note(ReplicatedSession& session) {
    const AloneNote note{.began = session.journal.stored_begin().last(), .counters = session.owner.flight.end};
    session.note_error.clear();
    jobs_.add(
        [&session, note] {
          try {
            AloneNote::write(posix_disk(), session.folder, note);
          } catch (const std::exception& failure) {
            session.note_error = ", and its journal alone is not enough: " + std::string{failure.what()};
          }
        },
        [&session](MonotonicTime) {
          session.known.note = session.note_error.empty() ? NoteState::written : NoteState::failed;
        });
  }

  // The poll threads have ended: what the journals have is stored, and the sessions are given up.
  void end() {
    ending_ = true;
    const MonotonicTime deadline = read_monotonic() + longest_end;
    for (const auto& session : sessions_) {
      if (session->known.stage == Stage::none && session->owner.phase != cluster::Phase::idle)
        give(*session, {.kind = EventKind::abandon}, read_monotonic());
    }
    const auto busy = [](const auto& session) { return session->known.stage != Stage::none; };
    while (std::ranges::any_of(sessions_, busy) && read_monotonic() < deadline) {
      turn(read_monotonic());
      if (std::ranges::any_of(sessions_, busy))
        signal_->sleep(OwnedJournal::look_again, [this] { return answered_.load(); });
    }
    for (const auto& session : sessions_) {
      if (busy(session))
        line(*session, LogLevel::error, "the cluster has not stored all of it: its journal has the rest");
    }
    stream_.request(index_of_member(members_.self()), {.kind = ActionKind::drop_lease});
    stream_.flush();
  }

  Engine& engine_;
  const ClusterConfig& config_;
  LineLog& lines_;
  const GatewayId own_;
  Members members_;
  OwnershipRules rules_;
  NatsStream stream_;
  std::string server_ = stream_.server();
  std::shared_ptr<WakeSignal> signal_;
  std::vector<std::unique_ptr<ReplicatedSession>> sessions_;
  SessionIndex settings_index_{};
  MonotonicTime settings_at_{};
  MonotonicTime renew_at_{};
  ServerTries tries_;
  bool ending_ = false;
  bool name_taken_ = false;
  int follows_ = 0;
  std::atomic<bool> answered_{false}, stop_{false};
  std::atomic<std::size_t> owned_{0};
  JournalJobs jobs_;
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
