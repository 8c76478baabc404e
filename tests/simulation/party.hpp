// One side of the simulated world: a machine with its clock, a process with its engine, and the application.
// Thread: one owner. Everything is driven from outside; nothing here reads a clock or waits.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/poll_loop.hpp"
#include "engine/session_stores.hpp"
#include "nexusfix/engine/observer.hpp"
#include "simulation/holdings.hpp"
#include "simulation/ledger.hpp"
#include "simulation/plan.hpp"
#include "simulation/process_transport.hpp"
#include "simulation/world_disk.hpp"
#include "store/memory_disk.hpp"

namespace nfx::simulation {

// Where in an iteration a process can be killed, besides between two iterations.
enum class Moment : std::uint8_t {
  none,
  made_message,   // it is in the store and was not sent
  takes_message,  // the application is about to see it
  took_message,   // the application has seen it, the store does not know
  logged_on,
};

// A deliberate defect, to prove that it is detected.
enum class Defect : std::uint8_t {
  none,
  delivers_twice,    // the application gets it twice
  resends_nothing,   // gap fills instead of stored messages
  forgets_a_number,  // the store of the next process has lost its last counter record
  hoards,            // the process keeps a buffer for each message for ever
  leaves_memory,     // ... and one when it ends
  changes_nothing,   // a session is not changed, although the answer says so
  adds_disabled,     // an added session accepts no connection
};

class Party final : public Application, public Observer, public SessionStores {
 public:
  using Loop = PollLoop<ProcessTransport, ManualClock>;

  Party(Side side, const Plan& plan, LoopbackNetwork& network, Trace& trace, Ledger& ledger, Instant now);
  ~Party();
  Party(const Party&) = delete;
  Party& operator=(const Party&) = delete;

  void set_time(MonotonicTime now) noexcept;
  void set_utc_offset(Duration offset);
  [[nodiscard]] Duration utc_offset() const noexcept { return utc_offset_; }
  [[nodiscard]] const ManualClock& clock() const noexcept { return clock_; }

  // The process. turn() returns the number of events.
  void start(const FaultOptions& faults);
  [[nodiscard]] bool running() const noexcept { return loop_ != nullptr; }
  [[nodiscard]] bool crashed() const noexcept { return end_ == End::crashed; }  // and has not started again
  std::size_t turn();
  [[nodiscard]] MonotonicTime next_event() const;
  void kill(End end, std::uint64_t seed = 0);        // between two iterations
  void kill_at(Moment moment) { moment_ = moment; }  // in the next iteration that reaches this moment
  void stop_in_order();                              // logs out; the process ends afterwards
  // True if an iteration ended with the process killed: the owner decides when it restarts.
  [[nodiscard]] bool died() const noexcept { return died_; }

  // An operator's command, in the next iteration; `judge` receives the sequence numbers before it and its outcome.
  using Judge = std::function<void(NextNumbers before, const CommandOutcome&)>;
  void operate(SessionCommand command, Judge judge);
  // ... removes the session: it logs out, and the process forgets it.
  void remove_session();
  // The number of commands that have changed something.
  [[nodiscard]] std::uint64_t commands_done() const noexcept { return commands_done_; }
  [[nodiscard]] bool has_session() const noexcept { return session() != nullptr; }
  // The settings of the last existing session.
  [[nodiscard]] const SessionSettings& settings() const noexcept { return settings_; }
  // The configuration of the next process.
  [[nodiscard]] ConfigFile& file() noexcept { return file_; }

  // For the control plane of the running process.
  [[nodiscard]] Loop& loop() noexcept { return *loop_; }
  [[nodiscard]] const EngineConfig& config() const noexcept { return config_; }  // the configuration it started with
  [[nodiscard]] std::uint64_t process() const noexcept { return process_; }      // its number
  [[nodiscard]] bool stopping() const noexcept { return stopping_; }
  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  [[nodiscard]] std::size_t numbers_used() const noexcept { return numbers_used_; }  // all numbers are below it
  [[nodiscard]] bool is_own(std::string_view name) const noexcept { return name == name_; }
  void add_session(const SessionSettings& settings, AddedSession as);  // throws like PollLoop::add()
  void changed_to(const SessionSettings& settings) { settings_ = settings; }

  // An operator has reset the sequence numbers at this time.
  void allow_reset(bool may) noexcept { reset_allowed_ = may; }

