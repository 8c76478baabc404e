// The events of a run, in the order of their times.
#include "cluster_simulate/world.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <deque>
#include <memory>
#include <queue>
#include <random>
#include <ranges>
#include <vector>

#include "cluster/compaction.hpp"
#include "cluster/owner.hpp"
#include "cluster_simulate/ledger.hpp"

namespace nfx::cluster_simulate {
namespace {

using namespace std::chrono_literals;
using cluster::Action;
using cluster::ActionKind;
using cluster::Event;
using cluster::EventKind;
using cluster::GatewayId;
using cluster::OwnerState;
using cluster::Phase;
using cluster::RecordKind;
using cluster::StopReason;
using cluster::StreamSeq;

constexpr int gateways = 3, sessions = 2, servers = 3;

enum class Happening : std::uint8_t {
  request,  // arrives at a server
  answer,   // arrives at a gateway
  timer,    // an owner's timer
  traffic,  // traffic of a session
  renew,    // a lease's renewal arrives at its bucket
  expire,   // a lease that was not renewed expires
  want,
  follow,   // frames stored by another gateway
  compact,  // an operator reads a session's frames
  purge,    // the request to remove frames arrives at the leader
  restart,
  election_ends,
  trouble,
};

struct Item {
  MonotonicTime at{};
  std::uint64_t order = 0;
  Happening what{};
  int gateway = 0;
  int session = 0;
  std::uint64_t run = 0;  // of the gateway's process; for a lease, of its renewal
  ActionKind kind{};
  EventKind event{};
  std::uint64_t request = 0;
  std::uint64_t sequence = 0;
  std::uint64_t holder = 0;
  std::shared_ptr<const std::string> bytes{};
};

struct Later {
  bool operator()(const Item& a, const Item& b) const { return a.at != b.at ? a.at > b.at : a.order > b.order; }
};

struct StoredFrame {
  std::uint64_t sequence = 0;
  std::shared_ptr<const std::string> bytes;
  std::uint64_t removed_at = not_removed;  // the stream sequence of the purge that removed it
  static constexpr std::uint64_t not_removed = UINT64_MAX;
};

// Records of one owner that were appended and not yet released.
struct Appended {
  RecordKind kind{};
  std::uint64_t seq = 0;
  std::string content;
};

struct Owner {
  std::unique_ptr<OwnerState> state;
  std::deque<Appended> waiting;
  std::uint64_t released = 0;
  std::uint64_t sent_resets = 0;  // in the recovered and released records
  std::uint64_t chain = 0;
  std::uint64_t epoch = 0;  // 0: not the owner
  MonotonicTime timer = cluster::never;
};

struct Session {
  std::deque<StoredFrame> frames;
  std::uint64_t last = 0;
  Ledger ledger;
  std::uint64_t lease_holder = 0;
  std::uint64_t lease_renewal = 0;
};

struct GatewayProcess {
  std::uint64_t run = 0;
  bool alive = true;
  MonotonicTime paused_until{};
  MonotonicTime cut_until{};
  MonotonicTime misled_until{};  // until then its requests reach the previous leader
  std::array<Owner, sessions> owners;
};

struct Server {
  std::uint64_t known = 0;      // stream sequence up to which it answers
  MonotonicTime late_until{};   // until then it learns of nothing new
  MonotonicTime holes_until{};  // until then its answers omit some frames
};

class World {
 public:
  explicit World(const WorldOptions& options) : random_(options.seed), end_(start_ + hours(options.hours)) {
    for (int gateway = 0; gateway < gateways; ++gateway) start(gateway);
    for (int session = 0; session < sessions; ++session) schedule(2s, {.what = Happening::traffic, .session = session});
    schedule(20s, {.what = Happening::trouble});
    schedule(100s, {.what = Happening::compact});
  }

  WorldResult run() {
    while (result_.finding.empty() && !queue_.empty() && queue_.top().at <= end_) {
      const Item item = queue_.top();
      queue_.pop();
      now_ = std::max(now_, item.at);
      happen(item);
    }
    result_.hours = std::chrono::duration<double, std::ratio<3600>>(now_ - start_).count();
    for (const Session& session : sessions_) result_.frames += session.ledger.frames();
    return result_;
  }

