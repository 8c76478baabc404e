// Files of ITCH messages: the events do not depend on the chunks, and the first thing that is wrong has its place.
#include "nexusfix/market/itch_parser.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "market/itch_generator.hpp"

namespace nfx::market {
namespace {

std::vector<std::byte> generated_file(std::uint64_t messages) {
  ItchGenerator generator{{.seed = 5, .messages = messages, .stocks = 20}};
  std::vector<std::byte> file;
  for (auto message = generator.next(); !message.empty(); message = generator.next()) {
    std::array<std::byte, 2> length;
    store_big_endian<std::uint16_t>(length.data(), static_cast<std::uint16_t>(message.size()));
    file.insert(file.end(), length.begin(), length.end());
    file.insert(file.end(), message.begin(), message.end());
  }
  return file;
}

struct Read {
  std::vector<Event> events;
  ItchFileError error;
  std::uint64_t messages = 0;
  std::uint64_t offset = 0;
  std::size_t stocks = 0;
  bool finished = false;
};

Read read_in_chunks(std::span<const std::byte> file, std::size_t chunk) {
  Read result;
  ItchFileReader reader{UtcTime{}};
  const auto take = [&](const Event& event) {
    result.events.push_back(event);
    return true;
  };
  while (!file.empty() && reader.read(file.first(std::min(chunk, file.size())), take)) {
    file = file.subspan(std::min(chunk, file.size()));
  }
  result.finished = reader.finish();
  result.error = reader.error();
  result.messages = reader.messages();
  result.offset = reader.offset();
  result.stocks = reader.directory().size();
  return result;
}

TEST(ItchFile, gives_the_same_events_in_chunks_of_any_size) {
  const auto file = generated_file(2000);
  ASSERT_TRUE(ItchFileReader::begins_like_itch(file));
  const Read whole = read_in_chunks(file, file.size());
  EXPECT_TRUE(whole.finished);
  EXPECT_GT(whole.events.size(), 1900U);
  EXPECT_EQ(whole.stocks, 20U);
  EXPECT_EQ(whole.offset, file.size());
  for (const std::size_t chunk : {1U, 2U, 3U, 17U, 51U, 1000U}) {
    const Read parts = read_in_chunks(file, chunk);
    EXPECT_TRUE(parts.finished) << chunk;
    EXPECT_EQ(parts.messages, whole.messages) << chunk;
    ASSERT_EQ(parts.events.size(), whole.events.size()) << chunk;
    for (std::size_t i = 0; i < parts.events.size(); ++i) {
      ASSERT_EQ(std::memcmp(&parts.events[i], &whole.events[i], sizeof(Event)), 0) << chunk << ' ' << i;
    }
  }
}

TEST(ItchFile, names_the_byte_at_which_a_truncated_file_has_its_last_message) {
  const auto file = generated_file(10);
  for (std::size_t cut = 1; cut < 20; ++cut) {
    const Read found = read_in_chunks(std::span{file}.first(file.size() - cut), 100);
    if (found.finished) {
      EXPECT_EQ(found.offset, file.size() - cut);
    } else {
      EXPECT_EQ(found.error.problem, ItchFileProblem::truncated);
      EXPECT_EQ(found.error.offset, found.offset);
      EXPECT_LT(found.offset, file.size() - cut);
    }
  }
}

TEST(ItchFile, stops_at_a_length_that_is_not_that_of_its_type) {
  const auto good = generated_file(10);
  const std::size_t first = 2 + 12;  // the first system event
  for (const bool of_known_type : {true, false}) {
    auto file = good;
    if (of_known_type) {
      file[first + 1] = std::byte{38};  // of a Stock Directory, which has 39
    } else {
      file[first] = std::byte{0x40};
    }
    for (const std::size_t chunk : {std::size_t{1}, file.size()}) {
      const Read found = read_in_chunks(file, chunk);
      EXPECT_FALSE(found.finished);
      EXPECT_EQ(found.error.problem, ItchFileProblem::wrong_length);
      EXPECT_EQ(found.error.offset, first);
      EXPECT_EQ(found.messages, 1U);
    }
  }
}

TEST(ItchFile, passes_over_messages_of_unknown_types_and_empty_ones) {
  const std::array file{std::byte{0}, std::byte{3}, std::byte{'z'}, std::byte{1}, std::byte{2},
                        std::byte{0}, std::byte{0}, std::byte{0},   std::byte{1}, std::byte{'y'}};
  EXPECT_FALSE(ItchFileReader::begins_like_itch(file));
  ItchFileReader reader{UtcTime{}};
  EXPECT_TRUE(reader.read(file, [](const Event&) { return true; }));
  EXPECT_TRUE(reader.finish());
  EXPECT_EQ(reader.messages(), 2U);
  EXPECT_EQ(reader.without_event('z'), 1U);
  EXPECT_EQ(reader.parser().counters().unknown_type, 2U);
}

TEST(ItchFile, reads_no_further_when_the_sink_has_enough) {
  const auto file = generated_file(100);
  ItchFileReader reader{UtcTime{}};
  std::size_t events = 0;
  EXPECT_FALSE(reader.read(file, [&](const Event&) { return ++events < 30; }));
  EXPECT_FALSE(reader.read(file, [&](const Event&) { return ++events < 30; }));
  EXPECT_EQ(events, 30U);
  EXPECT_EQ(reader.error().problem, ItchFileProblem::none);
}

}  // namespace
}  // namespace nfx::market
