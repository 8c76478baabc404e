// Remembers a bounded number of removed sessions.
#include "engine/left_numbers.hpp"

#include <algorithm>

namespace nfx {

void LeftNumbers::remember(const std::string& name, const LeftSession& left) {
  const std::lock_guard lock{mutex_};
  entries_.insert_or_assign(name, Entry{left, removals_++});
  if (entries_.size() <= most_) return;
  entries_.erase(std::ranges::min_element(entries_, {}, [](const auto& each) { return each.second.order; }));
}

void LeftNumbers::forget(const std::string& name) {
  const std::lock_guard lock{mutex_};
  entries_.erase(name);
}

void LeftNumbers::continue_with(SessionSettings& settings) const {
  const std::lock_guard lock{mutex_};
  const auto found = entries_.find(identity(settings.session));
  if (found == entries_.end()) return;
  const LeftSession& left = found->second.left;
  if (left.has_journal && settings.store_kind == StoreKind::journal) return;
  settings.next_inbound = left.next_inbound;
  settings.next_outbound = left.next_outbound;
  settings.numbers_as_of = left.begun;
}

}  // namespace nfx
