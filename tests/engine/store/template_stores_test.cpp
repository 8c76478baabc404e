// The journals of template sessions on a disk: each is small, and their limits hold.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "store/journal_flusher.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_store.hpp"
#include "store/memory_disk.hpp"
#include "store/sizes.hpp"
#include "store/template_stores.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using test::kib;
using test::MemoryDisk;
namespace fs = std::filesystem;

constexpr UtcTime begin = UtcTime(std::chrono::days{20'000});

class TemplateStoresTest : public testing::Test {
 protected:
  TemplateStoresTest() {
    options_.directory = "/store";
    options_.ring_directory = "/ring";
    options_.lean = true;
  }

  static std::string name(int number) { return "FIX.4.4:US->PEER" + std::to_string(number); }
  // One Logon and Logout, both answered.
  void log_on_once(const std::string& identity, UtcTime now) {
    JournalFlusher flusher;
    JournalStore store(disk_, options_, identity, now);
    flusher.add(store);
    store.prepare();
    for (int i = 0; i < 5; ++i) (void)flusher.turn({now, MonotonicTime(i * 20ms)});
    ASSERT_TRUE(store.append(SeqNum{1}, std::string(150, 'A'), now));
    store.set_next_inbound(SeqNum{2}, now);
    ASSERT_TRUE(store.append(SeqNum{2}, std::string(120, '5'), now));
    for (int i = 5; i < 10; ++i) (void)flusher.turn({now, MonotonicTime(i * 20ms)});
    most_ = std::max(most_, disk_.used());
  }
  std::optional<StoreRefusal> refusal(TemplateStores& stores, const std::string& identity, UtcTime now) {
    try {
      stores.admit(options_, identity, now);
    } catch (const StoreRefusal& refusal) {
      return refusal;
    }
    return std::nullopt;
  }

  MemoryDisk disk_;
  JournalOptions options_;
  std::uint64_t most_ = 0;
};

TEST_F(TemplateStoresTest, session_that_logs_on_once_takes_less_than_100_kib_and_leaves_less_than_24) {
  log_on_once(name(1), begin);
  EXPECT_LT(most_, 100 * kib);
  EXPECT_LT(disk_.used(), 24 * kib);
  JournalStore store(disk_, options_, name(1), begin + 1h);
  EXPECT_TRUE(store.recovery().clean);
  EXPECT_EQ(store.next_outbound(), SeqNum{3});
  EXPECT_EQ(store.next_inbound(), SeqNum{2});
  EXPECT_EQ(store.read(SeqNum{1}), std::string(150, 'A'));
}

TEST_F(TemplateStoresTest, session_of_a_template_grows_as_others_do_when_it_is_used) {
  options_.ring_size = 1024 * kib;
  options_.segment_size = 4096 * kib;
  JournalFlusher flusher;
  JournalStore store(disk_, options_, name(1), begin);
  flusher.add(store);
  store.prepare();
  for (int i = 0; i < 3; ++i) (void)flusher.turn({begin, MonotonicTime(i * 20ms)});
  for (std::uint64_t seq = 1; seq <= 20'000; ++seq) {
    ASSERT_TRUE(store.append(SeqNum{seq}, std::string(500, 'x'), begin)) << seq << ": " << store.condition_text();
    if (seq % 20 == 0) (void)flusher.turn({begin, MonotonicTime(seq * 1ms)});
  }
  EXPECT_GT(store.counters().segments, 1U);
}

TEST_F(TemplateStoresTest, new_session_beyond_the_number_is_refused_and_known_ones_are_not) {
  TemplateStores stores{disk_, {.stores = 3, .bytes = 0, .age = 0s}};
  for (int i = 1; i <= 3; ++i) {
    EXPECT_FALSE(refusal(stores, name(i), begin));
    log_on_once(name(i), begin);
  }
  const auto first = refusal(stores, name(4), begin);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->first);
  EXPECT_EQ(std::string{first->what()},
            "/store has 3 journals of sessions from templates, as many as max_dynamic_stores allows: a CompID without "
            "a journal is refused; raise it, or remove journals that nobody uses");
  const auto second = refusal(stores, name(5), begin);
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->first) << "reported once";
  for (int i = 1; i <= 3; ++i) EXPECT_FALSE(refusal(stores, name(i), begin)) << i;
  EXPECT_TRUE(remove_journal(disk_, session_folder("/store", name(2)), "/ring"));
  EXPECT_FALSE(refusal(stores, name(4), begin + 11s)) << "another one was removed";
}

