// The content of a journal after a kill of its process or a power loss, at every change of the disk, compared with a
// model.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <string>

#include "store/journal_flusher.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_store.hpp"
#include "store/memory_disk.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using test::MemoryDisk;
using test::session_name;

JournalOptions small_options(Durability durability) {
  JournalOptions options;
  options.directory = "/store";
  options.ring_directory = "/ring";
  options.segment_size = 64 * 1024;
  options.ring_size = 64 * 1024;
  options.durability = durability;
  options.retain_messages = 4096;
  return options;
}

// A journal that grows in steps: neither segment nor ring is reserved completely at the beginning.
JournalOptions growing_options(Durability durability) {
  JournalOptions options = small_options(durability);
  options.segment_size = 2048 * 1024;
  options.ring_size = 1024 * 1024;
  return options;
}

// A journal whose ring has to use only a part of it at first, because there is no more memory.
JournalOptions lean_options(Durability durability) {
  JournalOptions options = growing_options(durability);
  options.lean = true;
  return options;
}

// The state of a session, according to the model or the store.
struct Standing {
  std::map<std::uint64_t, std::string> messages;
  std::uint64_t next_inbound = 1;
  std::uint64_t next_outbound = 1;
  UtcTime creation_time{1s};

  bool operator==(const Standing&) const = default;
};

Standing standing_of(const JournalStore& store) {
  Standing standing;
  store.for_each(first_seq_num, SeqNum{UINT64_MAX}, [&](SeqNum seq, std::string_view bytes) {
    standing.messages[value(seq)] = bytes;
    return true;
  });
  standing.next_inbound = value(store.next_inbound());
  standing.next_outbound = value(store.next_outbound());
  standing.creation_time = store.creation_time();
  return standing;
}

// A session with random activity, which remembers its state at every position of its journal.
class Life {
 public:
  // Messages are shorter than `longest`.
  Life(MemoryDisk& disk, JournalOptions options, std::size_t longest, std::uint64_t seed)
      : disk_(disk), options_(std::move(options)), longest_(longest), random_(seed) {}

  // False if the process was killed while it opened the store.
  bool open() {
    try {
      store_.emplace(disk_, options_, session_name, UtcTime(1s));
    } catch (const StoreError& error) {
      EXPECT_TRUE(disk_.dead()) << error.what();
      return false;
    }
    flusher_.add(*store_);
    past_[store_->position()] = now_;
    return true;
  }

  void step() {
    const std::uint64_t dice = random_() % 100;
    instant_.monotonic += tick;
    instant_.utc += tick;
    if (dice < 45) {
      append();
    } else if (dice < 60) {
      now_.next_inbound += 1;
      store_->set_next_inbound(SeqNum{now_.next_inbound}, instant_.utc);
    } else if (dice < 64) {
      now_.next_outbound += random_() % 3;
      store_->set_next_outbound(SeqNum{now_.next_outbound}, instant_.utc);
    } else if (dice < 65) {
      store_->reset(instant_.utc);
      now_ = Standing{.messages = {}, .next_inbound = 1, .next_outbound = 1, .creation_time = instant_.utc};
    } else if (dice < 67 && now_.next_outbound > 3) {
      now_.next_outbound -= 1 + random_() % 2;
      store_->set_next_outbound(SeqNum{now_.next_outbound}, instant_.utc);
    } else if (dice < 80) {
      store_->want_sync();
    } else {
      flusher_.turn(instant_);
    }
    if (!disk_.dead()) past_[store_->position()] = now_;
  }

  Duration tick = 1ms;

  void end() {
    durable_ = store_ ? store_->durable() : 0;
    store_.reset();
  }

