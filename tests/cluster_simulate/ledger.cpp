// The rules, each with the text of its finding.
#include "cluster_simulate/ledger.hpp"

#include <algorithm>

#include "cluster/name_hash.hpp"

namespace nfx::cluster_simulate {

using cluster::FrameKind;
using cluster::FrameView;
using cluster::RecordKind;

std::uint64_t chain_after(std::uint64_t chain, const FrameView& frame) {
  if (cluster::begins_with_reset(frame)) chain = 0;
  return cluster::mixed(chain ^ cluster::name_hash(frame.bytes.substr(0, sizeof(cluster::FrameHeader))));
}

OwnFrame::OwnFrame(const cluster::OwnerState& before) : number_(before.number) {
  if (before.phase == cluster::Phase::owning) bytes_.assign(before.flight.bytes.begin(), before.flight.bytes.end());
}

std::uint64_t OwnFrame::chain_after_step(std::uint64_t chain, const cluster::OwnerState& after) const {
  FrameView frame;
  if (std::to_underlying(after.number) != std::to_underlying(number_) + 1 || bytes_.empty() ||
      decode_frame(bytes_, frame) != cluster::FrameError::none)
    return chain;
  return chain_after(chain, frame);
}

std::string Ledger::stored(std::string_view bytes) {
  FrameView frame;
  if (decode_frame(bytes, frame) != cluster::FrameError::none) return "a frame that cannot be read was stored";
  const auto& header = frame.header;
  if (std::to_underlying(header.number) != ++frames_) return "a frame was stored that does not follow the last one";
  const std::uint64_t epoch = std::to_underlying(header.epoch), gateway = std::to_underlying(header.gateway);
  const Counters first{.inbound = header.first_inbound, .outbound = header.first_outbound};
  chain_ = chain_after(chain_, frame);
  if (header.kind == FrameKind::epoch) {
    if (epoch != epochs_.size() + 1) return "an epoch was stored that does not follow the last one";
    const Counters expected{.inbound = end_.inbound, .outbound = std::max(end_.outbound, SeqNum{limit_})};
    if (first != expected) return "an epoch begins with other sequence numbers than the last frame ends with";
    epochs_.push_back({.gateway = gateway, .records = 0, .chain = chain_, .start = first, .resets = resets_});
  } else {
    if (epoch != epochs_.size()) return "a record of a stale owner was stored";
    if (epochs_.back().gateway != gateway) return "a record of another gateway than the owner was stored";
    if (first != end_) return "a frame begins with other sequence numbers than the last one ends with";
    epochs_.back().records += header.record_count;
  }
  for (std::string_view rest = frame.records; !rest.empty();)
    resets_ += cluster::take_record(rest).kind == RecordKind::reset ? 1 : 0;
  end_ = frame.end;
  limit_ = value(header.outbound_limit);
  return {};
}

std::string Ledger::owns(std::uint64_t epoch, std::uint64_t gateway, const Counters& counters, std::uint64_t chain) {
  if (epoch == 0 || epoch > epochs_.size()) return "a gateway owns the session by an epoch that was not stored";
  EpochRow& row = epochs_[epoch - 1];
  if (row.gateway != gateway) return "a gateway owns the session by the epoch of another one";
  if (row.started) return "two owners started with the same epoch";
  row.started = true;
  if (chain != row.chain) return "an owner started without all frames before its epoch";
  if (counters != row.start) return "an owner started with other sequence numbers than its epoch's";
  // Its successor may be faster than its own replay, and send first.
  auto sent = sent_.lower_bound(row.resets << 40 | value(counters.outbound));
  for (; sent != sent_.end() && sent->first >> 40 == row.resets; ++sent)
    if (sent->second.epoch < epoch) return "an owner started with a sequence number that was sent before";
  return {};
}

std::string Ledger::released(std::uint64_t epoch, std::uint64_t count, bool is_early, std::uint64_t most_early) {
  if (epoch == 0 || epoch > epochs_.size()) return "a record was released by an epoch that was not stored";
  const std::uint64_t stored = epochs_[epoch - 1].records;
  if (count > stored && !is_early) return "a record was released before it was stored";
  if (count > stored + most_early) return "more records than allowed were released before they were stored";
  return {};
}

std::string Ledger::sent(std::uint64_t epoch, std::uint64_t resets, std::uint64_t seq, std::string_view content) {
  if (epoch == 0 || epoch > epochs_.size()) return "a message was sent by an epoch that was not stored";
  const std::uint64_t hash = cluster::name_hash(content);
  const auto [place, is_new] = sent_.emplace(resets << 40 | seq, SentRow{hash, epoch});
  if (!is_new && place->second.content != hash) return "two messages were sent with the same sequence number";
  if (epoch < epochs_.size()) {
    const EpochRow& successor = epochs_[epoch];
    if (successor.resets == resets && seq >= value(successor.start.outbound))
      return "a stale owner sent a sequence number of its successor";
  }
  // Older ones are obsolete: an owner that is two resets late stores nothing, and reserves nothing.
  while ((sent_.begin()->first >> 40) + 2 < resets) sent_.erase(sent_.begin());
  return {};
}

std::string Ledger::removed(std::string_view first, std::uint64_t chain) const {
  FrameView frame;
  if (decode_frame(first, frame) != cluster::FrameError::none) return "an operator removed all frames of a session";
  const bool is_complete = frame.header.number == cluster::FrameNumber{1} || cluster::begins_with_reset(frame);
  if (!is_complete || chain != chain_) return "an operator removed a frame that a takeover needs";
  return {};
}

}  // namespace nfx::cluster_simulate
