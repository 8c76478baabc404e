// The engine's own time per message, with the kernel left out: from the last byte of an order to on_message, and from
// send() of a report until its bytes are handed to the transport, with and without a journal. bench_engine_time --help.
// Exit status 1 when an answer is wrong, 2 when the run cannot be done.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/counter_clock.hpp"
#include "engine/poll_loop_impl.hpp"
#include "engine/session_stores.hpp"
#include "harness/cycle_clock.hpp"
#include "harness/figures.hpp"
#include "harness/machine.hpp"
#include "harness/program.hpp"
#include "harness/random.hpp"
#include "harness/scratch_folder.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/session/composer.hpp"
#include "nexusfix/transport/transport.hpp"

namespace {

using namespace nfx;
using namespace nfx::bench;

constexpr std::size_t order_size = 176;
constexpr std::size_t report_size = 253;
constexpr std::uint32_t corpus_size = 1000;

struct Options {
  std::uint32_t repeats = 5;
  std::uint32_t warm_up = 10'000;
  std::uint32_t measured = 100'000;
  std::uint32_t pace_ns = 4000;
  std::string folder;
  bool dictionary = true;
};

// Readings of one message.
struct Marks {
  std::uint64_t bytes_in = 0, delivered = 0, send_begins = 0, handed_over = 0;
  std::size_t handed_bytes = 0;
};

// The network's place: hands over what the benchmark puts there, and takes whatever is sent.
class HandTransport {
 public:
  explicit HandTransport(Marks& marks) : marks_(marks) {}

  std::expected<ListenerId, TransportError> listen(const Endpoint&, const SocketOptions& = {}) { return ListenerId{1}; }
  std::optional<Endpoint> local_endpoint(ListenerId) const { return Endpoint{"venue", 1}; }
  void close_listener(ListenerId) noexcept {}
  std::expected<ConnectionId, TransportError> connect(const Endpoint&, const SocketOptions& = {}) {
    return std::unexpected(TransportError{1, "connect"});
  }
  SendResult try_send(ConnectionId, std::span<const char> out) noexcept {
    marks_.handed_over = ticks_after();
    marks_.handed_bytes = out.size();
    return {out.size(), false};
  }
  void close(ConnectionId) noexcept {}
  void hold(ConnectionId, bool) noexcept {}
  std::size_t lingering() const noexcept { return 0; }
  std::optional<UtcTime> received_at() const noexcept { return std::nullopt; }
  void wake() noexcept {}
  template <TransportSink Sink>
  std::size_t poll(Sink& sink, Duration) {
    if (!std::exchange(accepted_, true)) sink.on_accept(ListenerId{1}, peer, "192.0.2.1:1");
    if (arriving.empty()) return 0;
    const std::span<const char> in = std::exchange(arriving, {});
    marks_.bytes_in = ticks_before();
    sink.on_receive(peer, in);
    return 1;
  }

  static constexpr ConnectionId peer{(std::uint64_t{1} << 32) | 1};
  std::span<const char> arriving;

 private:
  Marks& marks_;
  bool accepted_ = false;
};
static_assert(Transport<HandTransport>);

std::string field(int tag, const std::string& text) { return std::to_string(tag) + '=' + text + '\x01'; }

// A body that, with the session's header and trailer around it, makes a message of `size` bytes.
std::string padded_body(std::string body, std::size_t envelope, std::size_t size) {
  const std::size_t taken = envelope + body.size() + field(58, "").size();
  body += field(58, std::string(size > taken ? size - taken : 1, 'x'));
  return body;
}

std::string order_body(Random& random, std::uint32_t number) {
  return field(11, "ORD" + std::to_string(100000 + number)) + field(55, random.below(2) != 0 ? "MSFT" : "AAPL") +
         field(54, std::to_string(random.between(1, 2))) + field(60, "20261121-12:00:00.123") +
         field(38, std::to_string(random.between(100, 999))) + field(40, "2") +
         field(44, std::to_string(random.between(100, 999)) + ".25");
}

std::string report_body(Random& random, std::uint32_t number) {
  const std::string quantity = std::to_string(random.between(100, 999));
  return field(37, "EX" + std::to_string(200000 + number)) + field(11, "ORD" + std::to_string(100000 + number)) +
         field(17, "E" + std::to_string(300000 + number)) + field(150, "0") + field(39, "0") + field(55, "MSFT") +
         field(54, "1") + field(38, quantity) + field(44, "101.25") + field(151, quantity) + field(14, "0") +
         field(6, "0") + field(60, "20261121-12:00:00.123");
}

class Answering final : public Application {
 public:
  explicit Answering(Marks& marks, const std::vector<std::string>& reports) : marks_(marks), reports_(reports) {}
  void on_message(SessionHandle& session, const MessageView& message) override {
    marks_.delivered = ticks_after();
    order_id = message.get_view(Tag::ClOrdID);
    const std::string& body = reports_[next_];
    next_ = (next_ + 1) % reports_.size();
    marks_.send_begins = ticks_before();
    sent = session.send({.msg_type = "8", .body = body, .header_fields = {}}).has_value();
  }
  std::string_view order_id;
  bool sent = false;