 private:
  static Duration hours(double count) { return std::chrono::seconds{static_cast<std::int64_t>(count * 3600)}; }

  double unit() { return std::uniform_real_distribution<double>{0, 1}(random_); }
  bool chance(double probability) { return unit() < probability; }
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  Duration between(Duration least, Duration most) {
    return least + Duration{static_cast<std::int64_t>(unit() * static_cast<double>((most - least).count()))};
  }
  Duration about(Duration mean) {
    return Duration{static_cast<std::int64_t>(-std::log(1 - unit()) * static_cast<double>(mean.count()))};
  }
  // Network latency: mostly under a millisecond, sometimes seconds.
  Duration latency() { return chance(0.01) ? between(10ms, 8s) : between(50us, 1ms); }

  void schedule(Duration after, Item item) {
    item.at = now_ + after;
    item.order = ++order_;
    queue_.push(std::move(item));
  }

  void fail(int session, const std::string& finding) {
    if (!finding.empty() && result_.finding.empty())
      result_.finding = "session " + std::to_string(session) + ": " + finding;
  }

  void start(int gateway) {
    GatewayProcess& process = processes_[static_cast<std::size_t>(gateway)];
    process = {};
    process.run = ++runs_;
    for (int session = 0; session < sessions; ++session) {
      cluster::OwnerOptions options{.session = cluster::SessionId{static_cast<std::uint64_t>(session) + 1},
                                    .gateway = GatewayId{process.run}};
      if (session == 1) options.durability = cluster::Durability::async;
      options.frame_bytes_max = 2048;
      options.pending_bytes_max = 8192;
      options.pending_records_max = 128;
      options.async_records_max = async_most;
      options.number_block = 16;
      options.follow_frames_max = 8;
      owner(gateway, session).state = std::make_unique<OwnerState>(options);
      schedule(between(10ms, 2s),
               {.what = Happening::want, .gateway = gateway, .session = session, .run = process.run});
      follow_later(gateway, session);
    }
  }

  void follow_later(int gateway, int session) {
    schedule(about(20s), {.what = Happening::follow,
                          .gateway = gateway,
                          .session = session,
                          .run = processes_[static_cast<std::size_t>(gateway)].run});
  }

  Owner& owner(int gateway, int session) {
    return processes_[static_cast<std::size_t>(gateway)].owners[static_cast<std::size_t>(session)];
  }
  Session& session_of(int session) { return sessions_[static_cast<std::size_t>(session)]; }

  void give(int gateway, int session, const Event& event) {
    Owner& owner = this->owner(gateway, session);
    cluster::Actions actions;
    const OwnFrame own{*owner.state};
    step(*owner.state, event, now_, actions);
    owner.chain = own.chain_after_step(owner.chain, *owner.state);
    ++result_.steps;
    for (const Action& action : actions.list()) carry_out(gateway, session, action);
    const MonotonicTime deadline = next_deadline(*owner.state);
    if (deadline != cluster::never && deadline != owner.timer) {
      owner.timer = deadline;
      schedule(deadline - now_, {.what = Happening::timer,
                                 .gateway = gateway,
                                 .session = session,
                                 .run = processes_[static_cast<std::size_t>(gateway)].run});
    }
  }

  void carry_out(int gateway, int session, const Action& action) {
    Owner& owner = this->owner(gateway, session);
    const std::uint64_t run = processes_[static_cast<std::size_t>(gateway)].run;
    switch (action.kind) {
      case ActionKind::publish:
      case ActionKind::read_last:
      case ActionKind::read_next: return send_request(gateway, session, action);
      case ActionKind::recover: return recover(owner, action);
      case ActionKind::own:
        ++result_.takeovers;
        owner.epoch = std::to_underlying(owner.state->epoch);
        owner.released = 0;
        fail(session, session_of(session).ledger.owns(owner.epoch, run, owner.state->counters, owner.chain));
        owner.sent_resets = session_of(session).ledger.resets_before(owner.epoch);
        return;
      case ActionKind::release: return release(session, owner, action.count);
      case ActionKind::renew_lease:
        if (!is_cut(gateway))
          schedule(latency(), {.what = Happening::renew, .session = session, .run = 0, .holder = run});
        return;
      case ActionKind::drop_lease:
        if (!is_cut(gateway) && session_of(session).lease_holder == run) set_holder(session, 0);
        return;
      case ActionKind::stop: return stopped(gateway, session, action.reason);
    }
  }

