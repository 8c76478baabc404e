// Numbers the bytes of each direction of a connection from its first one.
#include "decode/tcp_messages.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace nfx::app {

void TcpMessages::add(const TcpSegment& segment, UtcTime time, std::uint64_t packet) {
  packet_ = packet;
  time_ = time;
  const bool carries = !segment.payload.empty() || segment.missing != 0;
  const auto known = streams_.find({segment.from, segment.to});
  // Acknowledgements alone begin no stream.
  if (known == streams_.end() && !carries && !segment.syn) return;
  Stream& stream = stream_of(segment);
  current_ = &stream;
  stream.last_packet = packet;
  stream.last_time = time;
  const std::uint32_t first = segment.seq + (segment.syn ? 1 : 0);
  // A SYN with another number means that the ports are used again.
  if (known == streams_.end() || (segment.syn && first != stream.first)) {
    if (known != streams_.end()) end_stream(stream);
    stream.first = first;
    stream.next = std::uint64_t{1} << 32 | first;
  }
  if (!carries) return;
  // The sequence number is within 2 GiB of the expected one.
  const auto distance = static_cast<std::int32_t>(first - static_cast<std::uint32_t>(stream.next));
  const std::uint64_t begin = stream.next + static_cast<std::uint64_t>(std::int64_t{distance});
  if (begin <= stream.next) {
    take(stream, begin, segment.payload, segment.missing);
  } else if (Waiting& waiting = stream.waiting[begin]; segment.payload.size() >= waiting.bytes.size()) {
    stream.waiting_bytes += segment.payload.size() - waiting.bytes.size();
    waiting = {std::string{segment.payload}, segment.missing};
  }
  if (stream.waiting_bytes > max_waiting_bytes || stream.waiting.size() > max_waiting_segments)
    skip_to(stream, stream.waiting.begin()->first);
  take_waiting(stream);
}

auto TcpMessages::stream_of(const TcpSegment& segment) -> Stream& {
  if (streams_.size() >= max_streams) forget_unused();
  Stream& stream = streams_[{segment.from, segment.to}];
  if (stream.name.empty()) stream.name = name_ + " " + to_string(segment.from) + " > " + to_string(segment.to);
  return stream;
}

// Bytes that begin at or before the next one.
void TcpMessages::take(Stream& stream, std::uint64_t begin, std::string_view bytes, std::uint32_t missing) {
  const std::uint64_t end = begin + bytes.size();
  if (end > stream.next) {
    stream.scanner.feed(bytes.substr(stream.next - begin));
    stream.next = end;
  }
  if (missing != 0 && end + missing > stream.next) skip_to(stream, end + missing);
}

void TcpMessages::take_waiting(Stream& stream) {
  while (!stream.waiting.empty() && stream.waiting.begin()->first <= stream.next) {
    const auto node = stream.waiting.extract(stream.waiting.begin());
    stream.waiting_bytes -= node.mapped().bytes.size();
    take(stream, node.key(), node.mapped().bytes, node.mapped().missing);
  }
}

void TcpMessages::end_stream(Stream& stream) {
  while (!stream.waiting.empty()) {
    skip_to(stream, stream.waiting.begin()->first);
    take_waiting(stream);
  }
  stream.scanner.feed("\n");
}

// A line end ends the message that is incomplete.
void TcpMessages::skip_to(Stream& stream, std::uint64_t next) {
  if (on_gap_) {
    on_gap_(stream.name + ": " + std::to_string(next - stream.next) + " bytes before packet " +
            std::to_string(packet_) + " were not captured");
  }
  stream.scanner.feed("\n");
  stream.next = next;
}

void TcpMessages::forget_unused() {
  if (on_gap_) {
    on_gap_(name_ + ": more than " + std::to_string(max_streams / 2) +
            " connections; those that were unused for longest are forgotten");
  }
  std::vector<std::uint64_t> last;
  for (const auto& [key, stream] : streams_) last.push_back(stream.last_packet);
  const auto quarter = last.begin() + static_cast<std::ptrdiff_t>(last.size() / 4);
  std::ranges::nth_element(last, quarter);
  std::erase_if(streams_, [limit = *quarter](const auto& each) { return each.second.last_packet <= limit; });
}

bool TcpMessages::next(LogMessage& message) {
  if (current_ == nullptr) return false;
  const auto found = current_->scanner.next();
  if (!found) return false;
  message = {*found, current_->name, time_, true};
  message.found.line = packet_;
  message.found.prefix = {};
  return true;
}

bool TcpMessages::finish_next() {
  if (std::exchange(finishing_, true)) streams_.erase(streams_.begin());
  current_ = nullptr;
  if (streams_.empty()) return false;
  current_ = &streams_.begin()->second;
  packet_ = current_->last_packet;
  time_ = current_->last_time;
  end_stream(*current_);
  current_->scanner.finish();
  return true;
}

}  // namespace nfx::app
