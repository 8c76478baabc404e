// The sending end of transfers: pairs send() with the peer's offer, stripes pages over the rails that are up, and
// determines which were lost with a rail.
#include <algorithm>

#include "fabric/link_core.hpp"

namespace nfx::fabric {
namespace {

// Operation slots and credits that pages leave for records and statuses.
constexpr std::uint32_t page_reserve = 4;

bool is_on_its_way(std::uint8_t state) noexcept { return state >= PageState::lost; }

}  // namespace

std::expected<void, LinkError> LinkCore::send(TransferId id, const PageRange& from) noexcept {
  if (lost()) return std::unexpected(LinkError::lost);
  if (const auto checked = check_range(from); !checked) return checked;
  SendTransfer* place = nullptr;
  for (SendTransfer& each : sends_) {
    if (each.phase != SendPhase::free && each.id == id) return std::unexpected(LinkError::in_use);
    if (each.phase == SendPhase::free && place == nullptr) place = &each;
  }
  if (place == nullptr) return std::unexpected(LinkError::full);
  place->phase = SendPhase::waiting;
  place->id = id;
  place->from = from;
  place->next = place->again = place->scan = place->busy = 0;
  place->query_due = place->query_open = place->cancelled = false;
  place->result = TransferResult::complete;
  place->posted_at = place->queried_at = now_;
  std::fill_n(place->states.begin(), from.pages, PageState::pending);
  ++open_sends_;
  for (std::size_t slot = 0; slot < offers_.size(); ++slot) {
    if (offers_[slot].open && offers_[slot].id == id) {
      pair(*place, static_cast<std::uint8_t>(slot));
      break;
    }
  }
  return {};
}

void LinkCore::cancel_send(TransferId id) noexcept {
  for (SendTransfer& each : sends_) {
    if (each.id != id) continue;
    if (each.phase == SendPhase::waiting) end_send(each, TransferResult::cancelled);
    if (each.phase == SendPhase::sending) start_draining(each);
  }
}

void LinkCore::pair(SendTransfer& transfer, std::uint8_t slot) noexcept {
  Offer& offer = offers_[slot];
  NFX_ASSERT(offer.open && transfer.phase == SendPhase::waiting);
  offer.open = false;
  transfer.slot = slot;
  transfer.generation = offer.generation;
  transfer.remote_region = offer.into.region;
  transfer.remote_offset = offer.into.offset;
  if (offer.into.pages == transfer.from.pages && offer.into.page_size == transfer.from.page_size) {
    transfer.phase = SendPhase::sending;
    transfer.posted_at = transfer.queried_at = now_;
    return;
  }
  offer.ended_due = send_notes_due_ = true;
  offer.result = TransferResult::different;
  end_send(transfer, TransferResult::different);
}

SendTransfer* LinkCore::send_of(const TransferNote& note) noexcept {
  for (SendTransfer& each : sends_) {
    if ((each.phase == SendPhase::sending || each.phase == SendPhase::draining) && each.slot == note.slot &&
        each.generation == note.generation)
      return &each;
  }
  return nullptr;
}

// False for something that no link sends.
bool LinkCore::take_note(RecordKind kind, const TransferNote& note, std::span<const std::byte> bits) noexcept {
  if (note.slot >= options_.transfers) return false;
  switch (kind) {
    case RecordKind::application: return false;
    case RecordKind::offer: return take_offer(note);
    case RecordKind::done: take_done(note); return true;
    case RecordKind::cancel: take_cancel(note); return true;
    case RecordKind::ended: take_ended(note); return true;
    case RecordKind::query: take_query(note); return true;
    case RecordKind::have: return take_have(note, bits);
  }
  return false;
}

bool LinkCore::take_offer(const TransferNote& note) noexcept {
  if (note.region == 0 || note.region >= regions_.size() || note.pages == 0 || note.pages > options_.pages ||
      note.page_size == 0)
    return false;
  Offer& offer = offers_[note.slot];
  if (offer.open || offer.ended_due) return false;
  offer = {
      .open = true,
      .generation = note.generation,
      .id = TransferId{note.id},
      .into = {
          .region = RegionIndex{note.region}, .offset = note.offset, .page_size = note.page_size, .pages = note.pages}};
  for (SendTransfer& each : sends_) {
    if (each.phase != SendPhase::waiting || each.id != offer.id) continue;
    pair(each, note.slot);
    return true;
  }
  events_.on_requested(offer.id, offer.into);
  return true;
}

void LinkCore::take_done(const TransferNote& note) noexcept {
  if (SendTransfer* const transfer = send_of(note)) end_send(*transfer, TransferResult::complete);
}

void LinkCore::take_cancel(const TransferNote& note) noexcept {
  if (SendTransfer* const transfer = send_of(note)) {
    if (transfer->phase == SendPhase::sending) start_draining(*transfer);
    return;
  }
  Offer& offer = offers_[note.slot];
  if (!offer.open || offer.generation != note.generation) return;
  offer.open = false;
  offer.ended_due = send_notes_due_ = true;
  offer.result = TransferResult::cancelled;
}

bool LinkCore::take_have(const TransferNote& note, std::span<const std::byte> bits) noexcept {
  SendTransfer* const transfer = send_of(note);
  if (transfer == nullptr || !transfer->query_open || transfer->query != note.query) return true;
  const std::uint32_t pages = transfer->from.pages;
  if (note.first >= pages || note.pages > pages - note.first || bits.size() < (note.pages + 7) / 8) return false;
  for (std::uint32_t i = 0; i < note.pages; ++i) {
    const std::uint32_t page = note.first + i;
    std::uint8_t& state = transfer->states[page];
    const bool is_there = (std::to_integer<unsigned>(bits[i / 8]) >> i % 8 & 1U) != 0;
    if (is_there && is_on_its_way(state)) state = PageState::confirmed;
    if (!is_there && state == PageState::lost) {
      state = PageState::pending;
      ++transfer->again;
      transfer->scan = std::min(transfer->scan, page);
    }
  }
  if (note.first + note.pages == pages) {
    transfer->query_open = false;
    settle_query(*transfer);
  }
  return true;
}

// The answer is complete. A transfer that is to end can end once none of its writes is in flight.
void LinkCore::settle_query(SendTransfer& transfer) noexcept {
  if (transfer.phase != SendPhase::draining) return;
  const std::span states = std::span{transfer.states}.first(transfer.from.pages);
  if (std::ranges::any_of(states, is_on_its_way)) return;
  // All pages have arrived, so the peer's record `done` is under way.
  if (std::ranges::count(states, PageState::confirmed) == static_cast<std::ptrdiff_t>(states.size())) return;
  Offer& offer = offers_[transfer.slot];
  offer.generation = transfer.generation;
  offer.ended_due = send_notes_due_ = true;
  offer.result = TransferResult::cancelled;
  end_send(transfer, TransferResult::cancelled);
}

void LinkCore::end_send(SendTransfer& transfer, TransferResult result) noexcept {
  transfer.phase = SendPhase::ended;
  transfer.result = result;
  transfer.query_due = transfer.query_open = false;
}

void LinkCore::start_draining(SendTransfer& transfer) noexcept {
  transfer.phase = SendPhase::draining;
  transfer.drain_since = now_;
  transfer.query_due = send_notes_due_ = true;
}

std::size_t LinkCore::post_pages() noexcept {
  std::size_t posted = 0;
  for (std::size_t i = 0; i < rails_.size(); ++i) {
    const std::size_t index = (rail_turn_ + i) % rails_.size();
    if (rails_[index].phase == RailPhase::up) posted += post_batch(index);
  }
  ++rail_turn_;
  return posted;
}

SendTransfer* LinkCore::next_with_pages(std::size_t rail) noexcept {
  for (std::size_t i = 0; i < sends_.size(); ++i) {
    SendTransfer& each = sends_[(turn_ + i) % sends_.size()];
    if (each.has_pages() && may_have(rail, each.from.page_size)) return &each;
  }
  return nullptr;
}

std::size_t LinkCore::post_batch(std::size_t index) noexcept {
  std::size_t posted = 0;
  SendTransfer* transfer = next_with_pages(index);
  while (transfer != nullptr && posted < options_.batch && can_post(rails_[index], page_reserve)) {
    if (post_page(index, *transfer, posted + 1 < options_.batch) != WriteResult::ok) break;
    ++posted;
    if (!transfer->has_pages()) transfer = next_with_pages(index);
  }
  ++turn_;
  return posted;
}

WriteResult LinkCore::post_page(std::size_t index, SendTransfer& transfer, bool more) noexcept {
  std::uint32_t page = transfer.next;
  if (transfer.again != 0) {
    while (transfer.states[transfer.scan] != PageState::pending) ++transfer.scan;
    page = transfer.scan;
    NFX_ASSERT(page < transfer.next);
  }
  NFX_ASSERT(page < transfer.from.pages && transfer.states[page] == PageState::pending);
  const std::uint64_t distance = std::uint64_t{page} * transfer.from.page_size;
  const auto number = encode(PageNumber{.slot = transfer.slot, .generation = transfer.generation, .page = page});
  const auto place = static_cast<std::uint32_t>(&transfer - sends_.data());
  const WriteResult result = post(index,
                                  {.local_offset = transfer.from.offset + distance,
                                   .remote_offset = transfer.remote_offset + distance,
                                   .length = transfer.from.page_size,
                                   .number = number,
                                   .local_region = transfer.from.region,
                                   .remote_region = transfer.remote_region,
                                   .more = more},
                                  {.kind = NumberKind::page, .index = place});
  if (result != WriteResult::ok) return result;
  transfer.states[page] = PageState::on(index);
  transfer.posted_at = now_;
  ++transfer.busy;
  if (transfer.again != 0) {
    --transfer.again;
    add_shared(counters_.pages_sent_again, 1);
  } else {
    transfer.scan = ++transfer.next;
  }
  add_shared(counters_.pages_sent, 1);
  add_shared(counters_.page_bytes_sent, transfer.from.page_size);
  return result;
}

void LinkCore::suspect_pages(std::size_t index) noexcept {
  for (SendTransfer& each : sends_) {
    if (each.phase != SendPhase::sending && each.phase != SendPhase::draining) continue;
    std::ranges::replace(std::span{each.states}.first(each.from.pages), PageState::on(index),
                         PageState::suspect(index));
  }
}

// Both ends are closed, so pages that the peer does not have now will never arrive; a query determines which.
void LinkCore::lose_suspect_pages(std::size_t index) noexcept {
  for (SendTransfer& each : sends_) {
    if (each.phase != SendPhase::sending && each.phase != SendPhase::draining) continue;
    bool any = false;
    for (std::uint8_t& state : std::span{each.states}.first(each.from.pages)) {
      if (state != PageState::suspect(index)) continue;
      state = PageState::lost;
      any = true;
    }
    if (!any) continue;
    ++each.query;  // an answer in flight may be older than the peer's closing
    each.query_due = send_notes_due_ = true;
  }
}

void LinkCore::maintain_send(SendTransfer& transfer) noexcept {
  switch (transfer.phase) {
    case SendPhase::free:
    case SendPhase::waiting:
    case SendPhase::ended: return;
    case SendPhase::sending:
      if (transfer.has_pages() || now_ - std::max(transfer.posted_at, transfer.queried_at) <= options_.silence) return;
      if (now_ - transfer.posted_at > options_.write_deadline && !transfer.query_open) close_rails_of(transfer);
      break;
    case SendPhase::draining:
      if (now_ - transfer.queried_at <= options_.heartbeat) return;
      if (now_ - transfer.drain_since > options_.write_deadline) close_rails_of(transfer);
      break;
  }
  transfer.queried_at = now_;
  transfer.query_due = send_notes_due_ = true;
}

void LinkCore::close_rails_of(const SendTransfer& transfer) noexcept {
  for (std::size_t index = 0; index < rails_.size(); ++index) {
    const std::span states = std::span{transfer.states}.first(transfer.from.pages);
    const bool any = std::ranges::find(states, PageState::on(index)) != states.end();
    if (any && rails_[index].phase == RailPhase::up) close_rail(index, RailChange::silent);
  }
}

void LinkCore::queue_send_notes() noexcept {
  send_notes_due_ = false;
  for (SendTransfer& each : sends_) {
    if (!each.query_due) continue;
    const TransferNote note{.query = each.query, .slot = each.slot, .generation = each.generation};
    each.query_open = false;
    if (!queue_note(RecordKind::query, note)) {
      send_notes_due_ = true;
      return;
    }
    each.query_due = false;
    each.query_open = true;
    each.queried_at = now_;
  }
  for (std::size_t slot = 0; slot < offers_.size(); ++slot) {
    Offer& offer = offers_[slot];
    if (!offer.ended_due) continue;
    const TransferNote note{
        .slot = static_cast<std::uint8_t>(slot), .generation = offer.generation, .result = offer.result};
    if (!queue_note(RecordKind::ended, note)) {
      send_notes_due_ = true;
      return;
    }
    offer.ended_due = false;
  }
}

void LinkCore::finish_sends() noexcept {
  for (SendTransfer& each : sends_) {
    if (each.phase != SendPhase::ended || each.busy != 0) continue;
    each.phase = SendPhase::free;
    --open_sends_;
    add_shared(each.result == TransferResult::complete ? counters_.transfers_sent : counters_.transfers_failed, 1);
    events_.on_sent(each.id, each.result);
    if (lost()) return;
  }
}

}  // namespace nfx::fabric
