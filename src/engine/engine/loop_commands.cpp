// Requests to a poll loop guarded by a mutex, and the names and numbers of sessions that are claimed.
#include "engine/loop_commands.hpp"

#include <algorithm>
#include <utility>

#include "nexusfix/base/assert.hpp"

namespace nfx {

std::size_t most_added_sessions(const EngineConfig& config) noexcept {
  const auto replicated = std::ranges::count_if(config.sessions, &SessionSettings::is_replicated);
  return config.max_dynamic_sessions + static_cast<std::size_t>(replicated);
}

LoopCommands::LoopCommands(const EngineConfig& config, std::uint32_t thread) : config_(config), thread_(thread) {
  for (const SessionSettings& settings : config.sessions) {
    if (!settings.is_template && !settings.is_replicated()) with_a_place_.insert(identity(settings.session));
  }
}

void LoopCommands::configured(const std::string& name) {
  const std::lock_guard lock{mutex_};
  NFX_ASSERT(with_a_place_.contains(name));
  const bool added = names_.insert(name).second;
  NFX_REQUIRE(added);  // check_config() refuses two of one name
}

std::size_t LoopCommands::claim(const std::string& name) {
  const std::lock_guard lock{mutex_};
  if (names_.contains(name)) throw ConfigError("the session " + name + " exists already");
  const bool counts = !with_a_place_.contains(name);
  if (counts && dynamic_count_ >= most_added_sessions(config_)) {
    throw ConfigError("there are " + std::to_string(dynamic_count_) +
                      " sessions that were added or made from templates: raise [engine] max_dynamic_sessions");
  }
  names_.insert(name);
  if (counts) ++dynamic_count_;
  NFX_ASSERT(dynamic_count_ <= most_added_sessions(config_));
  return config_.sessions.size() + dynamic_made_++ * config_.poll_threads + thread_;
}

bool LoopCommands::full() {
  const std::lock_guard lock{mutex_};
  return dynamic_count_ >= most_added_sessions(config_);
}

void LoopCommands::release(const std::string& name) {
  const std::lock_guard lock{mutex_};
  NFX_ASSERT(names_.contains(name));
  names_.erase(name);
  if (with_a_place_.contains(name)) return;
  NFX_ASSERT(dynamic_count_ != 0);
  --dynamic_count_;
}

bool LoopCommands::knows(const std::string& name) {
  const std::lock_guard lock{mutex_};
  return names_.contains(name);
}

void LoopCommands::not_added(std::size_t number, std::string_view why) {
  const std::lock_guard lock{mutex_};
  if (not_added_.size() == most_not_added) not_added_.pop_front();
  not_added_.emplace_back(number, why);
}

std::optional<std::string> LoopCommands::why_not_added(std::size_t number) {
  const std::lock_guard lock{mutex_};
  const auto found = std::ranges::find(not_added_, number, [](const auto& each) { return each.first; });
  return found == not_added_.end() ? std::nullopt : std::optional{found->second};
}

bool LoopCommands::may_exist(std::size_t number) const noexcept {
  if (number < config_.sessions.size())
    return !config_.sessions[number].is_template && !config_.sessions[number].is_replicated();
  const std::size_t beyond = number - config_.sessions.size();
  return beyond / config_.poll_threads < dynamic_made_.load(std::memory_order_acquire);
}

void LoopCommands::push(LoopCommand command) {
  const std::lock_guard lock{mutex_};
  commands_.push_back(std::move(command));
  waiting_.store(true, std::memory_order_release);
}

bool LoopCommands::push(std::shared_ptr<LoopCall> call) {
  const std::lock_guard lock{mutex_};
  const auto waiting = std::ranges::count(commands_, LoopCommand::Kind::call, &LoopCommand::kind);
  if (static_cast<std::size_t>(waiting) >= max_waiting_calls) return false;
  commands_.push_back({.kind = LoopCommand::Kind::call, .call = std::move(call)});
  waiting_.store(true, std::memory_order_release);
  return true;
}

bool LoopCommands::remove(std::size_t number, std::string text) {
  const std::lock_guard lock{mutex_};
  const bool asked = std::ranges::any_of(commands_, [&](const LoopCommand& each) {
    return each.kind == LoopCommand::Kind::remove && each.number == number;
  });
  if (asked) return true;
  if (!may_exist(number)) return false;
  commands_.push_back({.kind = LoopCommand::Kind::remove, .number = number, .text = std::move(text)});
  waiting_.store(true, std::memory_order_release);
  return true;
}

std::vector<LoopCommand> LoopCommands::take() {
  std::vector<LoopCommand> taken;
  const std::lock_guard lock{mutex_};
  taken.swap(commands_);
  waiting_.store(false, std::memory_order_release);
  return taken;
}

}  // namespace nfx
