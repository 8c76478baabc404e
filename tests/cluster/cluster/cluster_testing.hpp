// Shared by the tests of the cluster: frames made by hand, a stream of one subject that stores the frames its servers
// agree on, and an owner with its answers.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/owner.hpp"

namespace nfx::cluster::testing {

using namespace std::chrono_literals;

inline constexpr SessionId test_session{77};

inline FrameHeader header_of(FrameKind kind, std::uint64_t number, std::uint64_t epoch, std::uint64_t gateway) {
  FrameHeader header{.kind = kind, .session = test_session, .epoch = Epoch{epoch}, .gateway = GatewayId{gateway}};
  header.number = FrameNumber{number};
  header.first_inbound = header.first_outbound = header.outbound_limit = SeqNum{1};
  header.attempt = kind == FrameKind::epoch ? 1 : 0;
  return header;
}

inline std::string make_frame(const FrameHeader& header, const std::vector<Record>& records = {}) {
  std::string bytes(sizeof(FrameHeader), '\0');
  for (const Record& record : records) {
    const std::size_t begin = bytes.size();
    bytes.resize(begin + record_size(record.bytes.size()));
    write_record(std::span{bytes}.subspan(begin), record);
  }
  seal_frame(bytes, header, static_cast<std::uint32_t>(records.size()));
  return bytes;
}

// The frames that a majority of the servers has stored: the truth, of which a server may know less.
struct StoredStream {
  struct Entry {
    std::uint64_t sequence = 0;
    std::string bytes;
  };
  std::vector<Entry> entries;
  std::uint64_t sequence = 0;  // of the stream: other subjects advance it too

  [[nodiscard]] std::uint64_t last() const { return entries.empty() ? 0 : entries.back().sequence; }
  std::optional<std::uint64_t> store(StreamSeq expected, std::string_view bytes) {
    if (last() != std::to_underlying(expected)) return std::nullopt;
    entries.push_back({++sequence, std::string{bytes}});
    return sequence;
  }
};

// An owner, the actions that it has not been answered yet, and what it released and recovered.
struct TestOwner {
  explicit TestOwner(const OwnerOptions& options) : state(options) {}

  OwnerState state;
  MonotonicTime now{100s};
  std::vector<std::pair<Action, std::string>> open;  // publish and read requests, with a copy of their bytes
  std::vector<Action> others;                        // since the last take()
  std::vector<std::string> recovered;
  std::uint64_t released = 0;
  bool owns = false;
  StopReason stopped = StopReason::none;

  void give(const Event& event) {
    Actions actions;
    step(state, event, now, actions);
    for (const Action& action : actions.list()) {
      switch (action.kind) {
        case ActionKind::publish:
        case ActionKind::read_last:
        case ActionKind::read_next: open.emplace_back(action, std::string{action.bytes}); break;
        case ActionKind::recover:
          if (action.first) recovered.clear();
          recovered.emplace_back(action.bytes);
          break;
        case ActionKind::own: owns = true; break;
        case ActionKind::release: released = action.count; break;
        case ActionKind::stop:
          owns = false;
          stopped = action.reason;
          break;
        case ActionKind::renew_lease:
        case ActionKind::drop_lease: others.push_back(action); break;
      }
    }
  }
  void give(EventKind kind) { give(Event{.kind = kind}); }

  std::pair<Action, std::string> take() {
    EXPECT_FALSE(open.empty()) << "no request is open";
    if (open.empty()) return {};
    auto first = std::move(open.front());
    open.erase(open.begin());
    return first;
  }

  void append(RecordKind kind, std::uint64_t seq, std::string_view bytes = {}) {
    ASSERT_TRUE(has_space(state, kind, bytes.size()));
    give({.kind = EventKind::append, .record = {kind, SeqNum{seq}, bytes}});
  }
  void answer(EventKind kind, std::uint64_t request, std::uint64_t sequence = 0, std::string_view bytes = {}) {
    give({.kind = kind, .request = request, .sequence = StreamSeq{sequence}, .bytes = bytes});
  }

  // Answers one request as a server that knows the first `known` entries does.
  void serve_one(StoredStream& stream, std::size_t known = SIZE_MAX) {
    const auto [action, bytes] = take();
    known = std::min(known, stream.entries.size());
    const auto begin = stream.entries.begin();
    if (action.kind == ActionKind::publish) {
      const auto sequence = stream.store(action.sequence, bytes);
      return answer(sequence ? EventKind::stored : EventKind::refused, action.request, sequence.value_or(0));
    }
    for (auto entry = begin; entry != begin + static_cast<std::ptrdiff_t>(known); ++entry) {
      const bool is_last = entry + 1 == begin + static_cast<std::ptrdiff_t>(known);
      const bool wanted =
          action.kind == ActionKind::read_last ? is_last : entry->sequence > std::to_underlying(action.sequence);
      if (wanted) return answer(EventKind::found, action.request, entry->sequence, std::string{entry->bytes});
    }
    answer(EventKind::none, action.request);
  }
  void serve_all(StoredStream& stream) {
    for (int i = 0; i < 10'000 && !open.empty(); ++i) serve_one(stream);
    EXPECT_TRUE(open.empty()) << "requests do not end";
  }
  void let_time_pass() {
    now = std::max(now, next_deadline(state));
    give(EventKind::timer);
  }
};

inline OwnerOptions options_of(std::uint64_t gateway, Durability durability = Durability::replicated) {
  OwnerOptions options{.session = test_session, .gateway = GatewayId{gateway}, .durability = durability};
  options.frame_bytes_max = 4096;
  options.pending_bytes_max = 8192;
  options.pending_records_max = 64;
  options.number_block = 10;
  options.async_records_max = 4;
  options.async_bytes_max = 1024;
  return options;
}

inline void become_owner(TestOwner& owner, StoredStream& stream) {
  owner.give(EventKind::want);
  owner.serve_all(stream);
  ASSERT_TRUE(owner.owns);
}

}  // namespace nfx::cluster::testing
