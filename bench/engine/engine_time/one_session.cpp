// Builds the engine, its messages and its stores, and runs the journal's flusher on another thread.
#include "engine_time/one_session.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "harness/measure.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx::bench {
namespace {

std::string field(int tag, const std::string& text) { return std::to_string(tag) + '=' + text + '\x01'; }

// A body that becomes a message of `size` bytes with the session's header and trailer.
std::string padded_body(std::string body, std::size_t envelope, std::size_t size) {
  const std::size_t taken = envelope + body.size() + field(58, "").size();
  body += field(58, std::string(size > taken ? size - taken : 1, 'x'));
  return body;
}

std::string make_order_body(Random& random, std::uint32_t number) {
  return field(11, "ORD" + std::to_string(100000 + number)) + field(55, random.below(2) != 0 ? "MSFT" : "AAPL") +
         field(54, std::to_string(random.between(1, 2))) + field(60, "20261121-12:00:00.123") +
         field(38, std::to_string(random.between(100, 999))) + field(40, "2") +
         field(44, std::to_string(random.between(100, 999)) + ".25");
}

std::string make_report_body(Random& random, std::uint32_t number) {
  const std::string quantity = std::to_string(random.between(100, 999));
  return field(37, "EX" + std::to_string(200000 + number)) + field(11, "ORD" + std::to_string(100000 + number)) +
         field(17, "E" + std::to_string(300000 + number)) + field(150, "0") + field(39, "0") + field(55, "MSFT") +
         field(54, "1") + field(38, quantity) + field(44, "101.25") + field(151, quantity) + field(14, "0") +
         field(6, "0") + field(60, "20261121-12:00:00.123");
}

}  // namespace

Figures figures_of_ticks(std::vector<std::uint32_t>& ticks, const CycleClock& clock, double own) {
  std::ranges::sort(ticks);
  const auto at = [&](double quantile) {
    const auto index = static_cast<std::size_t>(quantile * static_cast<double>(ticks.size() - 1));
    return std::max(0.0, clock.to_ns(static_cast<double>(ticks[index]) - own));
  };
  std::vector<double> costs(ticks.begin(), ticks.end());
  const double mean = clock.to_ns(undisturbed_mean(costs) - own);
  return {.mean = std::max(0.0, mean), .p50 = at(0.5), .p99 = at(0.99), .p999 = at(0.999), .max = at(1)};
}