TEST_F(TemplateStoresTest, new_session_beyond_the_bytes_is_refused) {
  TemplateStores stores{disk_, {.stores = 0, .bytes = 250 * kib, .age = 0s}};
  int made = 0;
  for (; made < 100 && !refusal(stores, name(made), begin); ++made) log_on_once(name(made), begin);
  EXPECT_GE(made, 2) << "of some 84 KiB each until the folder is looked at again";
  EXPECT_LE(disk_.used(), 250 * kib);
  for (UtcTime now = begin; made < 100 && !refusal(stores, name(made), now += 11s); ++made)
    log_on_once(name(made), now);
  EXPECT_LE(disk_.used(), 250 * kib);
  EXPECT_GE(made, 8) << "of less than 24 KiB each";
}

TEST_F(TemplateStoresTest, journals_of_the_configuration_do_not_count_and_are_never_removed) {
  options_.lean = false;
  for (int i = 10; i < 15; ++i) log_on_once(name(i), begin);
  options_.lean = true;
  TemplateStores stores{disk_, {.stores = 1, .bytes = 0, .age = 90 * 24h}};
  EXPECT_FALSE(refusal(stores, name(1), begin + 10'000h));
  for (int i = 10; i < 15; ++i) EXPECT_TRUE(disk_.exists(session_folder("/store", name(i)))) << i;
}

TEST_F(TemplateStoresTest, journal_that_nobody_used_for_longer_than_its_age_is_removed_and_one_in_use_stays) {
  log_on_once(name(1), begin);
  log_on_once(name(2), begin + 24h);
  log_on_once(name(3), begin);
  JournalStore open(disk_, options_, name(3), begin);
  TemplateStores stores{disk_, {.stores = 0, .bytes = 0, .age = 90 * 24h}};
  EXPECT_FALSE(refusal(stores, name(4), begin + 90 * 24h + 12h));
  EXPECT_FALSE(disk_.exists(session_folder("/store", name(1)) / "00000001.nfxj"));
  EXPECT_TRUE(disk_.exists(session_folder("/store", name(2)) / "00000001.nfxj"));
  EXPECT_TRUE(disk_.exists(session_folder("/store", name(3)) / "00000001.nfxj"));
}

TEST_F(TemplateStoresTest, removal_takes_the_ring_that_a_killed_process_left_along) {
  {
    JournalStore store(disk_, options_, name(1), begin);
    ASSERT_TRUE(store.append(SeqNum{1}, "a message", begin));
    disk_.die_now();
  }
  disk_.kill();
  const fs::path folder = session_folder("/store", name(1));
  ASSERT_TRUE(disk_.exists(ring_path("/ring", folder)));
  EXPECT_TRUE(remove_journal(disk_, folder, "/ring"));
  EXPECT_FALSE(disk_.exists(ring_path("/ring", folder)));
  const JournalStore again(disk_, options_, name(1), begin);
  EXPECT_EQ(again.next_outbound(), SeqNum{1});
}

TEST_F(TemplateStoresTest, session_whose_first_logon_fails_leaves_no_folder) {
  {
    JournalStore store(disk_, options_, name(1), begin);
    store.discard_if_new();
  }
  EXPECT_FALSE(disk_.exists(session_folder("/store", name(1))));
}

}  // namespace
}  // namespace nfx
