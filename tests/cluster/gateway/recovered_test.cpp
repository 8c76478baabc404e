// The stream's contents of a session, compared with its journal.
#include "gateway/recovered.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/journal_store.hpp"
#include "temporary_folder.hpp"

namespace nfx::gateway {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// The bytes of a frame of one owner; they live until the next one.
cluster::FrameView frame_of(const std::vector<cluster::Record>& records, std::uint64_t number = 2) {
  static std::string bytes;
  bytes.assign(sizeof(cluster::FrameHeader), '\0');
  for (const cluster::Record& record : records) {
    const std::size_t begin = bytes.size();
    bytes.resize(begin + cluster::record_size(record.bytes.size()));
    write_record(std::span{bytes}.subspan(begin), record);
  }
  cluster::FrameHeader header{.kind = cluster::FrameKind::records, .session = cluster::SessionId{1}};
  header.epoch = cluster::Epoch{1};
  header.gateway = cluster::GatewayId{1};
  header.number = cluster::FrameNumber{number};
  header.first_inbound = header.first_outbound = header.outbound_limit = first_seq_num;
  seal_frame(bytes, header, static_cast<std::uint32_t>(records.size()));
  cluster::FrameView frame;
  EXPECT_EQ(decode_frame(bytes, frame), cluster::FrameError::none);
  return frame;
}

constexpr std::string_view one_second{"\x00\xca\x9a\x3b\x00\x00\x00\x00", 8};  // 1e9 ns

class RecoveredSession : public ::testing::Test {
 protected:
  RecoveredSession() {
    options_.directory = root_.file("store");
    options_.ring_directory = root_.file("ring");
    options_.segment_size = 64 * 1024;
    options_.ring_size = 64 * 1024;
  }

  JournalStore open() { return JournalStore(posix_disk(), options_, "FIX.4.4:US->THEM", UtcTime(1s)); }

  static Recovered stream_of(std::uint64_t messages, std::uint64_t inbound, UtcTime began = UtcTime(1s)) {
    Recovered stream;
    for (std::uint64_t seq = 1; seq <= messages; ++seq) stream.messages.push_back({SeqNum{seq}, text(seq)});
    stream.counters = stream.recorded = {.inbound = SeqNum{inbound}, .outbound = SeqNum{messages + 1}};
    stream.began = began;
    return stream;
  }
  static std::string text(std::uint64_t seq) { return "message " + std::to_string(seq); }
  static void fill(JournalStore& journal, std::uint64_t messages, std::uint64_t inbound) {
    for (std::uint64_t seq = 1; seq <= messages; ++seq)
      ASSERT_TRUE(journal.append(SeqNum{seq}, text(seq), UtcTime(2s)));
    journal.set_next_outbound(SeqNum{messages + 1});
    journal.set_next_inbound(SeqNum{inbound});
  }

