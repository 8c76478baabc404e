// Carries writes between two regions of one process, with random faults for each write.
#include "fabric/faulty_rail.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "base/enumerator_name.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/fabric/rail.hpp"

namespace nfx::fabric {

std::string_view to_string(RailBreak kind) noexcept { return enumerator_name<'-'>(kind); }

namespace {

constexpr Duration millisecond = std::chrono::milliseconds{1};
constexpr std::uint32_t page_from = 512;  // writes of pages, not of records or statuses

}  // namespace

std::expected<RegionIndex, std::string> FaultyRail::add_region(const Region& region) {
  if (regions_.size() == max_regions) return std::unexpected("more than 16 regions");
  regions_.push_back(&region);
  return RegionIndex{static_cast<std::uint8_t>(regions_.size() - 1)};
}

RailLimits FaultyRail::limits() const noexcept { return wire_.faults_.limits; }

void FaultyRail::open(MonotonicTime) noexcept {
  NFX_REQUIRE(state_ == RailState::closed);
  state_ = RailState::opening;
  wire_.opens_at_ = wire_.now_ + wire_.faults_.open_takes;
}

void FaultyRail::close() noexcept {
  if (state_ == RailState::closed) return;
  state_ = RailState::closed;
  completions_.clear();
  wire_.closed(end_);
  std::ranges::fill(slot_used_, false);
}

WriteResult FaultyRail::try_write(const Write& write) noexcept {
  return state_ == RailState::up ? wire_.take(*this, write) : WriteResult::failed;
}

std::size_t FaultyRail::poll(std::span<Completion> out) noexcept {
  std::size_t count = 0;
  while (count < out.size() && !completions_.empty()) {
    const Completion next = completions_.front();
    completions_.pop_front();
    out[count++] = next;
    if (next.kind == CompletionKind::done || next.kind == CompletionKind::failed) slot_used_[next.value] = false;
    if (next.kind == CompletionKind::down) close();
  }
  return count;
}

FaultyWire::FaultyWire(const RailFaults& faults)
    : faults_(faults), random_(faults.seed), ends_{FaultyRail{*this, 0}, FaultyRail{*this, 1}} {
  NFX_REQUIRE(faults.limits.slots <= std::size(ends_[0].slot_used_));
}

bool FaultyWire::chance(double probability) noexcept {
  if (probability <= 0) return false;
  return static_cast<double>(random_() >> 11) * 0x1p-53 < probability;
}

Duration FaultyWire::delay() noexcept {
  const auto range = static_cast<std::uint64_t>((faults_.delay_max - faults_.delay_min).count()) + 1;
  const Duration drawn = faults_.delay_min + Duration{static_cast<std::int64_t>(random_() % range)};
  return now_ < slow_until_ || chance(faults_.slow) ? drawn * 100 : drawn;
}

bool FaultyWire::is_in(const FaultyRail& rail, std::uint32_t connection) const noexcept {
  return rail.state_ == RailState::up && rail.connection_ == connection;
}

void FaultyWire::draw_spells() noexcept {
  const auto spell = [this] {
    ++counters_.spells;
    return now_ +
           Duration{static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(faults_.spell.count() + 1))};
  };
  for (; spells_at_ <= now_; spells_at_ += millisecond) {
    if (chance(faults_.again_spell)) again_until_ = spell();
    if (chance(faults_.slow_spell)) slow_until_ = spell();
    if (chance(faults_.vanish)) vanished_until_ = spell();
    if (chance(faults_.cut)) cut(random_() % 4 < 2 ? 2 : random_() % 2);
  }
}

void FaultyWire::connect() noexcept {
  if (ends_[0].state_ != RailState::opening || ends_[1].state_ != RailState::opening || now_ < opens_at_) return;
  if (chance(faults_.open_fails)) {
    opens_at_ = now_ + faults_.open_takes;
    return;
  }
  ++connection_;
  for (FaultyRail& end : ends_) {
    end.state_ = RailState::up;
    end.connection_ = connection_;
  }
}

void FaultyWire::cut(std::size_t end) noexcept {
  ++counters_.cuts;
  for (std::size_t i = 0; i < 2; ++i) {
    if ((end == i || end == 2) && ends_[i].state_ == RailState::up)
      ends_[i].completions_.push_back({.kind = CompletionKind::down, .code = ECONNRESET});
  }
}

