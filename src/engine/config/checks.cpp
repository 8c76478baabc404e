// Rules for values that are well-formed but unusable, alone or in combination. A wrong configuration then fails at
// start, with the key and the fix, and not while the engine runs.
#include "config/checks.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "config/keys.hpp"
#include "config/listen_index.hpp"
#include "config/placement.hpp"
#include "config/version_text.hpp"
#include "config/wildcard.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "store/journal_format.hpp"
#include "transport/tls_facts.hpp"
#include "wire/scan.hpp"

namespace nfx {
namespace config {
namespace {

bool usable_text(std::string_view text) {
  return text.size() <= 64 && std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

// Larger messages are sent and stored only if the session's buffers can hold them.
constexpr std::size_t longest_usual_message = 64 * 1024;

using Bad = std::optional<std::pair<std::string_view, std::string>>;

Bad find_identity_problem(const SessionSettings& s) {
  const SessionConfig& c = s.session;
  if (!is_begin_string(c.begin_string)) {
    const bool fix5 = c.begin_string.starts_with("FIX.5");
    return {{"begin_string", fix5 ? "FIX 5 messages are sent over FIXT.1.1: write begin_string = \"FIXT.1.1\" and "
                                    "default_appl_ver_id = \"" +
                                        c.begin_string + '"'
                                  : "expected one of " + std::string{begin_strings}}};
  }
  const bool fixt = c.begin_string == transport_version.name;
  if (fixt && version_of_appl_ver_id(c.default_appl_ver_id).empty()) {
    return {{"default_appl_ver_id", "expected an application version such as \"FIX.5.0SP2\" or \"9\""}};
  }
  if (!fixt && !c.default_appl_ver_id.empty())
    return {{"default_appl_ver_id", "is for FIXT.1.1 only: remove it, or set begin_string = \"FIXT.1.1\""}};
  if (!usable_comp_id(c.sender_comp_id))
    return {{"sender_comp_id", "expected our CompID: 1 to 64 printable characters without spaces"}};
  if (!usable_comp_id(c.target_comp_id))
    return {{"target_comp_id", "expected the peer's CompID: 1 to 64 printable characters without spaces"}};
  for (const auto& [key, id] : {std::pair{"sender_sub_id", &c.sender_sub_id},
                                {"target_sub_id", &c.target_sub_id},
                                {"sender_location_id", &c.sender_location_id},
                                {"target_location_id", &c.target_location_id},
                                {"session_qualifier", &c.session_qualifier}}) {
    if (!id->empty() && !usable_text(*id)) return {{key, "expected at most 64 printable characters"}};
  }
  const bool wildcard = c.sender_comp_id.contains('*') || c.target_comp_id.contains('*');
  if (wildcard && !s.is_template)
    return {{"target_comp_id", "\"*\" is allowed in templates only: write the CompID, or add template = true"}};
  if (s.is_template && c.role == Role::initiator) return {{"template", "only an acceptor can be a template"}};
  return std::nullopt;
}

Bad find_network_problem(const SessionSettings& s) {
  const SessionConfig& c = s.session;
  if (c.role == Role::acceptor && s.listen.host.empty())
    return {{"listen", "an acceptor needs an address, such as listen = \"0.0.0.0:9878\""}};
  if (c.role == Role::acceptor && !s.connect.empty())
    return {{"connect", "an acceptor does not connect: remove it or set role = \"initiator\""}};
  if (c.role == Role::initiator && s.connect.empty())
    return {{"connect", "an initiator needs an address, such as connect = \"venue:9878\""}};
  for (const Endpoint& peer : s.connect) {
    if (peer.port == 0) return {{"connect", "expected the peer's port, 1 to 65535"}};
  }
  if (c.role == Role::initiator && !s.listen.host.empty())
    return {{"listen", "an initiator does not listen: remove it or set role = \"acceptor\""}};
  if (c.role == Role::acceptor && !s.socket.from.host.empty())
    return {{"connect_from", "an acceptor does not connect: remove it or set role = \"initiator\""}};
  if (c.role == Role::initiator && !s.allowed_addresses.empty())
    return {{"allowed_addresses", "is for acceptors: remove it or set role = \"acceptor\""}};
  for (const std::string& address : s.allowed_addresses) {
    if (!canonical_address(address))
      return {{"allowed_addresses",
               '"' + address +
                   "\" is not an IP address: write one such as 192.0.2.1, as host names are not resolved here"}};
  }
  if (s.reconnect_delay.count() < 1) return {{"reconnect_delay_ms", "expected at least 1"}};
  if (s.reconnect_delay > s.reconnect_delay_max)
    return {{"reconnect_delay_ms", "must not exceed reconnect_delay_max_ms"}};
  return std::nullopt;
}

Bad find_session_problem(const SessionSettings& s) {
  const SessionConfig& c = s.session;
  if (c.heartbeat_interval > c.max_heartbeat_interval)
    return {{"heartbeat_interval_s", "must not exceed max_heartbeat_interval_s"}};
  if (c.heartbeat_timeout_percent <= c.test_request_percent)
    return {{"heartbeat_timeout_percent", "must be more than test_request_percent"}};
  if (c.throttle_burst != 0 && c.throttle_rate == 0)
    return {{"throttle_burst", "needs throttle_rate, the messages a second"}};
  if (!c.username.empty() && !usable_text(c.username))
    return {{"username", "expected at most 64 printable characters"}};
  if (const std::string_view password = c.password.reveal(); password.size() > 256 || password.contains(soh))
    return {{"password", "expected at most 256 characters, none of them SOH"}};
  if (c.logon_fields.reveal().size() > 1024) return {{"logon_fields", "expected at most 1024 characters altogether"}};
  return std::nullopt;
}

// Conditions that JournalStore would reject at start, reported with the names of the keys.
Bad find_store_problem(const EngineConfig& engine, const SessionSettings& s) {
  if (s.store_kind != StoreKind::journal) return std::nullopt;
  const JournalOptions& j = s.journal;
  constexpr std::uint64_t least = 64 * 1024, most = 1024 * 1024 * 1024;
  // A message and its record header, at any position in the ring.
  const std::uint64_t longest = 2 * (std::min(engine.max_message_size, longest_usual_message) + sizeof(RecordHeader));
  if (const std::uint32_t flushers = helper_threads(engine, ThreadRole::flusher).threads;
      s.flusher >= 0 && static_cast<std::uint32_t>(s.flusher) >= flushers) {
    return {{"flusher", "expected a number below " + std::to_string(flushers) +
                            ", the number of flushers; or raise [placement.flusher] threads"}};
  }
  if (j.directory.empty())
    return {{"store_directory", "a journal needs a folder, such as store_directory = \"store\""}};
  if (j.ring_directory.empty()) return {{"store_ring_directory", "expected a folder, such as \"/dev/shm\""}};
  if (j.segment_size < least || j.segment_size > most) return {{"segment_size", "expected 65536 to 1073741824 bytes"}};
  if (j.segment_size < segment_header_size + longest)
    return {
        {"segment_size", "must be at least twice [engine] max_message_size, or twice 65536 if that is less, and 4160"}};
  if (!std::has_single_bit(j.ring_size) || j.ring_size < least || j.ring_size > most)
    return {{"ring_size", "expected a power of two from 65536 to 1073741824"}};
  if (j.ring_size < longest)
    return {{"ring_size", "must be more than twice [engine] max_message_size, or twice 65536 if that is less"}};
  // A received message stays queued until there is space for it and for its answer.
  if (s.store_received &&
      (j.ring_size < 2 * longest + least || j.segment_size < segment_header_size + 2 * longest + least))
    return {{j.ring_size < 2 * longest + least ? "ring_size" : "segment_size",
             "with store_received it must be at least 69760 more than four times [engine] max_message_size, or four "
             "times 65536 if that is less"}};
  if (j.sync_interval <= Duration::zero()) return {{"sync_interval_ms", "expected at least 1"}};
  if (j.retain_bytes != 0 && j.retain_bytes < 2 * j.segment_size)
    return {{"store_retain_bytes", "must be at least twice segment_size, as one segment is always in use"}};
  if (j.retain_age < std::chrono::seconds{0}) return {{"store_retain_age_h", "expected 0 or more"}};
  if (j.full_timeout < std::chrono::seconds{0}) return {{"store_full_timeout_s", "expected 0 or more"}};
  return std::nullopt;
}

Bad find_tls_problem(const SessionSettings& s) {
  if (!s.tls_enabled) return std::nullopt;
  const TlsOptions& tls = s.tls;
  const bool acceptor = s.session.role == Role::acceptor;
  if (tls.certificate.empty() && acceptor)
    return {{"tls_certificate", "an acceptor needs a certificate, such as tls_certificate = \"server.pem\""}};
  if (tls.certificate.empty() && !tls.key.empty())
    return {{"tls_key", "needs tls_certificate: name the file with the certificate of this key"}};
  if (tls.key_password_env.contains('='))
    return {{"tls_key_password_env", "expected the name of an environment variable, such as KEY_PASSWORD"}};
  if (tls.min_version > tls.max_version) return {{"tls_min_version", "must not exceed tls_max_version"}};
  if (!acceptor && tls.client_certificate != ClientCertificate::none)
    return {{"tls_client_certificate",
             "is for acceptors, which request certificates: name an initiator's own in tls_certificate"}};
  if (acceptor && !tls.server_name.empty())
    return {{"tls_server_name", "is for initiators: remove it, as an acceptor's names come from its certificate"}};
  if (acceptor && !tls.peer_names.empty() && tls.client_certificate != ClientCertificate::require)
    return {
        {"tls_peer_names", "needs tls_client_certificate = \"require\": a client without a certificate has no name"}};
  if (acceptor && tls.client_certificate != ClientCertificate::none && tls.ca.empty())
    return {{"tls_ca",
             "is required: name the authority of the clients' certificates, as any public one would be accepted "
             "otherwise"}};
  if (acceptor && !tls.check_name)
    return {{"tls_check_name", "is for initiators: remove it, and name an acceptor's peers in tls_peer_names"}};
  if (!tls.verify && !tls.check_name)
    return {{"tls_check_name", "tls_verify = false disables this check too: remove one of them"}};
  if (!tls.verify && !tls.peer_names.empty())
    return {{"tls_peer_names", "tls_verify = false accepts any name: remove one of them"}};
  for (const std::string& name : tls.peer_names) {
    const std::size_t place = name.find(comp_id_placeholder);
    if (place == std::string::npos) continue;
    if (!acceptor)
      return {{"tls_peer_names", "{TargetCompID} is for acceptors: write the name in the peer's certificate"}};
    if (name.find(comp_id_placeholder, place + 1) != std::string::npos)
      return {{"tls_peer_names", "expected {TargetCompID} at most once in a name"}};
  }
  if (tls.ca.empty() && !tls.crl.empty() && acceptor)
    return {{"tls_crl", "needs tls_ca: name the authority that published the revocation list"}};
  return std::nullopt;
}

Bad find_size_problem(const EngineConfig& engine, const SessionSettings& s) {
  if (s.slow_consumer_timeout.count() < 1) return {{"slow_consumer_timeout_ms", "expected at least 1"}};
  if (s.send_buffer_size < 64 * 1024) return {{"send_buffer_size", "expected at least 65536"}};
  if (s.send_buffer_size < 2 * std::min(engine.max_message_size, longest_usual_message))
    return {{"send_buffer_size", "must be at least twice max_message_size, or twice 65536 if that is less"}};
  if (s.poll_thread >= engine.poll_threads) {
    return {{"poll_thread", "there are " + std::to_string(engine.poll_threads) +
                                " poll threads: expected a number below that, or raise [engine] poll_threads"}};
  }
  if (s.is_template && engine.max_dynamic_sessions == 0)
    return {{"template", "needs [engine] max_dynamic_sessions above 0"}};
  return std::nullopt;
}

using Identity = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;

// Two sessions with the same identity. `known` has those of the previous sessions.
Bad find_double(std::set<Identity>& known, const SessionConfig& c) {
  if (known.emplace(c.begin_string, c.sender_comp_id, c.target_comp_id, c.session_qualifier).second)
    return std::nullopt;
  return {{"target_comp_id", "the session " + identity(c) + " exists already: give each session different CompIDs"}};
}

Bad find_conflict(const ListenIndex& listening, const SessionSettings& s) {
  auto conflict = listening.find_conflict(s);
  if (!conflict) return std::nullopt;
  return {{conflict->key, std::move(conflict->text)}};
}

Bad find_own_problem(const EngineConfig& engine, const SessionSettings& s) {
  if (auto bad = find_identity_problem(s)) return bad;
  if (auto bad = find_network_problem(s)) return bad;
  if (auto bad = find_session_problem(s)) return bad;
  if (auto bad = find_store_problem(engine, s)) return bad;
  if (auto bad = find_tls_problem(s)) return bad;
  return find_size_problem(engine, s);
}

// `known` and `listening` contain the identities and addresses of the previous sessions.
std::optional<Problem> find_problem_of(const EngineConfig& engine, std::size_t i, std::set<Identity>& known,
                                       ListenIndex& listening) {
  NFX_ASSERT(i < engine.sessions.size());
  const auto problem = [i](Bad bad) {
    NFX_ASSERT(std::ranges::find(session_keys(), bad->first, &Key<SessionDraft>::name) != session_keys().end());
    NFX_ASSERT(!bad->second.empty());
    return Problem{i, bad->first, std::move(bad->second)};
  };
  const SessionSettings& s = engine.sessions[i];
  if (auto bad = find_own_problem(engine, s)) return problem(std::move(bad));
  if (auto bad = find_double(known, s.session)) return problem(std::move(bad));
  if (auto bad = find_conflict(listening, s)) return problem(std::move(bad));
  listening.add(s);
  return std::nullopt;
}

}  // namespace

std::optional<Problem> find_engine_problem(const EngineConfig& engine) {
  if (engine.poll_threads == 0) return Problem{0, "poll_threads", "expected at least 1"};
  if (engine.pending_logon_bytes > engine.max_message_size)
    return Problem{0, "pending_logon_bytes", "must not exceed max_message_size"};
  return std::nullopt;
}

std::optional<Problem> find_log_problem(const LogConfig& log) {
  if (log.rotate_bytes == 0) return Problem{0, "rotate_bytes", "expected at least 65536"};
  if (log.keep_files == 0) return Problem{0, "keep_files", "expected at least 1"};
  if (log.metrics_period.count() < 1) return Problem{0, "metrics_period_s", "expected at least 1"};
  if (log.trace_every != 0 && log.directory.empty())
    return Problem{0, "trace_every", "needs directory: name the folder for the traces there, such as \"log\""};
  if (!log.directory.empty() && !log.messages && !log.events && log.trace_every == 0)
    return Problem{0, "directory", "nothing would be logged: remove messages = false or events = false"};
  return std::nullopt;
}

// Accepts only addresses, because a host name can be changed to mean another machine.
[[nodiscard]] static bool is_loopback(std::string_view host) noexcept {
  return host.starts_with("127.") || host == "::1";
}

[[nodiscard]] static std::optional<Problem> find_control_tls_problem(const ControlConfig& control) {
  const bool others = !control.tls_key.empty() || !control.tls_key_password_env.empty() || !control.tls_ca.empty() ||
                      !control.tls_crl.empty() || !control.clients.empty();
  if (!control.encrypted()) {
    if (!others) return std::nullopt;
    return Problem{0, "tls_certificate",
                   "required by the other tls_ keys and by clients: name the certificate of http"};
  }
  if (control.http.host.empty())
    return Problem{0, "tls_certificate", "encrypts http: name its address there, such as \"127.0.0.1:9890\""};
  if (!control.tokens.empty())
    return Problem{0, "tokens", "with tls_certificate clients are known by their certificates: remove one of them"};
  if (control.tls_ca.empty())
    return Problem{0, "tls_certificate", "needs tls_ca: name the authority that signs the certificates of clients"};
  if (control.clients.empty())
    return Problem{0, "tls_certificate", "needs clients: name a file with lines such as \"operator NAME\" there"};
  return std::nullopt;
}

std::optional<Problem> find_control_problem(const ControlConfig& control) {
  constexpr std::size_t longest_path = 107;  // sockaddr_un
  if (control.socket.size() > longest_path) return Problem{0, "socket", "expected a path of at most 107 characters"};
  const bool octal = !control.socket_mode.empty() && control.socket_mode.size() <= 4 &&
                     control.socket_mode.find_first_not_of("01234567") == std::string::npos;
  if (!octal) return Problem{0, "socket_mode", "expected permissions in octal, such as \"0660\""};
  if (!control.http.host.empty() && !is_loopback(control.http.host))
    return Problem{0, "http", "listens on loopback only, such as \"127.0.0.1:9890\": use an SSH tunnel from elsewhere"};
  if (!control.http.host.empty() && control.tokens.empty() && !control.encrypted())
    return Problem{0, "http", "needs tokens: name a file with lines such as \"operator alice TOKEN\" there"};
  if (const auto problem = find_control_tls_problem(control)) return problem;
  if (control.wanted() && control.audit.empty())
    return Problem{0, control.socket.empty() ? "http" : "socket",
                   "needs audit: name a file there, such as \"control-audit.log\""};
  return std::nullopt;
}

[[nodiscard]] static bool is_cluster_name(std::string_view name) noexcept {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  return !name.empty() && name.size() <= 100 && name.find_first_not_of(allowed) == std::string_view::npos &&
         name.front() != '_';
}

// Each gateway needs its own address, because a session has the same port on all of them.
[[nodiscard]] static std::optional<Problem> find_address_problem(const ClusterConfig& cluster) {
  std::vector<std::string> seen;
  for (const std::string& entry : cluster.addresses) {
    const std::string name = entry.substr(0, entry.find('='));
    if (std::ranges::find(cluster.gateways, name) == cluster.gateways.end())
      return Problem{0, "addresses", '"' + entry + "\": expected a gateway and its address, such as \"a=10.0.0.11\""};
    const auto address = canonical_address(cluster.address_of(name));
    if (!address)
      return Problem{0, "addresses",
                     '"' + entry + "\": expected an IP address without a port, such as \"" + name + "=10.0.0.11\""};
    if (std::ranges::find(seen, *address) != seen.end())
      return Problem{0, "addresses",
                     '"' + entry + "\": another gateway has this address; on one host give each its own, such as " +
                         "127.0.0.1 and 127.0.0.2"};
    seen.push_back(*address);
  }
  if (cluster.wrong_gateway == WrongGateway::refuse) return std::nullopt;
  for (const std::string& name : cluster.gateways) {
    if (cluster.address_of(name).empty())
      return Problem{0, "addresses",
                     "needs the address of each gateway to hand connections on: write \"" + name +
                         "=ADDRESS\" there, or wrong_gateway = \"refuse\""};
  }
  return std::nullopt;
}

std::optional<Problem> find_cluster_problem(const ClusterConfig& cluster) {
  constexpr std::string_view form = "expected 1 to 100 letters, digits, - and _, and no _ at the beginning";
  if (!cluster.wanted()) return std::nullopt;
  for (const std::string& server : cluster.servers) {
    if (server.empty() || server.contains(',') || server.contains(' '))
      return Problem{0, "servers", "expected a list of addresses, such as [\"tls://10.0.0.1\", \"tls://10.0.0.2\"]"};
  }
  if (!is_cluster_name(cluster.stream)) return Problem{0, "stream", std::string{form}};
  if (cluster.gateway.empty()) return Problem{0, "gateway", "needs the name of this process among gateways"};
  for (const std::string& name : cluster.gateways) {
    if (!is_cluster_name(name)) return Problem{0, "gateways", '"' + name + "\": " + std::string{form}};
    if (std::ranges::count(cluster.gateways, name) != 1)
      return Problem{0, "gateways", "duplicate name \"" + name + "\"; names must be unique"};
  }
  const auto is_gateway = [&](std::string_view name) {
    return std::ranges::find(cluster.gateways, name) != cluster.gateways.end();
  };
  if (!is_gateway(cluster.gateway))
    return Problem{0, "gateway", '"' + cluster.gateway + "\" is not one of gateways: add it there, for all of them"};
  for (const std::string& name : cluster.drain) {
    if (!is_gateway(name)) return Problem{0, "drain", '"' + name + "\" is not one of gateways"};
  }
  for (const std::string& pin : cluster.pins) {
    const std::size_t equals = pin.find('=');
    if (equals == std::string::npos || equals == 0)
      return Problem{0, "pins", '"' + pin + "\": expected a session and a gateway, such as \"DESK-VENUE=a\""};
    if (!is_gateway(pin.substr(equals + 1)))
      return Problem{0, "pins", '"' + pin.substr(equals + 1) + "\" is not one of gateways"};
  }
  if (const auto problem = find_address_problem(cluster)) return problem;
  if (cluster.lease < std::chrono::seconds{1}) return Problem{0, "lease_s", "expected at least 1"};
  if (cluster.lost_after < std::chrono::seconds{1}) return Problem{0, "lost_after_ms", "expected at least 1000"};
  return std::nullopt;
}

// Checks a session with a replicated durability.
[[nodiscard]] static std::optional<Problem> find_replica_problem(const EngineConfig& engine, std::size_t i) {
  const SessionSettings& s = engine.sessions[i];
  if (!is_replicated(s.journal.durability)) return std::nullopt;
  if (s.store_kind == StoreKind::memory)
    return Problem{i, "durability", "a replicated session has a journal too: write store = \"journal\""};
  if (s.is_template)
    return Problem{i, "durability", "a template's sessions cannot be replicated: write a [[session]] for each of them"};
  if (!engine.cluster.wanted())
    return Problem{i, "durability", "needs the servers that store the session: write servers in a section [cluster]"};
  if (engine.cluster.hands_on() && s.session.role == Role::acceptor && s.listen.port == 0)
    return Problem{i, "listen", "needs a port, the same on all gateways, with [cluster] wrong_gateway = \"hand_on\""};
  const std::string name = replica_name(s);
  if (!is_cluster_name(name))
    return Problem{i, "replica_name",
                   '"' + name + "\": expected 1 to 100 letters, digits, - and _, and no _ at the beginning"};
  for (std::size_t k = 0; k < i; ++k) {
    if (engine.sessions[k].is_replicated() && replica_name(engine.sessions[k]) == name)
      return Problem{i, "replica_name", '"' + name + "\" is another session's name in the cluster: write another one"};
  }
  return std::nullopt;
}

std::optional<Problem> find_log_thread_problem(const EngineConfig& engine) {
  const std::uint32_t threads = engine.placement.role(ThreadRole::log).threads;
  if (threads > 1)
    return Problem{0, "threads", "one thread writes all logs, to keep their lines in order: expected 0 or 1"};
  if (threads == 1 && engine.log.directory.empty() && engine.log.metrics_file.empty())
    return Problem{0, "threads",
                   "the thread would have nothing to write: set [log] directory or metrics_file, or remove threads"};
  return std::nullopt;
}

std::optional<Problem> find_trace_problem(const EngineConfig& engine) {
  if (engine.log.trace_every != 0 && !engine.latency)
    return Problem{0, "trace_every", "traces are made of the latencies: remove it, or [engine] latency = false"};
  return std::nullopt;
}

std::optional<Problem> find_problem(const EngineConfig& engine) {
  std::set<Identity> known;
  ListenIndex listening;
  for (std::size_t i = 0; i < engine.sessions.size(); ++i) {
    if (auto problem = find_problem_of(engine, i, known, listening)) return problem;
    if (auto problem = find_replica_problem(engine, i)) return problem;
  }
  return std::nullopt;
}

}  // namespace config

void check_config(const EngineConfig& engine) {
  if (const std::string problem = kernel_override_error(); !problem.empty()) throw ConfigError(problem);
  if (const auto problem = config::find_engine_problem(engine))
    throw ConfigError(std::string{problem->key} + ": " + problem->text);
  if (const auto problem = config::find_log_problem(engine.log))
    throw ConfigError("log " + std::string{problem->key} + ": " + problem->text);
  if (const auto problem = config::find_control_problem(engine.control))
    throw ConfigError("control " + std::string{problem->key} + ": " + problem->text);
  if (const auto problem = config::find_cluster_problem(engine.cluster))
    throw ConfigError("cluster " + std::string{problem->key} + ": " + problem->text);
  if (const auto problem = config::find_log_thread_problem(engine))
    throw ConfigError("placement.log " + std::string{problem->key} + ": " + problem->text);
  if (const auto problem = config::find_trace_problem(engine))
    throw ConfigError("log " + std::string{problem->key} + ": " + problem->text);
  if (const auto problem = config::find_problem(engine)) {
    throw ConfigError("session " + std::to_string(problem->session) + " (" +
                      identity(engine.sessions[problem->session].session) + "): " + std::string{problem->key} + ": " +
                      problem->text);
  }
}

void check_session(const EngineConfig& engine, const ListenIndex& listening, const SessionSettings& session) {
  auto bad = config::find_own_problem(engine, session);
  if (!bad) bad = config::find_conflict(listening, session);
  if (bad)
    throw ConfigError("session " + identity(session.session) + ": " + std::string{bad->first} + ": " + bad->second);
}

}  // namespace nfx