  test::TemporaryFolder root_;
  JournalOptions options_;
};

TEST_F(RecoveredSession, new_session_gives_the_stream_the_time_at_which_its_numbers_began) {
  JournalStore journal = open();
  const Comparison found = compare(journal, Recovered{}, UtcTime(3s));
  ASSERT_TRUE(found.upload);
  EXPECT_EQ(found.upload->began, journal.creation_time());
  EXPECT_FALSE(found.upload->has_records());
  EXPECT_EQ(found.text(), "");
  EXPECT_EQ(journal.next_outbound(), first_seq_num);
}

TEST_F(RecoveredSession, lost_disk_is_rebuilt_from_the_stream) {
  {
    JournalStore journal = open();
    const Comparison found = compare(journal, stream_of(20, 31, UtcTime(777s)), UtcTime(3s));
    EXPECT_EQ(found.taken, 20U);
    EXPECT_TRUE(found.other_session);
  }
  JournalStore journal = open();
  EXPECT_EQ(journal.next_outbound(), SeqNum{21});
  EXPECT_EQ(journal.next_inbound(), SeqNum{31});
  EXPECT_EQ(journal.creation_time(), UtcTime(777s)) << "or a schedule would start over";
  for (std::uint64_t seq = 1; seq <= 20; ++seq) EXPECT_EQ(journal.read(SeqNum{seq}), text(seq));
}

TEST_F(RecoveredSession, more_than_the_ring_takes_is_written_on_the_way) {
  JournalStore journal = open();
  Recovered stream;
  for (std::uint64_t seq = 1; seq <= 400; ++seq) stream.messages.push_back({SeqNum{seq}, std::string(1000, 'x')});
  stream.counters = {.inbound = SeqNum{1}, .outbound = SeqNum{401}};
  stream.began = UtcTime(1s);
  EXPECT_EQ(compare(journal, stream, UtcTime(3s)).taken, 400U);
  EXPECT_EQ(journal.read(SeqNum{1}), std::string(1000, 'x'));
  EXPECT_EQ(journal.read(SeqNum{400}), std::string(1000, 'x'));
}

TEST_F(RecoveredSession, equal_journal_is_not_changed) {
  JournalStore journal = open();
  fill(journal, 10, 5);
  const JournalPosition before = journal.position();
  EXPECT_EQ(compare(journal, stream_of(10, 5), UtcTime(3s)).text(), "");
  EXPECT_EQ(journal.position(), before);
}

TEST_F(RecoveredSession, messages_that_were_never_released_are_forgotten_and_their_numbers_not_used_again) {
  {
    JournalStore journal = open();
    fill(journal, 13, 9);
    const Comparison found = compare(journal, stream_of(10, 7), UtcTime(3s));
    EXPECT_EQ(found.given_up, 3U);
    EXPECT_EQ(found.text(),
              "3 messages of the journal were not in the cluster and are not sent; the journal had next in "
              "9, next out 14");
  }
  JournalStore journal = open();
  EXPECT_EQ(journal.next_outbound(), SeqNum{14});
  EXPECT_EQ(journal.next_inbound(), SeqNum{7}) << "the peer sends them again";
  EXPECT_EQ(journal.read(SeqNum{10}), text(10));
  EXPECT_EQ(journal.read(SeqNum{11}), std::nullopt);
}

TEST_F(RecoveredSession, messages_of_the_next_owner_take_the_place_of_those_that_were_never_released) {
  {
    JournalStore journal = open();
    fill(journal, 13, 9);
    Recovered stream = stream_of(20, 30);
    stream.messages[11].bytes = "another owner's";
    const Comparison found = compare(journal, stream, UtcTime(3s));
    EXPECT_EQ(found.given_up, 2U);
    EXPECT_EQ(found.taken, 9U);
  }
  JournalStore journal = open();
  EXPECT_EQ(journal.read(SeqNum{11}), text(11));
  EXPECT_EQ(journal.read(SeqNum{12}), "another owner's");
  EXPECT_EQ(journal.read(SeqNum{13}), text(13));
  EXPECT_EQ(journal.next_outbound(), SeqNum{21});
}

TEST_F(RecoveredSession, stream_that_has_nothing_gets_what_the_journal_has) {
  JournalStore journal = open();
  fill(journal, 3, 8);
  const Comparison found = compare(journal, Recovered{}, UtcTime(3s));
  ASSERT_TRUE(found.upload);
  EXPECT_EQ(found.upload->messages.size(), 3U);
  EXPECT_EQ(found.upload->counters, (cluster::Counters{.inbound = SeqNum{8}, .outbound = SeqNum{4}}));
}

TEST_F(RecoveredSession, numbers_that_an_owner_reserved_and_did_not_use_do_not_keep_a_journal_out) {
  JournalStore journal = open();
  fill(journal, 20, 8);
  Recovered stream;
  stream.counters.outbound = SeqNum{1025};  // with durability async
  const Comparison found = compare(journal, stream, UtcTime(3s));
  ASSERT_TRUE(found.upload);
  EXPECT_TRUE(found.upload->resets);
  EXPECT_EQ(found.upload->messages.size(), 20U);
  EXPECT_EQ(found.upload->counters, (cluster::Counters{.inbound = SeqNum{8}, .outbound = SeqNum{21}}));
  EXPECT_EQ(journal.next_outbound(), SeqNum{21});
}

TEST_F(RecoveredSession, upload_has_the_newest_messages_that_a_frame_takes) {
  JournalStore journal = open();
  fill(journal, 20, 8);
  const Comparison by_number = compare(journal, Recovered{}, UtcTime(3s), {.messages = 5});
  ASSERT_TRUE(by_number.upload);
  EXPECT_EQ(by_number.upload->messages.front().seq, SeqNum{16});
  EXPECT_EQ(by_number.upload->left_out, 15U);
  EXPECT_EQ(by_number.text(),
            "the cluster had nothing of the session and gets the journal's records, but for 15 messages before them, "
            "which are only in this journal");
  const std::size_t two = 2 * cluster::record_size(text(20).size());
  const Comparison by_bytes = compare(journal, Recovered{}, UtcTime(3s), {.bytes = two});
  ASSERT_TRUE(by_bytes.upload);
  EXPECT_EQ(by_bytes.upload->messages.size(), 2U);
  EXPECT_EQ(by_bytes.upload->counters, (cluster::Counters{.inbound = SeqNum{8}, .outbound = SeqNum{21}}));
}

TEST_F(RecoveredSession, journal_keeps_the_messages_that_its_upload_left_out) {
  JournalStore journal = open();
  fill(journal, 20, 8);
  Recovered stream;
  stream.add(frame_of({
      {.kind = cluster::RecordKind::outbound, .seq = SeqNum{19}, .bytes = text(19)},
      {.kind = cluster::RecordKind::outbound, .seq = SeqNum{20}, .bytes = text(20)},
      {.kind = cluster::RecordKind::inbound, .seq = SeqNum{7}, .bytes = {}},
      {.kind = cluster::RecordKind::began, .seq = {}, .bytes = one_second},
  }));
  const Comparison found = compare(journal, stream, UtcTime(3s));
  EXPECT_FALSE(found.upload);
  EXPECT_EQ(found.text(), "");
  for (std::uint64_t seq = 1; seq <= 20; ++seq) EXPECT_EQ(journal.read(SeqNum{seq}), text(seq));
}

TEST_F(RecoveredSession, other_journal_continues_after_an_upload_with_its_numbers) {
  Recovered stream;
  stream.add(frame_of({
      {.kind = cluster::RecordKind::outbound, .seq = SeqNum{19}, .bytes = text(19)},
      {.kind = cluster::RecordKind::outbound, .seq = SeqNum{20}, .bytes = {}},
      {.kind = cluster::RecordKind::inbound, .seq = SeqNum{7}, .bytes = {}},
      {.kind = cluster::RecordKind::began, .seq = {}, .bytes = one_second},
  }));
  JournalStore journal = open();
  EXPECT_EQ(compare(journal, stream, UtcTime(3s)).taken, 1U);
  EXPECT_EQ(journal.next_outbound(), SeqNum{21});
  EXPECT_EQ(journal.next_inbound(), SeqNum{8});
  EXPECT_EQ(journal.read(SeqNum{18}), std::nullopt);
  EXPECT_EQ(journal.read(SeqNum{19}), text(19));
}

// All that the stream ever had: a session that began at 9 s, and before at 1 s.
Recovered stream_from_the_first_frame_on(std::uint64_t first_number = 1) {
  static constexpr std::string_view nine_seconds{"\x00\x1a\x71\x18\x02\x00\x00\x00", 8};
  Recovered stream;
  stream.add(frame_of({{.kind = cluster::RecordKind::began, .seq = {}, .bytes = one_second}}, first_number));
  stream.add(frame_of({{.kind = cluster::RecordKind::reset, .seq = {}, .bytes = {}},
                       {.kind = cluster::RecordKind::began, .seq = {}, .bytes = nine_seconds}}));
  return stream;
}

TEST_F(RecoveredSession, journal_that_the_stream_never_had_is_not_archived_without_a_line) {
  JournalStore journal(posix_disk(), options_, "FIX.4.4:US->THEM", UtcTime(2s));
  fill(journal, 13, 9);
  const Comparison found = compare(journal, stream_from_the_first_frame_on(), UtcTime(10s));
  ASSERT_TRUE(found.archived);
  EXPECT_TRUE(found.archived->text().contains("has next in 9, next out 14, and the cluster never had any of it"));
  EXPECT_TRUE(found.archived->text().contains(journal.folder().string()));
}

TEST_F(RecoveredSession, follower_reports_a_journal_that_the_stream_never_had) {
  JournalStore journal(posix_disk(), options_, "FIX.4.4:US->THEM", UtcTime(2s));
  fill(journal, 13, 9);
  Recovered stream = stream_from_the_first_frame_on();
  EXPECT_TRUE(follow(journal, stream, UtcTime(10s)).value().archived);
}

TEST_F(RecoveredSession, journal_of_before_a_reset_is_archived_without_a_line) {
  JournalStore journal = open();
  fill(journal, 13, 9);
  EXPECT_FALSE(compare(journal, stream_from_the_first_frame_on(), UtcTime(10s)).archived);
}

TEST_F(RecoveredSession, journal_that_may_be_of_frames_that_were_removed_is_archived_without_a_line) {
  JournalStore journal(posix_disk(), options_, "FIX.4.4:US->THEM", UtcTime(2s));
  fill(journal, 13, 9);
  EXPECT_FALSE(compare(journal, stream_from_the_first_frame_on(5), UtcTime(10s)).archived);
}

TEST_F(RecoveredSession, journal_without_records_is_archived_without_a_line) {
  JournalStore journal(posix_disk(), options_, "FIX.4.4:US->THEM", UtcTime(2s));
  EXPECT_FALSE(compare(journal, stream_from_the_first_frame_on(), UtcTime(10s)).archived);
}

class AloneSession : public RecoveredSession {
 protected:
  // The journal of a session that the stream has 10 messages of, after it continued without the cluster.
  JournalStore open_alone(UtcTime began = UtcTime(1s)) {
    JournalStore journal = open();
    fill(journal, 13, 9);
    AloneNote::write(posix_disk(), journal.folder(),
                     {.began = began, .counters = {.inbound = SeqNum{7}, .outbound = SeqNum{11}}});
    return journal;
  }
};

TEST_F(AloneSession, note_is_read_as_it_was_written_and_a_second_one_takes_its_place) {
  JournalStore journal = open_alone(UtcTime(900ms));
  const AloneNote note{.began = UtcTime(5s), .counters = {.inbound = SeqNum{3}, .outbound = SeqNum{4}}};
  AloneNote::write(posix_disk(), journal.folder(), note);
  EXPECT_EQ(AloneNote::read(posix_disk(), journal.folder()), note);
  AloneNote::remove(posix_disk(), journal.folder());
  EXPECT_EQ(AloneNote::read(posix_disk(), journal.folder()), std::nullopt);
}

TEST_F(AloneSession, stream_gets_what_was_sent_without_the_cluster) {
  JournalStore journal = open_alone();
  const Comparison found = compare(journal, stream_of(10, 7), UtcTime(3s));
  ASSERT_TRUE(found.upload);
  EXPECT_FALSE(found.upload->resets);
  EXPECT_EQ(found.upload->began, std::nullopt);
  ASSERT_EQ(found.upload->messages.size(), 3U);
  EXPECT_EQ(found.upload->messages.front().seq, SeqNum{11});
  EXPECT_EQ(found.upload->counters, (cluster::Counters{.inbound = SeqNum{9}, .outbound = SeqNum{14}}));
  EXPECT_EQ(found.text(), "the cluster gets 3 messages and both sequence numbers of the time without it");
  EXPECT_EQ(journal.read(SeqNum{13}), text(13));
  EXPECT_EQ(journal.next_inbound(), SeqNum{9});
}

TEST_F(AloneSession, numbers_that_async_reserved_are_skipped_and_the_journal_keeps_what_was_sent) {
  JournalStore journal = open_alone();
  Recovered stream = stream_of(10, 7);
  stream.counters.outbound = SeqNum{1035};
  const Comparison found = compare(journal, stream, UtcTime(3s));
  ASSERT_TRUE(found.upload);
  EXPECT_TRUE(found.upload->messages.empty());
  EXPECT_EQ(found.upload->counters, (cluster::Counters{.inbound = SeqNum{9}, .outbound = SeqNum{1035}}));
  EXPECT_EQ(journal.read(SeqNum{13}), text(13));
  EXPECT_EQ(journal.next_outbound(), SeqNum{1035});
}

TEST_F(AloneSession, what_another_owner_has_stored_since_takes_its_place) {
  JournalStore journal = open_alone();
  Recovered stream = stream_of(12, 9);
  stream.messages[11].bytes = "another owner's";
  const Comparison found = compare(journal, stream, UtcTime(3s));
  EXPECT_FALSE(found.upload);
  EXPECT_EQ(found.given_up, 2U);
  EXPECT_EQ(journal.read(SeqNum{12}), "another owner's");
}

TEST_F(AloneSession, numbers_that_another_owner_used_for_no_message_are_not_stored_twice) {
  JournalStore journal = open_alone();
  Recovered stream = stream_of(10, 9);
  stream.counters.outbound = stream.recorded.outbound = SeqNum{12};
  EXPECT_FALSE(compare(journal, stream, UtcTime(3s)).upload);
}

TEST_F(AloneSession, note_of_other_sequence_numbers_has_no_effect) {
  JournalStore journal = open_alone(UtcTime(900ms));
  EXPECT_FALSE(compare(journal, stream_of(10, 7), UtcTime(3s)).upload);
}

TEST_F(AloneSession, reset_without_the_cluster_is_stored_afterwards) {
  JournalStore journal = open_alone();
  journal.reset(UtcTime(2s));
  fill(journal, 2, 3);
  const Comparison found = compare(journal, stream_of(10, 7), UtcTime(3s));
  ASSERT_TRUE(found.upload);
  EXPECT_TRUE(found.upload->resets);
  EXPECT_EQ(found.upload->began, UtcTime(2s));
  EXPECT_EQ(found.upload->messages.size(), 2U);
  EXPECT_EQ(found.upload->counters, (cluster::Counters{.inbound = SeqNum{3}, .outbound = SeqNum{3}}));
}

TEST_F(AloneSession, reset_without_the_cluster_is_not_stored_after_another_owner) {
  JournalStore journal = open_alone();
  journal.reset(UtcTime(2s));
  EXPECT_FALSE(compare(journal, stream_of(11, 8), UtcTime(3s)).upload);
  EXPECT_EQ(journal.next_outbound(), SeqNum{12});
}

TEST_F(RecoveredSession, journal_that_follows_has_what_was_read_and_a_takeover_adds_the_rest) {
  Recovered stream = stream_of(20, 31, UtcTime(777s));
  {
    JournalStore journal = open();
    ASSERT_EQ(follow(journal, stream, UtcTime(3s)).value().given_up, 0U);
    EXPECT_TRUE(stream.messages.empty());
  }
  stream.messages.push_back({SeqNum{21}, text(21)});
  stream.counters = {.inbound = SeqNum{33}, .outbound = SeqNum{22}};
  JournalStore journal = open();
  const Comparison found = compare(journal, stream, UtcTime(3s));
  EXPECT_EQ(found.taken, 1U);
  EXPECT_FALSE(found.other_session);
  EXPECT_EQ(journal.next_outbound(), SeqNum{22});
  EXPECT_EQ(journal.next_inbound(), SeqNum{33});
  for (std::uint64_t seq = 1; seq <= 21; ++seq) EXPECT_EQ(journal.read(SeqNum{seq}), text(seq));
}

TEST_F(RecoveredSession, journal_that_follows_gives_nothing_up_that_the_stream_may_still_have) {
  JournalStore journal = open();
  fill(journal, 13, 9);
  Recovered stream = stream_of(10, 7);
  ASSERT_TRUE(follow(journal, stream, UtcTime(3s)));
  EXPECT_EQ(journal.read(SeqNum{13}), text(13));
  EXPECT_EQ(journal.next_inbound(), SeqNum{9});
  stream.messages.push_back({SeqNum{11}, text(11)});
  stream.messages.push_back({SeqNum{12}, "another owner's"});
  stream.counters.outbound = SeqNum{13};
  ASSERT_TRUE(follow(journal, stream, UtcTime(3s)));
  EXPECT_EQ(journal.read(SeqNum{11}), text(11));
  EXPECT_EQ(journal.read(SeqNum{12}), "another owner's");
  EXPECT_EQ(journal.read(SeqNum{13}), std::nullopt);
  EXPECT_EQ(journal.next_outbound(), SeqNum{14}) << "it is not used for another message";
}

TEST_F(RecoveredSession, message_whose_number_the_stream_used_for_none_is_given_up) {
  Recovered stream = stream_of(12, 7);
  stream.messages.erase(stream.messages.begin() + 10);  // 11 was a Heartbeat
  {
    JournalStore journal = open();
    fill(journal, 11, 7);
    Recovered followed = stream;
    EXPECT_EQ(follow(journal, followed, UtcTime(3s)).value().given_up, 1U);
    EXPECT_EQ(journal.read(SeqNum{10}), text(10));
    EXPECT_EQ(journal.read(SeqNum{11}), std::nullopt);
    EXPECT_EQ(journal.read(SeqNum{12}), text(12));
  }
  fs::remove_all(root_.path());
  JournalStore journal = open();
  fill(journal, 11, 7);
  EXPECT_EQ(compare(journal, stream, UtcTime(3s)).given_up, 1U);
  EXPECT_EQ(journal.read(SeqNum{11}), std::nullopt) << "it was never sent";
  EXPECT_EQ(journal.read(SeqNum{12}), text(12));
}

TEST_F(RecoveredSession, after_an_ownership_only_what_the_next_owner_stored_is_compared) {
  JournalStore journal = open();
  fill(journal, 13, 9);  // the stream has 10 of them
  Recovered stream{100, {.inbound = SeqNum{7}, .outbound = SeqNum{11}}, UtcTime(1s)};
  EXPECT_EQ(follow(journal, stream, UtcTime(3s)).value().given_up, 0U) << "its frame in flight may have been stored";
  EXPECT_EQ(journal.read(SeqNum{13}), text(13));
  stream.messages.push_back({SeqNum{11}, text(11)});
  stream.messages.push_back({SeqNum{12}, "another owner's"});
  stream.counters = {.inbound = SeqNum{8}, .outbound = SeqNum{13}};
  const Comparison found = compare(journal, stream, UtcTime(3s));
  EXPECT_EQ(found.given_up, 2U);
  EXPECT_EQ(found.taken, 1U);
  for (std::uint64_t seq = 1; seq <= 11; ++seq) EXPECT_EQ(journal.read(SeqNum{seq}), text(seq));
  EXPECT_EQ(journal.read(SeqNum{12}), "another owner's");
  EXPECT_EQ(journal.read(SeqNum{13}), std::nullopt);
  EXPECT_EQ(journal.next_outbound(), SeqNum{14});
  EXPECT_EQ(journal.next_inbound(), SeqNum{8});
}

TEST_F(RecoveredSession, journal_without_what_was_stored_is_not_taken_for_that_of_the_ownership) {
  JournalStore journal = open();
  fill(journal, 9, 9);
  Recovered stream{100, {.inbound = SeqNum{7}, .outbound = SeqNum{11}}, UtcTime(1s)};
  EXPECT_THROW(static_cast<void>(compare(journal, stream, UtcTime(3s))), JournalChanged);
  Recovered earlier{100, {.inbound = SeqNum{7}, .outbound = SeqNum{5}}, UtcTime(900ms)};
  EXPECT_THROW(static_cast<void>(follow(journal, earlier, UtcTime(3s))), JournalChanged);
}

TEST_F(RecoveredSession, journal_of_later_numbers_waits_until_they_are_read) {
  JournalStore journal = open();
  fill(journal, 3, 3);
  Recovered stream = stream_of(2, 2, UtcTime(500ms));
  EXPECT_FALSE(follow(journal, stream, UtcTime(3s)));
  EXPECT_EQ(stream.messages.size(), 2U);
  EXPECT_EQ(journal.read(SeqNum{3}), text(3));
}

TEST_F(RecoveredSession, journal_that_was_changed_meanwhile_is_not_taken_for_the_one_that_followed) {
  Recovered stream = stream_of(5, 5);
  {
    JournalStore journal = open();
    ASSERT_TRUE(follow(journal, stream, UtcTime(3s)));
  }
  fs::remove_all(root_.path());
  JournalStore journal = open();
  EXPECT_THROW(static_cast<void>(compare(journal, stream, UtcTime(3s))), JournalChanged);
}

TEST(Recovered, reset_forgets_what_was_before_it) {
  const std::int64_t began = 5'000'000'000;
  Recovered recovered;
  recovered.add(frame_of({
      {.kind = cluster::RecordKind::outbound, .seq = SeqNum{1}, .bytes = "before"},
      {.kind = cluster::RecordKind::reset, .seq = {}, .bytes = {}},
      {.kind = cluster::RecordKind::began, .seq = {}, .bytes = {reinterpret_cast<const char*>(&began), sizeof began}},
      {.kind = cluster::RecordKind::outbound, .seq = SeqNum{1}, .bytes = "after"},
      {.kind = cluster::RecordKind::outbound, .seq = SeqNum{2}, .bytes = {}},
  }));
  ASSERT_EQ(recovered.messages.size(), 1U);
  EXPECT_EQ(recovered.messages.front().bytes, "after");
  EXPECT_EQ(recovered.began, UtcTime{5s});
  EXPECT_EQ(recovered.counters.outbound, SeqNum{3});
}

}  // namespace
}  // namespace nfx::gateway