  bool is_cut(int gateway) const { return now_ < processes_[static_cast<std::size_t>(gateway)].cut_until; }

  void send_request(int gateway, int session, const Action& action) {
    if (is_cut(gateway) || chance(0.003)) {
      ++result_.lost_messages;
      return;
    }
    const Item item{.what = Happening::request,
                    .gateway = gateway,
                    .session = session,
                    .run = processes_[static_cast<std::size_t>(gateway)].run,
                    .kind = action.kind,
                    .request = action.request,
                    .sequence = std::to_underlying(action.sequence),
                    .bytes = std::make_shared<const std::string>(action.bytes)};
    schedule(latency(), item);
    if (chance(0.003)) schedule(between(1ms, 30s), item);
  }

  void recover(Owner& owner, const Action& action) {
    cluster::FrameView frame;
    if (decode_frame(action.bytes, frame) != cluster::FrameError::none)
      return fail(0, "bytes were recovered that are not a frame");
    owner.chain = chain_after(action.first ? 0 : owner.chain, frame);
    if (owner.state->phase != Phase::replaying) ++result_.followed;
  }

  void release(int session, Owner& owner, std::uint64_t count) {
    Ledger& ledger = session_of(session).ledger;
    const bool is_async = session == 1;
    if (owner.state->phase == Phase::owning && count > owner.state->stored)
      result_.early += count - std::max(owner.state->stored, owner.released);
    fail(session, ledger.released(owner.epoch, count, is_async, is_async ? async_most : 0));
    for (; owner.released < count; ++owner.released) {
      if (owner.waiting.empty()) return fail(session, "a record was released that was not appended");
      const Appended record = std::move(owner.waiting.front());
      owner.waiting.pop_front();
      ++result_.records;
      if (record.kind == RecordKind::reset) ++owner.sent_resets;
      if (record.kind == RecordKind::outbound)
        fail(session, ledger.sent(owner.epoch, owner.sent_resets, record.seq, record.content));
    }
  }

  void stopped(int gateway, int session, StopReason reason) {
    Owner& owner = this->owner(gateway, session);
    owner.epoch = 0;
    owner.waiting.clear();
    switch (reason) {
      case StopReason::fenced: ++result_.fenced; break;
      case StopReason::lost_claim: ++result_.lost_claims; break;
      case StopReason::unreadable: ++result_.unreadable; break;
      case StopReason::retired: ++result_.retired; break;
      case StopReason::corrupt: fail(session, "an owner found frames that contradict each other"); break;
      case StopReason::none:
      case StopReason::contended:
      case StopReason::abandoned: break;
    }
    schedule(between(500ms, 5s), {.what = Happening::want,
                                  .gateway = gateway,
                                  .session = session,
                                  .run = processes_[static_cast<std::size_t>(gateway)].run});
  }

