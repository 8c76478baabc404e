// Two engines, one order and its report at a time: a program's view of a transport, with a real store. A journal is
// synced every 10 ms by the engine's own flusher; the end of the run checks that it holds every message. To add a
// condition, add a call of add().
#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "store/journal_store.hpp"
#include "transport/order_sides.hpp"
#include "transport/ping_pong.hpp"

namespace nfx::bench {

namespace {

using namespace std::chrono_literals;

struct EngineChoice {
  TransportKind transport = TransportKind::epoll;
  IoUringOptions io_uring;
  StoreKind store = StoreKind::journal;
  bool tls = false;
  IdleMode idle = IdleMode::block;
};

EngineConfig config_of(const PingPong& plan, const EngineChoice& choice, Role role, Endpoint endpoint) {
  const bool venue = role == Role::acceptor;
  EngineConfig config;
  config.idle = choice.idle;
  config.transport = choice.transport;
  config.io_uring = choice.io_uring;
  SessionSettings settings;
  settings.session.role = role;
  settings.session.sender_comp_id = venue ? "VENUE" : "TRADER";
  settings.session.target_comp_id = venue ? "TRADER" : "VENUE";
  settings.prefault = true;
  settings.store_kind = choice.store;
  settings.journal.directory = plan.folder / (venue ? "venue" : "trader");
  settings.journal.durability = Durability::interval;
  settings.journal.sync_interval = 10ms;
  settings.journal.segment_size = 16 * 1024 * 1024;  // created quickly, before the first order
  settings.journal.archive = Archive::remove;
  settings.tls_enabled = choice.tls;
  if (choice.tls) settings.tls = venue ? encryption().server : encryption().client;
  if (plan.dictionary) {
    static const auto dictionary =
        std::make_shared<const Dictionary>(load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX44.xml"));
    settings.dictionary = dictionary;
  }
  (venue ? settings.listen : settings.connect.emplace_back()) = std::move(endpoint);
  config.sessions = {settings};
  return config;
}

// An engine whose helper threads run on other cores than the two sides, if the machine has enough.
class PlacedEngine {
 public:
  PlacedEngine(EngineConfig config, const PingPong& plan, unsigned own_core, Callbacks program) {
    // A thread inherits its creator's CPU mask.
    const AffinityResult moved = CpuAffinity::set(plan.helper_cores);
    engine_.emplace(std::move(config), std::move(program));
    if (!moved) throw std::runtime_error(moved.message());
    run_on_core(own_core);
    engine_->start();
    // The second segment is created before the measurement, as it would be overnight.
    const JournalStore* journal = engine_->session(0)->journal();
    while (journal != nullptr && !journal->accepts(1)) std::this_thread::yield();
  }
  Engine* operator->() noexcept { return &*engine_; }

  // Throws WrongAnswerError if the journal lacks a message, or if the flusher does not sync it. A short run may end
  // before the flusher's first interval, so this waits for it.
  void check_journal(std::uint64_t messages) {
    const JournalStore* journal = engine_->session(0)->journal();
    if (journal == nullptr) return;
    // The Logon has the first number.
    const SeqNum last{messages + 1};
    if (value(journal->last_kept()) < messages + 1 || !journal->read(SeqNum{2}) || !journal->read(last))
      throw WrongAnswerError("the journal does not hold every message");
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (journal->counters().syncs == 0) {
      if (std::chrono::steady_clock::now() > deadline) throw WrongAnswerError("the journal was never synced");
      std::this_thread::yield();
    }
  }

 private:
  std::optional<Engine> engine_;
};

LatencyHistogram run_engines(const PingPong& plan, const EngineChoice& choice) {
  const std::uint64_t orders = std::uint64_t{plan.warm_up} + plan.measured;
  OrderTrader trader{request_size, plan.seed, plan.warm_up, plan.measured};
  OrderVenue venue{answer_size, plan.seed};
  std::atomic<bool> trader_gone{false};
  LatencyHistogram times = run_both(
      plan,
      [&](const auto& report_port) {
        PlacedEngine engine{config_of(plan, choice, Role::acceptor, {"127.0.0.1", 0}), plan, plan.server_core, venue};
        report_port(engine->local_endpoint(0)->port);
        while (!venue.ended && !trader_gone.load(std::memory_order_relaxed)) engine->turn(50ms);
        if (!venue.problem.empty()) throw WrongAnswerError(venue.problem);
        if (venue.answered() == orders) engine.check_journal(orders);
      },
      [&](std::uint16_t port) {
        PlacedEngine engine{config_of(plan, choice, Role::initiator, {"127.0.0.1", port}), plan, plan.client_core,
                            trader};
        constexpr int turns_between_looks = 1024;  // iterations between two reads of the clock
        const auto deadline = std::chrono::steady_clock::now() + 120s;
        for (int turns = 1; !trader.ended; ++turns) {
          engine->turn(50ms);
          if (turns % turns_between_looks == 0 && std::chrono::steady_clock::now() > deadline) break;
        }
        if (trader.answered() != orders || !trader.problem.empty()) {
          trader_gone.store(true);
          throw WrongAnswerError(trader.problem.empty() ? "the session ended before all orders were answered"
                                                        : trader.problem);
        }
        engine.check_journal(orders);
        return trader.round_trip;
      });
  std::error_code ignored;
  for (const char* side : {"venue", "trader"}) std::filesystem::remove_all(plan.folder / side, ignored);
  return times;
}

void add(std::vector<Condition>& rows, const std::string& name, EngineChoice choice, const std::string& why_not = "",
         const std::string& why_not_spin = "") {
  for (const IdleMode idle : {IdleMode::block, IdleMode::spin}) {
    choice.idle = idle;
    const bool spin = idle == IdleMode::spin;
    rows.push_back({.name = "engine, " + name + (choice.store == StoreKind::journal ? ", journal " : ", memory ") +
                            std::string(to_string(idle)),
                    .baseline = "raw " + std::string(to_string(idle)),
                    .why_not = why_not.empty() && spin ? why_not_spin : why_not,
                    .run = [=](const PingPong& plan) { return run_engines(plan, choice); },
                    .has_target = true});
  }
}

}  // namespace

void add_engine_rows(std::vector<Condition>& rows) {
  EngineChoice choice;
  choice.store = StoreKind::memory;
  add(rows, "epoll", choice);
  choice = {};
  add(rows, "epoll", choice);
  choice.tls = true;
  add(rows, "epoll, TLS 1.3", choice);
  choice = {};
  choice.transport = TransportKind::io_uring;
  for (const RingChoice& ring : ring_choices()) {
    choice.io_uring = ring.options;
    if (ring.in_engine) add(rows, ring.name, choice, ring.why_not, ring.why_not_spin);
  }
}

}  // namespace nfx::bench
