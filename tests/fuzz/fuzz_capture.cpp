// The messages in a TCP connection are the same however its bytes are cut into segments, in what order the segments
// come, and how often; and any packet is read without an error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decode/packet.hpp"
#include "decode/tcp_messages.hpp"
#include "fuzz_target.hpp"

// The first bytes decide how the rest is cut and ordered.
extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .control_size = 8, .mutations = 20000};

namespace {

using nfx::app::LogMessage;
using nfx::app::TcpMessages;
using nfx::app::TcpSegment;
using nfx::fuzz::require;

// Numbers that follow from the control bytes.
class Choices {
 public:
  explicit Choices(std::string_view control) {
    for (const char c : control) state_ = state_ * 257 + static_cast<unsigned char>(c);
  }
  std::size_t below(std::size_t limit) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state_ >> 33) % limit;
  }

 private:
  std::uint64_t state_ = 1;
};

std::vector<std::string> take_all(TcpMessages& messages) {
  std::vector<std::string> found;
  LogMessage message;
  do {
    while (messages.next(message)) found.emplace_back(message.found.text);
  } while (messages.finish_next());
  return found;
}

std::vector<std::string> found_in(const std::vector<TcpSegment>& segments) {
  TcpMessages messages{"", nullptr};
  std::vector<std::string> found;
  LogMessage message;
  std::uint64_t packet = 0;
  for (const TcpSegment& each : segments) {
    messages.add(each, {}, ++packet);
    while (messages.next(message)) found.emplace_back(message.found.text);
  }
  for (std::string& each : take_all(messages)) found.push_back(std::move(each));
  return found;
}

void any_packets(std::string_view bytes, Choices choices) {
  constexpr std::uint16_t links[]{0, 1, 12, 101, 108, 113, 228, 229, 276};
  TcpMessages messages{"", nullptr};
  const auto link = static_cast<nfx::app::LinkType>(links[choices.below(std::size(links))]);
  for (std::uint64_t packet = 1; !bytes.empty(); ++packet) {
    const std::string_view one = bytes.substr(0, choices.below(200) + 1);
    bytes.remove_prefix(one.size());
    if (const auto segment = nfx::app::read_tcp_segment(link, one)) {
      require(
          segment->payload.empty() || (segment->payload.data() >= one.data() &&
                                       segment->payload.data() + segment->payload.size() <= one.data() + one.size()),
          "a payload is inside its packet", one);
      messages.add(*segment, {}, packet);
    }
  }
  static_cast<void>(take_all(messages));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 8) return 0;
  Choices choices{nfx::fuzz::text_of(data, 8)};
  const std::string_view stream = nfx::fuzz::text_of(data + 8, size - 8);
  any_packets(stream, choices);

  const auto first = static_cast<std::uint32_t>(choices.below(2) == 0 ? 0xFFFFFF00U : choices.below(1000));
  TcpSegment syn;
  syn.seq = first - 1;
  syn.syn = true;
  std::vector<TcpSegment> in_order{syn}, shuffled;
  const auto segment_at = [&](std::size_t at, std::size_t length) {
    TcpSegment segment;
    segment.seq = first + static_cast<std::uint32_t>(at);
    segment.payload = stream.substr(at, length);
    return segment;
  };
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t length = choices.below(60) + 1;
    in_order.push_back(segment_at(at, length));
    shuffled.push_back(in_order.back());
    at += in_order.back().payload.size();
  }
  for (std::size_t i = 0; i < shuffled.size(); ++i) std::swap(shuffled[i], shuffled[choices.below(shuffled.size())]);
  for (std::size_t i = 0; i < 5 && !stream.empty(); ++i) {
    const TcpSegment again = segment_at(choices.below(stream.size()), choices.below(100));
    shuffled.insert(shuffled.begin() + static_cast<std::ptrdiff_t>(choices.below(shuffled.size() + 1)), again);
  }
  shuffled.insert(shuffled.begin(), syn);
  require(found_in(in_order) == found_in(shuffled), "messages do not depend on the order of segments", stream);
  return 0;
}
