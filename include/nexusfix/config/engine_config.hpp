// The configuration of an engine, from a TOML file or filled in by a program.
// Errors: ConfigError, one line that names file, line, key and what to write instead.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/language.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/dictionary/package_folder.hpp"
#include "nexusfix/log/log_format.hpp"
#include "nexusfix/placement/placement_request.hpp"
#include "nexusfix/session/session_config.hpp"
#include "nexusfix/store/store_options.hpp"
#include "nexusfix/transport/socket_options.hpp"
#include "nexusfix/wire/framer.hpp"

// The transports that a configuration can name. To add one, write its row here and
// src/engine/engine/poll_thread_<name>.cpp, which defines `const TransportMakers <name>_makers`
// (src/engine/engine/poll_thread_makers.hpp). The value of `transport`, its help, its documentation and the engine's
// choice are made from the rows.
// The name, and for the help of the key what it is.
#define NFX_TRANSPORTS(row)                                                                \
  row(epoll, "system calls per read and write. ")                                          \
      row(io_uring, "a shared ring with the kernel, or epoll where the kernel lacks it. ") \
          row(af_xdp, "past the kernel, with a TCP of its own, on the interface that af_xdp names. ")

namespace nfx {

#define NFX_TRANSPORT_KIND(name, help) name,
enum class TransportKind : std::uint8_t {
  automatic,  // epoll
  NFX_TRANSPORTS(NFX_TRANSPORT_KIND)
};
#undef NFX_TRANSPORT_KIND

[[nodiscard]] std::string_view to_string(TransportKind kind) noexcept;

// The control plane, [control]; docs/control.md describes it.
struct ControlConfig {
  std::string socket;  // path of a UNIX socket; empty: none
  std::string socket_mode = "0600";
  std::string socket_owner;            // a user's name; empty: the process's
  std::string socket_group;            // a group's name; empty: the process's
  std::vector<std::string> operators;  // users, or groups as "@name"; empty: root and the process's own user
  std::vector<std::string> viewers;
  Endpoint http;       // on loopback. Without a host: none
  std::string tokens;  // file with the bearer tokens of `http`
  // Mutual TLS on `http` instead of tokens: its certificate and key, the authorities of its clients, what they have
  // revoked, and the file with the roles of their certificates' names.
  std::string tls_certificate;
  std::string tls_key;
  std::string tls_key_password_env;
  std::string tls_ca;
  std::vector<std::string> tls_crl;
  std::string clients;
  std::string audit;  // file for a line of each change

  [[nodiscard]] bool encrypted() const noexcept { return !tls_certificate.empty(); }
  // Nothing is started otherwise.
  [[nodiscard]] bool wanted() const noexcept { return !socket.empty() || !http.host.empty(); }
};

// A gateway of a cluster, [cluster]; docs/cluster.md describes it.

// How a replicated session reacts when its cluster does not answer for lost_after.
enum class WhenLost : std::uint8_t {
  stop,     // its connection is closed, and it waits until the cluster answers
  keep_on,  // "continue": it continues with its journal alone, until ring_size bytes wait for the cluster
};

[[nodiscard]] std::string_view to_string(WhenLost when) noexcept;

// How a gateway treats a connection whose Logon names a session that another gateway owns.
enum class WrongGateway : std::uint8_t {
  refuse,   // and it listens on the address of a session only while it owns one of that address
  hand_on,  // it listens from the start, and passes the connection's bytes to the owner and back
};

[[nodiscard]] std::string_view to_string(WrongGateway what) noexcept;

struct ClusterConfig {
  std::vector<std::string> servers;  // of NATS; empty: no cluster
  std::string stream = "NEXUSFIX";
  std::string credentials;            // file; empty: none
  std::string certificate_authority;  // file; empty: no TLS
  std::string gateway;                // the name of this process among `gateways`
  std::vector<std::string> gateways;  // all that may own sessions
  std::vector<std::string> pins;      // "SESSION=GATEWAY"
  std::vector<std::string> drain;     // gateways that are to have no sessions
  WrongGateway wrong_gateway = WrongGateway::refuse;
  std::vector<std::string> addresses;  // "GATEWAY=ADDRESS": where the others reach it; needed to hand on
  std::uint32_t hand_on_max = 64;      // connections that this gateway hands on at a time
  std::chrono::milliseconds lease{5000};
  WhenLost when_lost = WhenLost::stop;
  std::chrono::milliseconds lost_after{10000};
  // Limits for each session with durability async.
  std::uint32_t async_messages = 256;
  std::uint32_t async_bytes = 256 * 1024;

