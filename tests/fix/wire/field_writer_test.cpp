// Appending fields: exact bytes and sums for every type, also at the end of the buffer.
#include "nexusfix/wire/field_writer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/seeded.hpp"
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
  EXPECT_EQ(w.fields.size(), 5U) << "nothing after the failure is written";
  EXPECT_EQ(w.fields.view(), not_sendable);
  EXPECT_EQ(w.fields.fault(), (WriteFault{WriteError::contains_soh, Tag::Text})) << "the first failure";
  w.fields.clear();
  EXPECT_TRUE(w.fields.ok());
  EXPECT_EQ(w.fields.append(Tag::Side, '\x01').ok(), false);
}

TEST(field_writer, data_may_hold_any_byte) {
  Written w;
  w.fields.append_data(Tag::RawDataLength, Tag::RawData, with_soh("a|b=c|"))
      .append_data(Tag::RawDataLength, Tag::RawData, "d");
  EXPECT_TRUE(w.fields.ok());
  EXPECT_EQ(w.fields.view(), with_soh("95=6|96=a|b=c||95=1|96=d|"));
  w.fields.append_data(Tag::RawDataLength, Tag::RawData, "");
  EXPECT_EQ(w.fields.fault(), (WriteFault{WriteError::empty_value, Tag::RawData}));
}

TEST(field_writer, raw_fields_must_end_with_soh) {
  Written w;
  w.fields.append_raw("").append_raw(with_soh("58=a|59=0|"));
  EXPECT_TRUE(w.fields.ok());
  EXPECT_EQ(w.fields.view(), with_soh("58=a|59=0|"));
  w.fields.append_raw("58=b");
  EXPECT_FALSE(w.fields.ok());
}

TEST(field_writer, stops_whole_fields_before_the_end_at_every_size) {
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
    EXPECT_EQ(std::string_view(buffer.data(), fields.size()), whole.substr(0, fields.size())) << size;
    EXPECT_EQ(fields.fault().error, fields.ok() ? WriteError::none : WriteError::no_space) << size;
    EXPECT_NE(std::ranges::find(ends, fields.size()), ends.end()) << "a field or a data pair was cut at " << size;
    EXPECT_EQ(buffer[size], '#') << size;
  }
}

TEST(field_writer, refuses_empty_values_and_what_is_no_tag) {
  const auto fault = [](auto&& write) {
    Written w;
    write(w.fields);
    return to_string(w.fields.fault());
  };
  EXPECT_EQ(fault([](FieldWriter& fields) { fields.append(Tag::Text, ""); }), "tag 58: the value is empty");
  EXPECT_EQ(fault([](FieldWriter& fields) { fields.append<Tag::Text>(""); }), "tag 58: the value is empty");
  EXPECT_EQ(fault([](FieldWriter& fields) { fields.append(Tag::Side, '\0'); }), "tag 54: the value is empty");
  EXPECT_EQ(fault([](FieldWriter& fields) { fields.append(Tag{0}, 1); }), "tag 0: not a tag");
  EXPECT_EQ(fault([](FieldWriter& fields) { fields.append(Tag{-7}, "x"); }), "tag -7: not a tag");
}

