// Assigns parts of transfers to groups, and handles parts whose link is lost. The receiver chooses the next group, one
// at a time; the sender follows by waiting at all others.
#include "nexusfix/fabric/groups.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "base/error_text.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx::fabric {
namespace {

const DivisionOptions& checked(const DivisionOptions& options) {
  if (options.groups < 1 || options.groups > max_groups)
    throw std::runtime_error(out_of_range("divided transfers: groups", options.groups, "1 to 16"));
  if (options.transfers < 1 || options.transfers * options.groups > max_transfers)
    throw std::runtime_error(
        out_of_range("divided transfers: transfers", options.transfers, "1 to 64 divided by the number of groups"));
  return options;
}

// Space for each part of each transfer in both directions.
SpscOptions queue_of(const DivisionOptions& options, std::size_t entries, std::size_t size) {
  return {.slot_count = 2 * options.transfers * options.groups * entries, .record_size = size};
}

constexpr std::uint32_t bit(std::size_t group) noexcept { return 1U << group; }

}  // namespace

// A start and a cancellation, and an earlier cancellation that the group has not taken yet.
GroupSide::GroupSide(const DivisionOptions& options)
    : requests_(queue_of(options, 3, sizeof(Request))), reports_(queue_of(options, 1, sizeof(Report))) {}

std::size_t GroupSide::step(Link& link) noexcept {
  std::size_t work = 0;
  for (Request request; requests_.try_pop_value(request); ++work) {
    std::expected<void, LinkError> started;
    switch (request.call) {
      case Call::send: started = link.send(request.id, request.range); break;
      case Call::receive: started = link.receive(request.id, request.range); break;
      case Call::cancel_send: link.cancel_send(request.id); break;
      case Call::cancel_receive: link.cancel_receive(request.id); break;
    }
    if (started) continue;
    const bool lost = started.error() == LinkError::lost;
    report({.id = request.id,
            .sent = request.call == Call::send,
            .result = lost ? TransferResult::lost : TransferResult::different});
  }
  return work;
}

void GroupSide::report(const Report& report) noexcept {
  NFX_REQUIRE(reports_.try_push_value(report) == PushResult::pushed);
}

struct DividedTransfers::Part {
  PageRange range;
  std::uint32_t open = 0;   // bit per group whose link has it
  std::uint32_t tried = 0;  // bit per group whose link had it
  bool complete = false;
};

struct DividedTransfers::Transfer {
  TransferId id{};
  bool used = false;
  bool outgoing = false;
  bool failed = false;
  bool lost = false;  // of a part that was cancelled
  TransferResult result = TransferResult::complete;
  std::array<Part, max_groups> parts;
};

DividedTransfers::DividedTransfers(const DivisionOptions& options, DivisionEvents& events)
    : options_(checked(options)), events_(events), transfers_(std::size_t{2} * options.transfers) {
  for (std::size_t group = 0; group < options.groups; ++group) sides_.push_back(std::make_unique<GroupSide>(options));
}
DividedTransfers::~DividedTransfers() = default;

DividedTransfers::Transfer* DividedTransfers::find(TransferId id, bool outgoing) noexcept {
  const auto found = std::ranges::find_if(
      transfers_, [&](const Transfer& each) { return each.used && each.id == id && each.outgoing == outgoing; });
  return found == transfers_.end() ? nullptr : &*found;
}

std::expected<void, LinkError> DividedTransfers::begin(TransferId id, const PageRange& range, bool outgoing) noexcept {
  if (static_cast<std::uint64_t>(id) >= divided_ids || range.pages == 0)
    return std::unexpected(LinkError::out_of_range);
  if (find(id, outgoing) != nullptr) return std::unexpected(LinkError::in_use);
  const auto of_direction =
      std::ranges::count_if(transfers_, [&](const Transfer& each) { return each.used && each.outgoing == outgoing; });
  if (of_direction == static_cast<std::ptrdiff_t>(options_.transfers)) return std::unexpected(LinkError::full);
  Transfer& transfer = *std::ranges::find(transfers_, false, &Transfer::used);
  transfer = {.id = id, .used = true, .outgoing = outgoing, .parts = {}};
  for (std::size_t part = 0; part < options_.groups; ++part) {
    const PagePart pages = part_of(range.pages, options_.groups, part);
    Part& each = transfer.parts[part];
    each.range = range;
    each.range.offset += std::uint64_t{pages.first} * range.page_size;
    each.range.pages = pages.pages;
    each.complete = pages.pages == 0;
    if (!each.complete) start(transfer, part, part);
  }
  return {};
}