  // Nothing is started otherwise.
  [[nodiscard]] bool wanted() const noexcept { return !servers.empty(); }
  [[nodiscard]] bool hands_on() const noexcept { return wanted() && wrong_gateway == WrongGateway::hand_on; }
  // Of `addresses`; empty: it has none.
  [[nodiscard]] std::string_view address_of(std::string_view name) const noexcept;
};

class Dictionary;
class ListenIndex;
class Schedule;

// Which of several addresses an initiator tries next. An attempt succeeds when Logons are exchanged, not before.
enum class HostSelection : std::uint8_t {
  round_robin,  // the one after the last tried
  priority,     // the same, but the first again after the session was logged on, or after host_priority_restart
};

[[nodiscard]] std::string_view to_string(HostSelection selection) noexcept;

[[nodiscard]] std::string_view to_string(StoreKind kind) noexcept;

// What happens to a peer that does not read and whose send buffer is full.
enum class SlowConsumer : std::uint8_t {
  refuse,      // send() returns would_block until the peer reads again
  disconnect,  // also, the connection is closed when the peer has read nothing for slow_consumer_timeout
};

[[nodiscard]] std::string_view to_string(SlowConsumer policy) noexcept;

// How a session treats a message of the peer beyond max_message_size or max_fields. The sequence number counts as
// received in either case, because a resend would be as large.
enum class TooLargeMessage : std::uint8_t {
  skip,    // it is reported, and not delivered
  logout,  // the same, and the session logs out, and stays logged out until logon()
};

[[nodiscard]] std::string_view to_string(TooLargeMessage action) noexcept;

struct SessionSettings {
  SessionConfig session;
  // They own what session.dictionary and session.application_dictionaries point to.
  std::shared_ptr<const Dictionary> dictionary;
  std::vector<std::shared_ptr<const Dictionary>> application_dictionaries;

  std::shared_ptr<const Schedule> schedule;  // null: always open

  Endpoint listen;  // acceptor: address to listen on; several sessions may have the same
  // Acceptor: a pattern for sessions that are made when a peer logs on; "*" in CompIDs stands for any text.
  bool is_template = false;
  std::vector<std::string> allowed_addresses;  // acceptor: literal addresses of peers; empty: all
  // Acceptor: accepted Logons per second on average, ten times as many in one burst; 0: no limit.
  std::uint32_t max_logon_rate = 50;

  std::vector<Endpoint> connect;  // initiator: tried until one exchanges Logons
  HostSelection host_selection = HostSelection::round_robin;
  std::chrono::seconds host_priority_restart{120};
  std::chrono::seconds connect_timeout{10};              // for TCP to connect
  std::chrono::milliseconds reconnect_delay{1000};       // after the first failure; doubles each time
  std::chrono::milliseconds reconnect_delay_max{60000};  // with jitter of up to half of it subtracted

  SocketOptions socket{};

  bool tls_enabled = false;
  TlsOptions tls;

  // When a session ends without Logout, Application::on_cancel is called unless the peer logs on again within
  // cancel_delay.
  bool cancel_on_disconnect = false;
  bool cancel_on_logout = false;  // after a Logout too
  std::chrono::milliseconds cancel_delay{0};

  TooLargeMessage too_large_message = TooLargeMessage::skip;

  std::size_t send_buffer_size = 1024 * 1024;  // bytes that are encoded and not yet accepted by the kernel
  SlowConsumer slow_consumer = SlowConsumer::refuse;
  std::chrono::milliseconds slow_consumer_timeout{30000};
  std::chrono::seconds unhandled_timeout{0};  // then a session logs out whose message is not handled; 0: never

