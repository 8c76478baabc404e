// Which gateways are alive, by the leases that they renew: the input of assign().
// Thread: one. Cost: a few compares. Errors: another process with this gateway's name is reported once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cluster/assignment.hpp"
#include "cluster/frame.hpp"
#include "cluster/owner.hpp"
#include "gateway/operator_settings.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx::gateway {

class Members {
 public:
  Members(const ClusterConfig& config, cluster::GatewayId own) : lease_(config.lease), own_(own) {
    for (const std::string& name : config.gateways) {
      const bool drains = std::ranges::find(config.drain, name) != config.drain.end();
      members_.push_back({.name = name, .draining = drains, .alive_until = {}});
      if (name == config.gateway) self_ = members_.size() - 1;
    }
    for (const std::string& pin : config.pins) {
      const std::size_t equals = pin.find('=');
      pins_.push_back({pin.substr(0, equals), pin.substr(equals + 1)});
    }
  }

  // What operators have set goes before the configuration.
  void set(OperatorSettings settings) { settings_ = std::move(settings); }

  [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }
  [[nodiscard]] std::size_t self() const noexcept { return self_; }
  [[nodiscard]] const std::string& name(std::size_t member) const noexcept { return members_[member].name; }

  // A renewed lease; `gateway` 0: it has ended. False: another process has this gateway's name.
  [[nodiscard]] bool on_lease(std::size_t member, cluster::GatewayId gateway, MonotonicTime now) {
    Member& of = members_[member];
    if (member == self_) return gateway == own_ || gateway == cluster::GatewayId{};
    of.id = gateway;
    of.alive_until = gateway == cluster::GatewayId{} ? MonotonicTime{} : now + cluster::wait_for_lease(lease_);
    return true;
  }

  // The name of the gateway that a lease states; empty: a gateway that is not known.
  [[nodiscard]] std::string name_of(cluster::GatewayId gateway) const {
    if (gateway == own_) return members_[self_].name;
    const auto found = std::ranges::find(members_, gateway, &Member::id);
    return gateway == cluster::GatewayId{} || found == members_.end() ? std::string{} : found->name;
  }

  [[nodiscard]] bool is_alive(std::size_t member, MonotonicTime now) const noexcept {
    return member == self_ || members_[member].alive_until > now;
  }

  [[nodiscard]] cluster::Assignment owner_of(const std::string& session, MonotonicTime now) const {
    return owner_of(session, now, std::span<const std::size_t>{});
  }

  // How many of the gateways that are alive the session goes to before this one.
  [[nodiscard]] std::size_t rank(const std::string& session, MonotonicTime now) const {
    std::vector<std::size_t> lost;
    for (;;) {
      const std::size_t first = owner_of(session, now, lost).gateway;
      if (first == self_ || first == cluster::Assignment::no_gateway) return lost.size();
      lost.push_back(first);
    }
  }
  [[nodiscard]] bool is_alone(MonotonicTime now) const noexcept {
    for (std::size_t i = 0; i < members_.size(); ++i)
      if (i != self_ && is_alive(i, now)) return false;
    return true;
  }
  // The run of a gateway.
  [[nodiscard]] cluster::GatewayId run_of(std::size_t member) const noexcept {
    return member == self_ ? own_ : members_[member].id;
  }

  // Whether this gateway owns the session when any one gateway is lost.
  [[nodiscard]] bool is_next(const std::string& session, MonotonicTime now) const {
    const std::size_t first = owner_of(session, now).gateway;
    return first == self_ || owner_of(session, now, std::span{&first, 1}).gateway == self_;
  }

  // Whether an owner gives a session up: it stays where it is, unless it is to be elsewhere by configuration. A gateway
  // whose run `unable` is does not get it.
  [[nodiscard]] bool gives_up(const std::string& session, MonotonicTime now, cluster::GatewayId unable = {}) const {
    const cluster::Assignment assigned = owner_of(session, now);
    if (assigned.gateway == self_ || assigned.gateway == cluster::Assignment::no_gateway) return false;
    if (unable != cluster::GatewayId{} && run_of(assigned.gateway) == unable) return false;
    return drains(self_) || assigned.by == cluster::AssignedBy::pin;
  }

 private:
  [[nodiscard]] cluster::Assignment owner_of(const std::string& session, MonotonicTime now,
                                             std::span<const std::size_t> lost) const {
    std::vector<cluster::Gateway> gateways;
    gateways.reserve(members_.size());
    for (std::size_t i = 0; i < members_.size(); ++i)
      gateways.push_back({.name = members_[i].name,
                          .alive = is_alive(i, now) && std::ranges::find(lost, i) == lost.end(),
                          .draining = drains(i)});
    std::vector<cluster::Pin> pins;
    for (const auto& [of, gateway] : settings_.moves) pins.push_back({.session = of, .gateway = gateway});
    for (const Pin& pin : pins_) pins.push_back({.session = pin.session, .gateway = pin.gateway});
    return cluster::assign(session, gateways, pins);
  }

  [[nodiscard]] bool drains(std::size_t member) const {
    const Member& of = members_[member];
    return of.draining || std::ranges::find(settings_.drains, of.name) != settings_.drains.end();
  }

  struct Member {
    std::string name;
    bool draining = false;
    MonotonicTime alive_until{};
    cluster::GatewayId id{};  // but of this gateway
  };
  struct Pin {
    std::string session, gateway;
  };

  Duration lease_;
  cluster::GatewayId own_;
  std::size_t self_ = 0;
  std::vector<Member> members_;
  std::vector<Pin> pins_;
  OperatorSettings settings_;
};

}  // namespace nfx::gateway