  // Its disk. flush() writes and syncs, and returns the time until it is due again.
  Duration flush();
  [[nodiscard]] bool unflushed() const noexcept;  // something was appended since
  [[nodiscard]] bool durable() const noexcept;
  [[nodiscard]] bool holds_back() const noexcept;
  [[nodiscard]] bool disk_full() const noexcept;  // the store waits for space for its next file
  [[nodiscard]] bool store_failed() const noexcept;
  void leave_room_on_disk(std::uint64_t bytes);  // test::MemoryDisk::never: unlimited
  void fail_sync_after(std::uint64_t syncs) { disk_.fail_sync_after(syncs); }

  [[nodiscard]] ProcessTransport* transport() noexcept { return transport_.get(); }
  [[nodiscard]] std::unique_ptr<ProcessTransport> take_ghost() { return std::move(ghost_); }
  // Faults of its networks, over all its processes.
  [[nodiscard]] FaultCounters network_faults() const noexcept;

  // The application.
  void send_one(std::size_t text_size) { wanted_.push_back(text_size); }
  [[nodiscard]] bool logged_on() const noexcept;
  [[nodiscard]] NextNumbers next() const noexcept;  // of the existing session
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }

  void has(Defect defect) noexcept { defect_ = defect; }

 private:
  void on_removed(SessionHandle& session) override;
  void on_logon(SessionHandle& session) override;
  Handled on_message(SessionHandle& session, const MessageView& message) override;
  bool on_resend(SessionHandle& session, const MessageView& message) override;
  void on_logout(SessionHandle& session, std::string_view reason) override;
  void on_notice(SessionHandle& session, Notice notice, SeqNum seq, std::string_view text) override;
  void on_traffic(SessionHandle& session, Direction direction, std::string_view message) override;
  Duration on_turn(Instant now) override;

  SessionStore open(const SessionSettings& settings, UtcTime now) override;
  void close(std::string_view session, SessionStore store) noexcept override;
  bool later(std::string_view session, std::function<void()> job) override;
  void compare(const JournalStore& store);
  void repair(JournalStore& store, UtcTime now);
  [[nodiscard]] const JournalStore* journal() const noexcept;

  [[nodiscard]] SessionHandle* session() const noexcept { return loop_ == nullptr ? nullptr : loop_->find(number_); }
  void account(const SessionHandle& session);
  bool send(SessionHandle& session, std::string_view type, std::string_view order, std::size_t text_size);
  void strike() noexcept;
  bool strikes(Moment moment) noexcept;
  void end_process(End end, std::uint64_t seed);

  Side side_;
  ConfigFile file_;
  SessionSettings settings_;
  const std::string name_ = identity(settings_.session);
  EngineConfig config_;
  std::uint64_t process_ = 0;
  std::uint64_t commands_done_ = 0;
  std::size_t number_ = 0;  // number of the session, among all sessions of the process
  std::size_t numbers_used_ = 0;
  LoopbackNetwork& network_;
  Trace& trace_;
  Ledger& ledger_;
  MonotonicTime begin_;
  UtcTime utc_begin_;
  Duration utc_offset_{};
  ManualClock clock_;
  test::MemoryDisk disk_;
  WorldDisk seen_disk_{disk_};
  std::unique_ptr<JournalFlusher> flusher_;
  std::unique_ptr<ProcessTransport> transport_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<ProcessTransport> ghost_;
  FaultCounters faults_of_the_dead_;  // faults of networks of earlier processes
  ConnectionId last_left_by_ = no_connection;
  std::uint64_t connections_used_ = 0;  // number of connections used for messages, over all processes
  std::vector<std::unique_ptr<char[]>> hoard_;
  Moment moment_ = Moment::none;
  Defect defect_ = Defect::none;
  // About the process that ended last, and its store.
  bool opened_before_ = false;
  bool store_open_ = false;
  End end_ = End::orderly;
  bool between_turns_ = true;
  bool failed_ = false;
  Durability last_durability_ = Durability::interval;
  Durability durability_ = Durability::interval;  // of the running process
  UtcTime creation_time_{};
  JournalPosition flushed_ = 0;
  bool struck_ = false;
  bool died_ = false;
  bool stopping_ = false;
  bool reset_allowed_ = false;
  UtcTime numbers_since_{};
  std::uint32_t numbering_ = 0;
  std::vector<std::size_t> wanted_;  // text sizes of messages to send in the next iteration
  std::uint64_t next_id_ = 1;
  std::uint64_t refused_ = 0;
};

}  // namespace nfx::simulation