  void happen(const Item& item) {
    switch (item.what) {
      case Happening::request: return serve(item);
      case Happening::traffic: return traffic(item.session);
      case Happening::renew: return renew(item);
      case Happening::expire:
        if (session_of(item.session).lease_renewal == item.run) set_holder(item.session, 0);
        return;
      case Happening::compact: return compact();
      case Happening::purge: return purge(item);
      case Happening::election_ends: return end_election();
      case Happening::trouble: return trouble();
      case Happening::restart: return start(item.gateway);
      case Happening::answer:
      case Happening::timer:
      case Happening::want:
      case Happening::follow: break;
    }
    GatewayProcess& process = processes_[static_cast<std::size_t>(item.gateway)];
    if (!process.alive || process.run != item.run) return;
    if (now_ < process.paused_until) {
      Item later = item;
      return schedule(process.paused_until - now_, std::move(later));
    }
    if (item.what == Happening::timer) {
      Owner& owner = this->owner(item.gateway, item.session);
      if (owner.timer <= now_) owner.timer = cluster::never;
      return give(item.gateway, item.session, {});
    }
    if (item.what == Happening::want) return give(item.gateway, item.session, {.kind = EventKind::want});
    if (item.what == Happening::follow) {
      follow_later(item.gateway, item.session);
      return give(item.gateway, item.session, {.kind = EventKind::follow});
    }
    give(item.gateway, item.session,
         {.kind = item.event,
          .request = item.request,
          .sequence = StreamSeq{item.sequence},
          .bytes = item.bytes ? std::string_view{*item.bytes} : std::string_view{},
          .gateway = GatewayId{item.holder}});
  }

  // Handles a request at a server: the leader, a former leader, or for reads any server.
  void serve(const Item& item) {
    const GatewayProcess& process = processes_[static_cast<std::size_t>(item.gateway)];
    const bool is_misled = now_ < process.misled_until;
    if (item.kind == ActionKind::publish) {
      if (is_misled) return refuse_wrongly(item);
      if (now_ < no_leader_until_) return;
      return store(item);
    }
    const std::size_t at = is_misled ? former_leader_ : below(servers);
    Server& server = servers_[at];
    if (!is_misled && now_ >= server.late_until) server.known = sequence_;
    read(item, server);
  }

  // A leader that is cut off has no majority: it stores nothing, but refuses requests that contradict its old state.
  void refuse_wrongly(const Item& item) {
    if (chance(0.5)) return;
    ++result_.old_answers;
    answer(item, EventKind::refused, 0, nullptr);
  }

  void store(const Item& item) {
    Session& session = session_of(item.session);
    if (chance(0.002)) return answer(item, EventKind::failed, 0, nullptr);
    if (item.sequence != session.last) return answer(item, EventKind::refused, 0, nullptr);
    cluster::FrameView frame;
    if (decode_frame(*item.bytes, frame) != cluster::FrameError::none)
      return fail(item.session, "an owner published what is not a frame");
    session.last = ++sequence_;
    fail(item.session, session.ledger.stored(*item.bytes));
    session.frames.push_back({.sequence = session.last, .bytes = item.bytes});
    answer(item, EventKind::stored, session.last, nullptr);
  }

  // A server's frames of a session, without the last frames and purges.
  static std::ranges::subrange<std::deque<StoredFrame>::const_iterator> known_to(const Server& server,
                                                                                 const Session& session) {
    const auto& frames = session.frames;
    const auto end = std::ranges::upper_bound(frames, server.known, {}, &StoredFrame::sequence);
    return {std::ranges::upper_bound(frames.begin(), end, server.known, {}, &StoredFrame::removed_at), end};
  }

  // An operator reads a server's frames, which may be old, and determines the obsolete ones. The request to remove them
  // arrives later, twice, or not at all.
  void compact() {
    schedule(about(100s), {.what = Happening::compact});
    const int chosen = static_cast<int>(below(sessions));
    Server& server = servers_[below(servers)];
    if (now_ >= server.late_until) server.known = sequence_;
    cluster::Compaction compaction;
    for (const StoredFrame& stored : known_to(server, session_of(chosen))) {
      cluster::FrameView frame;
      if (decode_frame(*stored.bytes, frame) != cluster::FrameError::none)
        return fail(chosen, "an operator read what is not a frame");
      compaction.add(StreamSeq{stored.sequence}, frame);
    }
    if (compaction.keep_from() == StreamSeq{}) return;
    const Item item{
        .what = Happening::purge, .session = chosen, .sequence = std::to_underlying(compaction.keep_from())};
    schedule(between(1ms, 30s), item);
    if (chance(0.2)) schedule(between(1ms, 60s), item);
  }

