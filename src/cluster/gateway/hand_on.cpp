// Which gateway a connection goes to, and the lines about it.
#include "gateway/hand_on.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clocks.hpp"
#include "engine/engine_operations.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx::gateway {
namespace {

ProxyOptions options_of(Engine& engine) {
  const ClusterConfig& cluster = engine.config().cluster;
  return {.connections_max = cluster.hand_on_max,
          .from = std::string{cluster.address_of(cluster.gateway)},
          .in_place = [&engine](const std::function<void()>& run) { engine.run_on_housekeeping("nfx-proxy", run); }};
}

std::string text_of(const ProxyTarget& target) {
  return "gateway " + target.gateway + " at " + to_string(target.address);
}

}  // namespace

HandOn::HandOn(Engine& engine, LineLog& lines, std::function<void()> pushed)
    : config_(engine.config()),
      queue_(EngineOperations{engine}.hand_on_queue()),
      lines_(lines),
      proxy_(options_of(engine), [this](const ProxyReport& report) { on_report(report); }) {
  queue_.call_on_push(std::move(pushed));
  lines_.line({.time = read_utc(),
               .what = "cluster",
               .text = "connections of sessions that other gateways own are handed on to these, at most " +
                       std::to_string(config_.cluster.hand_on_max) + " at a time"});
  lines_.flush();
}

HandOn::~HandOn() { queue_.call_on_push({}); }

void HandOn::serve(const std::function<std::string(const std::string&)>& owner_of) {
  if (!queue_.waiting()) return;
  for (HandedOn& connection : queue_.take()) hand_on(connection, owner_of(connection.replica));
}

void HandOn::hand_on(HandedOn& connection, const std::string& owner) {
  if (owner.empty()) return refuse(connection, &HandOnCounters::no_owner, "no gateway is known to own its session now");
  if (owner == config_.cluster.gateway)
    return refuse(connection, &HandOnCounters::no_owner, "this gateway now owns its session");
  const auto settings = std::ranges::find_if(config_.sessions, [&](const SessionSettings& each) {
    return each.is_replicated() && replica_name(each) == connection.replica;
  });
  NFX_ASSERT(settings != config_.sessions.end());
  const ProxyTarget target{
      .gateway = owner,
      .address = {.host = std::string{config_.cluster.address_of(owner)}, .port = settings->listen.port}};
  if (proxy_.add(connection, target)) return;
  refuse(connection, &HandOnCounters::full,
         std::to_string(config_.cluster.hand_on_max) + " connections are handed on: raise [cluster] hand_on_max");
}

void HandOn::refuse(const HandedOn& connection, std::uint64_t HandOnCounters::* counter, const std::string& why) {
  queue_.count(counter);
  line(LogLevel::warning, connection, "not handed on and closed: " + why + ", from " + connection.peer);
}

void HandOn::on_report(const ProxyReport& report) {
  const std::string to = text_of(report.target);
  switch (report.kind) {
    case ProxyReport::Kind::begun:
      queue_.count(&HandOnCounters::begun);
      return line(LogLevel::info, report.connection, "handed on to " + to + ", from " + report.connection.peer);
    case ProxyReport::Kind::unreachable:
      return refuse(report.connection, &HandOnCounters::unreachable, to + " cannot be reached: " + report.reason);
    case ProxyReport::Kind::ended: break;
  }
  queue_.count(&HandOnCounters::ended);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(report.lasted).count();
  line(LogLevel::info, report.connection,
       "no longer handed on to " + to + ", from " + report.connection.peer + ": " + report.reason + "; " +
           std::to_string(report.bytes_to_owner) + " bytes to the gateway, " + std::to_string(report.bytes_to_peer) +
           " back, " + std::to_string(seconds) + " s");
}

void HandOn::line(LogLevel level, const HandedOn& connection, std::string text) {
  const std::lock_guard lock{lines_mutex_};
  if (!lines_limit_.take(read_monotonic())) {
    ++lines_omitted_;
    return;
  }
  if (const std::uint64_t omitted = std::exchange(lines_omitted_, 0); omitted != 0)
    text += "; " + std::to_string(omitted) + " lines of such connections before it were left out";
  lines_.line({.time = read_utc(), .level = level, .what = "cluster", .session = connection.session, .text = text});
  lines_.flush();
}

}  // namespace nfx::gateway
