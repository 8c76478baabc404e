// The keys of [engine], [placement] and [log]. session_keys.cpp contains the keys of a session.
#include "config/keys.hpp"

#include "config/rows.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::config {
namespace {

#define NFX_TRANSPORT_HELP(name, help) "\"" #name "\": " help

constexpr auto engine_table = std::to_array<Key<EngineConfig>>({
    NFX_INTEGER(
        "poll_threads", poll_threads, 1, 1024,
        "Number of poll threads. Each serves its sessions alone, without locks. Raise it when one thread's CPU is "
        "busy all the time; poll_thread or [placement] distributes the sessions."),
    NFX_ENUM(
        "idle", idle,
        "What a poll thread does while nothing happens. \"auto\": \"spin\" where [placement] gives the thread a CPU of "
        "its own, otherwise \"block\". \"spin\": it never releases its CPU, for the lowest latency on an isolated CPU. "
        "\"yield\": it lets other tasks run in between. \"block\": it sleeps until something happens."),
    NFX_DURATION(
        "warm_up_us", warm_up_interval, std::chrono::microseconds, 0, 60'000'000,
        "Microseconds of silence after which a poll thread that busy-polls rehearses a session's next message, "
        "so that code and data are in the processor's caches when it comes; and again each time they have "
        "passed. Nothing is sent, stored or counted. 0: it does not."),
    NFX_FLAG("lock_memory", lock_memory,
             "Whether the process's memory is locked (mlockall), so that no page of it is swapped out. Requires a "
             "sufficient RLIMIT_MEMLOCK, such as LimitMEMLOCK=infinity of the service."),
    NFX_ENUM("transport", transport,
             "How poll threads use the network. " NFX_TRANSPORTS(NFX_TRANSPORT_HELP) "\"auto\": epoll."),
    NFX_TEXT("af_xdp", af_xdp,
             "With transport = \"af_xdp\": \"INTERFACE[:QUEUE] ADDRESS/PREFIX [via GATEWAY]\". The queue of the "
             "interface, 0 by default, whose frames for this IPv4 address bypass the kernel. The kernel must not have "
             "the address."),
    NFX_INTEGER("max_message_size", max_message_size, 512, most_message_size,
                "Longest FIX message received, in bytes; the default holds a snapshot of 5,000 levels a side. "
                "too_large_message "
                "handles a longer one. Half of send_buffer_size is the longest message sent."),
    NFX_INTEGER("max_fields", max_fields, 16, MessageView::most_fields,
                "Most fields in a received message. too_large_message handles one with more."),
    NFX_INTEGER(
        "max_pending_logons", max_pending_logons, 1, 65536,
        "Most accepted connections of a poll thread from unknown addresses that have not logged on. For a further one "
        "the oldest silent connection is closed, of the network and address that hold the most."),
    NFX_INTEGER("max_pending_logons_per_address", max_pending_logons_per_address, 1, 65536,
                "Most of max_pending_logons, and of max_tls_handshakes, from one address. Raise it when many clients "
                "share an address, as those behind a NAT gateway do."),
    NFX_INTEGER("max_pending_logons_per_network", max_pending_logons_per_network, 1, 65536,
                "Most of max_pending_logons, and of max_tls_handshakes, from one network: /24 of IPv4, /64 of IPv6."),
    NFX_INTEGER("max_pending_known_logons", max_pending_known_logons, 1, 65536,
                "Most connections, besides max_pending_logons, that have not logged on and come from known addresses: "
                "addresses in allowed_addresses, or that logged on before."),
    NFX_INTEGER("max_known_addresses", max_known_addresses, 0, 65536,
                "Most addresses remembered because they logged on. The one that logged on longest ago is forgotten "
                "first. 0: only addresses in allowed_addresses are known."),
    NFX_INTEGER("max_tls_handshakes", max_tls_handshakes, 1, 65536,
                "Most TLS handshakes of unknown addresses in progress on a poll thread, and as many again of known "
                "addresses. For a further one the oldest silent connection is closed, as with max_pending_logons."),
    NFX_DURATION("pending_logon_timeout_ms", pending_logon_timeout, std::chrono::milliseconds, 10, day_s * 1000,
                 "Milliseconds that an accepted connection has to send its complete Logon before it is closed."),
    NFX_INTEGER("pending_logon_bytes", pending_logon_bytes, 256, 1024 * 1024,
                "Longest Logon accepted, in bytes. Raise it for Logons with long signatures in RawData."),
    NFX_DURATION("hold_off_s", hold_off, std::chrono::seconds, 0, day_s,
                 "Seconds for which an address is not served after it exceeded max_invalid_rate or max_invalid_logons: "
                 "its new connections are closed immediately. An IPv6 address stands for its /64. 0: it is served."),
    NFX_INTEGER(
        "max_invalid_logons", max_invalid_logons, 0, 1'000'000,
        "Connections of one address per second on average whose first bytes are not a FIX message, ten times as many "
        "in one burst. Beyond that the address is held off. 0: no limit."),
    NFX_INTEGER(
        "max_logons_per_address", max_logons_per_address, 0, 1'000'000,
        "Logons of one address per second on average, whatever becomes of them, and ten times as many in one burst. "
        "The connection of a further one is closed. Counted for 1,024 addresses per poll thread. 0: no limit."),
    NFX_INTEGER("max_refusal_reports", max_refusal_reports, 1, 1000,
                "Most refused Logons of one reason that a poll thread reports individually in one burst, and one per "
                "second on average. Further ones are counted, and reported as one number within a second."),
    NFX_INTEGER(
        "max_dynamic_sessions", max_dynamic_sessions, 0, 65536,
        "Most sessions of a poll thread that are made at run time, from templates or by Engine::add_session. 0: "
        "none can be made."),
    NFX_DURATION(
        "dynamic_session_idle_s", dynamic_session_idle, std::chrono::seconds, 0, 366 * day_s,
        "Seconds without a connection after which a session made from a template leaves memory. Its next Logon opens "
        "its journal again. Without a journal it stays until its place is needed. 0: it stays in any case."),
    NFX_INTEGER("max_dynamic_stores", max_dynamic_stores, 0, 10'000'000,
                "Most journals of sessions made from templates in one store folder. Beyond it a Logon with a CompID "
                "that has no "
                "journal yet is refused; the other sessions continue. 0: no limit."),
    NFX_INTEGER(
        "max_dynamic_store_bytes", max_dynamic_store_bytes, 0, 1024 * gib,
        "Most bytes of these journals in one store folder, archived segments included. Beyond it a CompID that has no "
        "journal yet is refused. 0: no limit."),
    NFX_DURATION(
        "dynamic_store_age_s", dynamic_store_age, std::chrono::seconds, 0, 3660 * day_s,
        "Seconds without use after which the journal of a session made from a template is deleted; the next Logon of "
        "its CompID begins with sequence number 1. 0: never. Raise it, or copy the store, where the law requires "
        "records "
        "for longer than 90 days."),
    NFX_INTEGER(
        "submit_queue_bytes", submit_queue_bytes, 64 * 1024, gib,
        "Bytes of messages that other threads have given to Engine::submit and that a poll thread has not taken yet; a "
        "quarter is the longest message. Raise it when nfx_submit_refused_total grows with reason \"full\"."),
    NFX_INTEGER(
        "submit_keep_bytes", submit_keep_bytes, 64 * 1024, gib,
        "Bytes of submitted messages held for each session until it logs on, where the program requests it; a quarter "
        "is the longest message. Memory is reserved when the first one is held. A process that ends loses them."),
    NFX_FLAG("latency", latency,
             "Whether the latencies of each session and poll thread are measured: kernel to read, read to application, "
             "in the application, and so on to the socket and the disk. docs/latency.md has the cost."),
    NFX_INTEGER(
        "latency_histograms", latency_histograms, 0, 65536,
        "Most sessions with their own histograms in the metrics, in the order in which they connected: up to 200 lines "
        "for each. nfx_session_histograms_omitted counts the others, which have only nfx_session_latency_seconds."),
});

// A list of CPUs such as "0-1,8".
CpuSet cpus(const Value& value) {
  auto set = CpuSet::parse_list(value.text());
  if (!set) throw BadValue(set.error());
  return *std::move(set);
}

#define NFX_CPUS(name, member, meaning)                               \
  {name, "text", [](auto& t, const Value& v) { t.member = cpus(v); }, \
   [](const auto& t) { return in_quotes(t.member.to_list()); }, meaning}

constexpr auto placement_table = std::to_array<Key<PlacementRequest>>({
    {"enabled", "boolean", [](PlacementRequest& t, const Value& v) { t.enabled = v.boolean(); },
     [](const PlacementRequest&) { return shown(true); },
     "Whether threads are placed on CPUs. The section alone enables it; false ignores the section, to compare."},
    NFX_CPUS(
        "housekeeping", housekeeping,
        "CPUs for all threads that do not busy-poll, such as \"0-1\". Empty: the first cores are chosen. Set it to the "
        "CPUs that the host keeps for the operating system."),
    NFX_INTEGER("housekeeping_cores", housekeeping_cores, 1, 1024,
                "Least number of whole cores left for housekeeping when housekeeping is empty."),
    NFX_FLAG("share_smt", share_smt,
             "Whether two busy-polling threads may run on the SMT siblings of one core. They slow each other down: "
             "true only "
             "when there are fewer cores than threads."),
    NFX_ENUM("mapping", mapping,
             "How sessions with auto_pin_to_core get their poll thread. \"hash\": by their CompIDs, the same after "
             "each start. "
             "\"balanced\": evenly over the pinned poll threads."),
    NFX_ENUM(
        "on_violation", on_violation,
        "What happens at start when the placement plan cannot be met or has warnings. \"warn\": the engine reports it "
        "and starts. \"refuse\": the engine does not start."),
    NFX_DURATION(
        "check_interval_ms", check_interval, std::chrono::milliseconds, 0, day_s * 1000,
        "Milliseconds between two checks whether the threads still run as planned. Deviations are reported with "
        "Observer::on_alert. 0: no checks."),
});

constexpr auto role_table = std::to_array<Key<RoleRequest>>({
    NFX_INTEGER(
        "threads", threads, 0, 1024,
        "Number of threads with this role. 0: one, as soon as it has work; none of the program's own roles. The log "
        "has "
        "at most one. Poll threads are set by [engine] poll_threads. Two flushers, for example, for journals on two "
        "disks."),
    NFX_ENUM(
        "wait", wait,
        "What the threads do while they have no work. \"spin\": each busy-polls on a core of its own. \"block\": they "
        "sleep on the housekeeping CPUs. Poll threads are set by [engine] idle."),
    NFX_TEXT(
        "near", near,
        "Device that the threads run close to, on its NUMA node, such as \"eth0\"; or \"each_group\", for one thread "
        "near each group of devices behind one PCIe switch. Empty: anywhere."),
    {"same_cache_as", "text", [](RoleRequest& t, const Value& v) { t.same_cache_as = named<ThreadRole>(v); },
     [](const RoleRequest&) { return std::string{"none"}; },
     "Role whose threads these share the last-level cache with, such as \"poll\", so that data between them stays in "
     "that "
     "cache. Not set: any cache.",
     0, 0, [](const RoleRequest&) { return enum_names<ThreadRole>(); }},
    NFX_CPUS("cpus", cpus, "CPUs that the threads may run on, such as \"4-7\". Empty: the plan chooses."),
    NFX_INTEGER(
        "priority", priority, 0, 99,
        "Real-time priority of the threads (SCHED_FIFO). 0: the ordinary scheduler. 1 to 99 need the permission "
        "CAP_SYS_NICE and isolated CPUs: a busy-polling real-time thread starves every other task of its CPU."),
});

#undef NFX_CPUS

constexpr auto log_table = std::to_array<Key<LogConfig>>({
    NFX_PATH("directory", directory,
             "Folder of the log files, such as \"log\"; created when missing. Empty: no log files are written."),
    NFX_FLAG("messages", messages,
             "Whether every message sent and received is logged. Passwords and other secrets are written as ***."),
    NFX_FLAG("events", events, "Whether logons, logouts, rejects and notices are logged."),
    NFX_ENUM(
        "format", format,
        "Format of the message log. \"full\": time, direction, session and message. \"quickfix\": time and message, as "
        "QuickFIX's FileLog writes them, for tools that read those."),
    NFX_ENUM("lines", lines,
             "Format of the lines that the program prints. \"text\": for people. \"json\": an object with time, level, "
             "what, session, text and fields. \"journald\": text after a priority such as <6>, for a systemd service. "
             "docs/monitoring.md describes them."),
    {"level", "text", [](LogConfig& t, const Value& v) { t.level = named(v, LogLevel::error); },
     [](const LogConfig& t) { return in_quotes(to_string(t.level)); },
     "Least level of the lines that the program prints: \"error\", \"warning\", \"notice\" or \"info\", which is all "
     "of them. 'nfx engine log-level' sets it while the engine runs.",
     0, 0, [](const LogConfig&) { return enum_names(LogLevel::error); }},
    NFX_INTEGER("rotate_bytes", rotate_bytes, 64 * 1024, 1024 * gib,
                "Largest size of a log file in bytes. A new file is begun before it is exceeded, and at midnight UTC."),
    NFX_INTEGER("keep_files", keep_files, 1, 1000000,
                "Most files of each log. The oldest are deleted. At one file a day, 30 are about a month."),
    NFX_DURATION("keep_age_d", keep_age, std::chrono::days, 0, 36500,
                 "Age in days at which a log file is deleted, even if keep_files allows more. 0: age does not matter."),
    NFX_INTEGER(
        "session_message_rate", session_message_rate, 0, 1000000,
        "Most messages of one session and second in the message log that are Heartbeats, TestRequests, ResendRequests, "
        "Rejects, SequenceResets, Logouts or Logons. Further ones are counted, and the log states how many. 0: no "
        "limit."),
    NFX_INTEGER(
        "queue_bytes", queue_bytes, 64 * 1024, gib,
        "Bytes of log lines of one poll thread that may wait to be written. Raise it when nfx_log_dropped_total "
        "grows."),
    NFX_ENUM(
        "when_full", full.when_full,
        "What happens to a log line when the queue is full. \"drop\": it is dropped and counted. \"block\": the poll "
        "thread waits up to block_limit_us, then drops it. \"spill\": it goes to a second queue of spill_bytes."),
    NFX_DURATION(
        "block_limit_us", full.block_limit, std::chrono::microseconds, 1, 1000000,
        "Most microseconds that a poll thread waits for space in the queue, with when_full = \"block\". All its "
        "sessions wait with it."),
    NFX_INTEGER(
        "spill_bytes", full.spill_bytes, 64 * 1024, gib,
        "Size in bytes of the second queue of each poll thread, with when_full = \"spill\". Raise it for longer "
        "bursts."),
    NFX_INTEGER(
        "trace_every", trace_every, 0, 1000000000,
        "One application message in this many of each poll thread is written to directory as an OpenTelemetry trace of "
        "its way from the kernel to the application and of its answer to the socket, such as 1000. 0: none."),
    NFX_PATH("metrics_file", metrics_file,
             "File for counters, gauges and latency histograms in Prometheus' text format, such as "
             "\"/var/lib/node_exporter/nfx.prom\". docs/metrics.md lists them. Empty: none is written."),
    NFX_DURATION("metrics_period_s", metrics_period, std::chrono::seconds, 1, day_s,
                 "Seconds between two writes of metrics_file. Use the interval of the collector that reads it."),
});

constexpr auto control_table = std::to_array<Key<ControlConfig>>({
    NFX_PATH("socket", socket,
             "UNIX socket for commands of operators and for metrics, such as \"/run/nexusfix/control.sock\". "
             "docs/control.md describes it. Empty: none."),
    NFX_TEXT("socket_mode", socket_mode,
             "Permissions of the socket, in octal, such as \"0660\" for its group. Who connects also needs a role."),
    NFX_TEXT("socket_owner", socket_owner,
             "User that the socket is given to; needs the permission CAP_CHOWN. Empty: the user of the process."),
    NFX_TEXT("socket_group", socket_group,
             "Group that the socket is given to, such as \"fixops\". Empty: the group of the process."),
    NFX_LIST("operators", operators,
             "Users, or groups such as \"@fixops\", that may change sessions and the engine through the socket. Empty: "
             "root and the user of the process."),
    NFX_LIST("viewers", viewers,
             "Users, or groups such as \"@monitoring\", that may read sessions and metrics through the socket, and "
             "change nothing."),
    {"http", "text", [](ControlConfig& t, const Value& v) { t.http = v.text().empty() ? Endpoint{} : v.endpoint(); },
     [](const ControlConfig& t) { return in_quotes(t.http.host.empty() ? "" : to_string(t.http)); },
     "Address of the same interface over HTTP, such as \"127.0.0.1:9890\": loopback only, with a bearer token in each "
     "request, or a client certificate. Empty: none."},
    NFX_PATH("tokens", tokens,
             "File with the tokens for http: a line \"operator NAME TOKEN\" or \"viewer NAME TOKEN\" for each user. "
             "No other user may read it."),
    NFX_PATH("tls_certificate", tls_certificate,
             "PEM file with the certificate of http, and those between it and its authority. Then http is encrypted, "
             "and clients need a certificate of tls_ca instead of a token. Empty: http is not encrypted."),
    NFX_PATH("tls_key", tls_key,
             "PEM file with the private key of tls_certificate. Empty: the key is in the certificate's file."),
    NFX_TEXT("tls_key_password_env", tls_key_password_env,
             "Name of the environment variable that holds the password of tls_key. Needed for an encrypted key only."),
    NFX_PATH("tls_ca", tls_ca,
             "PEM file, or folder of them, with the authorities that sign the certificates of clients. Required with "
             "tls_certificate."),
    NFX_LIST("tls_crl", tls_crl,
             "PEM files with the revocation lists of these authorities. Empty: nothing is revoked."),
    NFX_PATH("clients", clients,
             "File with the roles of client certificates: a line \"operator NAME\" or \"viewer NAME\" for each common "
             "name or alternative name. Required with tls_certificate."),
    NFX_PATH(
        "audit", audit,
        "File that each change is written to, with who and when, before it is carried out. Required with socket or "
        "http."),
});

constexpr auto cluster_table = std::to_array<Key<ClusterConfig>>({
    NFX_LIST("servers", servers,
             "Servers of NATS that store the sessions with durability \"replicated\" or \"async\", such as "
             "[\"tls://10.0.0.1\", \"tls://10.0.0.2\", \"tls://10.0.0.3\"]. docs/cluster.md describes the cluster."),
    NFX_TEXT("stream", stream, "Stream that 'nfx cluster init' has made, the same for all gateways."),
    NFX_PATH("credentials", credentials,
             "File with the user's JWT and seed, as nsc writes it; no other user may read it. Empty: none."),
    NFX_PATH("ca", certificate_authority,
             "File with the certificates that the servers' are checked with; it turns TLS on. Empty: no TLS."),
    NFX_TEXT("gateway", gateway,
             "Name of this process among gateways, such as \"a\": letters, digits, - and _. No two processes may have "
             "the same."),
    NFX_LIST("gateways", gateways,
             "Names of all processes that may own the sessions, such as [\"a\", \"b\"]. All have the same list."),
    NFX_LIST("pins", pins,
             "Sessions that a gateway is to have while it is alive and does not drain, such as [\"DESK-VENUE=a\"]. The "
             "others are distributed over the gateways."),
    NFX_LIST("drain", drain, "Gateways that are to have no sessions while another one is alive, such as [\"b\"]."),
    NFX_ENUM(
        "wrong_gateway", wrong_gateway,
        "What happens to a connection whose Logon names a session that another gateway owns; all gateways have the "
        "same. \"refuse\": it is closed, and a gateway listens only for sessions that it owns. \"hand_on\": a gateway "
        "listens for all of them, and passes the bytes to the owner and back."),
    NFX_LIST("addresses", addresses,
             "IP addresses at which the gateways reach each other, such as [\"a=10.0.0.11\", \"b=10.0.0.12\"], for "
             "wrong_gateway = \"hand_on\". All have the same list. A session listens on the same port everywhere."),
    NFX_INTEGER("hand_on_max", hand_on_max, 1, 4096,
                "Most connections that this gateway hands on at a time; a further one is closed."),
    NFX_DURATION("lease_s", lease, std::chrono::seconds, 1, 3600,
                 "Seconds after which another gateway becomes the owner of the sessions of a lost one, and a quarter "
                 "more, half a "
                 "second at most. As 'nfx cluster init --lease' has it."),
    NFX_ENUM(
        "when_lost", when_lost,
        "What a session does whose cluster does not answer for lost_after_ms. \"stop\": its connection is closed, "
        "and it waits. \"continue\": it continues with its journal alone, until ring_size bytes wait for the cluster. "
        "Where another gateway reaches the cluster meanwhile, both send messages with the same sequence numbers."),
    NFX_DURATION("lost_after_ms", lost_after, std::chrono::milliseconds, 1000, day_s * 1000,
                 "Milliseconds without an answer of the cluster after which when_lost has effect. An election of the "
                 "servers takes 4 to 9 seconds."),
    NFX_INTEGER(
        "async_messages", async_messages, 1, 4096,
        "Most records of a session with durability = \"async\" that may be sent and are not stored in the cluster "
        "yet. A lost gateway loses at most this number of records."),
    NFX_INTEGER(
        "async_bytes", async_bytes, 4096, 1024 * 1024,
        "Most bytes of a session with durability = \"async\" that may be sent and are not stored in the cluster "
        "yet."),
});

static_assert(rows_are_sound<EngineConfig>(engine_table));
static_assert(rows_are_sound<ClusterConfig>(cluster_table));
static_assert(rows_are_sound<ControlConfig>(control_table));
static_assert(rows_are_sound<PlacementRequest>(placement_table));
static_assert(rows_are_sound<RoleRequest>(role_table));
static_assert(rows_are_sound<LogConfig>(log_table));

}  // namespace

std::span<const Key<EngineConfig>> engine_keys() noexcept { return engine_table; }
std::span<const Key<PlacementRequest>> placement_keys() noexcept { return placement_table; }
std::span<const Key<RoleRequest>> role_keys() noexcept { return role_table; }
std::span<const Key<LogConfig>> log_keys() noexcept { return log_table; }
std::span<const Key<ControlConfig>> control_keys() noexcept { return control_table; }
std::span<const Key<ClusterConfig>> cluster_keys() noexcept { return cluster_table; }

}  // namespace nfx::config
