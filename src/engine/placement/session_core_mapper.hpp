// Assigns sessions to CPUs: by hash, which needs no state, or balanced, which does not collide while there are free
// cores. Thread: one owner. Cost: core_for_session is O(1) by hash, O(log sessions) balanced; add and remove are
// O(cores).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/placement/placement_request.hpp"

namespace nfx {

struct SessionCoreMapperConfig {
  std::vector<int> allowed_cores;  // CPUs, not empty
  SessionMapping mapping = SessionMapping::hash;
};

class SessionCoreMapper {
 public:
  // Throws std::invalid_argument when there are no allowed cores.
  explicit SessionCoreMapper(SessionCoreMapperConfig config);

  // By hash: always the same. Balanced: where add() put it, or would put it now.
  [[nodiscard]] int core_for_session(std::string_view sender_comp_id, std::string_view target_comp_id) const noexcept;

  // Balanced: a session joins, on the least loaded core, among those on its hash's or the next one after it; the
  // others stay where they are. Returns its core. A session that is there already stays.
  int add(std::string_view sender_comp_id, std::string_view target_comp_id);
  // Balanced: a session has been put on this core by others. False: it is not an allowed one.
  bool place(std::string_view sender_comp_id, std::string_view target_comp_id, int core);
  // And leaves. False: it was not there.
  bool remove(std::string_view sender_comp_id, std::string_view target_comp_id);

  [[nodiscard]] const SessionCoreMapperConfig& config() const noexcept { return config_; }

 private:
  using Name = std::pair<std::string, std::string>;
  // Finds a name by what it is spelled as, without a copy.
  struct ByText {
    using is_transparent = void;
    using Text = std::pair<std::string_view, std::string_view>;
    [[nodiscard]] bool operator()(const Text& a, const Text& b) const noexcept { return a < b; }
  };

  [[nodiscard]] std::size_t hashed(std::string_view sender_comp_id, std::string_view target_comp_id) const noexcept;
  [[nodiscard]] std::size_t choose(std::size_t preferred) const noexcept;

  SessionCoreMapperConfig config_;
  std::map<Name, std::size_t, ByText> assigned_;  // balanced: into allowed_cores
  std::vector<std::uint32_t> load_;               // balanced: sessions per allowed core
};

}  // namespace nfx
