// Whatever two lines, a re-request server and a snapshot do, the arbiter delivers each message once, in order and
// without a gap. It requests only missing messages, is live only if none is missing, and a snapshot of the newest
// message makes it live. Each line of the input is an event:
//
//   p LINE SEQUENCE COUNT BYTES   a packet, of which BYTES are cut off      h LINE SEQUENCE   a heartbeat
//   r LINE TEXT                   a packet of these bytes                   t MICROSECONDS    time passes
//   z LINE SEQUENCE               the end of the session                    s                 a snapshot begins
//   n                             packets are of the next session           e SEQUENCE        it ends
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_target.hpp"
#include "market/mold_packets.hpp"
#include "nexusfix/market/itch_transport.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 20000};

namespace {

using namespace nfx::market;
using nfx::fuzz::require;
using test::Bytes;

std::uint64_t take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc{} ? number : 0;
}

class Scenario {
 public:
  explicit Scenario(std::string_view text) : text_(text) {}

  void line(std::string_view line) {
    if (line.empty()) return;
    const char what = line.front();
    line.remove_prefix(1);
    switch (what) {
      case 'p': return packet(line);
      case 'h': return heartbeat(line, 0);
      case 'z': return heartbeat(line, mold_end_of_session);
      case 'r': {
        const MoldLine on = take_line(line);
        raw_ = true;
        return receive(on, test::bytes_of(line.substr(std::min<std::size_t>(1, line.size()))));
      }
      case 't':
        now_ += std::chrono::microseconds{take_number(line) % 100'000'000};
        arbiter_.tick(now_, Sink{*this});
        return check();
      case 's': arbiter_.snapshot_begin(now_); return check();
      case 'e': return end_snapshot(take_number(line));
      case 'n': ++session_; return;
      default: return;
    }
  }

  void finish() {
    arbiter_.snapshot_begin(now_);
    const std::uint64_t end = arbiter_.end_sequence();
    require(arbiter_.snapshot_fits(end), "a snapshot of the newest message fits", text_);
    next_ = 0;
    arbiter_.snapshot_end(end, now_, Sink{*this});
    const FeedState state = arbiter_.state();
    require(state == FeedState::live || state == FeedState::ended || arbiter_.stale_reason() == StaleReason::silence,
            "nothing but silence is wrong after a snapshot of the newest message", text_);
  }

 private:
  struct Sink {
    Scenario& owner;
    void message(std::uint64_t sequence, std::span<const std::byte> bytes) { owner.given(sequence, bytes); }
    void request(const MoldRequest& wanted) { owner.requested(wanted); }
    void session(const MoldSession&) { owner.next_ = 1; }
  };

  static MoldLine take_line(std::string_view& text) { return static_cast<MoldLine>(take_number(text) % mold_lines); }
  [[nodiscard]] MoldSession session() const { return test::session_of(std::to_string(session_)); }

  void packet(std::string_view line) {
    const MoldLine on = take_line(line);
    const std::uint64_t sequence = take_number(line);
    std::vector<Bytes> messages;
    for (std::uint64_t count = take_number(line) % 100; messages.size() < count;) {
      messages.push_back(test::bytes_of(std::to_string(sequence + messages.size())));
    }
    Bytes bytes = test::mold_packet(session(), sequence, messages);
    bytes.resize(bytes.size() - std::min<std::size_t>(bytes.size(), take_number(line)));
    receive(on, bytes);
  }
  void heartbeat(std::string_view line, std::uint16_t count) {
    const MoldLine on = take_line(line);
    receive(on, test::mold_heartbeat(session(), take_number(line), count));
  }
  void receive(MoldLine on, const Bytes& bytes) {
    // A separate copy, so that a sanitizer detects reads after it.
    const auto copy = std::make_unique<std::byte[]>(bytes.size());
    std::ranges::copy(bytes, copy.get());
    arbiter_.packet(on, {copy.get(), bytes.size()}, now_, Sink{*this});
    check();
  }
  void end_snapshot(std::uint64_t sequence) {
    if (arbiter_.stale_reason() != StaleReason::snapshot || !arbiter_.snapshot_fits(sequence)) return;
    next_ = sequence;
    arbiter_.snapshot_end(sequence, now_, Sink{*this});
    check();
  }
  void given(std::uint64_t sequence, std::span<const std::byte> bytes) {
    require(next_ == 0 || sequence == next_, "messages come in order, without a gap", text_);
    next_ = sequence + 1;
    require(raw_ || std::ranges::equal(bytes, test::bytes_of(std::to_string(sequence))),
            "a message is what was sent under its number", text_);
  }
  void requested(const MoldRequest& wanted) {
    require(arbiter_.state() == FeedState::recovering, "requests are made when messages are missing", text_);
    require(wanted.sequence == arbiter_.next_sequence() && wanted.count != 0 &&
                wanted.sequence + wanted.count <= arbiter_.end_sequence(),
            "what is missing is requested", text_);
  }
  void check() {
    const bool complete = arbiter_.next_sequence() == arbiter_.end_sequence();
    switch (arbiter_.state()) {
      case FeedState::waiting:
      case FeedState::live:
      case FeedState::ended: return require(complete, "nothing is missing when it is live", text_);
      case FeedState::recovering: return require(!complete, "messages are missing when it recovers", text_);
      case FeedState::stale:
        return require(arbiter_.stale_reason() != StaleReason::none, "what is stale has a reason", text_);
    }
  }

  std::string_view text_;
  MoldArbiter arbiter_{{.buffered_messages = 16, .request_messages = 5}};
  nfx::MonotonicTime now_{std::chrono::seconds{100}};
  std::uint64_t next_ = 1;  // 0: anything
  unsigned session_ = 1;
  bool raw_ = false;  // the content of messages is no longer known
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = nfx::fuzz::text_of(data, size);
  Scenario scenario{text};
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    scenario.line(text.substr(begin, end - begin));
    begin = end + 1;
  }
  scenario.finish();
  return 0;
}