 private:
  Marks& marks_;
  const std::vector<std::string>& reports_;
  std::size_t next_ = 0;
};

Figures figures(std::vector<std::uint32_t>& ticks, const CycleClock& clock, double own) {
  std::ranges::sort(ticks);
  const auto at = [&](double quantile) {
    const auto index = static_cast<std::size_t>(quantile * static_cast<double>(ticks.size() - 1));
    return std::max(0.0, clock.to_ns(static_cast<double>(ticks[index]) - own));
  };
  double sum = 0;
  for (const std::uint32_t each : ticks) sum += clock.to_ns(each - own);
  return {sum / static_cast<double>(ticks.size()), at(0.5), at(0.99), at(0.999), at(1)};
}

// One engine with one session, logged on, and the orders it is given.
class Condition {
 public:
  Condition(std::string its_name, StoreKind kind, Durability durability, const Options& options,
            const std::filesystem::path& folder, std::shared_ptr<const Dictionary> dictionary)
      : name(std::move(its_name)), stores_(posix_disk(), {}), application_(marks_, reports_), transport_(marks_) {
    SessionSettings settings;
    settings.session.role = Role::acceptor;
    settings.session.sender_comp_id = "VENUE";
    settings.session.target_comp_id = "TRADER";
    settings.listen = {"venue", 1};
    settings.dictionary = options.dictionary ? dictionary : nullptr;
    settings.session.dictionary = settings.dictionary.get();
    settings.store_kind = kind;
    settings.prefault = true;
    settings.journal.directory = folder / name;
    settings.journal.durability = durability;
    settings.journal.ring_size = 16 * 1024 * 1024;
    settings.journal.archive = Archive::remove;
    settings.journal.retain_bytes = 256 * 1024 * 1024;
    config_.sessions.push_back(std::move(settings));
    loop_ = std::make_unique<Loop>(config_, 0, transport_, clock_, application_, stores_);
    if (kind == StoreKind::journal) {
      flusher_ = std::thread{[this] {
        SystemClock clock;
        while (!stop_.load(std::memory_order_acquire)) {
          const Duration due = stores_.flusher().turn(clock.now());
          if (due > Duration::zero()) stores_.flusher().wait(due);
        }
      }};
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
      orders_.push_back(padded_body(order_body(random, i), order_envelope, order_size));
      reports_.push_back(padded_body(report_body(random, i), report_envelope, report_size));
    }
    loop_->start();
    loop_->turn(Duration::zero());
    bytes_ = composed(*composer_, "A", field(98, "0") + field(108, "30") + field(141, "Y"), seq_++);
    transport_.arriving = bytes_;
    loop_->turn(Duration::zero());
    if (!loop_->find(0)->logged_on()) throw std::runtime_error(name + ": the session did not log on");
  }
  ~Condition() {
    loop_.reset();
    stop_.store(true, std::memory_order_release);
    stores_.flusher().wake();
    if (flusher_.joinable()) flusher_.join();
  }
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  // Throws WrongAnswerError.
  void exchange(std::uint32_t count, std::uint32_t pace_ns, const CycleClock& cycle_clock) {
    const auto pace = static_cast<std::uint64_t>(pace_ns * cycle_clock.ticks_per_ns);
    received.clear();
    sent.clear();
    std::uint64_t due = ticks_before();
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t item = static_cast<std::uint32_t>(random_.below(corpus_size));
      bytes_ = composed(*composer_, "D", orders_[item], seq_++);
      // The engine reads the clock when bytes arrive, and so does this one.
      due += pace;
      while (ticks_before() < due) {
      }
      transport_.arriving = bytes_;
      marks_ = {};
      application_.sent = false;
      loop_->turn(Duration::zero());
      if (!application_.sent || marks_.handed_over == 0 || marks_.handed_bytes < report_size - 8)
        throw WrongAnswerError(name + ": order " + std::to_string(i) + " got no answer");
      received.push_back(static_cast<std::uint32_t>(marks_.delivered - marks_.bytes_in));
      sent.push_back(static_cast<std::uint32_t>(marks_.handed_over - marks_.send_begins));
    }
  }
  [[nodiscard]] std::size_t order_bytes() const noexcept { return bytes_.size(); }
  [[nodiscard]] std::size_t report_bytes() const noexcept { return marks_.handed_bytes; }