void DividedTransfers::start(Transfer& transfer, std::size_t part, std::size_t group) noexcept {
  Part& each = transfer.parts[part];
  each.open |= bit(group);
  each.tried |= bit(group);
  const GroupSide::Request request{.id = encode(PartId{transfer.id, part}),
                                   .range = each.range,
                                   .call = transfer.outgoing ? GroupSide::Call::send : GroupSide::Call::receive};
  NFX_REQUIRE(sides_[group]->requests_.try_push_value(request) == PushResult::pushed);
}

void DividedTransfers::cancel_part(Transfer& transfer, std::size_t part) noexcept {
  const GroupSide::Request request{
      .id = encode(PartId{transfer.id, part}),
      .range = {},
      .call = transfer.outgoing ? GroupSide::Call::cancel_send : GroupSide::Call::cancel_receive};
  for (std::size_t group = 0; group < options_.groups; ++group) {
    if ((transfer.parts[part].open & bit(group)) == 0) continue;
    NFX_REQUIRE(sides_[group]->requests_.try_push_value(request) == PushResult::pushed);
  }
}

void DividedTransfers::fail(Transfer& transfer, TransferResult result) noexcept {
  if (transfer.failed) return;
  transfer.failed = true;
  transfer.result = result;
  for (std::size_t part = 0; part < options_.groups; ++part) {
    if (!transfer.parts[part].complete) cancel_part(transfer, part);
  }
}

void DividedTransfers::part_was_lost(Transfer& transfer, std::size_t part) noexcept {
  Part& each = transfer.parts[part];
  transfer.lost = true;
  if (transfer.failed || each.complete) return;
  for (std::size_t i = 1; i < options_.groups; ++i) {
    const std::size_t group = (part + i) % options_.groups;
    if ((each.tried & bit(group)) != 0) continue;
    start(transfer, part, group);
    if (!transfer.outgoing) break;
  }
  if (each.open == 0) fail(transfer, TransferResult::lost);
}

void DividedTransfers::take(const GroupSide::Report& report, std::size_t group) noexcept {
  const PartId id = decode(report.id);
  Transfer* const transfer = find(id.transfer, report.sent);
  NFX_REQUIRE(transfer != nullptr && id.part < options_.groups);
  Part& part = transfer->parts[id.part];
  NFX_ASSERT((part.open & bit(group)) != 0);
  part.open &= ~bit(group);
  switch (report.result) {
    case TransferResult::complete:
      // The sender waits at the others in vain.
      if (!part.complete && !transfer->failed) cancel_part(*transfer, id.part);
      part.complete = true;
      break;
    case TransferResult::cancelled:
    case TransferResult::different:
      if (!part.complete) fail(*transfer, report.result);
      break;
    case TransferResult::lost: part_was_lost(*transfer, id.part); break;
  }
  finish(*transfer);
}

void DividedTransfers::finish(Transfer& transfer) noexcept {
  const auto parts = std::span{transfer.parts}.first(options_.groups);
  if (std::ranges::any_of(parts, [](const Part& each) { return each.open != 0; })) return;
  const bool complete = std::ranges::all_of(parts, &Part::complete);
  if (!complete && !transfer.failed) return;
  TransferResult result = complete ? TransferResult::complete : transfer.result;
  // The peer may have all of the lost part.
  if (result == TransferResult::cancelled && transfer.lost) result = TransferResult::lost;
  transfer.used = false;
  const TransferId id = transfer.id;
  transfer.outgoing ? events_.on_sent(id, result) : events_.on_received(id, result);
}

std::expected<void, LinkError> DividedTransfers::send(TransferId id, const PageRange& from) noexcept {
  return begin(id, from, true);
}
std::expected<void, LinkError> DividedTransfers::receive(TransferId id, const PageRange& into) noexcept {
  return begin(id, into, false);
}

void DividedTransfers::cancel(TransferId id, bool outgoing) noexcept {
  if (Transfer* const transfer = find(id, outgoing)) fail(*transfer, TransferResult::cancelled);
}
void DividedTransfers::cancel_send(TransferId id) noexcept { cancel(id, true); }
void DividedTransfers::cancel_receive(TransferId id) noexcept { cancel(id, false); }

std::size_t DividedTransfers::poll() noexcept {
  std::size_t work = 0;
  for (std::size_t group = 0; group < sides_.size(); ++group) {
    for (GroupSide::Report report; sides_[group]->reports_.try_pop_value(report); ++work) take(report, group);
  }
  return work;
}

}  // namespace nfx::fabric