  StoreKind store_kind = StoreKind::unset;
  MemoryStoreOptions store;
  JournalOptions journal;
  bool store_received = false;          // a journal stores the peer's messages too; see Session::may_store
  int flusher = -1;                     // number of the flusher that writes the journal; -1: the one with the fewest
  SeqNum next_inbound = first_seq_num;  // at start, if the store is empty; as agreed with the peer
  SeqNum next_outbound = first_seq_num;
  UtcTime numbers_as_of{};  // when they were correct; 1 if the schedule has reset them since. 0: at start
  // Touch all memory of the store before the first message. Empty: where the poll thread busy-polls.
  std::optional<bool> prefault;
  std::uint32_t poll_thread = 0;  // below EngineConfig::poll_threads
  std::string replica_name;       // with a replicated durability: its name in the cluster; empty: from its CompIDs

  // It exists while this process is the gateway that owns it: a cluster's gateway adds and removes it.
  [[nodiscard]] bool is_replicated() const noexcept {
    return store_kind != StoreKind::memory && nfx::is_replicated(journal.durability);
  }
};

// Log files and metrics that the engine writes.
struct LogConfig {
  std::string directory;  // empty: no log files
  bool messages = true;
  bool events = true;
  MessageLogFormat format = MessageLogFormat::full;
  LineFormat lines = LineFormat::text;                    // printed by nfx::run and `nfx serve`
  LogLevel level = LogLevel::info;                        // lines below this level are not printed
  std::uint64_t rotate_bytes = std::uint64_t{256} << 20;  // the next file is begun before this is exceeded
  std::uint32_t keep_files = 30;                          // of each log, including the one being written
  std::chrono::days keep_age{0};                          // 0: whatever keep_files allows
  // Messages without business content of one session and second in the message log; further ones are counted. 0: all.
  std::uint32_t session_message_rate = 20;
  // Of lines that wait to be written, for each poll thread. Lines dropped because it is full are counted and reported
  // in the log.
  std::uint64_t queue_bytes = std::uint64_t{4} << 20;
  DeferredOptions full{
      .when_full = WhenFull::drop, .block_limit = std::chrono::milliseconds{1}, .spill_bytes = std::size_t{64} << 20};

  // Every trace_every-th application message of a poll thread becomes a trace for OpenTelemetry; 0: none.
  std::uint32_t trace_every = 0;

  std::string metrics_file;  // in Prometheus' text format, replaced whole; empty: none
  std::chrono::seconds metrics_period{10};
};

struct EngineConfig {
  std::uint32_t poll_threads = 1;
  TransportKind transport = TransportKind::automatic;
  // How a ring is made with `transport` io_uring. The engine chooses the number of connections and listeners.
  IoUringOptions io_uring{};
  std::string af_xdp;  // with `transport` af_xdp: "eth1 10.9.0.3/24", "eth1:2 10.9.0.3/24 via 10.9.0.1"
  IdleMode idle = IdleMode::automatic;
  // A poll thread that busy-polls rehearses the next message of a session that has been silent for this time, and again
  // each time it has passed; Application::on_rehearsal. 0: never.
  std::chrono::microseconds warm_up_interval{100};
  bool lock_memory = false;  // the process's pages stay in memory, those mapped later too
  // Limits of a received message; a snapshot of 5,000 levels a side fits. Memory is taken when a message needs it.
  std::size_t max_message_size = default_max_message_size;
  std::uint32_t max_fields = 65536;

  // Connections that have not logged on yet. A limit is enforced by closing the oldest silent connection of the address
  // or network (/24, of IPv6 /64) that has most of them.
  std::uint32_t max_pending_logons = 64;
  std::uint32_t max_pending_logons_per_address = 32;
  std::uint32_t max_pending_logons_per_network = 48;
  // Besides those: of addresses named in allowed_addresses, or that logged on before.
  std::uint32_t max_pending_known_logons = 64;
  std::uint32_t max_known_addresses = 1024;  // that logged on before, the latest of them
  // Handshakes in progress, with the same limits per address and network, and as many again of known addresses.
  std::uint32_t max_tls_handshakes = 64;
  std::chrono::milliseconds pending_logon_timeout{10000};
  std::size_t pending_logon_bytes = 4096;
  // An address that sent too many invalid messages is not served for this time. 0: it is.
  std::chrono::seconds hold_off{10};
  // Connections of one address whose first bytes are not a FIX message, per second on average and ten times as many in
  // one burst, before it is held off. 0: no limit.
  std::uint32_t max_invalid_logons = 10;
  // Logons of one address per second on average, ten times as many in one burst; further connections are closed. 0: no
  // limit.
  std::uint32_t max_logons_per_address = 500;
  // Refusals reported for each reason: this many in a burst, then one per second. The others are counted and reported
  // as one.
  std::uint32_t max_refusal_reports = 5;

