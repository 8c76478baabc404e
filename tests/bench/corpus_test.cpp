// The corpora match their description, and the plain reading, which checks every row, is right.
#include <gtest/gtest.h>

#include <set>

#include "nexusfix/wire/message_view.hpp"
#include "wire/plain_reading.hpp"

namespace {

using namespace nfx::bench;

constexpr Kind all_kinds[] = {Kind::heartbeat, Kind::new_order_single, Kind::execution_report, Kind::market_data};

// '|' stands for SOH.
std::string with_soh(std::string text) {
  for (char& c : text) {
    if (c == '|') c = '\x01';
  }
  return text;
}

const std::string good = with_soh("8=FIX.4.4|9=5|35=0|10=163|");

TEST(Corpus, holds_at_least_1600_different_well_formed_messages_of_each_kind) {
  for (const Kind kind : all_kinds) {
    const Corpus corpus = make_corpus(kind, 1);
    EXPECT_GE(corpus.size(), 1600U);
    EXPECT_EQ(what_is_wrong_with(corpus), "") << to_string(kind);
  }
}

TEST(Corpus, is_accepted_by_the_product) {
  nfx::MessageView view;
  for (const Kind kind : all_kinds) {
    const Corpus corpus = make_corpus(kind, 1);
    for (std::uint32_t i = 0; i < corpus.size(); ++i) {
      ASSERT_EQ(view.parse(corpus[i]), nfx::WireError::none) << to_string(kind) << ' ' << i;
    }
  }
}

TEST(Corpus, is_the_same_for_the_same_seed_and_another_for_another) {
  for (const Kind kind : all_kinds) {
    const std::uint64_t first = digest(make_corpus(kind, 7).bytes);
    EXPECT_EQ(digest(make_corpus(kind, 7).bytes), first) << to_string(kind);
    EXPECT_NE(digest(make_corpus(kind, 8).bytes), first) << to_string(kind);
  }
}

TEST(Corpus, has_messages_of_the_size_that_the_figures_are_quoted_for) {
  EXPECT_NEAR(make_corpus(Kind::heartbeat, 1).mean_size(), 85, 3);
  EXPECT_NEAR(make_corpus(Kind::new_order_single, 1).mean_size(), 176, 3);
  EXPECT_NEAR(make_corpus(Kind::execution_report, 1).mean_size(), 253, 3);
  EXPECT_NEAR(make_corpus(Kind::market_data, 1).mean_size(), 489, 5);
}

TEST(Corpus, varies_the_sizes_and_the_places_of_fields) {
  for (const Kind kind : all_kinds) {
    const Corpus corpus = make_corpus(kind, 1);
    std::set<std::size_t> sizes;
    for (std::uint32_t i = 0; i < corpus.size(); ++i) sizes.insert(corpus[i].size());
    EXPECT_GE(sizes.size(), 6U) << to_string(kind);
  }
}

TEST(Corpus, that_repeats_a_message_or_holds_a_broken_one_is_found_out) {
  Corpus corpus = make_corpus(Kind::heartbeat, 1, 3);
  corpus.bytes[corpus.offsets[1] + 20] ^= 1;
  EXPECT_NE(what_is_wrong_with(corpus), "");
  corpus.bytes = good + good;
  corpus.offsets = {0, static_cast<std::uint32_t>(good.size()), static_cast<std::uint32_t>(2 * good.size())};
  EXPECT_NE(what_is_wrong_with(corpus).find("occurs twice"), std::string::npos);
}

TEST(PlainReading, finds_every_field_of_a_good_message) {
  const auto message = read_plainly(good);
  ASSERT_TRUE(message.has_value());
  ASSERT_EQ(message->size(), 4U);
  EXPECT_EQ((*message)[1].tag, 9);
  EXPECT_EQ((*message)[1].offset, 12U);
  EXPECT_EQ((*message)[2].text, "0");
  EXPECT_EQ(plain_text(*message, 10), "163");
  EXPECT_EQ(plain_text(*message, 11), "");
}

TEST(PlainReading, refuses_wrong_lengths_sums_and_fields) {
  for (const char* text : {"8=FIX.4.4|9=6|35=0|10=163|", "8=FIX.4.4|9=5|35=0|10=164|", "8=FIX.4.4|9=5|35=0|10=163",
                           "8=FIX.4.4|9=5|36=0|10=164|", "8=FIX.4.4|9=5|35=0|", "", "8=FIX.4.4|9=5|350|10=163|"}) {
    EXPECT_FALSE(read_plainly(with_soh(text)).has_value()) << text;
  }
}

TEST(PlainReading, reads_decimals_and_times_exactly) {
  EXPECT_EQ(plain_decimal("101.250").mantissa, 101'250);
  EXPECT_EQ(plain_decimal("101.250").scale, 3U);
  EXPECT_EQ(plain_decimal("7").scale, 0U);
  EXPECT_EQ(plain_time_ns("19700102-01:02:03.004"), 90'123'004'000'000);
}

TEST(PlainReading, takes_only_trailing_zeros_behind_a_point_for_the_same_value) {
  EXPECT_TRUE(same_value("101.50", "101.5"));
  EXPECT_TRUE(same_value("7.00", "7"));
  EXPECT_FALSE(same_value("100", "1"));
  EXPECT_FALSE(same_value("101.5", "101.6"));
}

}  // namespace
