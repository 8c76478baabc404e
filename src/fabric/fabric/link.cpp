// The public interface of a link, its start and end: sizes, its own region, and the reports when all rails are gone.
#include "nexusfix/fabric/link.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/enumerator_name.hpp"
#include "base/error_text.hpp"
#include "fabric/link_core.hpp"

namespace nfx::fabric {

std::string_view to_string(LinkError error) noexcept { return enumerator_name<'-'>(error); }

std::string_view to_string(TransferResult result) noexcept { return enumerator_name(result); }

std::string_view to_string(LossReason reason) noexcept { return enumerator_name<'-'>(reason); }

std::string_view to_string(RailChange change) noexcept { return enumerator_name<'-'>(change); }

namespace {

[[noreturn]] void refuse(const std::string& what) { throw std::runtime_error("fabric link: " + what); }

void check_between(const char* name, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
  if (value >= low && value <= high) return;
  refuse(out_of_range(name, value, std::to_string(low) + " to " + std::to_string(high)));
}

const LinkOptions& checked(const LinkOptions& options) {
  if (options.session == 0) refuse("session is 0; expected a random number, another one for every start");
  check_between("record_slots", options.record_slots, 16, 16384);
  if (!std::has_single_bit(options.record_slots)) refuse("record_slots: expected a power of two");
  check_between("record_size", options.record_size, 64, 65536);
  check_between("transfers", options.transfers, 1, max_transfers);
  check_between("pages", options.pages, 1, max_pages);
  check_between("batch", options.batch, 1, 1024);
  for (const Duration each :
       {options.heartbeat, options.silence, options.write_deadline, options.reopen_after, options.lost_after}) {
    if (each <= Duration::zero())
      refuse("heartbeat, silence, write_deadline, reopen_after, lost_after: expected more than 0 ns");
  }
  if (options.silence < 3 * options.heartbeat) refuse("silence: expected at least three times heartbeat");
  return options;
}

LinkLayout layout_of(std::size_t rails, const LinkOptions& options) {
  const std::uint32_t stride = (static_cast<std::uint32_t>(sizeof(RecordHeader)) + options.record_size + 63) / 64 * 64;
  return {.rails = static_cast<std::uint32_t>(rails), .record_slots = options.record_slots, .record_stride = stride};
}

}  // namespace

LinkCore::LinkCore(std::span<const RailRef> rails, const LinkOptions& options, LinkEvents& events)
    : options_(checked(options)), events_(events), layout_(layout_of(rails.size(), options)) {
  check_between("the number of rails", rails.size(), 1, max_rails);
  const std::uint32_t all = (1U << rails.size()) - 1;
  if ((options_.choice.small_rails & all) == 0 || (options_.choice.large_rails & all) == 0)
    refuse("choice: expected at least one of the rails; bit 0 is the first one");
  auto region = Region::make(
      {.use = "fabric-link", .size = layout_.size(), .node = options.node, .huge_pages = layout_.size() >= 1 << 20});
  if (!region) refuse(region.error());
  region_ = *std::move(region);
  for (const RailRef& rail : rails) {
    const RailLimits limits = rail.limits();
    const std::string name{rail.name()};
    if (limits.slots < 16 || limits.arrivals < 4 * status_slots)
      refuse("the rail " + name + " has too few slots: 16 for writes and 64 for arrivals are needed");
    if (limits.longest_write < std::max<std::uint64_t>(layout_.record_stride, sizeof(Status)))
      refuse("the rail " + name + " cannot write a record of " + std::to_string(options.record_size) + " bytes");
    rails_.emplace_back(rail, limits);
    rails_.back().operations.resize(limits.slots);
    rails_.back().free.reserve(limits.slots);
  }
  sends_.resize(options.transfers);
  for (SendTransfer& each : sends_) each.states.resize(options.pages);
  receives_.resize(options.transfers);
  for (ReceiveTransfer& each : receives_) each.bits.resize((options.pages + 63) / 64);
  const auto added = add_region(region_);
  if (!added) refuse(added.error());
  session_ = options.session;
  begin();
}

LinkCore::~LinkCore() {
  for (const LinkRail& rail : rails_) rail.rail.close();
}

std::expected<RegionIndex, std::string> LinkCore::add_region(const Region& region) {
  const auto known = std::ranges::find(regions_, &region);
  if (known != regions_.end()) return RegionIndex{static_cast<std::uint8_t>(known - regions_.begin())};
  if (polled_) return std::unexpected("region " + region.use() + ": regions are added before the first poll");
  if (regions_.size() == max_regions)
    return std::unexpected("region " + region.use() + ": a link has at most 16 regions");
  const auto next = static_cast<std::uint8_t>(regions_.size());
  for (const LinkRail& rail : rails_) {
    const auto index = rail.rail.add_region(region);
    if (!index) return std::unexpected(std::string{rail.rail.name()} + ": " + index.error());
    if (*index != RegionIndex{next})
      return std::unexpected(std::string{rail.rail.name()} + ": this rail has regions of another link");
  }
  regions_.push_back(&region);
  return RegionIndex{next};
}

void LinkCore::begin() {
  for (LinkRail& rail : rails_) {
    LinkRail fresh{rail.rail, rail.limits};
    fresh.operations = std::move(rail.operations);
    fresh.free = std::move(rail.free);
    rail = std::move(fresh);
    std::ranges::fill(rail.operations, Operation{});
    rail.free.clear();
    for (std::uint32_t slot = rail.limits.slots; slot > 0; --slot) rail.free.push_back(slot - 1);
  }
  begun_ = loss_reported_ = rails_report_ = false;
  loss_.reset();
  peer_session_ = 0;
  out_.assign(options_.record_slots, RecordOut{});
  sent_ = arrived_ = queued_ = application_sent_ = application_acknowledged_ = 0;
  early_.assign(options_.record_slots, 0);
  delivered_ = application_received_ = acknowledged_ = 0;
  for (SendTransfer& each : sends_) each.phase = SendPhase::free;
  offers_.assign(max_transfers, Offer{});
  open_sends_ = 0;
  for (ReceiveTransfer& each : receives_) {
    each.phase = ReceivePhase::free;
    each.offer_due = each.cancel_due = each.have_due = false;
  }
  send_notes_due_ = receive_notes_due_ = receives_ended_ = false;
}

std::size_t LinkCore::poll(MonotonicTime now) noexcept {
  now_ = now;
  if (!begun_) {
    begun_ = polled_ = true;
    up_at_ = maintain_at_ = records_at_ = now;
    fingerprint_ = fingerprint();
  }
  std::size_t work = 0;
  if (!lost()) {
    for (std::size_t rail = 0; rail < rails_.size() && !lost(); ++rail) work += serve(rail);
    if (!lost() && now >= maintain_at_) maintain();
    if (!lost()) {
      if (receive_notes_due_) queue_receive_notes();
      if (send_notes_due_) queue_send_notes();
      if (queued_ != 0) post_queued();
      if (open_sends_ != 0) work += post_pages();
      send_statuses();
    }
  }
  report();
  return work;
}

// Callbacks that no state of the link depends on any more.
void LinkCore::report() noexcept {
  if (rails_report_) {
    rails_report_ = false;
    for (std::size_t rail = 0; rail < rails_.size(); ++rail) {
      if (const auto change = std::exchange(rails_[rail].report, std::nullopt)) events_.on_rail(rail, *change);
    }
  }
  if (loss_) {
    if (!std::exchange(loss_reported_, true)) report_loss();
    return;
  }
  if (open_sends_ != 0) finish_sends();
  if (receives_ended_) finish_receives();
}

void LinkCore::lose(LossReason reason) noexcept {
  if (loss_) return;
  loss_ = reason;
  for (std::size_t rail = 0; rail < rails_.size(); ++rail) close_rail(rail, RailChange::failed);
}

// All rails are closed at this end, so nothing reads or changes the memory of a transfer any more.
void LinkCore::report_loss() noexcept {
  for (SendTransfer& each : sends_) {
    const SendPhase phase = std::exchange(each.phase, SendPhase::free);
    if (phase == SendPhase::free) continue;
    const TransferResult result = phase == SendPhase::ended ? each.result : TransferResult::lost;
    add_shared(result == TransferResult::complete ? counters_.transfers_sent : counters_.transfers_failed, 1);
    events_.on_sent(each.id, result);
  }
  open_sends_ = 0;
  for (ReceiveTransfer& each : receives_) {
    const ReceivePhase phase = std::exchange(each.phase, ReceivePhase::free);
    if (phase != ReceivePhase::open && phase != ReceivePhase::ended) continue;
    add_shared(counters_.transfers_failed, 1);
    events_.on_received(each.id, phase == ReceivePhase::ended ? each.result : TransferResult::lost);
  }
  events_.on_lost(*loss_);
}

void LinkCore::stop() noexcept {
  lose(LossReason::stopped);
  report();
}

void LinkCore::restart(std::uint64_t session, MonotonicTime now) {
  NFX_REQUIRE(session != 0 && session != session_);
  now_ = now;
  stop();
  session_ = session;
  begin();
}

std::expected<void, LinkError> LinkCore::check_range(const PageRange& range) const noexcept {
  if (range.pages > options_.pages) return std::unexpected(LinkError::too_long);
  const auto region = static_cast<std::size_t>(range.region);
  if (range.pages == 0 || range.page_size == 0 || region == 0 || region >= regions_.size())
    return std::unexpected(LinkError::out_of_range);
  if (!regions_[region]->contains(range.offset, std::uint64_t{range.pages} * range.page_size))
    return std::unexpected(LinkError::out_of_range);
  for (const LinkRail& rail : rails_) {
    if (range.page_size > rail.limits.longest_write) return std::unexpected(LinkError::out_of_range);
  }
  return {};
}

Link::Link(std::span<const RailRef> rails, const LinkOptions& options, LinkEvents& events)
    : core_(std::make_unique<LinkCore>(rails, options, events)) {}
Link::~Link() = default;

std::expected<RegionIndex, std::string> Link::add_region(const Region& region) { return core_->add_region(region); }
std::size_t Link::poll(MonotonicTime now) noexcept { return core_->poll(now); }
std::expected<RecordSeq, LinkError> Link::send_record(std::span<const std::byte> record) noexcept {
  return core_->send_record(record);
}
void Link::acknowledge(RecordSeq through) noexcept { core_->acknowledge(through); }
std::expected<void, LinkError> Link::send(TransferId id, const PageRange& from) noexcept {
  return core_->send(id, from);
}
std::expected<void, LinkError> Link::receive(TransferId id, const PageRange& into) noexcept {
  return core_->receive(id, into);
}
void Link::cancel_send(TransferId id) noexcept { core_->cancel_send(id); }
void Link::cancel_receive(TransferId id) noexcept { core_->cancel_receive(id); }
void Link::stop() noexcept { core_->stop(); }
void Link::restart(std::uint64_t session, MonotonicTime now) { core_->restart(session, now); }
bool Link::lost() const noexcept { return core_->lost(); }
std::size_t Link::rails() const noexcept { return core_->rails().size(); }
std::size_t Link::rails_up() const noexcept {
  return static_cast<std::size_t>(std::ranges::count(core_->rails(), RailPhase::up, &LinkRail::phase));
}
RecordSeq Link::last_sent() const noexcept { return core_->last_sent(); }
RecordSeq Link::last_acknowledged() const noexcept { return core_->last_acknowledged(); }
const LinkCounters& Link::counters() const noexcept { return core_->counters(); }

}  // namespace nfx::fabric
