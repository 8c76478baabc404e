// Requests snapshots from the control plane, one after the other.
#include "top/feed.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "base/clocks.hpp"
#include "control_access.hpp"
#include "text.hpp"

namespace nfx::app::top {

Asker::Asker(ControlAddress address, const std::vector<std::string>& dictionaries) : client_(std::move(address)) {
  for (const std::string& file : dictionaries) dictionaries_.add(file);
}

Snapshot Asker::ask(const Wanted& wanted) {
  nlohmann::ordered_json json;
  Snapshot now;
  const std::string time = timestamp(read_utc());
  now.date = time.substr(0, 8);
  now.utc = time.substr(9, 8);
  const auto ask_all = [&] {
    if (!get("/v1/engine", json, now)) return false;
    read_engine(json, now);
    if (!get("/v1/sessions", json, now)) return false;
    now.taken = read_monotonic();
    read_sessions(json, now);
    if (wanted.view == View::threads) {
      if (!get("/v1/threads", json, now)) return false;
      read_threads(json, now);
    }
    const std::string window = "?window=" + std::string{to_string(wanted.window)};
    if (!get("/v1/latency" + window, json, now)) return false;
    read_latency(json, now);
    if (wanted.view == View::slowest) {
      if (!get("/v1/slowest" + window, json, now)) return false;
      read_slowest(json, now);
    }
    return true;
  };
  if (!ask_all()) {
    // Known data stays visible.
    std::string problem = std::move(now.problem);
    now = before_;
    now.connected = false;
    now.problem = std::move(problem);
    return now;
  }
  now.connected = true;
  exit_code_ = 0;
  if (wanted.view == View::messages && !wanted.session.empty()) ask_messages(wanted.session, now);
  add_rates(now, before_);
  before_ = now;
  return now;
}

bool Asker::get(const std::string& target, nlohmann::ordered_json& json, Snapshot& snapshot) {
  const auto asked = ask_json(client_, {.target = target}, json);
  if (asked && *asked) return true;
  exit_code_ = asked ? 1 : asked.error().exit_code;
  snapshot.problem = asked ? member_text(json, "detail") : asked.error().text;
  return false;
}

void Asker::ask_messages(const std::string& session, Snapshot& snapshot) {
  snapshot.messages_of = session;
  std::uint64_t after = 0;
  if (before_.messages_of == session && before_.pid == snapshot.pid && !before_.messages.empty()) {
    snapshot.messages = before_.messages;
    after = snapshot.messages.back().number;
  }
  nlohmann::ordered_json json;
  const auto asked = ask_json(client_,
                              {.target = control_path(session, "messages") + "?limit=" + std::to_string(most_messages) +
                                         "&after=" + std::to_string(after)},
                              json);
  if (!asked || !*asked) {
    snapshot.messages_problem = asked ? member_text(json, "detail") : asked.error().text;
    return;
  }
  snapshot.dropped = member_number(json, "dropped").value_or(0);
  std::vector<MessageRow> more = read_messages(json, [this](std::string_view begin_string, std::string_view version) {
    return dictionaries_.find(begin_string, version).dictionary;
  });
  auto& all = snapshot.messages;
  std::ranges::move(more, std::back_inserter(all));
  if (all.size() > most_messages) all.erase(all.begin(), all.end() - most_messages);
}

Feed::Feed(Asker& asker, Duration interval)
    : asker_(asker), interval_(interval), changed_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (changed_fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  thread_ = std::thread{[this] { run(); }};
}

Feed::~Feed() {
  {
    const std::lock_guard lock{mutex_};
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
  ::close(changed_fd_);
}

void Feed::want(const Wanted& wanted) {
  {
    const std::lock_guard lock{mutex_};
    if (wanted == wanted_) return;
    wanted_ = wanted;
    wants_now_ = true;
  }
  changed_.notify_one();
}

std::shared_ptr<const Snapshot> Feed::latest() {
  const std::lock_guard lock{mutex_};
  std::uint64_t changes = 0;
  static_cast<void>(!::read(changed_fd_, &changes, sizeof changes));  // fails if there are none
  return latest_;
}

void Feed::run() {
  std::unique_lock lock{mutex_};
  while (!stop_) {
    const Wanted wanted = wanted_;
    wants_now_ = false;
    lock.unlock();
    auto snapshot = std::make_shared<const Snapshot>(asker_.ask(wanted));
    lock.lock();
    latest_ = std::move(snapshot);
    constexpr std::uint64_t one = 1;
    static_cast<void>(!::write(changed_fd_, &one, sizeof one));  // only an overflow could make it fail
    changed_.wait_for(lock, interval_, [this] { return stop_ || wants_now_; });
  }
}

}  // namespace nfx::app::top
