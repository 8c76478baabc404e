// Appends records when they are due, and takes the time until they are released.
#include "sizing/stream_load.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "cluster/name_hash.hpp"

namespace nfx::bench {
namespace {

constexpr Duration patience = std::chrono::seconds{30};
constexpr Duration longest_wait = std::chrono::milliseconds{2};

MonotonicTime now() { return std::chrono::steady_clock::now(); }

// Records that one session has appended and that are not released.
struct Waiting {
  std::deque<MonotonicTime> since;
  std::uint64_t taken = 0;  // records that are released, of all since the session is owned
};

class Load {
 public:
  Load(SessionOwners& owners, const LoadOptions& options)
      : owners_(owners), options_(options), messages_(make_messages(options.bytes, 1)), waiting_(owners.size()) {
    for (std::size_t i = 0; i < waiting_.size(); ++i) waiting_[i].taken = owners.session(i).state.appended;
  }

  LoadResult run() {
    const std::uint64_t frames_before = frames();
    const double cpu_before = own_cpu_seconds();
    std::vector<double> servers_before;
    for (const pid_t pid : options_.servers) servers_before.push_back(cpu_seconds_of(pid));
    begin_ = last_answer_ = now();
    const MonotonicTime end = begin_ + Duration{static_cast<std::int64_t>(options_.seconds * 1e9)};
    bool is_open = true;
    while (is_open || outstanding_ > 0) {
      is_open = is_open && now() < end && !is_enough();
      if (is_open) options_.rate > 0 ? append_due() : append_next();
      owners_.poll([&](std::size_t session, std::uint64_t released) { take(session, released); });
      if (now() - last_answer_ > patience)
        throw std::runtime_error("no frame was acknowledged for half a minute: nfx cluster check names the reason");
      owners_.wait(wait_time(is_open));
    }
    if (options_.rate > 0) result_.late = due_by(end) - appended_;
    result_.seconds = std::chrono::duration<double>(now() - begin_).count();
    result_.frames = frames() - frames_before;
    result_.gateway_cpu_s = own_cpu_seconds() - cpu_before;
    for (std::size_t i = 0; i < options_.servers.size(); ++i)
      result_.server_cpu_s.push_back(cpu_seconds_of(options_.servers[i]) - servers_before[i]);
    return std::move(result_);
  }

 private:
  std::uint64_t frames() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < owners_.size(); ++i) sum += std::to_underlying(owners_.session(i).state.number);
    return sum;
  }

  // All sessions have the same rate, in turn.
  double records_per_s() const { return options_.rate * static_cast<double>(owners_.size()); }
  std::uint64_t due_by(MonotonicTime time) const {
    return static_cast<std::uint64_t>(std::chrono::duration<double>(time - begin_).count() * records_per_s());
  }
  MonotonicTime due_at(std::uint64_t record) const {
    return begin_ + Duration{static_cast<std::int64_t>(static_cast<double>(record + 1) / records_per_s() * 1e9)};
  }

  bool append(std::size_t session, MonotonicTime since) {
    const std::string& message = messages_[appended_ % messages_.size()];
    if (!owners_.has_space(session, message.size())) return false;
    owners_.append(session, message);
    waiting_[session].since.push_back(since);
    ++appended_;
    ++outstanding_;
    return true;
  }
  void append_due() {
    for (const std::uint64_t due = due_by(now()); appended_ < due;)
      if (!append(appended_ % owners_.size(), due_at(appended_))) return;
  }
  void append_next() {
    const MonotonicTime time = now();
    for (std::size_t session = 0; session < owners_.size(); ++session)
      while (!is_enough() && waiting_[session].since.size() < options_.window && append(session, time)) continue;
  }
  bool is_enough() const { return options_.records != 0 && appended_ >= options_.records; }

  void take(std::size_t session, std::uint64_t released) {
    const MonotonicTime time = now();
    last_answer_ = time;
    Waiting& waiting = waiting_[session];
    for (; waiting.taken < released && !waiting.since.empty(); ++waiting.taken) {
      const auto us = std::chrono::duration_cast<std::chrono::microseconds>(time - waiting.since.front()).count();
      result_.latency_us.record(static_cast<std::uint64_t>(std::max<std::int64_t>(us, 0)));
      waiting.since.pop_front();
      ++result_.records;
      --outstanding_;
    }
  }

  Duration wait_time(bool is_open) const {
    if (!is_open || options_.rate == 0) return longest_wait;
    return std::clamp<Duration>(due_at(appended_) - now(), Duration::zero(), longest_wait);
  }

  SessionOwners& owners_;
  const LoadOptions& options_;
  std::vector<std::string> messages_;
  std::vector<Waiting> waiting_;
  std::uint64_t appended_ = 0;
  std::uint64_t outstanding_ = 0;
  MonotonicTime begin_{}, last_answer_{};
  LoadResult result_;
};

}  // namespace

LoadResult run_load(SessionOwners& owners, const LoadOptions& options) { return Load{owners, options}.run(); }

double cpu_seconds_of(pid_t pid) {
  std::ifstream in{"/proc/" + std::to_string(pid) + "/stat"};
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) throw std::runtime_error("there is no process " + std::to_string(pid));
  std::istringstream fields{text.substr(name_end + 1)};
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;  // up to the 14th field, which is the user time
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double own_cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::vector<std::string> make_messages(std::uint32_t bytes, std::uint64_t seed) {
  std::vector<std::string> messages(1000);
  for (std::string& message : messages) {
    message =
        "8=FIX.4.4\x01"
        "9=200\x01"
        "35=D\x01"
        "58=";
    while (message.size() < bytes) {
      seed = nfx::cluster::mixed(seed + 0x9e3779b97f4a7c15);
      message += static_cast<char>('0' + seed % 10);
    }
    message.resize(bytes);
  }
  return messages;
}

}  // namespace nfx::bench
