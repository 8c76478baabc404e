// A rail that checks a link's writes against the knowledge of both ends: a reported page is not sent again, because the
// second one could arrive when its memory is used otherwise.
// Thread: one owner. Cost: a look-up for each page.
#pragma once

#include <cstring>
#include <vector>

#include "fabric/faulty_rail.hpp"
#include "fabric_faults/peer.hpp"
#include "nexusfix/fabric/rail.hpp"

namespace nfx::fabric_faults {

class WatchedRail {
 public:
  WatchedRail(Shared& shared, fabric::FaultyRail& rail) : shared_(shared), rail_(rail) {}

  [[nodiscard]] std::expected<fabric::RegionIndex, std::string> add_region(const fabric::Region& region) {
    regions_.push_back(&region);
    return rail_.add_region(region);
  }
  [[nodiscard]] fabric::WriteResult try_write(const fabric::Write& write) noexcept {
    const fabric::WriteResult result = rail_.try_write(write);
    if (result == fabric::WriteResult::ok && write.length >= page_from) check(write);
    return result;
  }
  void open(MonotonicTime now) noexcept { rail_.open(now); }
  void maintain(MonotonicTime now) noexcept { rail_.maintain(now); }
  void close() noexcept { rail_.close(); }
  [[nodiscard]] std::size_t poll(std::span<fabric::Completion> out) noexcept { return rail_.poll(out); }
  [[nodiscard]] fabric::RailState state() const noexcept { return rail_.state(); }
  [[nodiscard]] fabric::RailLimits limits() const noexcept { return rail_.limits(); }
  [[nodiscard]] std::string_view name() const noexcept { return rail_.name(); }
  [[nodiscard]] std::string_view last_error() const noexcept { return rail_.last_error(); }

 private:
  static constexpr std::uint32_t page_from = 512;

  void check(const fabric::Write& write) {
    std::uint64_t word = 0;
    std::memcpy(&word, regions_[static_cast<std::size_t>(write.local_region)]->data() + write.local_offset,
                sizeof word);
    const auto found = shared_.sent.find(word);
    if (found == shared_.sent.end()) return;  // not a page
    const auto [id, page] = found->second;
    const Deal& deal = shared_.deals.at(id);
    if (!deal.forgotten && page < deal.seen.size() && deal.seen[page])
      shared_.find("page " + std::to_string(page) + " of transfer " + std::to_string(id) +
                   " is sent again after its receiver reported it");
  }

  Shared& shared_;
  fabric::FaultyRail& rail_;
  std::vector<const fabric::Region*> regions_;
};
static_assert(fabric::Rail<WatchedRail>);

}  // namespace nfx::fabric_faults
