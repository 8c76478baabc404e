// Recorded datagrams to an ITCH feed, and the hash of its books.
#include "market/itch_replay.hpp"

#include <chrono>
#include <string>

#include "nexusfix/base/assert.hpp"

namespace nfx::app::market {

using namespace nfx::market;

namespace {

std::string hexadecimal(std::uint64_t number) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = text.size(); i-- > 0; number >>= 4) text[i] = digits[number & 15];
  return text;
}

}  // namespace

void ItchReplay::take(const RecordedPacket& packet, SafeText& out) {
  const bool is_line = packet.kind == RecordingKind::datagram && packet.from.line <= 1;
  if (!is_line) {
    left_out_ += packet.kind == RecordingKind::line ? 0 : 1;
    return;
  }
  out_ = &out;
  if (!feed_) {
    ItchFeedOptions options;
    options.midnight = std::chrono::floor<std::chrono::days>(packet.from.at);
    options.mold.request_attempts = 0;
    feed_.emplace(options, output_);
  }
  // Timers compare virtual times alone.
  const Instant now{packet.from.at, MonotonicTime{packet.from.at.time_since_epoch()}};
  feed_->tick(now);
  feed_->packet(packet.from.line == 0 ? MoldLine::a : MoldLine::b, std::as_bytes(std::span{packet.bytes}), now);
  out_ = nullptr;
}

void ItchReplay::take_event(const Event& event) {
  NFX_ASSERT(out_ != nullptr);  // the feed gives events within take() alone
  books_.take(event);
  if (books_.records() % every_ == 0) out_->add("{} events: books {}\n", books_.records(), hexadecimal(hash()));
}

std::uint64_t ItchReplay::hash() const noexcept {
  std::uint64_t sum = books_.instruments().size();
  for (std::uint32_t i = 0; i < books_.instruments().size(); ++i) {
    sum = (sum ^ books_.books().book(InstrumentIndex{i}).hash()) * 0x9E3779B97F4A7C15;
    sum ^= sum >> 32;
  }
  return sum;
}

void ItchReplay::print_end(SafeText& out) const {
  out.add("{} events of {} instruments, {} packets left out; the feed is {}; books {}\n", books_.records(),
          books_.instruments().size(), left_out_, feed_ ? to_string(feed_->state()) : "waiting", hexadecimal(hash()));
}

}  // namespace nfx::app::market