  // The session's state when its journal ended at `position`; empty if it never did.
  [[nodiscard]] std::optional<Standing> at(JournalPosition position) const {
    const auto found = past_.find(position);
    return found == past_.end() ? std::nullopt : std::optional{found->second};
  }
  [[nodiscard]] const Standing& latest() const { return now_; }
  [[nodiscard]] JournalPosition durable() const { return durable_; }
  [[nodiscard]] JournalStore& store() { return *store_; }
  // Removes everything that did not survive from the history.
  void go_on_from(JournalPosition position, const Standing& standing) {
    past_.erase(past_.upper_bound(position), past_.end());
    now_ = standing;
  }

 private:
  void append() {
    const std::uint64_t seq = now_.next_outbound;
    std::string bytes =
        std::to_string(random_()) + std::string(1 + random_() % longest_, static_cast<char>('a' + seq % 26));
    const bool back = !now_.messages.empty() && seq <= now_.messages.rbegin()->first;
    if (back && !store_->accepts(bytes.size())) return;
    if (!store_->append(SeqNum{seq}, bytes, instant_.utc)) {
      EXPECT_NE(store_->condition(), StoreCondition::good);
      return;
    }
    if (disk_.dead()) return;
    now_.messages.erase(now_.messages.lower_bound(seq), now_.messages.end());
    now_.messages[seq] = std::move(bytes);
    now_.next_outbound = seq + 1;
    store_->set_next_outbound(SeqNum{seq + 1}, instant_.utc);
  }

  MemoryDisk& disk_;
  JournalOptions options_;
  std::size_t longest_;
  std::mt19937_64 random_;
  JournalFlusher flusher_;
  std::optional<JournalStore> store_;
  std::map<JournalPosition, Standing> past_{{0, Standing{}}};
  Standing now_;
  Instant instant_{UtcTime(5s), MonotonicTime(5s)};
  JournalPosition durable_ = 0;
};

constexpr std::size_t opened_record = 32;
constexpr int steps = 250;

enum class End : std::uint8_t { kill, crash_none, crash_all, crash_part };

void end_of(MemoryDisk& disk, End how, std::uint64_t seed) {
  switch (how) {
    case End::kill: return disk.kill();
    case End::crash_none: return disk.crash(MemoryDisk::Keep::none);
    case End::crash_all: return disk.crash(MemoryDisk::Keep::all);
    case End::crash_part: return disk.crash(MemoryDisk::Keep::part, seed);
  }
}

// Opens the remaining files and compares them with the history.
void check_survivor(MemoryDisk& disk, Life& life, End how) {
  ASSERT_TRUE(life.open());
  const JournalPosition position = life.store().position() - opened_record;
  const Standing found = standing_of(life.store());
  if (how == End::kill) {
    ASSERT_EQ(found.messages.size(), life.latest().messages.size());
    ASSERT_EQ(found, life.latest());
  } else {
    ASSERT_GE(position, life.durable());
    const auto then = life.at(position);
    // A process that was killed while reopening may have written its own record.
    ASSERT_TRUE(then || life.at(position - opened_record)) << "at a position that the journal never had: " << position;
    ASSERT_EQ(found, then ? *then : *life.at(position - opened_record));
  }
  life.go_on_from(life.store().position(), found);
  ASSERT_FALSE(disk.dead());
}

// How a session lives.
struct Ways {
  JournalOptions options;
  std::size_t longest = 3000;
  bool short_of_memory = false;  // 4 KiB more for each step of the session, after the first part of the ring
};

// A part of 64 KiB, its overrun and the header page.
constexpr std::uint64_t memory_of_first_part = 84 * 1024;

