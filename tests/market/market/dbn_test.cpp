// DBN: what its bytes become, in whatever chunks they come, and what damaged bytes are.
#include "nexusfix/market/dbn.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "market/dbn_bytes.hpp"
#include "market/dbn_layout.hpp"
#include "nexusfix/market/feed_books.hpp"

namespace nfx::market {
namespace {

using test::DbnBytes;
using test::DbnRecord;

DbnBytes example(std::uint8_t version, bool send_times = false) {
  DbnBytes dbn{version, send_times};
  dbn.add({.order = 1, .price = 4'810'250'000'000, .size = 3, .flags = 0x28, .sequence = 9});
  dbn.other(0x13, 90);
  dbn.add({.instrument = 8, .order = 2, .price = -250'000'000, .size = 4, .action = 'M', .side = 'A'});
  dbn.other(0x17, 4);
  dbn.add({.order = 1, .size = 3, .action = 'C', .side = 'N'});
  return dbn;
}

struct Result {
  std::vector<Event> events;
  DbnError error;
  bool whole = false;
};

// Reads in two chunks.
Result read(std::span<const std::byte> bytes, std::size_t split) {
  DbnReader reader;
  Result result;
  const auto sink = [&](const Event& event) {
    result.events.push_back(event);
    return true;
  };
  result.whole = reader.read(bytes.first(split), sink) && reader.read(bytes.subspan(split), sink) && reader.finish();
  result.error = reader.error();
  return result;
}

bool same(const Event& a, const Event& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

TEST(Dbn, records_of_other_types_are_passed_to_a_sink_that_takes_them_in_whatever_chunks_they_come) {
  const DbnBytes dbn = example(2);
  struct Sink {
    std::vector<std::size_t> sizes;
    std::size_t events = 0;
    bool operator()(const Event&) {
      ++events;
      return true;
    }
    void other(std::span<const std::byte> record) { sizes.push_back(record.size()); }
  };
  for (std::size_t split = 0; split < dbn.bytes.size(); ++split) {
    DbnReader reader;
    Sink sink;
    const std::span bytes{dbn.bytes};
    ASSERT_TRUE(reader.read(bytes.first(split), sink) && reader.read(bytes.subspan(split), sink) && reader.finish());
    EXPECT_EQ(sink.events, 3U);
    ASSERT_EQ(sink.sizes, (std::vector<std::size_t>{360, 16})) << split;
  }
}

TEST(DbnLayouts, each_type_has_the_size_that_a_record_of_it_states) {
  std::vector<std::byte> record(520);
  for (const DbnLayout& layout : dbn_layouts()) {
    record[1] = std::byte{layout.type};
    const DbnLayout* found = find_dbn_layout(std::span{record}.first(layout.size));
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->size, layout.size);
    EXPECT_EQ(find_dbn_layout(std::span{record}.first(layout.size - 4U)), nullptr) << "shorter than any version";
    EXPECT_NE(std::ranges::find(dbn_record_types(), layout.type, &DbnRecordType::type), dbn_record_types().end());
  }
  EXPECT_EQ(find_dbn_layout(std::span{record}.first(8)), nullptr);
}

TEST(DbnLayouts, numbers_keep_their_sign_and_texts_end_at_a_zero) {
  std::vector<std::byte> record(16, std::byte{0xFF});
  record[8] = std::byte{'A'};
  record[9] = std::byte{0};
  EXPECT_EQ(number_in(record, {"a", DbnFieldKind::i16, 0, 0}), -1);
  EXPECT_EQ(number_in(record, {"a", DbnFieldKind::u16, 0, 0}), 0xFFFF);
  EXPECT_EQ(number_in(record, {"a", DbnFieldKind::i8, 0, 0}), -1);
  EXPECT_TRUE(is_none(number_in(record, {"a", DbnFieldKind::time, 0, 0}), DbnFieldKind::time));
  EXPECT_FALSE(is_none(number_in(record, {"a", DbnFieldKind::u64, 0, 0}), DbnFieldKind::u64));
  EXPECT_EQ(text_in(record, {"a", DbnFieldKind::text, 8, 8}), "A");
  EXPECT_EQ(text_in(record, {"a", DbnFieldKind::text, 0, 8}).size(), 8U) << "without a zero all of it";
}

TEST(Dbn, a_record_by_order_becomes_an_event_with_all_its_fields) {
  for (const std::uint8_t version : std::array<std::uint8_t, 3>{1, 2, 3}) {
    const Result result = read(example(version).bytes, 0);
    ASSERT_TRUE(result.whole);
    ASSERT_EQ(result.events.size(), 3u);
    const Event& first = result.events[0];
    EXPECT_EQ(first.kind, EventKind::add);
    EXPECT_EQ(first.side, Side::bid);
    EXPECT_EQ(first.order, OrderId{1});
    EXPECT_EQ(first.price, Price{4'810'250'000'000});
    EXPECT_EQ(first.quantity, 3u);
    EXPECT_EQ(first.event_time.time_since_epoch().count(), 1);
    EXPECT_EQ(first.receive_time.time_since_epoch().count(), 2);
    EXPECT_EQ(first.sequence, 9u);
    EXPECT_EQ(first.instrument, InstrumentId{7});
    EXPECT_EQ(first.flags, event_flag::snapshot | event_flag::bad_receive_time);
    EXPECT_EQ(result.events[1].kind, EventKind::modify);
    EXPECT_EQ(result.events[1].side, Side::ask);
    EXPECT_EQ(result.events[1].price.nano, -250'000'000);
    EXPECT_EQ(result.events[2].kind, EventKind::cancel);
    EXPECT_EQ(result.events[2].side, Side::none);
    EXPECT_TRUE(result.events[2].last());
  }
}

TEST(Dbn, each_action_has_its_kind_and_an_unknown_one_is_counted) {
  DbnBytes dbn{3};
  for (const char action : {'A', 'C', 'M', 'R', 'T', 'F', 'N', '?'}) dbn.add({.action = action});
  DbnReader reader;
  std::vector<EventKind> kinds;
  EXPECT_TRUE(reader.read(dbn.bytes, [&](const Event& event) {
    kinds.push_back(event.kind);
    return true;
  }));
  EXPECT_EQ(kinds, (std::vector<EventKind>{EventKind::add, EventKind::cancel, EventKind::modify, EventKind::clear,
                                           EventKind::trade, EventKind::fill, EventKind::none, EventKind::none}));
  EXPECT_EQ(reader.unknown_actions(), 1u);
  EXPECT_EQ(reader.records(DbnReader::by_order), 8u);
}

TEST(Dbn, records_of_other_types_are_counted_and_left_out) {
  const DbnBytes dbn = example(2);
  DbnReader reader;
  EXPECT_TRUE(reader.read(dbn.bytes, [](const Event&) { return true; }));
  EXPECT_EQ(reader.records(0x13), 1u);
  EXPECT_EQ(reader.records(0x17), 1u);
  EXPECT_EQ(reader.offset(), dbn.bytes.size());
}

TEST(Dbn, metadata_gives_dataset_times_and_symbols) {
  for (const std::uint8_t version : std::array<std::uint8_t, 3>{1, 2, 3}) {
    DbnReader reader;
    ASSERT_TRUE(reader.read(example(version, true).bytes, [](const Event&) { return true; }));
    ASSERT_TRUE(reader.metadata());
    EXPECT_EQ(reader.metadata()->version, version);
    EXPECT_EQ(reader.metadata()->dataset, "GLBX.MDP3");
    EXPECT_EQ(reader.metadata()->schema, 0);
    EXPECT_EQ(reader.metadata()->end.time_since_epoch().count(), 20);
    EXPECT_TRUE(reader.metadata()->send_times);
    ASSERT_EQ(reader.metadata()->symbols.size(), 1u);
    EXPECT_EQ(reader.metadata()->symbols[0].instrument, InstrumentId{7});
    EXPECT_EQ(reader.metadata()->symbols[0].name, "ESH4");
  }
}

TEST(Dbn, chunks_give_the_same_events_wherever_they_are_split) {
  for (const std::uint8_t version : std::array<std::uint8_t, 2>{1, 3}) {
    const DbnBytes dbn = example(version, version == 3);
    const Result whole = read(dbn.bytes, 0);
    ASSERT_EQ(whole.events.size(), 3u);
    for (std::size_t split = 1; split < dbn.bytes.size(); ++split) {
      const Result result = read(dbn.bytes, split);
      ASSERT_TRUE(result.whole) << split;
      ASSERT_TRUE(std::ranges::equal(result.events, whole.events, same)) << split;
    }
  }
}

TEST(Dbn, single_bytes_give_the_same_events) {
  const DbnBytes dbn = example(1);
  DbnReader reader;
  std::size_t events = 0;
  for (const std::byte byte : dbn.bytes) {
    ASSERT_TRUE(reader.read(std::span{&byte, 1}, [&](const Event&) { return ++events != 0; }));
  }
  EXPECT_TRUE(reader.finish());
  EXPECT_EQ(events, 3u);
}

TEST(Dbn, input_that_ends_early_is_truncated_at_the_record_that_is_not_whole) {
  const DbnBytes dbn = example(2);
  const std::size_t records = dbn.bytes.size() - 3 * 56 - 360 - 16;
  const std::vector<std::size_t> begins{records, records + 56, records + 416, records + 472, records + 488};
  for (std::size_t size = 0; size < dbn.bytes.size(); ++size) {
    const Result result = read(std::span{dbn.bytes}.first(size), size / 2);
    if (std::ranges::find(begins, size) != begins.end()) {
      EXPECT_TRUE(result.whole) << size;
      continue;
    }
    EXPECT_FALSE(result.whole) << size;
    EXPECT_EQ(result.error.problem, DbnProblem::truncated) << size;
    const auto after = std::ranges::upper_bound(begins, size);
    EXPECT_EQ(result.error.offset, after == begins.begin() ? 0 : *(after - 1)) << size;
  }
}

TEST(Dbn, impossible_lengths_and_versions_are_errors_with_their_place) {
  const DbnBytes good = example(2);
  const std::size_t records = good.bytes.size() - 3 * 56 - 360 - 16;
  const auto problem_of = [&](std::size_t at, unsigned value) {
    std::vector<std::byte> bytes = good.bytes;
    bytes[at] = std::byte(value);
    const Result result = read(bytes, bytes.size());
    EXPECT_FALSE(result.whole);
    return std::pair{result.error.problem, result.error.offset};
  };
  using Found = std::pair<DbnProblem, std::uint64_t>;
  EXPECT_EQ(problem_of(0, 'd'), (Found{DbnProblem::not_dbn, 0}));
  EXPECT_EQ(problem_of(3, 4), (Found{DbnProblem::unknown_version, 3}));
  EXPECT_EQ(problem_of(3, 0), (Found{DbnProblem::unknown_version, 3}));
  EXPECT_EQ(problem_of(7, 0xff), (Found{DbnProblem::metadata_length, 4}));
  EXPECT_EQ(problem_of(8 + 100 + 4, 200).first, DbnProblem::metadata_content);
  EXPECT_EQ(problem_of(records, 0), (Found{DbnProblem::record_length, records}));
  EXPECT_EQ(problem_of(records, 13), (Found{DbnProblem::record_length, records}));
  EXPECT_EQ(problem_of(records + 56, 3), (Found{DbnProblem::record_length, records + 56}));
}

TEST(Dbn, nothing_is_read_after_an_error) {
  DbnBytes dbn = example(2);
  DbnReader reader;
  std::size_t events = 0;
  const auto sink = [&](const Event&) { return ++events != 0; };
  EXPECT_TRUE(reader.read(dbn.bytes, sink));
  EXPECT_FALSE(reader.read(std::vector<std::byte>(20), sink));
  EXPECT_FALSE(reader.read(dbn.bytes, sink));
  EXPECT_FALSE(reader.finish());
  EXPECT_EQ(events, 3u);
}

TEST(Dbn, a_sink_can_stop_the_reading) {
  const DbnBytes dbn = example(2);
  DbnReader reader;
  std::size_t events = 0;
  EXPECT_FALSE(reader.read(dbn.bytes, [&](const Event&) { return ++events < 2; }));
  EXPECT_EQ(events, 2u);
  EXPECT_EQ(reader.error().problem, DbnProblem::none);
}

TEST(InstrumentTable, gives_places_in_the_order_of_appearance_up_to_its_capacity) {
  InstrumentTable table{3};
  EXPECT_EQ(table.index_of(InstrumentId{900}), InstrumentIndex{0});
  EXPECT_EQ(table.index_of(InstrumentId{0}), InstrumentIndex{1});
  EXPECT_EQ(table.index_of(InstrumentId{900}), InstrumentIndex{0});
  EXPECT_EQ(table.index_of(InstrumentId{0xffffffff}), InstrumentIndex{2});
  EXPECT_FALSE(table.index_of(InstrumentId{5}));
  EXPECT_EQ(table.find(InstrumentId{0}), InstrumentIndex{1});
  EXPECT_FALSE(table.find(InstrumentId{5}));
  EXPECT_EQ(table.id(InstrumentIndex{2}), InstrumentId{0xffffffff});
  EXPECT_EQ(table.size(), 3u);
}

}  // namespace
}  // namespace nfx::market