  std::string name;
  std::vector<std::uint32_t> received, sent;

 private:
  using Loop = PollLoop<HandTransport, CounterClock<>>;

  std::string composed(Composer& composer, std::string_view type, std::string_view body, std::uint64_t seq) {
    std::string out(512 + body.size(), '\0');
    const auto size = composer.compose({.msg_type = type, .seq = SeqNum{seq}, .body = body}, clock_.now().utc, out);
    out.resize(*size);
    return out;
  }

  Marks marks_;
  std::vector<std::string> orders_, reports_;
  EngineConfig config_;
  CounterClock<> clock_;
  JournalStores stores_;
  Answering application_;
  HandTransport transport_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<Composer> composer_;
  std::thread flusher_;
  std::atomic<bool> stop_{false};
  std::uint64_t seq_ = 1;
  std::string bytes_;
  Random random_{11};
};

void print_row(const char* what, const std::string& condition, const std::vector<Figures>& repeats) {
  std::printf("%-34s %-18s %8.0f %8.0f %8.0f %10.0f\n", what, condition.c_str(), middle(repeats, &Figures::p50),
              middle(repeats, &Figures::p99), middle(repeats, &Figures::p999), middle(repeats, &Figures::max));
}

int run(const Options& options) {
  const auto core = pin_to_core(std::nullopt);
  if (!core) throw std::runtime_error(core.error());
  const CycleClock clock = calibrate_clock();
  const double own = own_cost_ticks();
  const ScratchFolder folder{"engine-time", options.folder};
  const auto dictionary = std::make_shared<const Dictionary>(load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX44.xml"));
  std::vector<std::unique_ptr<Condition>> conditions;
  conditions.push_back(
      std::make_unique<Condition>("memory", StoreKind::memory, Durability::none, options, folder.path(), dictionary));
  conditions.push_back(std::make_unique<Condition>("journal, none", StoreKind::journal, Durability::none, options,
                                                   folder.path(), dictionary));
  conditions.push_back(std::make_unique<Condition>("journal, interval", StoreKind::journal, Durability::interval,
                                                   options, folder.path(), dictionary));
  std::vector<std::vector<Figures>> in(conditions.size()), out(conditions.size());
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      Condition& each = *conditions[i];
      each.exchange(options.warm_up, options.pace_ns, clock);
      each.exchange(options.measured, options.pace_ns, clock);
      in[i].push_back(figures(each.received, clock, own));
      out[i].push_back(figures(each.sent, clock, own));
    }
  }
  std::printf("%s; core %u; clock step %.1f ns; own cost %.1f ns subtracted\n", describe(this_machine()).c_str(), *core,
              clock.step_ns, clock.to_ns(own));
  std::printf("journals in %s\n", folder.describe().c_str());
  std::printf("orders of %zu B in, reports of %zu B out, one each %u ns, %s; medians of %u repeats of %u, ns\n\n",
              conditions[0]->order_bytes(), conditions[0]->report_bytes(), options.pace_ns,
              options.dictionary ? "validated against FIX44.xml" : "header fields validated", options.repeats,
              options.measured);
  std::printf("%-34s %-18s %8s %8s %8s %10s\n", "", "store", "p50", "p99", "p99.9", "max");
  for (std::size_t i = 0; i < conditions.size(); ++i)
    print_row("last byte in -> on_message", conditions[i]->name, in[i]);
  for (std::size_t i = 0; i < conditions.size(); ++i)
    print_row("send -> handed to the transport", conditions[i]->name, out[i]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  bool header_only = false;
  const nfx::cli::Command program{
      .name = "bench_engine_time",
      .summary = "The engine's own time per message, without the kernel's",
      .options = {{.names = "--repeats",
                   .target = &options.repeats,
                   .help = "Of all stores in turn; medians are over these",
                   .range = {{1, 100}}},
                  {.names = "--warm-up", .target = &options.warm_up, .help = "Messages before each repeat"},
                  {.names = "--measured",
                   .target = &options.measured,
                   .help = "Messages of each repeat",
                   .range = {{100, 10'000'000}}},
                  {.names = "--pace-ns",
                   .target = &options.pace_ns,
                   .help = "Nanoseconds from one message to the next"},
                  {.names = "--folder,--directory",
                   .target = &options.folder,
                   .help = "Where journals are created",
                   .kind = nfx::cli::Kind::folder,
                   .default_text = "the temporary folder"},
                  {.names = "--header-only",
                   .target = &header_only,
                   .help = "Validate the header alone, without a dictionary"}},
  };
  return run_program(program, argc, argv, [&] {
    options.dictionary = !header_only;
    return run(options);
  });
}