// One field of random kind, appended to a writer and to plain text.
class RandomField {
 public:
  explicit RandomField(test::Seeded& random) : kind_(random.below(9)) {
    tag_ = Tag{static_cast<std::int32_t>(random.generator() >> (33 + random.below(31)))};
    if (random.below(50) == 0) tag_ = Tag{-static_cast<std::int32_t>(random.below(1u << 31))};
    number_ = static_cast<std::int64_t>(random.generator() >> random.below(64));
    if (random.below(3) == 0) number_ = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(number_));
    if (random.below(100) == 0) number_ = std::numeric_limits<std::int64_t>::min();
    scale_ = static_cast<std::uint8_t>(random.below(19));
    fraction_digits_ = static_cast<unsigned>(random.below(10));
    for (auto size = random.below(random.below(8) == 0 ? 1500 : 40); size > 0; --size) {
      text_ += static_cast<char>(random.below(256));
    }
    if (random.below(20) != 0) std::erase(text_, soh);
  }

  void append_to(FieldWriter& out) const {
    switch (kind_) {
      case 0: out.append(tag_, number_); break;
      case 1: out.append(tag_, static_cast<std::uint64_t>(number_)); break;
      case 2: out.append(tag_, Decimal{number_, scale_}); break;
      case 3: out.append(tag_, time(), fraction_digits_); break;
      case 4: out.append(tag_, text_.empty() ? 'x' : text_[0]); break;
      case 5: out.append_data(tag_, Tag{96}, text_); break;
      case 6: out.append_raw(text_ + soh); break;
      case 7: out.append(tag_, SeqNum{static_cast<std::uint64_t>(number_)}); break;
      default: out.append(tag_, text_); break;
    }
  }
  // The same with a tag known at compile time.
  template <Tag tag>
  void append_constant_tag_to(FieldWriter& out) const {
    switch (kind_) {
      case 0: out.append<tag>(number_); break;
      case 1: out.append<tag>(static_cast<std::uint64_t>(number_)); break;
      case 2: out.append<tag>(Decimal{number_, scale_}); break;
      case 3: out.append<tag>(time(), fraction_digits_); break;
      case 4: out.append<tag>(text_.empty() ? 'x' : text_[0]); break;
      case 5: out.append_data(tag, Tag{96}, text_); break;
      case 6: out.append_raw(text_ + soh); break;
      case 7: out.append<tag>(SeqNum{static_cast<std::uint64_t>(number_)}); break;
      default: out.append<tag>(std::string_view{text_}); break;
    }
  }

  [[nodiscard]] bool valid(Tag tag) const {
    if (kind_ == 6) return true;
    if (value(tag) <= 0) return false;
    if (kind_ == 4) return text_.empty() || (text_[0] != soh && text_[0] != '\0');
    if (kind_ == 5) return !text_.empty();
    return kind_ != 8 || (!text_.empty() && text_.find(soh) == std::string::npos);
  }
  [[nodiscard]] std::string plain(Tag tag) const {
    if (kind_ == 6) return text_ + soh;
    std::string bytes = std::to_string(value(tag)) + '=';
    switch (kind_) {
      case 0: bytes += std::to_string(number_); break;
      case 1:
      case 7: bytes += std::to_string(static_cast<std::uint64_t>(number_)); break;
      case 2: bytes += plain_decimal(); break;
      case 3: bytes += plain_time(); break;
      case 4: bytes += text_.empty() ? 'x' : text_[0]; break;
      case 5: bytes += std::to_string(text_.size()) + soh + "96=" + text_; break;
      default: bytes += text_; break;
    }
    return bytes + soh;
  }
  [[nodiscard]] Tag tag() const { return tag_; }

 private:
  [[nodiscard]] UtcTime time() const { return UtcTime{Duration{number_ / 1000}}; }
  [[nodiscard]] std::string plain_time() const {
    char out[max_utc_timestamp_size];
    return {out, write_utc_timestamp(out, time(), fraction_digits_)};
  }
  [[nodiscard]] std::string plain_decimal() const {
    const auto bits = static_cast<std::uint64_t>(number_);
    std::string text = std::to_string(number_ < 0 ? 0 - bits : bits);
    if (text.size() < scale_ + 1u) text.insert(0, scale_ + 1u - text.size(), '0');
    if (scale_ != 0) text.insert(text.size() - scale_, ".");
    return number_ < 0 ? '-' + text : text;
  }

  std::uint64_t kind_;
  Tag tag_{};
  std::int64_t number_ = 0;
  std::uint8_t scale_ = 0;
  unsigned fraction_digits_ = 0;
  std::string text_;
};

std::uint8_t plain_sum(std::string_view bytes) {
  unsigned sum = 0;
  for (const char c : bytes) sum += static_cast<unsigned char>(c);
  return static_cast<std::uint8_t>(sum);
}

