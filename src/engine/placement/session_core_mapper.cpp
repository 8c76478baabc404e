// Maps sessions to CPUs by the hash of their CompIDs, or evenly.
#include "placement/session_core_mapper.hpp"

#include <algorithm>
#include <stdexcept>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx {

SessionCoreMapper::SessionCoreMapper(SessionCoreMapperConfig config)
    : config_(std::move(config)), load_(config_.allowed_cores.size()) {
  if (config_.allowed_cores.empty()) throw std::invalid_argument("a session mapper needs at least one allowed core");
}

std::size_t SessionCoreMapper::hashed(std::string_view sender_comp_id, std::string_view target_comp_id) const noexcept {
  return CpuAffinity::session_hash(sender_comp_id, target_comp_id) % config_.allowed_cores.size();
}

// The least loaded core. Among equals, the preferred one or the first after it, so that the order of sessions matters
// only on a collision.
std::size_t SessionCoreMapper::choose(std::size_t preferred) const noexcept {
  const std::uint32_t least = *std::ranges::min_element(load_);
  NFX_ASSERT(preferred < load_.size());
  std::size_t at = preferred;
  while (load_[at] != least) at = (at + 1) % load_.size();
  return at;
}

int SessionCoreMapper::core_for_session(std::string_view sender_comp_id,
                                        std::string_view target_comp_id) const noexcept {
  const std::size_t preferred = hashed(sender_comp_id, target_comp_id);
  if (config_.mapping == SessionMapping::hash) return config_.allowed_cores[preferred];
  const auto found = assigned_.find(std::pair{sender_comp_id, target_comp_id});
  return config_.allowed_cores[found != assigned_.end() ? found->second : choose(preferred)];
}

int SessionCoreMapper::add(std::string_view sender_comp_id, std::string_view target_comp_id) {
  const std::size_t preferred = hashed(sender_comp_id, target_comp_id);
  if (config_.mapping == SessionMapping::hash) return config_.allowed_cores[preferred];
  const auto [entry, added] = assigned_.try_emplace(Name{sender_comp_id, target_comp_id}, config_.allowed_cores.size());
  if (added) {
    entry->second = choose(preferred);
    ++load_[entry->second];
  }
  return config_.allowed_cores[entry->second];
}

bool SessionCoreMapper::place(std::string_view sender_comp_id, std::string_view target_comp_id, int core) {
  const auto found = std::ranges::find(config_.allowed_cores, core);
  if (found == config_.allowed_cores.end()) return false;
  if (config_.mapping == SessionMapping::hash) return true;
  remove(sender_comp_id, target_comp_id);
  NFX_ASSERT(!assigned_.contains(std::pair{sender_comp_id, target_comp_id}));
  const auto index = static_cast<std::size_t>(found - config_.allowed_cores.begin());
  assigned_.emplace(Name{sender_comp_id, target_comp_id}, index);
  ++load_[index];
  return true;
}

bool SessionCoreMapper::remove(std::string_view sender_comp_id, std::string_view target_comp_id) {
  const auto found = assigned_.find(std::pair{sender_comp_id, target_comp_id});
  if (found == assigned_.end()) return false;
  NFX_ASSERT(found->second < load_.size() && load_[found->second] > 0);
  --load_[found->second];
  assigned_.erase(found);
  return true;
}

}  // namespace nfx
