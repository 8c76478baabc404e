// A rail in memory that fails like cards, cables and peers: full queues, reordered writes and numbers, error
// completions, connections that end on one side, cards that vanish and deliver late, slow peers, numbers that arrive
// twice or never. For tests of the code above the rail interface.
// Thread: one for both ends. Cost: allocates; for tests. Time comes from FaultyWire::step(), so that delays need no
// waiting; the seed determines everything. Lifetime: regions and the wire outlive its ends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "nexusfix/fabric/rail.hpp"

namespace nfx::fabric {

// Violations of the rail's contract, for tests of the tests: the users of the rail must notice.
enum class RailBreak : std::uint8_t {
  none,
  late_writes_land,     // close() is not a fence
  number_before_bytes,  // a number arrives first, its bytes later
  half_a_page,          // a number arrives, and only half of its bytes do
  other_page,           // the bytes of a page are written one page further
};
[[nodiscard]] std::string_view to_string(RailBreak kind) noexcept;

// Probabilities per write, except spells: per millisecond.
struct RailFaults {
  std::uint64_t seed = 1;
  Duration delay_min = std::chrono::microseconds{1};
  Duration delay_max = std::chrono::microseconds{20};  // of one write; later ones overtake it
  double again = 0;                                    // immediately
  double refused = 0;                                  // try_write() returns failed
  double failed = 0;                                   // error completion
  double duplicate = 0;                                // the number arrives twice, the second time up to `spell` later
  double lost_number = 0;                              // the bytes arrive, the number does not
  double lost_write = 0;                               // neither arrives
  double lost_done = 0;
  double early_done = 0;   // its completion comes when it was taken, as over TCP, and the bytes arrive later
  double slow = 0;         // takes a hundred times longer
  double again_spell = 0;  // the queue stays full for up to `spell`
  double slow_spell = 0;   // writes take a hundred times longer
  double vanish = 0;       // nothing moves for up to `spell`, then everything arrives late
  double cut = 0;          // the connection ends, on one side only in every second case
  double open_fails = 0;   // per attempt
  Duration spell = std::chrono::milliseconds{50};
  Duration open_takes = std::chrono::milliseconds{1};
  RailLimits limits{.slots = 32, .arrivals = 96, .longest_write = std::uint64_t{1} << 20};
  RailBreak broken = RailBreak::none;
};

struct RailFaultCounters {
  std::uint64_t writes = 0;
  std::uint64_t again = 0;
  std::uint64_t errors = 0;  // refused and failed
  std::uint64_t duplicates = 0;
  std::uint64_t losses = 0;  // lost numbers, writes and completions
  std::uint64_t spells = 0;
  std::uint64_t cuts = 0;
  std::uint64_t late = 0;      // writes that arrived after their sender had closed its end
  std::uint64_t fenced = 0;    // writes to a closed end
  std::uint64_t early = 0;     // completions before the bytes arrived
  std::uint64_t overruns = 0;  // numbers beyond RailLimits::arrivals without duplicates: the sender ignored its credits
  std::uint64_t changed = 0;   // writes whose local bytes changed before their completion
};

class FaultyWire;

// One end; implements Rail.
class FaultyRail {
 public:
  FaultyRail(FaultyWire& wire, std::size_t end) noexcept : wire_(wire), end_(end) {}
  FaultyRail(const FaultyRail&) = delete;
  FaultyRail& operator=(const FaultyRail&) = delete;

  [[nodiscard]] std::expected<RegionIndex, std::string> add_region(const Region& region);
  void open(MonotonicTime now) noexcept;
  void maintain(MonotonicTime) noexcept {}
  void close() noexcept;
  [[nodiscard]] WriteResult try_write(const Write& write) noexcept;
  [[nodiscard]] std::size_t poll(std::span<Completion> out) noexcept;
  [[nodiscard]] RailState state() const noexcept { return state_; }
  [[nodiscard]] RailLimits limits() const noexcept;
  [[nodiscard]] std::string_view name() const noexcept { return end_ == 0 ? "faulty 0" : "faulty 1"; }
  [[nodiscard]] std::string_view last_error() const noexcept { return {}; }

 private:
  friend class FaultyWire;

  FaultyWire& wire_;
  const std::size_t end_;
  RailState state_ = RailState::closed;
  std::vector<const Region*> regions_;
  std::deque<Completion> completions_;
  std::uint32_t connection_ = 0;  // the current connection of this end
  bool slot_used_[4096] = {};
};

// The wire between two ends, with all writes in flight.
class FaultyWire {
 public:
  explicit FaultyWire(const RailFaults& faults);
  FaultyWire(const FaultyWire&) = delete;
  FaultyWire& operator=(const FaultyWire&) = delete;

  [[nodiscard]] FaultyRail& end(std::size_t index) noexcept { return ends_[index]; }
  // Moves everything that is due. Call it before the polls of an iteration.
  void step(MonotonicTime now) noexcept;
  // Ends all faults; earlier losses remain.
  void heal() noexcept;
  // Ends the connection now, at one end or, with 2, at both.
  void cut(std::size_t end) noexcept;
  // The card does nothing for this time, and delivers late afterwards.
  void vanish(Duration time) noexcept { vanished_until_ = now_ + time; }
  // Completes everything that this end sends over the current connection, without delivering it.
  void mute(std::size_t end) noexcept { muted_[end] = connection_; }
  [[nodiscard]] const RailFaultCounters& counters() const noexcept { return counters_; }

 private:
  friend class FaultyRail;

  struct Flight {
    Write write;
    std::size_t from = 0;
    std::uint32_t connection = 0;
    MonotonicTime half_at{};  // when the first half of the bytes is written
    MonotonicTime land_at{};
    MonotonicTime done_at{};
    bool half = false;
    bool landed = false;
    bool done = false;
    bool early = false;  // completes before it lands
    bool sender_closed = false;
    std::vector<std::byte> copy;  // copy of its bytes, if they may change in flight: `early` and `sender_closed`
    std::size_t sum = 0;          // checksum of its bytes when it was taken
  };

  // A number that arrives again.
  struct Echo {
    MonotonicTime at{};
    std::size_t to = 0;
    std::uint32_t connection = 0;
    Completion arrived;
  };

  [[nodiscard]] bool chance(double probability) noexcept;
  [[nodiscard]] Duration delay() noexcept;
  void draw_spells() noexcept;
  void connect() noexcept;
  [[nodiscard]] WriteResult take(FaultyRail& from, const Write& write) noexcept;
  [[nodiscard]] std::string_view local_bytes(const Flight& flight) const noexcept;
  void move(Flight& flight) noexcept;
  void put(Flight& flight, std::uint64_t first, std::uint64_t last) noexcept;
  void land(Flight& flight) noexcept;
  void finish(Flight& flight) noexcept;
  void repeat_numbers() noexcept;
  void closed(std::size_t end) noexcept;
  [[nodiscard]] bool is_in(const FaultyRail& rail, std::uint32_t connection) const noexcept;

  RailFaults faults_;
  std::mt19937_64 random_;
  std::array<FaultyRail, 2> ends_;
  std::vector<Flight> flights_;
  std::vector<Echo> echoes_;
  MonotonicTime now_{};
  MonotonicTime spells_at_{};
  MonotonicTime again_until_{};
  MonotonicTime slow_until_{};
  MonotonicTime vanished_until_{};
  MonotonicTime opens_at_{};
  std::uint32_t connection_ = 0;
  std::array<std::uint32_t, 2> muted_{};  // by end: the last connection over which nothing from it arrives
  RailFaultCounters counters_;
};

static_assert(Rail<FaultyRail>);

}  // namespace nfx::fabric
