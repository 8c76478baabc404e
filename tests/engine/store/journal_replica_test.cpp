// The interface between a journal and its replicator.
#include "store/journal_replica.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "store/journal_flusher.hpp"
#include "store/journal_store.hpp"
#include "temporary_folder.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

class ReplicatedJournal : public testing::Test {
 protected:
  ReplicatedJournal() {
    options_.directory = root_.file("store");
    options_.ring_directory = root_.file("ring");
    options_.segment_size = 1024 * 1024;
    options_.ring_size = 64 * 1024;
    options_.durability = Durability::replicated;
    options_.replica = replica_ = std::make_shared<JournalReplica>(std::make_shared<WakeSignal>(),
                                                                   [this](JournalStore&, UtcTime) { ++prepared_; });
    replica_->call([this] { ++woken_; }, [this] { ++changed_; });
  }

  std::unique_ptr<JournalStore> open() {
    auto journal = std::make_unique<JournalStore>(posix_disk(), options_, "FIX.4.4:US->THEM", UtcTime(1s));
    journal->replicate(UtcTime(1s));
    return journal;
  }
  // The bodies of the messages up to a position.
  std::vector<std::string> take(JournalPosition limit, std::size_t most = SIZE_MAX) {
    std::vector<std::string> bodies;
    replica_->take(limit, [&](const RecordHeader& header, std::string_view body, JournalPosition) {
      if (bodies.size() == most) return false;
      if (header.kind == RecordKind::message) bodies.emplace_back(body);
      return true;
    });
    return bodies;
  }

  test::TemporaryFolder root_;
  JournalOptions options_;
  std::shared_ptr<JournalReplica> replica_;
  int prepared_ = 0, woken_ = 0, changed_ = 0;
};

TEST_F(ReplicatedJournal, cannot_be_opened_without_a_replica) {
  options_.replica.reset();
  EXPECT_THROW((JournalStore{posix_disk(), options_, "FIX.4.4:US->THEM", UtcTime(1s)}), StoreError);
}

TEST_F(ReplicatedJournal, holds_back_until_the_replica_has_committed_although_the_disk_has_it) {
  const auto journal = open();
  EXPECT_EQ(prepared_, 1);
  ASSERT_TRUE(journal->append(SeqNum{1}, "order"));
  EXPECT_TRUE(journal->holds_back());
  EXPECT_TRUE(journal->sync(UtcTime(2s)));
  EXPECT_LT(journal->durable(), journal->position());
  journal->want_sync();
  EXPECT_EQ(replica_->wanted(), journal->position());
  EXPECT_EQ(take(replica_->wanted()), std::vector<std::string>{"order"});
  replica_->commit(replica_->taken());
  EXPECT_EQ(journal->durable(), journal->position());
  EXPECT_EQ(woken_, 1);
}

TEST_F(ReplicatedJournal, gives_a_record_again_that_was_not_taken) {
  const auto journal = open();
  for (std::uint64_t seq = 1; seq <= 3; ++seq)
    ASSERT_TRUE(journal->append(SeqNum{seq}, "order " + std::to_string(seq)));
  journal->want_sync();
  EXPECT_EQ(take(replica_->wanted(), 1), std::vector<std::string>{"order 1"});
  EXPECT_EQ(take(replica_->wanted()), (std::vector<std::string>{"order 2", "order 3"}));
}

TEST_F(ReplicatedJournal, step_under_way_is_not_wanted_until_it_has_ended) {
  const auto journal = open();
  const JournalPosition before = replica_->wanted();
  ASSERT_TRUE(journal->append(SeqNum{1}, "order"));
  EXPECT_EQ(replica_->wanted(), before);
  EXPECT_GT(replica_->head(), before);
  replica_->ask_for_end_of_step();
  EXPECT_EQ(changed_, 1);
  journal->end_step();
  EXPECT_EQ(replica_->wanted(), journal->position());
}

TEST_F(ReplicatedJournal, overwrites_nothing_that_was_not_taken) {
  const auto journal = open();
  JournalFlusher flusher;
  flusher.add(*journal);
  journal->prepare();
  const std::string body(1000, 'x');
  std::uint64_t stored = 0;
  for (int turn = 0; turn < 200; ++turn) {
    while (journal->append(SeqNum{stored + 1}, body)) ++stored;
    static_cast<void>(flusher.turn({UtcTime(2s), MonotonicTime{std::chrono::seconds{turn}}}));
  }
  EXPECT_LT(stored, 64U) << "the ring takes no more";
  EXPECT_EQ(journal->condition(), StoreCondition::busy);
  journal->want_sync();
  EXPECT_EQ(take(replica_->wanted()).size(), stored);
  static_cast<void>(flusher.turn({UtcTime(2s), MonotonicTime{1000s}}));
  EXPECT_TRUE(journal->append(SeqNum{stored + 1}, body));
  flusher.remove(*journal);
}

TEST_F(ReplicatedJournal, fenced_journal_takes_nothing_more_and_says_why) {
  const auto journal = open();
  replica_->fence("another gateway owns the session now");
  EXPECT_EQ(changed_, 1);
  EXPECT_EQ(journal->condition(), StoreCondition::failed);
  EXPECT_EQ(journal->condition_text(), "another gateway owns the session now");
  EXPECT_FALSE(journal->append(SeqNum{1}, "order"));
}

TEST_F(ReplicatedJournal, replica_that_is_fenced_before_the_journal_opens_fences_it) {
  replica_->fence("another gateway owns the session now");
  EXPECT_EQ(open()->condition(), StoreCondition::failed);
}

TEST_F(ReplicatedJournal, lost_replica_costs_the_poll_thread_a_bounded_time) {
  const auto journal = open();
  ASSERT_TRUE(journal->append(SeqNum{1}, "logout"));
  EXPECT_FALSE(journal->wait_durable(journal->position())) << "it comes back, and the replica never answers";
}

TEST_F(ReplicatedJournal, closed_journal_leaves_what_was_not_taken) {
  {
    const auto journal = open();
    ASSERT_TRUE(journal->append(SeqNum{1}, "order"));
    journal->set_next_inbound(SeqNum{5});
    EXPECT_FALSE(replica_->closed());
  }
  ASSERT_TRUE(replica_->closed());
  EXPECT_EQ(take(replica_->head()), std::vector<std::string>{"order"});
  EXPECT_EQ(replica_->taken(), replica_->head());
  replica_->commit(replica_->head());
  EXPECT_EQ(woken_, 0) << "the poll threads may have ended";
}

}  // namespace
}  // namespace nfx
