// Assigns sessions to CPUs: by hash, without state, or balanced, without collisions while there are free cores.
// Thread: one owner. Cost: core_for_session is O(1) by hash, O(log sessions) balanced; add and remove are O(cores).
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
  // Throws std::invalid_argument if there are no allowed cores.
  explicit SessionCoreMapper(SessionCoreMapperConfig config);

  // By hash: always the same core. Balanced: the core that add() chose, or would choose now.
  [[nodiscard]] int core_for_session(std::string_view sender_comp_id, std::string_view target_comp_id) const noexcept;

  // Balanced mode: adds a session to the least loaded core, preferring the core of its hash and then the next ones, and
  // returns the core. Other sessions are not moved. A session that was added before keeps its core.
  int add(std::string_view sender_comp_id, std::string_view target_comp_id);
  // Balanced mode: the caller has put a session on this core. False if the core is not allowed.
  bool place(std::string_view sender_comp_id, std::string_view target_comp_id, int core);
  // Removes a session. False if it was not assigned.
  bool remove(std::string_view sender_comp_id, std::string_view target_comp_id);

  [[nodiscard]] const SessionCoreMapperConfig& config() const noexcept { return config_; }

 private:
  using Name = std::pair<std::string, std::string>;
  // Finds a name by its text, without a copy.
  struct ByText {
    using is_transparent = void;
    using Text = std::pair<std::string_view, std::string_view>;
    [[nodiscard]] bool operator()(const Text& a, const Text& b) const noexcept { return a < b; }
  };

  [[nodiscard]] std::size_t hashed(std::string_view sender_comp_id, std::string_view target_comp_id) const noexcept;
  [[nodiscard]] std::size_t choose(std::size_t preferred) const noexcept;

  SessionCoreMapperConfig config_;
  std::map<Name, std::size_t, ByText> assigned_;  // balanced: index into allowed_cores
  std::vector<std::uint32_t> load_;               // balanced: sessions per allowed core
};

}  // namespace nfx