OneSession::OneSession(const SessionChoice& choice)
    : name_(choice.name),
      max_wait_(choice.max_wait),
      stores_(posix_disk(), {}),
      application_(marks_, reports_),
      transport_(marks_) {
  SessionSettings settings;
  settings.session.role = Role::acceptor;
  settings.session.sender_comp_id = "VENUE";
  settings.session.target_comp_id = "TRADER";
  settings.listen = {"venue", 1};
  settings.dictionary = choice.dictionary;
  settings.session.dictionary = settings.dictionary.get();
  settings.store_kind = choice.store;
  settings.prefault = true;
  settings.journal.directory = choice.folder / choice.name;
  settings.journal.durability = choice.durability;
  settings.journal.ring_size = 16 * 1024 * 1024;
  settings.journal.archive = Archive::remove;
  settings.journal.retain_bytes = 256 * 1024 * 1024;
  config_.sessions.push_back(std::move(settings));
  config_.latency = choice.latency;
  const Callbacks callbacks =
      choice.observed ? Callbacks{application_} : Callbacks{static_cast<Application&>(application_)};
  loop_ = std::make_unique<Loop>(config_, 0, transport_, clock_, callbacks, stores_);
  if (choice.store == StoreKind::journal) {
    const CpuSet cpus = choice.helpers;
    flusher_.emplace(stores_.flusher(),
                     FlusherThreadOptions{.begin = [cpus] { static_cast<void>(CpuAffinity::set(cpus)); }});
  }
  SessionConfig peer;
  peer.role = Role::initiator;
  peer.sender_comp_id = "TRADER";
  peer.target_comp_id = "VENUE";
  composer_ = std::make_unique<Composer>(peer);
  Composer ours{config_.sessions[0].session};
  Random random{7};
  const std::size_t order_envelope = composed(*composer_, "D", "", 500'000).size();
  const std::size_t report_envelope = composed(ours, "8", "", 500'000).size();
  for (std::uint32_t i = 0; i < corpus_size; ++i) {
    orders_.push_back(padded_body(make_order_body(random, i), order_envelope, order_size));
    reports_.push_back(padded_body(make_report_body(random, i), report_envelope, report_size));
  }
  loop_->start();
  loop_->turns_follow();
  if (choice.warm_up != Duration::zero()) loop_->warm_up_every(choice.warm_up);
  loop_->turn(Duration::zero());
  bytes_ = composed(*composer_, "A", field(98, "0") + field(108, "30") + field(141, "Y"), seq_++);
  transport_.arriving = bytes_;
  // A new journal has no space before its flusher has run.
  const Waited waited = turn_until([this] { return loop_->find(0)->logged_on(); });
  if (!waited.done) throw std::runtime_error(name_ + ": the session did not log on " + waited.text);
}

// Allows for a slow disk or a busy host.
OneSession::Waited OneSession::turn_until(const std::function<bool()>& done) {
  constexpr std::chrono::seconds longest{20};
  const auto begin = std::chrono::steady_clock::now();
  while (!done()) {
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited >= longest) return {false, "within " + std::to_string(longest.count()) + " s: " + obstacle()};
    loop_->turn(Duration::zero());
    std::this_thread::yield();
  }
  return {true, {}};
}

// The reason why the session is waiting.
std::string OneSession::obstacle() const {
  const JournalStore* const journal = loop_->find(0)->journal();
  if (journal == nullptr) return "it has no journal to wait for";
  const std::string text = journal->condition_text();
  const JournalCounters counters = journal->counters();
  return (text.empty() ? "the journal takes messages" : text) + "; " + std::to_string(counters.bytes) +
         " bytes appended, " + std::to_string(counters.syncs) + " syncs, the longest " +
         std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(counters.longest_sync).count()) + " ms";
}

SessionStore OneSession::open_second_store() {
  SessionSettings second = settings();
  second.session.sender_comp_id = "SECOND";
  return stores_.open(second, clock_.now().utc);
}

std::string OneSession::composed(Composer& composer, std::string_view type, std::string_view body, std::uint64_t seq) {
  std::string out(512 + body.size(), '\0');
  const auto size = composer.compose({.msg_type = type, .seq = SeqNum{seq}, .body = body}, clock_.now().utc, out);
  out.resize(*size);
  return out;
}

std::string_view OneSession::peek_order() {
  bytes_ = composed(*composer_, "D", orders_[random_.below(corpus_size)], seq_);
  return bytes_;
}

void OneSession::next_order() {
  std::ignore = peek_order();
  ++seq_;
}

void OneSession::answer(std::uint32_t number, bool account, std::uint32_t orders) {
  transport_.arriving = bytes_;
  marks_ = {.account = account, .long_read = orders > 1};
  application_.sent = 0;
  const std::uint64_t begin = ticks_before();
  loop_->turn(max_wait_);
  const std::uint64_t end = ticks_after();
  marks_.iteration = end - begin;
  // If the disk is slower than the pace, an order waits for space in the journal, and the wait counts.
  Waited waited{true, {}};
  if (application_.sent < orders) waited = turn_until([&] { return application_.sent >= orders; });
  const std::uint64_t idle_begin = ticks_before();
  loop_->turn(max_wait_);
  marks_.idle = ticks_after() - idle_begin;
  if (application_.sent != orders || marks_.ticks.back() == 0 || marks_.handed_bytes < (report_size - 8) * orders)
    throw WrongAnswerError(name_ + ": the answer to read " + std::to_string(number) + " is not whole" +
                           (waited.done ? "" : " " + waited.text));
}

}  // namespace nfx::bench