void live_and_die(const Ways& ways, End how, std::uint64_t seed, std::uint64_t change, bool& died) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", dies at change " + std::to_string(change));
  MemoryDisk disk;
  Life life(disk, ways.options, ways.longest, seed);
  if (ways.short_of_memory) {
    life.tick = 100ms;  // the store looks for memory every second
    disk.provide_up_to(memory_of_first_part);
  }
  disk.die_at(change);
  if (life.open()) {
    for (int i = 0; i < steps && !disk.dead(); ++i) {
      if (ways.short_of_memory) disk.provide_up_to(memory_of_first_part + static_cast<std::uint64_t>(i) * 4096);
      life.step();
    }
  }
  died = disk.dead();
  disk.die_now();
  life.end();
  end_of(disk, how, seed + change);
  // Kills it once more during the recovery.
  disk.die_at((seed + change) % 17);
  if (life.open()) disk.die_now();
  life.end();
  end_of(disk, how, seed + change + 1);
  ASSERT_NO_FATAL_FAILURE(check_survivor(disk, life, how));
  for (int i = 0; i < 60; ++i) life.step();
  const Standing last = life.latest();
  life.end();
  ASSERT_TRUE(life.open());
  ASSERT_TRUE(life.store().recovery().clean);
  ASSERT_EQ(standing_of(life.store()), last);
  life.end();
}

void die_everywhere(const Ways& ways, End how, std::uint64_t seed, std::uint64_t stride) {
  bool died = true;
  std::uint64_t change = seed % stride;
  for (; died; change += stride) {
    ASSERT_NO_FATAL_FAILURE(live_and_die(ways, how, seed, change, died));
  }
  EXPECT_GT(change, 30U) << "the life was too short to mean anything";
}

TEST(JournalSurvival, has_everything_when_its_process_is_killed_at_any_change_of_the_disk) {
  for (const Durability durability : {Durability::none, Durability::interval, Durability::group}) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      ASSERT_NO_FATAL_FAILURE(die_everywhere({small_options(durability)}, End::kill, seed, 1));
    }
  }
}

TEST(JournalSurvival, has_what_was_durable_when_the_machine_dies_and_keeps_nothing_else) {
  for (const Durability durability : {Durability::none, Durability::interval, Durability::group}) {
    ASSERT_NO_FATAL_FAILURE(die_everywhere({small_options(durability)}, End::crash_none, 11, 1));
  }
}

TEST(JournalSurvival, has_what_was_durable_when_the_machine_dies_and_keeps_everything) {
  for (const Durability durability : {Durability::none, Durability::interval, Durability::group}) {
    ASSERT_NO_FATAL_FAILURE(die_everywhere({small_options(durability)}, End::crash_all, 21, 1));
  }
}

TEST(JournalSurvival, has_what_was_durable_when_the_machine_dies_and_keeps_torn_sectors) {
  for (const Durability durability : {Durability::none, Durability::interval, Durability::group}) {
    for (std::uint64_t seed = 31; seed <= 32; ++seed) {
      ASSERT_NO_FATAL_FAILURE(die_everywhere({small_options(durability)}, End::crash_part, seed, 1));
    }
  }
}

TEST(JournalSurvival, has_what_it_must_when_it_ends_at_any_step_of_its_growth) {
  constexpr std::size_t longest = 15'000;
  for (const Durability durability : {Durability::none, Durability::interval, Durability::group}) {
    for (const End how : {End::kill, End::crash_none, End::crash_all, End::crash_part}) {
      ASSERT_NO_FATAL_FAILURE(die_everywhere({growing_options(durability), longest}, how, 41, 5));
    }
  }
}

TEST(JournalSurvival, has_what_it_must_when_its_ring_goes_round_in_a_part_and_grows_later) {
  constexpr std::size_t longest = 15'000;
  for (const Durability durability : {Durability::none, Durability::interval, Durability::group}) {
    for (std::uint64_t seed = 51; seed <= 52; ++seed) {
      ASSERT_NO_FATAL_FAILURE(die_everywhere({lean_options(durability), longest, true}, End::kill, seed, 3));
    }
    for (const End how : {End::crash_none, End::crash_all, End::crash_part}) {
      ASSERT_NO_FATAL_FAILURE(die_everywhere({lean_options(durability), longest, true}, how, 61, 5));
    }
  }
}

}  // namespace
}  // namespace nfx