  // A purge has a place in the order of the stream, like a frame.
  void purge(const Item& item) {
    if (now_ < no_leader_until_) return;
    Session& session = session_of(item.session);
    ++sequence_;
    std::uint64_t removed = 0, chain = 0;
    const std::string* first = nullptr;
    for (StoredFrame& stored : session.frames) {
      if (stored.removed_at != StoredFrame::not_removed) continue;
      if (stored.sequence < item.sequence) {
        stored.removed_at = sequence_;
        ++removed;
        continue;
      }
      if (first == nullptr) first = stored.bytes.get();
      cluster::FrameView frame;
      if (decode_frame(*stored.bytes, frame) == cluster::FrameError::none) chain = chain_after(chain, frame);
    }
    if (first == nullptr) session.last = 0;
    fail(item.session, session.ledger.removed(first != nullptr ? *first : std::string_view{}, chain));
    if (removed != 0) ++result_.purges;
    result_.purged += removed;
    // Frames that every server knows to be removed; a server may go back by a few.
    const std::uint64_t known = std::ranges::min(servers_, {}, &Server::known).known;
    const std::uint64_t oldest = known - std::min(known, goes_back_most);
    while (!session.frames.empty() && session.frames.front().removed_at < oldest) session.frames.pop_front();
  }

  void read(const Item& item, const Server& server) {
    const auto frames = known_to(server, session_of(item.session));
    auto end = frames.end();
    if (end != session_of(item.session).frames.end()) ++result_.old_answers;
    const bool has_holes = now_ < server.holes_until && chance(0.4);
    if (has_holes) ++result_.holes;
    if (item.kind == ActionKind::read_last) {
      if (has_holes && end != frames.begin()) --end;
      if (end == frames.begin()) return answer(item, EventKind::none, 0, nullptr);
      --end;
      return answer(item, EventKind::found, end->sequence, end->bytes);
    }
    auto found = std::ranges::upper_bound(frames.begin(), end, item.sequence, {}, &StoredFrame::sequence);
    if (has_holes) found += std::min<std::ptrdiff_t>(end - found, static_cast<std::ptrdiff_t>(1 + below(3)));
    if (found == end) return answer(item, EventKind::none, 0, nullptr);
    answer(item, EventKind::found, found->sequence, found->bytes);
  }

  void answer(const Item& to, EventKind event, std::uint64_t sequence, std::shared_ptr<const std::string> bytes) {
    if (is_cut(to.gateway) || chance(0.003)) {
      ++result_.lost_messages;
      return;
    }
    const Item item{.what = Happening::answer,
                    .gateway = to.gateway,
                    .session = to.session,
                    .run = to.run,
                    .event = event,
                    .request = to.request,
                    .sequence = sequence,
                    .bytes = std::move(bytes)};
    schedule(latency(), item);
    if (chance(0.003)) schedule(between(1ms, 30s), item);
  }

  void renew(const Item& item) {
    Session& session = session_of(item.session);
    if (session.lease_holder != 0 && session.lease_holder != item.holder && chance(0.5)) return;
    ++session.lease_renewal;
    schedule(5s, {.what = Happening::expire, .session = item.session, .run = session.lease_renewal});
    set_holder(item.session, item.holder);
  }

  void set_holder(int session, std::uint64_t holder) {
    session_of(session).lease_holder = holder;
    for (int gateway = 0; gateway < gateways; ++gateway) {
      if (is_cut(gateway) || chance(0.01)) continue;
      schedule(latency(), {.what = Happening::answer,
                           .gateway = gateway,
                           .session = session,
                           .run = processes_[static_cast<std::size_t>(gateway)].run,
                           .event = EventKind::lease,
                           .holder = holder});
    }
  }