TEST(field_writer, random_fields_equal_plain_text_and_their_sum_is_tracked) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  constexpr Tag constant_tags[] = {Tag{1}, Tag::Price, Tag{453}, Tag{10000}, Tag{9999999}, Tag{2147483647}};
  std::vector<char> buffer;
  for (int round = 0; round < 5000; ++round) {
    // Often too small, so that fields of every kind reach the end of the buffer.
    const std::size_t size = random.below(random.below(2) == 0 ? 300 : 3000);
    buffer.assign(size + 64, '#');
    FieldWriter fields{std::span{buffer.data(), size}};
    std::string expected;
    bool expected_ok = true;
    for (int i = 0; i < 12; ++i) {
      const RandomField field{random};
      Tag tag = field.tag();
      if (random.below(2) == 0) {
        field.append_to(fields);
      } else {
        const auto which = random.below(std::size(constant_tags));
        tag = constant_tags[which];
        switch (which) {
          case 0: field.append_constant_tag_to<constant_tags[0]>(fields); break;
          case 1: field.append_constant_tag_to<constant_tags[1]>(fields); break;
          case 2: field.append_constant_tag_to<constant_tags[2]>(fields); break;
          case 3: field.append_constant_tag_to<constant_tags[3]>(fields); break;
          case 4: field.append_constant_tag_to<constant_tags[4]>(fields); break;
          default: field.append_constant_tag_to<constant_tags[5]>(fields); break;
        }
      }
      const std::string plain = field.plain(tag);
      expected_ok = expected_ok && field.valid(tag) && expected.size() + plain.size() <= size;
      if (expected_ok) expected += plain;
      ASSERT_EQ(fields.ok(), expected_ok) << with_soh(plain) << " in " << size;
      ASSERT_EQ(std::string_view(buffer.data(), fields.size()), expected);
      ASSERT_EQ(fields.view(), expected_ok ? std::string_view{expected} : not_sendable);
      ASSERT_EQ(static_cast<std::uint8_t>(fields.sum()), plain_sum(expected));
    }
    ASSERT_EQ(std::string_view(buffer.data() + size, 64), std::string(64, '#')) << "written past the buffer";
    fields.clear();
    ASSERT_TRUE(fields.ok());
    ASSERT_EQ(fields.sum(), 0u);
  }
}

TEST(field_writer, finds_soh_at_every_place_of_a_text_of_every_length) {
  for (std::size_t size = 1; size <= 40; ++size) {
    // At the end of a separate block, so that a sanitizer reports a read after the text.
    const std::vector<char> clean(size, 'a');
    for (std::size_t place = 0; place < size; ++place) {
      std::vector<char> text = clean;
      text[place] = soh;
      Written w;
      EXPECT_FALSE(w.fields.append(Tag::Text, std::string_view{text.data(), size}).ok()) << size << ' ' << place;
      EXPECT_EQ(w.fields.size() + w.fields.sum(), 0u);
      w.fields.clear();
      EXPECT_FALSE(w.fields.append<Tag::Text>(std::string_view{text.data(), size}).ok()) << size << ' ' << place;
      text[place] = '\0';
      w.fields.clear();
      EXPECT_TRUE(w.fields.append<Tag::Text>(std::string_view{text.data(), size}).ok()) << size << ' ' << place;
    }
  }
}

TEST(field_writer, writes_every_tag_below_ten_thousand) {
  for (std::int32_t tag = 1; tag < 10000; ++tag) {
    Written w;
    ASSERT_EQ(w.fields.append(Tag{tag}, 'x').view(), std::to_string(tag) + "=x\x01");
    ASSERT_EQ(static_cast<std::uint8_t>(w.fields.sum()), plain_sum(w.fields.view()));
  }
}

TEST(field_writer, appends_constant_fields_and_their_sum) {
  Written w;
  w.fields.append(constant_fields<"21=1|">).append(constant_fields<"1128=9|58=a constant text longer than a step|">);
  EXPECT_EQ(w.fields.view(), with_soh("21=1|1128=9|58=a constant text longer than a step|"));
  EXPECT_EQ(static_cast<std::uint8_t>(w.fields.sum()), plain_sum(w.fields.view()));
  static_assert(constant_fields<"21=1|">.size == 5);
  static_assert(constant_fields<"21=1|">.sum == '2' + '1' + '=' + '1' + 1);
  static_assert(constant_fields<"">.size == 0);
}

TEST(field_writer, constant_fields_fit_to_the_last_byte) {
  for (std::size_t size = 0; size <= 40; ++size) {
    std::vector<char> buffer(size + 32, '#');
    FieldWriter fields{std::span{buffer.data(), size}};
    fields.append(constant_fields<"21=1|40=2|59=0|15=USD|">);
    EXPECT_EQ(fields.ok(), size >= 22) << size;
    EXPECT_EQ(std::string_view(buffer.data() + size, 32), std::string(32, '#'));
  }
}

}  // namespace
}  // namespace nfx
