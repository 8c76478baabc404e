// The stream of records: in order and exactly once, over any rails that are up. The link's own notes about transfers
// are records too.
#include <algorithm>
#include <cstring>

#include "fabric/link_core.hpp"

namespace nfx::fabric {
namespace {

// Slots that the application leaves for the link's own notes.
constexpr std::uint64_t reserve_of(std::uint32_t slots) noexcept { return std::max(slots / 8, 4U); }
// Operation slots and credits that records leave for statuses.
constexpr std::uint32_t rail_reserve = 2;

}  // namespace

std::expected<RecordSeq, LinkError> LinkCore::send_record(std::span<const std::byte> record) noexcept {
  if (lost()) return std::unexpected(LinkError::lost);
  if (record.size() > options_.record_size) return std::unexpected(LinkError::too_long);
  const auto queued = queue_record(RecordKind::application, record, {}, reserve_of(options_.record_slots));
  if (!queued) return std::unexpected(queued.error());
  add_shared(counters_.records_sent, 1);
  return RecordSeq{++application_sent_};
}

bool LinkCore::queue_note(RecordKind kind, const TransferNote& note, std::span<const std::byte> bits) noexcept {
  return queue_record(kind, std::as_bytes(std::span{&note, 1}), bits, 0).has_value();
}

std::expected<std::uint64_t, LinkError> LinkCore::queue_record(RecordKind kind, std::span<const std::byte> first,
                                                               std::span<const std::byte> second,
                                                               std::uint64_t reserve) noexcept {
  const std::uint64_t seq = sent_ + 1;
  RecordOut& out = out_[seq % options_.record_slots];
  if (seq - arrived_ > options_.record_slots - reserve || out.busy) return std::unexpected(LinkError::full);
  NFX_ASSERT(out.state == RecordState::free && first.size() + second.size() <= options_.record_size);
  const RecordHeader header{
      .seq = seq, .length = static_cast<std::uint32_t>(first.size() + second.size()), .kind = kind};
  std::byte* const at = region_.data() + layout_.record_out(seq);
  std::memcpy(at, &header, sizeof header);
  if (!first.empty()) std::memcpy(at + sizeof header, first.data(), first.size());
  if (!second.empty()) std::memcpy(at + sizeof header + first.size(), second.data(), second.size());
  if (sent_ == arrived_) records_at_ = now_;
  sent_ = seq;
  out = {.state = RecordState::queued};
  ++queued_;
  if (queued_ == 1) post_record(seq);
  return seq;
}

bool LinkCore::post_record(std::uint64_t seq) noexcept {
  RecordOut& out = out_[seq % options_.record_slots];
  NFX_ASSERT(out.state == RecordState::queued);
  const std::uint64_t offset = layout_.record_out(seq);
  RecordHeader header;
  std::memcpy(&header, region_.data() + offset, sizeof header);
  const Write write{.local_offset = offset,
                    .remote_offset = layout_.record_in(seq),
                    .length = static_cast<std::uint32_t>(sizeof header) + header.length,
                    .number = encode_record(seq, options_.record_slots)};
  const Operation operation{.kind = NumberKind::record,
                            .index = static_cast<std::uint32_t>(seq % options_.record_slots)};
  // In the application's order, so that the first rail is the one for records.
  for (std::size_t index = 0; index < rails_.size(); ++index) {
    if (!may_have(index, header.length) || !can_post(rails_[index], rail_reserve) ||
        post(index, write, operation) != WriteResult::ok)
      continue;
    if (out.again) add_shared(counters_.records_sent_again, 1);
    out = {.state = RecordState::posted, .busy = true, .rail = static_cast<std::uint8_t>(index)};
    --queued_;
    return true;
  }
  return false;
}

void LinkCore::post_queued() noexcept {
  for (std::uint64_t seq = arrived_ + 1; seq <= sent_ && queued_ != 0; ++seq) {
    const RecordOut& out = out_[seq % options_.record_slots];
    if (out.state != RecordState::queued || out.busy) continue;
    if (!post_record(seq)) return;
  }
}

void LinkCore::take_record(std::size_t index, std::uint32_t number) noexcept {
  const std::uint32_t slots = options_.record_slots;
  const std::uint32_t slot = number & 0xffff;
  if (slot >= slots) return close_rail(index, RailChange::protocol);
  // The only record possibly in flight that has this slot.
  const std::uint64_t first = delivered_ + 1;
  const std::uint64_t seq = first + (slot + slots - first % slots) % slots;
  if (encode_record(seq, slots) != number || early_[slot] != 0) {
    add_shared(counters_.numbers_ignored, 1);
    return;
  }
  RecordHeader header;
  std::memcpy(&header, region_.data() + layout_.record_in(seq), sizeof header);
  if (header.seq != seq || header.length > options_.record_size ||
      static_cast<std::uint8_t>(header.kind) >= record_kinds)
    return close_rail(index, RailChange::protocol);
  early_[slot] = static_cast<std::uint8_t>(index + 1);
  deliver_records(index);
}

void LinkCore::deliver_records(std::size_t index) noexcept {
  while (!lost() && early_[(delivered_ + 1) % options_.record_slots] != 0) {
    const std::uint64_t seq = ++delivered_;
    early_[seq % options_.record_slots] = 0;
    rails_[index].status_due = true;
    acknowledge_rail_ = index;
    RecordHeader header;
    const std::byte* const at = region_.data() + layout_.record_in(seq);
    std::memcpy(&header, at, sizeof header);
    // It was checked on arrival; while it waited for earlier records, the peer could have changed it.
    if (header.seq != seq || header.length > options_.record_size) return lose(LossReason::protocol);
    const std::span body{at + sizeof header, header.length};
    if (header.kind != RecordKind::application) {
      TransferNote note;
      if (body.size() < sizeof note) return lose(LossReason::protocol);
      std::memcpy(&note, body.data(), sizeof note);
      if (!take_note(header.kind, note, body.subspan(sizeof note))) return lose(LossReason::protocol);
      continue;
    }
    ++application_received_;
    add_shared(counters_.records_received, 1);
    const std::uint64_t number = application_received_;
    events_.on_record(RecordSeq{number}, body);
    if (options_.acknowledge_on_return) acknowledged_ = number;
  }
}

void LinkCore::acknowledge(RecordSeq through) noexcept {
  const std::uint64_t seq = std::min(std::to_underlying(through), application_received_);
  if (seq <= acknowledged_) return;
  acknowledged_ = seq;
  for (std::size_t tried = 0; tried < rails_.size() && rails_[acknowledge_rail_].phase != RailPhase::up; ++tried)
    acknowledge_rail_ = (acknowledge_rail_ + 1) % rails_.size();
  rails_[acknowledge_rail_].status_due = true;
}

void LinkCore::take_arrived(std::uint64_t arrived) noexcept {
  for (std::uint64_t seq = arrived_ + 1; seq <= arrived; ++seq) {
    RecordOut& out = out_[seq % options_.record_slots];
    if (out.state == RecordState::queued) --queued_;
    out.state = RecordState::free;
  }
  arrived_ = arrived;
  records_at_ = now_;
}

void LinkCore::suspect_records(std::size_t index) noexcept {
  for (std::uint64_t seq = arrived_ + 1; seq <= sent_; ++seq) {
    RecordOut& out = out_[seq % options_.record_slots];
    if (out.state == RecordState::posted && out.rail == index) out.state = RecordState::suspect;
  }
}

// A record that waits for earlier ones will be sent again, so that its slot has one write at a time.
void LinkCore::forget_early_records(std::size_t index) noexcept {
  for (std::uint8_t& rail : early_) {
    if (rail == index + 1) rail = 0;
  }
}

void LinkCore::queue_suspects(std::size_t index) noexcept {
  for (std::uint64_t seq = arrived_ + 1; seq <= sent_; ++seq) {
    RecordOut& out = out_[seq % options_.record_slots];
    if (out.state != RecordState::suspect || out.rail != index) continue;
    out.state = RecordState::queued;
    out.again = true;
    ++queued_;
  }
}

}  // namespace nfx::fabric