  // Sessions made from templates, or added while the engine runs, per poll thread.
  std::uint32_t max_dynamic_sessions = 256;
  // A session made from a template leaves memory after this time without a connection. Its journal remains, and its
  // next Logon opens that again. One without a journal stays until its place is needed. 0: it stays in any case.
  std::chrono::seconds dynamic_session_idle{3600};
  // Journals of such sessions in one store folder: how many, of how many bytes, and how long one stays that is not
  // used. A CompID that has none is refused beyond the limits. 0: no limit.
  std::uint32_t max_dynamic_stores = 10'000;
  std::uint64_t max_dynamic_store_bytes = std::uint64_t{16} << 30;
  std::chrono::seconds dynamic_store_age = std::chrono::days{90};

  // Messages that other threads submit: bytes of each poll thread's queue, and of what is held for a session until it
  // logs on. A quarter of either is the longest message.
  std::size_t submit_queue_bytes = 2 * 1024 * 1024;
  std::size_t submit_keep_bytes = 1024 * 1024;

  // Whether the stages of messages and the iterations of poll threads are measured; docs/latency.md has the cost.
  bool latency = true;
  // Sessions whose stages have histograms on the metrics page, some 200 lines each; the first to have connected.
  std::uint32_t latency_histograms = 100;

  // Which threads run where; off unless enabled. placement_request() adds the poll threads and sessions.
  PlacementRequest placement;

  LogConfig log;
  ControlConfig control;
  ClusterConfig cluster;

  std::vector<SessionSettings> sessions;

  // The text of the file that load_any_config or load_program_config read, with names in place of its passwords. A
  // later version of the file is compared with it. Empty: made by a program.
  std::string file_text;
};

// "FIX.4.4:OURS->THEIRS", as messages and logs name a session; with a qualifier "FIX.4.4:OURS->THEIRS:second". No two
// sessions have the same: "->" in our CompID is written "-%3E", ":" in the peer's "%3A", and "%" before "25", "3A" or
// "3E" in either "%25".
[[nodiscard]] std::string identity(const SessionConfig& session);
// What identity() was before it wrote anything otherwise, under which an older journal may be stored; empty where it is
// the same.
[[nodiscard]] std::string former_identity(const SessionConfig& session);

// The name of a replicated session in its cluster: replica_name, or "DESK-VENUE", with a qualifier
// "DESK-VENUE-second", where every character but letters, digits, - and _ is written "_".
[[nodiscard]] std::string replica_name(const SessionSettings& settings);

class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Reads [engine], [placement], [log], [control], [cluster], [defaults] and one [[session]] per session. Relative paths
// are relative to the file's folder; dictionaries are also searched among the installed ones. Thread: any, before run.
// Passwords named by password_env are taken from the environment.
[[nodiscard]] EngineConfig load_config(const std::string& name);
[[nodiscard]] EngineConfig parse_config(std::string_view toml, std::string_view name, const std::string& folder);

// The checks of load_config for any configuration: identities unique, acceptors with an address, and so on.
void check_config(const EngineConfig& config);
// The same for a session that is added to a running engine or changed there, except for its name, which the poll loops
// check. `listening` has the existing sessions.
void check_session(const EngineConfig& config, const ListenIndex& listening, const SessionSettings& session);

// Every key with section, type, default and meaning: as text for --help, and as Markdown, one table per section, as in
// docs/configuration.md.
[[nodiscard]] std::string config_reference();
[[nodiscard]] std::string config_key_table();

// A session that is added to a running engine, and its text: one [[session]] of a configuration file.

// Decisions of an operator before a session is added: the same as disable and hold.
struct AddedSession {
  bool enabled = true;
  bool sending_held = false;
};

// One [[session]], and [defaults] if it has some, checked as a file with these is; with any other section it is
// refused. `engine` is the configuration of what runs, whose own sessions and [defaults] do not count. Relative paths
// are relative to `folder`. Errors begin with `name`.
[[nodiscard]] SessionSettings parse_added_session(std::string_view toml, std::string_view name,
                                                  const std::string& folder, const EngineConfig& engine);

}  // namespace nfx