  // Every gateway that considers itself the owner works, possibly two at a time.
  void traffic(int session) {
    schedule(about(4s), {.what = Happening::traffic, .session = session});
    for (int gateway = 0; gateway < gateways; ++gateway) {
      GatewayProcess& process = processes_[static_cast<std::size_t>(gateway)];
      if (!process.alive || now_ < process.paused_until || owner(gateway, session).epoch == 0) continue;
      if (chance(0.01)) {
        append(gateway, session, RecordKind::reset);
        append(gateway, session, RecordKind::outbound);  // a Logon
      } else if (chance(0.002)) {
        give(gateway, session, {.kind = EventKind::retire});
      } else {
        for (std::uint64_t count = chance(0.05) ? 1 + below(60) : 1; count > 0; --count) {
          append(gateway, session, RecordKind::inbound);
          append(gateway, session, RecordKind::outbound);
        }
      }
    }
  }

  void append(int gateway, int session, RecordKind kind) {
    Owner& owner = this->owner(gateway, session);
    OwnerState& state = *owner.state;
    if (owner.epoch == 0) return;
    std::string content;
    if (kind != RecordKind::reset) content = std::to_string(owner.epoch) + "." + std::to_string(++contents_);
    if (!has_space(state, kind, content.size())) return;
    const bool is_reset = kind == RecordKind::reset;
    const SeqNum seq = is_reset                      ? SeqNum{}
                       : kind == RecordKind::inbound ? state.counters.inbound
                                                     : state.counters.outbound;
    owner.waiting.push_back({kind, value(seq), content});
    give(gateway, session, {.kind = EventKind::append, .record = {kind, seq, owner.waiting.back().content}});
  }

  void trouble() {
    schedule(about(25s), {.what = Happening::trouble});
    const int gateway = static_cast<int>(below(gateways));
    GatewayProcess& process = processes_[static_cast<std::size_t>(gateway)];
    Server& server = servers_[below(servers)];
    switch (below(7)) {
      case 0:
        if (!process.alive) return;
        ++result_.kills;
        process.alive = false;
        return schedule(between(100ms, 20s), {.what = Happening::restart, .gateway = gateway});
      case 1:
        ++result_.pauses;
        process.paused_until = now_ + between(100ms, 30s);
        return;
      case 2:
        ++result_.cuts;
        process.cut_until = now_ + between(100ms, 40s);
        return;
      case 3: return begin_election();
      case 4: server.late_until = now_ + between(1s, 15s); return;
      case 5: server.holes_until = now_ + between(1s, 20s); return;
      default:
        process.misled_until = now_ + between(1s, 10s);
        servers_[former_leader_].known = sequence_ - std::min(sequence_, below(goes_back_most));
        return;
    }
  }

  void begin_election() {
    if (now_ < no_leader_until_) return;
    ++result_.elections;
    const Duration length = between(4s, 9s);
    no_leader_until_ = now_ + length;
    former_leader_ = leader_;
    servers_[former_leader_].known = sequence_;
    servers_[former_leader_].late_until = now_ + between(5s, 12s);
    // Some gateways reach the old leader until it notices that it is cut off.
    for (GatewayProcess& process : processes_)
      if (chance(0.4)) process.misled_until = now_ + between(1s, 10s);
    schedule(length, {.what = Happening::election_ends});
  }

  void end_election() { leader_ = (leader_ + 1 + below(servers - 1)) % servers; }

  static constexpr std::uint32_t async_most = 24;
  static constexpr std::uint64_t goes_back_most = 6;  // number of stored messages
  static constexpr MonotonicTime start_{std::chrono::hours{1}};

  std::mt19937_64 random_;
  MonotonicTime now_ = start_;
  MonotonicTime end_;
  std::priority_queue<Item, std::vector<Item>, Later> queue_;
  std::uint64_t order_ = 0, runs_ = 0, contents_ = 0;
  std::uint64_t sequence_ = 0;  // of the stream
  std::array<GatewayProcess, gateways> processes_;
  std::array<Session, sessions> sessions_;
  std::array<Server, servers> servers_;
  std::size_t leader_ = 0, former_leader_ = 0;
  MonotonicTime no_leader_until_{};
  WorldResult result_;
};

}  // namespace

WorldResult run_world(const WorldOptions& options) { return World{options}.run(); }

}  // namespace nfx::cluster_simulate