void FaultyWire::heal() noexcept {
  faults_.again = faults_.refused = faults_.failed = faults_.duplicate = faults_.lost_number = faults_.lost_write = 0;
  faults_.early_done = faults_.slow = 0;
  faults_.lost_done = faults_.again_spell = faults_.slow_spell = faults_.vanish = faults_.cut = faults_.open_fails = 0;
  again_until_ = slow_until_ = vanished_until_ = {};
}

WriteResult FaultyWire::take(FaultyRail& from, const Write& write) noexcept {
  const FaultyRail& to = ends_[1 - from.end_];
  const auto local = static_cast<std::size_t>(write.local_region);
  const auto remote = static_cast<std::size_t>(write.remote_region);
  if (local >= from.regions_.size() || remote >= to.regions_.size() ||
      !from.regions_[local]->contains(write.local_offset, write.length) ||
      !to.regions_[remote]->contains(write.remote_offset, write.length) || write.length > faults_.limits.longest_write)
    return WriteResult::failed;
  NFX_REQUIRE(write.slot < faults_.limits.slots && !from.slot_used_[write.slot]);
  if (now_ < again_until_ || chance(faults_.again)) {
    ++counters_.again;
    return WriteResult::again;
  }
  if (chance(faults_.refused)) {
    ++counters_.errors;
    return WriteResult::failed;
  }
  from.slot_used_[write.slot] = true;
  ++counters_.writes;
  Flight flight;
  flight.write = write;
  flight.from = from.end_;
  flight.connection = from.connection_;
  const Duration whole = delay();
  flight.half_at = now_ + whole / 2;
  flight.land_at = now_ + whole;
  const std::string_view bytes = local_bytes(flight);
  flight.sum = std::hash<std::string_view>{}(bytes);
  flight.early = chance(faults_.early_done);
  if (flight.early) {
    ++counters_.early;
    const auto all = std::as_bytes(std::span{bytes});
    flight.copy.assign(all.begin(), all.end());
  }
  flight.done_at = flight.early ? now_ : flight.land_at + delay();
  flights_.push_back(std::move(flight));
  return WriteResult::ok;
}

// The sender's current bytes, whether or not they still belong to the write.
std::string_view FaultyWire::local_bytes(const Flight& flight) const noexcept {
  const Region& local = *ends_[flight.from].regions_[static_cast<std::size_t>(flight.write.local_region)];
  return {reinterpret_cast<const char*>(local.data()) + flight.write.local_offset, flight.write.length};
}

// Writes in flight when their sender closed may still arrive, but no longer read the sender's memory.
void FaultyWire::closed(std::size_t end) noexcept {
  for (Flight& flight : flights_) {
    if (flight.from != end || flight.connection != ends_[end].connection_ || flight.landed) continue;
    if (flight.sender_closed) continue;
    if (!flight.early) {
      const auto bytes = std::as_bytes(std::span{local_bytes(flight)});
      flight.copy.assign(bytes.begin(), bytes.end());
    }
    flight.sender_closed = flight.done = true;
    if (chance(0.5)) continue;
    // It completes before its bytes are on the wire, and the number never arrives.
    flight.write.number = 3U << 30;
  }
}

void FaultyWire::put(Flight& flight, std::uint64_t first, std::uint64_t last) noexcept {
  const FaultyRail& to = ends_[1 - flight.from];
  std::uint64_t offset = flight.write.remote_offset;
  const Region& remote = *to.regions_[static_cast<std::size_t>(flight.write.remote_region)];
  if (faults_.broken == RailBreak::other_page && flight.write.length >= page_from &&
      remote.contains(offset + flight.write.length, flight.write.length))
    offset += flight.write.length;
  const auto bytes = flight.copy.empty() ? std::as_bytes(std::span{local_bytes(flight)})
                                         : std::span{flight.copy.data(), flight.copy.size()};
  if (last > first) std::memcpy(remote.data() + offset + first, bytes.data() + first, last - first);
}

