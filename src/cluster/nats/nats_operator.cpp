// The operator's actions on the streams: makes, checks, lists, reads and compacts them.
#ifdef NFX_WITH_NATS
#include <algorithm>
#include <map>

#include "nats/connection.hpp"

namespace nfx::nats {
namespace {

constexpr int stream_not_found = 10059;

}  // namespace

Duration NatsStream::lease() {
  const std::string stream = "KV_" + connection_->options.stream;
  const Json info = connection_->ask("$JS.API.STREAM.INFO." + stream, nullptr);
  if (const Json error = object_in(info, "error"); !error.empty())
    throw NatsError{"stream " + stream + ": " + text_in(error, "description") + "; make it with nfx cluster init"};
  return Duration{static_cast<std::int64_t>(number_in(object_in(info, "config"), "max_age"))};
}

void NatsStream::create(const StreamLimits& limits) {
  Connection& connection = *connection_;
  const std::string& name = connection.options.stream;
  const auto make = [&](const std::string& stream, Json config) {
    config["name"] = stream;
    config["storage"] = "file";
    config["retention"] = "limits";
    config["num_replicas"] = limits.replicas;
    config["allow_direct"] = true;
    const Json error = object_in(connection.ask("$JS.API.STREAM.CREATE." + stream, config), "error");
    if (!error.empty()) throw NatsError{"stream " + stream + " was not made: " + text_in(error, "description")};
  };
  make(name, {{"subjects", {name + ".s.*"}},
              {"discard", "new"},
              {"max_bytes", limits.bytes_max},
              {"max_msgs_per_subject", -1},
              {"duplicate_window", 0}});
  make("KV_" + name, {{"subjects", {"$KV." + name + ".*"}},
                      {"discard", "old"},
                      {"max_msgs_per_subject", 1},
                      {"max_age", limits.lease.count()},
                      {"duplicate_window", 0}});
  if (limits.audit_age == Duration{}) return;
  // The servers copy each frame with its subject and sequence; what the first stream drops, this one still has.
  // It answers reads of the first stream too, as the servers have it: like a replica that is late, or has removed
  // frames.
  make(audit_stream(name),
       {{"mirror", {{"name", name}}},
        {"discard", "old"},
        {"max_age", limits.audit_age.count()},
        {"max_bytes", limits.audit_bytes == 0 ? -1 : static_cast<std::int64_t>(limits.audit_bytes)}});
}

namespace {

// The servers whose replica does not have all of a stream.
std::vector<std::string> behind(const Json& info) {
  std::vector<std::string> names;
  const Json cluster = object_in(info, "cluster");
  const auto replicas = cluster.find("replicas");
  if (replicas == cluster.end() || !replicas->is_array()) return names;
  for (const Json& replica : *replicas) {
    if (!replica.is_object()) continue;
    const auto current = replica.find("current");
    if (current == replica.end() || *current != true) names.push_back(text_in(replica, "name"));
  }
  return names;
}

}  // namespace

std::vector<CheckLine> NatsStream::check() {
  Connection& connection = *connection_;
  const std::string& name = connection.options.stream;
  std::vector<CheckLine> lines;
  lines.push_back({true, "the servers are nats-server 2.12 or later"});
  for (const std::string& stream : {name, "KV_" + name}) {
    const Json info = connection.ask("$JS.API.STREAM.INFO." + stream, nullptr);
    if (const Json error = object_in(info, "error"); !error.empty()) {
      const bool is_missing = number_in(error, "err_code") == stream_not_found;
      lines.push_back({false, "stream " + stream + ": " + text_in(error, "description") +
                                  (is_missing ? "; make it with nfx cluster init" : "")});
      continue;
    }
    const Json config = object_in(info, "config"), state = object_in(info, "state");
    const std::uint64_t replicas = number_in(config, "num_replicas");
    lines.push_back(
        {replicas >= 3, "stream " + stream + " has " + std::to_string(replicas) +
                            (replicas >= 3 ? " replicas" : " replica; a lost machine loses it: make it with 3")});
    for (const std::string& server : behind(info))
      lines.push_back({false, "stream " + stream + ": server " + server +
                                  " lacks frames or is not reachable, and counts as missing: start it, or wait until "
                                  "it has them before another one is stopped"});
    if (stream != name) continue;
    const bool discards_new = text_in(config, "discard") == "new";
    lines.push_back({discards_new, discards_new
                                       ? "stream " + stream + " refuses when it is full"
                                       : "stream " + stream + " drops old frames when it is full: set discard to new"});
    const std::uint64_t most = number_in(config, "max_bytes"), used = number_in(state, "bytes");
    const bool has_space = most == 0 || used < most / 10 * 9;
    lines.push_back(
        {has_space,
         "stream " + stream + " uses " + std::to_string(used) + " of " + std::to_string(most) +
             (has_space ? " bytes" : " bytes: it is nearly full; run nfx cluster compact, or raise max_bytes")});
    const std::string error = write_error();
    lines.push_back(
        {error.empty(), "stream " + stream + (error.empty() ? " can be written" : " cannot be written: " + error)});
  }
  check_audit(lines);
  return lines;
}

// For the copy for an audit, if it exists.
void NatsStream::check_audit(std::vector<CheckLine>& lines) {
  const std::string stream = audit_stream(connection_->options.stream);
  Json info;
  try {
    info = connection_->ask("$JS.API.STREAM.INFO." + stream, nullptr);
  } catch (const NatsTimeout&) {
    return lines.push_back({true, "stream " + stream + " was not checked: this user may not request its state"});
  }
  if (!object_in(info, "error").empty()) return;
  const Json mirror = object_in(info, "mirror");
  const std::uint64_t lag = number_in(mirror, "lag");
  // Nanoseconds since the copy has last heard of the stream; the servers report each second or two that nothing came.
  const std::uint64_t silent = number_in(mirror, "active");
  constexpr std::uint64_t silent_most = 10'000'000'000;
  const std::string error = text_in(object_in(mirror, "error"), "description");
  const bool good = error.empty() && silent < silent_most;
  lines.push_back(
      {good, "stream " + stream + " is a copy for an audit, and lacks " + std::to_string(lag) + " frames" +
                 (!error.empty() ? ": " + error
                  : good         ? ""
                                 : ", and has not heard of the stream for " + std::to_string(silent / 1'000'000'000) +
                               " s: is the stream's leader reachable?")});
}

std::string NatsStream::write_error() {
  Connection& connection = *connection_;
  const std::string subject = connection.options.stream + ".s._check";
  natsMsg* made = nullptr;
  require(natsMsg_Create(&made, subject.c_str(), nullptr, "", 0), "libnats");
  const Owned<natsMsg> message{made};
  // No subject comes that far, so nothing is stored.
  require(natsMsgHeader_Set(made, "Nats-Expected-Last-Subject-Sequence", "9007199254740991"), "libnats");
  natsMsg* got = nullptr;
  const natsStatus status =
      natsConnection_RequestMsg(&got, connection.link().handle.get(), made, connection.timeout_ms());
  if (status == NATS_TIMEOUT)
    return "no answer: give this user permission to publish to " + connection.options.stream + ".s.*";
  if (status != NATS_OK) return natsStatus_GetText(status);
  const Owned<natsMsg> answer{got};
  const Json json = json_of(data_of(got));
  if (is_wrong_last_sequence(json)) return {};
  return "unexpected answer: " + text_in(object_in(json, "error"), "description");
}

// The holder of each lease, by its name; 0: none.
std::map<std::string, std::uint64_t> NatsStream::leases() {
  constexpr std::uint32_t at_once = 1000;
  const std::string& name = connection_->options.stream;
  const std::string before = "$KV." + name + ".";
  std::map<std::string, std::uint64_t> leases;
  for (std::uint64_t next = 1, read = at_once; read == at_once;) {
    read = 0;
    const Json request{{"seq", next}, {"next_by_subj", before + "*"}, {"batch", at_once}};
    connection_->read_batch("KV_" + name, request, [&](natsMsg* message) {
      ++read;
      next = number_of(header_of(message, "Nats-Sequence")) + 1;
      const std::string_view subject = header_of(message, "Nats-Subject");
      if (subject.starts_with(before)) leases[std::string{subject.substr(before.size())}] = number_of(data_of(message));
    });
  }
  return leases;
}

constexpr std::string_view gateway_prefix = "_gateway-";

std::vector<std::string> NatsStream::gateways() {
  std::vector<std::string> names;
  for (const auto& [name, holder] : leases())
    if (name.starts_with(gateway_prefix) && holder != 0) names.push_back(name.substr(gateway_prefix.size()));
  return names;
}

std::vector<StoredSession> NatsStream::list() {
  Connection& connection = *connection_;
  const std::string& name = connection.options.stream;
  const Json info = connection.ask("$JS.API.STREAM.INFO." + name, {{"subjects_filter", ">"}});
  if (const Json error = object_in(info, "error"); !error.empty())
    throw NatsError{"stream " + name + ": " + text_in(error, "description")};
  std::vector<StoredSession> sessions;
  const std::string before = name + ".s.";
  const Json subjects = object_in(object_in(info, "state"), "subjects");
  for (const auto& [subject, count] : subjects.items()) {
    // A name that begins with _ is not a session.
    if (subject.starts_with(before) && !subject.substr(before.size()).starts_with('_') && count.is_number_unsigned())
      sessions.push_back({subject.substr(before.size()), count.get<std::uint64_t>(), {}});
  }
  const std::map<std::string, std::uint64_t> leases = this->leases();
  for (StoredSession& session : sessions) {
    const auto held = leases.find(session.name);
    if (held == leases.end() || held->second == 0) continue;
    const auto gateway = std::ranges::find_if(leases, [&](const auto& lease) {
      return lease.first.starts_with(gateway_prefix) && lease.second == held->second;
    });
    session.owner = gateway != leases.end() ? gateway->first.substr(gateway_prefix.size()) : "a gateway without a name";
  }
  std::ranges::sort(sessions, {}, &StoredSession::name);
  return sessions;
}

namespace {

// "2026-01-31T12:00:00.123456789Z"
UtcTime time_of(std::string_view stamp) {
  std::string text;
  for (const char c : stamp)
    if (c != '-' && c != 'Z') text += c == 'T' ? '-' : c;
  const auto parsed = parse_utc_timestamp(text);
  return parsed ? parsed->time : UtcTime{};
}

}  // namespace

StreamState NatsStream::state() {
  const std::string& name = connection_->options.stream;
  const Json info = connection_->ask("$JS.API.STREAM.INFO." + name, nullptr);
  if (const Json error = object_in(info, "error"); !error.empty())
    throw NatsError{"stream " + name + ": " + text_in(error, "description") + "; make it with nfx cluster init"};
  return {.replicas = static_cast<std::uint32_t>(number_in(object_in(info, "config"), "num_replicas")),
          .bytes = number_in(object_in(info, "state"), "bytes"),
          .leader = text_in(object_in(info, "cluster"), "leader"),
          .behind = behind(info)};
}

std::vector<StoredFrame> NatsStream::read_after(std::string_view session, std::uint64_t sequence, std::uint32_t most) {
  Connection& connection = *connection_;
  const std::string& name = connection.options.stream;
  const std::string from = connection.options.audit ? audit_stream(name) : name;
  if (!is_token(session)) throw NatsError{"session " + std::string{session} + ": use letters, digits, - and _"};
  std::vector<StoredFrame> frames;
  connection.read_batch(from,
                        {{"seq", sequence + 1},
                         {"next_by_subj", name + ".s." + std::string{session}},
                         {"batch", most},
                         {"max_bytes", 16 * cluster::max_frame_size}},
                        [&](natsMsg* message) {
                          frames.push_back({.sequence = number_of(header_of(message, "Nats-Sequence")),
                                            .stored = time_of(header_of(message, "Nats-Time-Stamp")),
                                            .bytes = std::string{data_of(message)}});
                        });
  return frames;
}

void NatsStream::remove_before(std::string_view session, std::uint64_t sequence) {
  const std::string& name = connection_->options.stream;
  if (!is_token(session)) throw NatsError{"session " + std::string{session} + ": use letters, digits, - and _"};
  // The servers take these for a request to remove all frames of the session.
  if (sequence < 2) return;
  const Json answer = connection_->ask("$JS.API.STREAM.PURGE." + name,
                                       {{"filter", name + ".s." + std::string{session}}, {"seq", sequence}});
  if (const Json error = object_in(answer, "error"); !error.empty())
    throw NatsError{"stream " + name + ": the frames of session " + std::string{session} +
                    " were not removed: " + text_in(error, "description")};
}

void NatsStream::remove_frame(std::uint64_t sequence) {
  const std::string& name = connection_->options.stream;
  const Json answer = connection_->ask("$JS.API.STREAM.MSG.DELETE." + name, {{"seq", sequence}, {"no_erase", true}});
  if (const Json error = object_in(answer, "error"); !error.empty())
    throw NatsError{"stream " + name + ": sequence " + std::to_string(sequence) +
                    " was not removed: " + text_in(error, "description")};
}

std::optional<std::uint64_t> NatsStream::audit_sequence() {
  const std::string stream = audit_stream(connection_->options.stream);
  const Json info = connection_->ask("$JS.API.STREAM.INFO." + stream, nullptr);
  const Json error = object_in(info, "error");
  if (number_in(error, "err_code") == stream_not_found) return std::nullopt;
  if (!error.empty()) throw NatsError{"stream " + stream + ": " + text_in(error, "description")};
  return number_in(object_in(info, "state"), "last_seq");
}

}  // namespace nfx::nats
#endif
