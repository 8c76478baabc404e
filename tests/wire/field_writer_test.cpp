#include "nexusfix/wire/field_writer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "wire/fix_text.hpp"

namespace nfx {
namespace {

using test::with_soh;

struct Written {
  char buffer[256];
  FieldWriter fields{buffer};
};

TEST(field_writer, writes_every_kind_of_value) {
  Written w;
  w.fields.append(Tag::Symbol, "MSFT")
      .append(Tag::Side, '1')
      .append(Tag::GapFillFlag, true)
      .append(Tag::PossResend, false)
      .append(Tag::Price, Decimal{-1050, 2})
      .append(Tag::MsgSeqNum, SeqNum{42})
      .append(Tag::OrderQty, 100)
      .append(Tag::SendingTime, UtcTime{std::chrono::seconds{1}}, 0)
      .append(Tag::TransactTime, UtcTime{std::chrono::seconds{1}})
      .append(Tag{2147483647}, "x");
  ASSERT_TRUE(w.fields.ok());
  EXPECT_EQ(w.fields.view(), with_soh("55=MSFT|54=1|123=Y|97=N|44=-10.50|34=42|38=100|52=19700101-00:00:01|"
                                      "60=19700101-00:00:01.000|2147483647=x|"));
  EXPECT_EQ(w.fields.size(), w.fields.view().size());
}

TEST(field_writer, writes_the_extreme_integers) {
  Written w;
  w.fields.append(Tag{1}, std::numeric_limits<std::int64_t>::min())
      .append(Tag{2}, std::numeric_limits<std::uint64_t>::max())
      .append(Tag{3}, std::int8_t{-1})
      .append(Tag{4}, std::uint16_t{0});
  EXPECT_EQ(w.fields.view(), with_soh("1=-9223372036854775808|2=18446744073709551615|3=-1|4=0|"));
}

TEST(field_writer, marks_itself_when_text_holds_soh) {
  Written w;
  w.fields.append(Tag::Symbol, "A")
      .append(Tag::Text,
              "a\x01"
              "b")
      .append(Tag::Side, '1');
  EXPECT_FALSE(w.fields.ok());
  EXPECT_EQ(w.fields.view(), with_soh("55=A|")) << "nothing behind the failure is written";
  w.fields.clear();
  EXPECT_TRUE(w.fields.ok());
  EXPECT_EQ(w.fields.append(Tag::Side, '\x01').ok(), false);
}

TEST(field_writer, data_may_hold_any_byte) {
  Written w;
  w.fields.append_data(Tag::RawDataLength, Tag::RawData, with_soh("a|b=c|"))
      .append_data(Tag::RawDataLength, Tag::RawData, "");
  EXPECT_TRUE(w.fields.ok());
  EXPECT_EQ(w.fields.view(), with_soh("95=6|96=a|b=c||95=0|96=|"));
}

TEST(field_writer, raw_fields_must_end_with_soh) {
  Written w;
  w.fields.append_raw("").append_raw(with_soh("58=a|59=0|"));
  EXPECT_TRUE(w.fields.ok());
  EXPECT_EQ(w.fields.view(), with_soh("58=a|59=0|"));
  w.fields.append_raw("58=b");
  EXPECT_FALSE(w.fields.ok());
}

TEST(field_writer, stops_whole_fields_in_front_of_the_end_at_every_size) {
  const auto fill = [](FieldWriter& fields) {
    fields.append(Tag::Symbol, "MSFT")
        .append_data(Tag::RawDataLength, Tag::RawData, "0123456789")
        .append(Tag::OrderQty, 100)
        .append_raw(with_soh("58=raw|"));
  };
  Written full;
  fill(full.fields);
  const std::string whole{full.fields.view()};
  const std::vector<std::size_t> ends{0, 8, 8 + 6 + 14, 8 + 6 + 14 + 7, whole.size()};
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    std::vector<char> buffer(size + 1, '#');
    FieldWriter fields{std::span{buffer.data(), size}};
    fill(fields);
    EXPECT_EQ(fields.ok(), size == whole.size()) << size;
    EXPECT_TRUE(whole.starts_with(fields.view())) << size;
    EXPECT_NE(std::ranges::find(ends, fields.size()), ends.end()) << "a field or a data pair was cut at " << size;
    EXPECT_EQ(buffer[size], '#') << size;
  }
}

TEST(field_writer, writes_empty_text_as_an_empty_value) {
  Written w;
  EXPECT_EQ(w.fields.append(Tag::Text, "").view(), with_soh("58=|"));
}

}  // namespace
}  // namespace nfx
