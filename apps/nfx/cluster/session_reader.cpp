// Reads a session's frames, and reads again what a replica did not have.
#include "cluster/session_reader.hpp"

#include <stdexcept>

namespace nfx::app::cluster_tools {
namespace {

using nfx::cluster::FrameError;
using nfx::cluster::FrameView;

constexpr std::uint32_t frames_of_a_read = 256;
constexpr int useless_reads_max = 240;
constexpr Duration before_next_read = std::chrono::milliseconds{250};

std::string place_text(const nats::StoredFrame& frame, const std::string& session) {
  return "session " + session + ", sequence " + std::to_string(frame.sequence) + " of the stream: ";
}

FrameView view_of(const nats::StoredFrame& frame, const std::string& session) {
  FrameView view;
  const FrameError error = nfx::cluster::decode_frame(frame.bytes, view);
  if (error != FrameError::none)
    throw std::runtime_error(place_text(frame, session) + "not a frame: " + std::string{to_string(error)});
  return view;
}

}  // namespace

FramePlace place_of(const FrameView& frame, const TakenFrame& last, nfx::cluster::SessionId session) {
  const std::uint64_t number = std::to_underlying(frame.header.number);
  const std::uint64_t epoch = std::to_underlying(frame.header.epoch);
  const auto wrong = [&](const char* what) {
    return std::runtime_error("frame " + std::to_string(number) + " of epoch " + std::to_string(epoch) + " " + what);
  };
  if (frame.header.session != session) throw wrong("has the id of another session");
  if (last.number == 0) return FramePlace::next;
  if (number <= last.number) return FramePlace::repeated;
  if (number != last.number + 1) return begins_with_reset(frame) ? FramePlace::after_removed : FramePlace::hole;
  const nfx::cluster::Counters first{frame.header.first_inbound, frame.header.first_outbound};
  if (frame.header.kind == nfx::cluster::FrameKind::epoch) {
    if (epoch != last.epoch + 1) throw wrong("does not follow the epoch of the frame before");
    if (first != last.resume) throw wrong("does not begin with the sequence numbers that may be used next");
    return FramePlace::next;
  }
  if (epoch != last.epoch || std::to_underlying(frame.header.gateway) != last.gateway)
    throw wrong("is not of the owner of the frame before");
  if (first != last.end) throw wrong("does not begin with the sequence numbers that the frame before ends with");
  return FramePlace::next;
}

std::runtime_error no_frames(const std::string& stream, const std::string& session) {
  return std::runtime_error{"stream " + stream + " has no frames of a session " + session +
                            "; nfx cluster ls lists its sessions"};
}

SessionReader::SessionReader(nats::NatsStream& stream, std::string session)
    : stream_(stream), session_(std::move(session)) {}

void SessionReader::start_at(std::uint64_t number) {
  // Frames of a session have increasing numbers in the stream: bisect by sequences.
  const auto is_before = [&](std::uint64_t sequence) {
    const auto first = stream_.read_after(session_, sequence, 1);
    return !first.empty() && std::to_underlying(view_of(first.front(), session_).header.number) < number;
  };
  std::uint64_t low = 0, step = 1;
  if (is_before(0)) {
    while (is_before(low + step)) {
      low += step;
      step *= 2;
    }
    for (std::uint64_t high = low + step; low + 1 < high;) {
      const std::uint64_t middle = low + (high - low) / 2;
      (is_before(middle) ? low : high) = middle;
    }
    ++low;
  }
  first_ = number;
  sequence_ = low;
  last_ = {};
}

bool SessionReader::take(std::vector<nats::StoredFrame> answer) {
  for (nats::StoredFrame& frame : answer) {
    const FrameView view = view_of(frame, session_);
    const std::uint64_t number = std::to_underlying(view.header.number);
    if (last_.number == 0 && number > first_ && !begins_with_reset(view)) return false;
    FramePlace place{};
    try {
      place = place_of(view, last_, nfx::cluster::session_id(session_));
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(place_text(frame, session_) + error.what());
    }
    if (place == FramePlace::hole) return false;
    sequence_ = frame.sequence;
    if (place == FramePlace::repeated || number < first_) continue;
    last_ = {.number = number,
             .epoch = std::to_underlying(view.header.epoch),
             .gateway = std::to_underlying(view.header.gateway),
             .end = view.end,
             .resume = counters_after(view)};
    frames_.push_back(std::move(frame));
  }
  return true;
}

const std::vector<nats::StoredFrame>& SessionReader::read() {
  for (int useless = 0; useless < useless_reads_max; ++useless) {
    if (useless > 0) stream_.wait(before_next_read);
    frames_.clear();
    if (take(stream_.read_after(session_, sequence_, frames_of_a_read)) || !frames_.empty()) return frames_;
  }
  throw std::runtime_error("session " + session_ + ": the frames after number " +
                           std::to_string(last_.number == 0 ? first_ - 1 : last_.number) +
                           " are not in the stream; when they were removed, start later with --from");
}

}  // namespace nfx::app::cluster_tools