void FaultyWire::land(Flight& flight) noexcept {
  flight.landed = true;
  FaultyRail& to = ends_[1 - flight.from];
  if (flight.sender_closed) {
    ++counters_.late;
    if (flight.write.number >> 30 == 3) return;
  }
  if (!is_in(to, flight.connection)) return;
  const Completion arrived{
      .kind = CompletionKind::arrived, .value = flight.write.number, .length = flight.write.length};
  if (chance(faults_.lost_number)) {
    ++counters_.losses;
    return;
  }
  const auto waiting = std::ranges::count(to.completions_, CompletionKind::arrived, &Completion::kind);
  if (waiting >= static_cast<std::ptrdiff_t>(faults_.limits.arrivals)) {
    // A queue that overflows ends the connection. If numbers arrived twice, they were credited twice.
    if (counters_.duplicates == 0) ++counters_.overruns;
    return cut(to.end_);
  }
  to.completions_.push_back(arrived);
  if (!chance(faults_.duplicate)) return;
  // Immediately, or when the original transfer may have ended and others have started.
  const Duration later =
      chance(0.5)
          ? Duration::zero()
          : Duration{static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(faults_.spell.count() + 1))};
  echoes_.push_back({.at = now_ + later, .to = to.end_, .connection = flight.connection, .arrived = arrived});
}

void FaultyWire::repeat_numbers() noexcept {
  std::erase_if(echoes_, [this](const Echo& echo) {
    if (now_ < echo.at) return false;
    FaultyRail& to = ends_[echo.to];
    const auto waiting = std::ranges::count(to.completions_, CompletionKind::arrived, &Completion::kind);
    if (!is_in(to, echo.connection) || waiting >= static_cast<std::ptrdiff_t>(faults_.limits.arrivals)) return true;
    ++counters_.duplicates;
    to.completions_.push_back(echo.arrived);
    return true;
  });
}

void FaultyWire::finish(Flight& flight) noexcept {
  flight.done = true;
  FaultyRail& from = ends_[flight.from];
  if (!is_in(from, flight.connection)) return;
  if (chance(faults_.lost_done)) {
    ++counters_.losses;
    return;
  }
  if (!flight.early && std::hash<std::string_view>{}(local_bytes(flight)) != flight.sum) ++counters_.changed;
  const bool failed = !flight.early && chance(faults_.failed);
  if (failed) ++counters_.errors;
  from.completions_.push_back({.kind = failed ? CompletionKind::failed : CompletionKind::done,
                               .code = failed ? EIO : 0,
                               .value = flight.write.slot});
}

void FaultyWire::move(Flight& flight) noexcept {
  const bool is_page = flight.write.length >= page_from;
  const bool is_open = is_in(ends_[1 - flight.from], flight.connection);
  // Everything in flight to a closed end is dropped.
  if (!flight.landed && !is_open && faults_.broken != RailBreak::late_writes_land) {
    if (now_ < flight.half_at) return;
    flight.landed = flight.done = true;
    ++counters_.fenced;
    return;
  }
  if (!flight.half && now_ >= flight.half_at) {
    flight.half = true;
    if (flight.connection <= muted_[flight.from] || chance(faults_.lost_write)) {
      ++counters_.losses;
      flight.landed = true;
    } else if (faults_.broken == RailBreak::number_before_bytes && is_page) {
      land(flight);
      flight.landed = false;
    } else {
      put(flight, 0, flight.write.length / 2);
    }
  }
  if (!flight.landed && now_ >= flight.land_at) {
    if (faults_.broken == RailBreak::number_before_bytes && is_page) {
      put(flight, 0, flight.write.length);
      flight.landed = true;
    } else {
      if (faults_.broken != RailBreak::half_a_page || !is_page)
        put(flight, flight.write.length / 2, flight.write.length);
      land(flight);
    }
  }
  if (!flight.done && now_ >= flight.done_at && (flight.landed || flight.early)) finish(flight);
}

void FaultyWire::step(MonotonicTime now) noexcept {
  if (now_ == MonotonicTime{}) spells_at_ = now;
  now_ = now;
  draw_spells();
  connect();
  if (now_ < vanished_until_) return;
  for (std::size_t i = 0; i < flights_.size();) {
    move(flights_[i]);
    if (flights_[i].landed && flights_[i].done) {
      if (i + 1 != flights_.size()) flights_[i] = std::move(flights_.back());
      flights_.pop_back();
    } else {
      ++i;
    }
  }
  repeat_numbers();
}

}  // namespace nfx::fabric
