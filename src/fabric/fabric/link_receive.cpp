// The receiving end of transfers: offers memory, counts each page once, and reports a transfer when all pages have
// arrived.
#include <algorithm>
#include <cstring>

#include "fabric/link_core.hpp"

namespace nfx::fabric {

std::expected<void, LinkError> LinkCore::receive(TransferId id, const PageRange& into) noexcept {
  if (lost()) return std::unexpected(LinkError::lost);
  if (const auto checked = check_range(into); !checked) return checked;
  ReceiveTransfer* place = nullptr;
  for (ReceiveTransfer& each : receives_) {
    const bool is_open = each.phase == ReceivePhase::open || each.phase == ReceivePhase::ended;
    if (is_open && each.id == id) return std::unexpected(LinkError::in_use);
    if (each.phase == ReceivePhase::free && place == nullptr) place = &each;
  }
  if (place == nullptr) return std::unexpected(LinkError::full);
  place->phase = ReceivePhase::open;
  place->id = id;
  place->into = into;
  place->offer_due = receive_notes_due_ = true;
  place->cancel_due = place->have_due = false;
  place->received = 0;
  std::ranges::fill(place->bits, 0);
  return {};
}

void LinkCore::cancel_receive(TransferId id) noexcept {
  for (ReceiveTransfer& each : receives_) {
    if (each.phase != ReceivePhase::open || each.id != id) continue;
    if (each.offer_due) {  // the peer does not know of it
      each.offer_due = false;
      each.phase = ReceivePhase::ended;
      each.result = TransferResult::cancelled;
      receives_ended_ = true;
    } else {
      each.cancel_due = receive_notes_due_ = true;
    }
  }
}

// False for something that no link sends.
bool LinkCore::take_page(const Completion& completion) noexcept {
  const PageNumber number = decode_page(completion.value);
  if (number.slot >= options_.transfers) return false;
  ReceiveTransfer& transfer = receives_[number.slot];
  const bool is_open = transfer.phase == ReceivePhase::open && transfer.generation == number.generation;
  std::uint64_t& word = transfer.bits[std::min<std::size_t>(number.page / 64, transfer.bits.size() - 1)];
  const std::uint64_t bit = std::uint64_t{1} << number.page % 64;
  if (!is_open || (number.page < transfer.into.pages && (word & bit) != 0)) {
    add_shared(counters_.numbers_ignored, 1);
    return true;
  }
  if (number.page >= transfer.into.pages) return false;
  if (completion.length != 0 && completion.length != transfer.into.page_size) return false;
  word |= bit;
  ++transfer.received;
  add_shared(counters_.pages_received, 1);
  add_shared(counters_.page_bytes_received, transfer.into.page_size);
  const bool is_complete = transfer.received == transfer.into.pages;
  const TransferId id = transfer.id;
  if (is_complete) {
    transfer.phase = ReceivePhase::complete;
    receive_notes_due_ = true;
    add_shared(counters_.transfers_received, 1);
  }
  events_.on_page(id, number.page);
  if (is_complete) events_.on_received(id, TransferResult::complete);
  return true;
}

void LinkCore::take_ended(const TransferNote& note) noexcept {
  ReceiveTransfer& transfer = receives_[note.slot];
  if (transfer.phase != ReceivePhase::open || transfer.generation != note.generation) return;
  transfer.phase = ReceivePhase::ended;
  transfer.result = note.result == TransferResult::different ? note.result : TransferResult::cancelled;
  transfer.cancel_due = transfer.have_due = false;
  receives_ended_ = true;
}

void LinkCore::take_query(const TransferNote& note) noexcept {
  ReceiveTransfer& transfer = receives_[note.slot];
  // A complete transfer is answered by the record `done`.
  if (transfer.phase != ReceivePhase::open || transfer.generation != note.generation) return;
  transfer.have_due = receive_notes_due_ = true;
  transfer.query = note.query;
  transfer.have_next = 0;
}

void LinkCore::queue_receive_notes() noexcept {
  receive_notes_due_ = false;
  for (std::size_t i = 0; i < receives_.size(); ++i) {
    ReceiveTransfer& each = receives_[i];
    const auto slot = static_cast<std::uint8_t>(i);
    TransferNote note{.slot = slot, .generation = each.generation};
    bool queued = true;
    if (each.phase == ReceivePhase::complete) {
      queued = queue_note(RecordKind::done, note);
      if (queued) free_receive(each);
    } else if (each.phase == ReceivePhase::open && each.offer_due) {
      note.id = std::to_underlying(each.id);
      note.offset = each.into.offset;
      note.page_size = each.into.page_size;
      note.pages = each.into.pages;
      note.region = static_cast<std::uint8_t>(each.into.region);
      queued = queue_note(RecordKind::offer, note);
      each.offer_due = !queued;
    } else if (each.phase == ReceivePhase::open) {
      if (each.cancel_due) queued = queue_note(RecordKind::cancel, note);
      each.cancel_due = each.cancel_due && !queued;
      if (queued && each.have_due) queued = queue_have(each, slot);
    }
    if (!queued) {
      receive_notes_due_ = true;
      return;
    }
  }
}

bool LinkCore::queue_have(ReceiveTransfer& transfer, std::uint8_t slot) noexcept {
  const std::uint32_t whole_words = (options_.record_size - static_cast<std::uint32_t>(sizeof(TransferNote))) / 8;
  while (transfer.have_due) {
    const std::uint32_t left = transfer.into.pages - transfer.have_next;
    const std::uint32_t pages = std::min(left, whole_words * 64);
    const TransferNote note{.pages = pages,
                            .first = transfer.have_next,
                            .query = transfer.query,
                            .slot = slot,
                            .generation = transfer.generation};
    const std::span words = std::span{transfer.bits}.subspan(transfer.have_next / 64, (pages + 63) / 64);
    if (!queue_note(RecordKind::have, note, std::as_bytes(words))) return false;
    transfer.have_next += pages;
    transfer.have_due = pages != left;
  }
  return true;
}

void LinkCore::free_receive(ReceiveTransfer& transfer) noexcept {
  transfer.phase = ReceivePhase::free;
  ++transfer.generation;
}

void LinkCore::finish_receives() noexcept {
  receives_ended_ = false;
  for (ReceiveTransfer& each : receives_) {
    if (each.phase != ReceivePhase::ended) continue;
    free_receive(each);
    add_shared(counters_.transfers_failed, 1);
    events_.on_received(each.id, each.result);
    if (lost()) return;
  }
}

}  // namespace nfx::fabric
