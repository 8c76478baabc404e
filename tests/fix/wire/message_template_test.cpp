// Patched messages equal messages encoded from the start, and bad values leave them unchanged.
#include "nexusfix/wire/message_template.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/seeded.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "wire/fix_text.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using test::frame;

constexpr UtcTime noon{std::chrono::sys_days{std::chrono::year{2024} / 3 / 15} + std::chrono::hours{12}};

HeaderTemplate session_header(unsigned timestamp_digits = 3) {
  return HeaderTemplate{{.begin_string = "FIX.4.4",
                         .sender_comp_id = "BUYER",
                         .target_comp_id = "SELLER",
                         .timestamp_digits = timestamp_digits}};
}

std::string padded(std::uint64_t number, std::size_t width) {
  std::string text = std::to_string(number);
  return text.insert(0, width - text.size(), '0');
}

std::string time_text(UtcTime time, unsigned digits) {
  char out[max_utc_timestamp_size];
  return {out, write_utc_timestamp(out, time, digits)};
}

// A message with one slot after the header.
std::string with_value(std::string_view field) {
  return frame("35=D|34=000000000|49=BUYER|52=19700101-00:00:00.000|56=SELLER|" + std::string{field} + "|");
}

TEST(message_template, is_a_complete_message_from_the_start) {
  MessageTemplateBuilder builder{session_header(), "D"};
  (void)builder.text(Tag::ClOrdID, 4);
  builder.fields(constant_fields<"21=1|55=MSFT|">.view());
  (void)builder.character(Tag::Side);
  (void)builder.integer(Tag::OrderQty, 5);
  (void)builder.decimal(Tag::Price, {.whole_digits = 3, .scale = 2});
  (void)builder.time(Tag::TransactTime, 0);
  MessageTemplate order = builder.build();
  EXPECT_EQ(order.view(),
            frame("35=D|34=000000000|49=BUYER|52=19700101-00:00:00.000|56=SELLER|11=0000|21=1|55=MSFT|54=0|"
                  "38=00000|44=000.00|60=19700101-00:00:00|"));
}

TEST(message_template, gives_its_fields_without_header_and_trailer) {
  MessageTemplateBuilder builder{session_header(), "D"};
  EXPECT_EQ(builder.build().fields(), "");
  const TextSlot id = builder.text(Tag::ClOrdID, 4);
  builder.fields(constant_fields<"55=MSFT|">.view());
  MessageTemplate order = builder.build();
  EXPECT_EQ(order.patch(id, "ab12"), PatchError::none);
  EXPECT_EQ(order.fields(), constant_fields<"11=ab12|55=MSFT|">.view());
  EXPECT_EQ(order.view(), frame("35=D|34=000000000|49=BUYER|52=19700101-00:00:00.000|56=SELLER|11=ab12|55=MSFT|"));
}

TEST(message_template, patches_the_header) {
  MessageTemplateBuilder builder{session_header(), "AE", 4};
  MessageTemplate message = builder.build();
  EXPECT_EQ(message.patch_header(SeqNum{42}, noon + 5ms), PatchError::none);
  EXPECT_EQ(message.view(), frame("35=AE|34=0042|49=BUYER|52=20240315-12:00:00.005|56=SELLER|"));
  EXPECT_EQ(message.patch_header(SeqNum{10000}, noon + 1h), PatchError::too_wide);
  EXPECT_EQ(message.view(), frame("35=AE|34=0042|49=BUYER|52=20240315-12:00:00.005|56=SELLER|")) << "nothing changed";
  EXPECT_EQ(message.patch_header(SeqNum{9999}, noon + 1h), PatchError::none);
  EXPECT_EQ(message.view(), frame("35=AE|34=9999|49=BUYER|52=20240315-13:00:00.000|56=SELLER|"));
}

TEST(message_template, patches_integers_of_every_width) {
  for (unsigned width = 1; width <= MessageTemplate::max_number_width; ++width) {
    MessageTemplateBuilder builder{session_header(), "D"};
    const IntSlot slot = builder.integer(Tag::OrderQty, width);
    MessageTemplate message = builder.build();
    std::int64_t power = 1;
    for (unsigned i = 0; i < width; ++i) power *= 10;
    for (const std::int64_t number : {std::int64_t{0}, std::int64_t{1}, std::int64_t{9}, power / 10, power - 1}) {
      ASSERT_EQ(message.patch(slot, number), PatchError::none) << number;
      ASSERT_EQ(message.view(), with_value("38=" + padded(static_cast<std::uint64_t>(number), width)));
    }
    EXPECT_EQ(message.patch(slot, power), PatchError::too_wide);
    EXPECT_EQ(message.patch(slot, -(power / 10)), PatchError::too_wide);
    EXPECT_EQ(message.patch(slot, INT64_MAX), PatchError::too_wide);
    EXPECT_EQ(message.patch(slot, INT64_MIN), PatchError::too_wide);
    EXPECT_EQ(message.view(), with_value("38=" + padded(static_cast<std::uint64_t>(power - 1), width)));
    if (width == 1) continue;
    const std::int64_t lowest = -(power / 10 - 1);
    ASSERT_EQ(message.patch(slot, lowest), PatchError::none);
    ASSERT_EQ(message.view(), with_value("38=-" + padded(static_cast<std::uint64_t>(-lowest), width - 1)));
    ASSERT_EQ(message.patch(slot, 7), PatchError::none) << "the minus sign goes again";
    ASSERT_EQ(message.view(), with_value("38=" + padded(7, width)));
  }
}

TEST(message_template, patches_decimals_of_every_layout) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  for (unsigned whole = 1; whole <= 16; ++whole) {
    for (unsigned scale = 0; whole + scale + (scale == 0 ? 0 : 1) <= MessageTemplate::max_number_width; ++scale) {
      MessageTemplateBuilder builder{session_header(), "D"};
      const DecimalSlot slot = builder.decimal(Tag::Price, {.whole_digits = whole, .scale = scale});
      MessageTemplate message = builder.build();
      std::uint64_t limit = 1;
      for (unsigned i = 0; i < whole + scale; ++i) limit *= 10;
      for (int i = 0; i < 60; ++i) {
        const bool negative = whole > 1 && random.below(3) == 0;
        const std::uint64_t number = i == 0 ? (negative ? limit / 10 : limit) - 1
                                            : random.below((negative ? limit / 10 : limit) >> random.below(40) | 1);
        const auto mantissa = static_cast<std::int64_t>(number);
        ASSERT_EQ(message.patch(slot, Decimal{negative ? -mantissa : mantissa, static_cast<std::uint8_t>(scale)}),
                  PatchError::none);
        std::string text = padded(number, whole + scale);
        if (scale != 0) text.insert(whole, ".");
        if (negative && number != 0) text[0] = '-';
        ASSERT_EQ(message.view(), with_value("44=" + text)) << whole << '.' << scale;
      }
      const std::string before{message.view()};
      EXPECT_EQ(message.patch(slot, Decimal{static_cast<std::int64_t>(limit), static_cast<std::uint8_t>(scale)}),
                PatchError::too_wide);
      EXPECT_EQ(message.patch(slot, Decimal{-static_cast<std::int64_t>(limit / 10), static_cast<std::uint8_t>(scale)}),
                PatchError::too_wide);
      EXPECT_EQ(message.view(), before);
    }
  }
}

TEST(message_template, takes_a_decimal_of_another_scale_when_it_is_exact) {
  MessageTemplateBuilder builder{session_header(), "D"};
  const DecimalSlot slot = builder.decimal(Tag::Price, {.whole_digits = 4, .scale = 2});
  MessageTemplate message = builder.build();
  EXPECT_EQ(message.patch(slot, Decimal{235, 1}), PatchError::none);
  EXPECT_EQ(message.view(), with_value("44=0023.50"));
  EXPECT_EQ(message.patch(slot, Decimal{-23230, 3}), PatchError::none);
  EXPECT_EQ(message.view(), with_value("44=-023.23"));
  EXPECT_EQ(message.patch(slot, Decimal{23231, 3}), PatchError::not_exact);
  EXPECT_EQ(message.patch(slot, Decimal{1, 18}), PatchError::not_exact);
  EXPECT_EQ(message.patch(slot, Decimal{10000}), PatchError::too_wide);
  EXPECT_EQ(message.patch(slot, Decimal{INT64_MAX}), PatchError::too_wide);
  EXPECT_EQ(message.patch(slot, Decimal{INT64_MIN}), PatchError::too_wide);
  EXPECT_EQ(message.view(), with_value("44=-023.23"));
  EXPECT_EQ(message.patch(slot, Decimal{0, 18}), PatchError::none);
  EXPECT_EQ(message.view(), with_value("44=0000.00"));
}

TEST(message_template, keeps_the_digit_before_the_point) {
  MessageTemplateBuilder builder{session_header(), "D"};
  const DecimalSlot slot = builder.decimal(Tag::Price, {.whole_digits = 1, .scale = 2});
  MessageTemplate message = builder.build();
  EXPECT_EQ(message.patch(slot, Decimal{-5, 2}), PatchError::too_wide) << "\"-.05\" would have no digit there";
  EXPECT_EQ(message.patch(slot, Decimal{5, 2}), PatchError::none);
  EXPECT_EQ(message.view(), with_value("44=0.05"));
}

TEST(message_template, patches_texts_of_exactly_the_slots_length) {
  for (std::size_t size = 1; size <= 40; ++size) {
    MessageTemplateBuilder builder{session_header(), "D"};
    const TextSlot slot = builder.text(Tag::ClOrdID, size);
    MessageTemplate message = builder.build();
    std::string text(size, 'a');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('A' + i % 26);
    ASSERT_EQ(message.patch(slot, text), PatchError::none);
    ASSERT_EQ(message.view(), with_value("11=" + text));
    EXPECT_EQ(message.patch(slot, text + 'x'), PatchError::wrong_size);
    EXPECT_EQ(message.patch(slot, text.substr(1)), PatchError::wrong_size);
    for (std::size_t place = 0; place < size; ++place) {
      std::string bad(size, 'z');
      bad[place] = soh;
      ASSERT_EQ(message.patch(slot, bad), PatchError::holds_soh);
    }
    ASSERT_EQ(message.view(), with_value("11=" + text)) << "refused texts change nothing";
  }
}

TEST(message_template, patches_characters) {
  MessageTemplateBuilder builder{session_header(), "D"};
  const CharSlot slot = builder.character(Tag::Side);
  MessageTemplate message = builder.build();
  EXPECT_EQ(message.patch(slot, '2'), PatchError::none);
  EXPECT_EQ(message.patch(slot, soh), PatchError::holds_soh);
  EXPECT_EQ(message.view(), with_value("54=2"));
}

TEST(message_template, patches_times_with_every_fraction) {
  for (unsigned digits = 0; digits <= 9; ++digits) {
    MessageTemplateBuilder builder{session_header(), "D"};
    const TimeSlot slot = builder.time(Tag::TransactTime, digits);
    MessageTemplate message = builder.build();
    for (const Duration step : {Duration{0}, Duration{123456789ns}, Duration{1s}, Duration{12h - 1ns}, Duration{0}}) {
      message.patch(slot, noon + step);
      ASSERT_EQ(message.view(), with_value("60=" + time_text(noon + step, digits)));
    }
  }
}

TEST(message_template, random_patches_equal_a_message_laid_out_anew) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  MessageTemplateBuilder builder{session_header(6), "D", 7};
  const TextSlot id = builder.text(Tag::ClOrdID, 12);
  builder.fields(constant_fields<"21=1|">.view());
  const CharSlot side = builder.character(Tag::Side);
  const IntSlot quantity = builder.integer(Tag::OrderQty, 6);
  const DecimalSlot price = builder.decimal(Tag::Price, {.whole_digits = 5, .scale = 4});
  const TimeSlot time = builder.time(Tag::TransactTime);
  MessageTemplate original = builder.build();
  MessageTemplate order = original;
  std::string id_text(12, '0'), side_text = "0", quantity_text(6, '0'), price_text = "00000.0000";
  std::string seq_text(7, '0'), sent_text = time_text({}, 6), time_value = time_text({}, 3);
  UtcTime now = noon;
  for (int i = 0; i < 20000; ++i) {
    now += Duration{static_cast<std::int64_t>(random.below(400'000'000))};
    switch (random.below(6)) {
      case 0: {
        std::ranges::generate(id_text, [&] { return static_cast<char>('0' + random.below(70)); });
        ASSERT_EQ(order.patch(id, id_text), PatchError::none);
        break;
      }
      case 1: {
        side_text[0] = static_cast<char>('1' + random.below(9));
        ASSERT_EQ(order.patch(side, side_text[0]), PatchError::none);
        break;
      }
      case 2: {
        const std::uint64_t number = random.below(1'000'000);
        quantity_text = padded(number, 6);
        ASSERT_EQ(order.patch(quantity, static_cast<std::int64_t>(number)), PatchError::none);
        break;
      }
      case 3: {
        const std::uint64_t number = random.below(1'000'000'000);
        price_text = padded(number, 9).insert(5, ".");
        ASSERT_EQ(order.patch(price, Decimal{static_cast<std::int64_t>(number), 4}), PatchError::none);
        break;
      }
      case 4: {
        const std::uint64_t number = random.below(10'000'000);
        seq_text = padded(number, 7);
        sent_text = time_text(now, 6);
        ASSERT_EQ(order.patch_header(SeqNum{number}, now), PatchError::none);
        break;
      }
      default: {
        time_value = time_text(now, 3);
        order.patch(time, now);
        break;
      }
    }
    ASSERT_EQ(order.view(), frame("35=D|34=" + seq_text + "|49=BUYER|52=" + sent_text + "|56=SELLER|11=" + id_text +
                                  "|21=1|54=" + side_text + "|38=" + quantity_text + "|44=" + price_text +
                                  "|60=" + time_value + "|"));
  }
  MessageView view;
  EXPECT_EQ(view.parse(order.view()), WireError::none);
  EXPECT_EQ(view.parse(original.view()), WireError::none) << "a copy is a message of its own";
  EXPECT_EQ(view.get_view(Tag::ClOrdID), std::string(12, '0'));
}

TEST(message_template, refuses_layouts_that_make_no_message) {
  EXPECT_THROW(MessageTemplateBuilder(session_header(), ""), std::invalid_argument);
  EXPECT_THROW(MessageTemplateBuilder(session_header(), "\x01"), std::invalid_argument);
  EXPECT_THROW(MessageTemplateBuilder(session_header(), "D", 0), std::invalid_argument);
  EXPECT_THROW(MessageTemplateBuilder(session_header(), "D", 17), std::invalid_argument);
  MessageTemplateBuilder builder{session_header(), "D"};
  EXPECT_THROW(builder.fields("58=open"), std::invalid_argument);
  EXPECT_THROW((void)builder.integer(Tag::OrderQty, 0), std::invalid_argument);
  EXPECT_THROW((void)builder.integer(Tag::OrderQty, 17), std::invalid_argument);
  EXPECT_THROW((void)builder.integer(Tag{0}, 3), std::invalid_argument);
  EXPECT_THROW((void)builder.decimal(Tag::Price, {.whole_digits = 0, .scale = 2}), std::invalid_argument);
  EXPECT_THROW((void)builder.decimal(Tag::Price, {.whole_digits = 10, .scale = 6}), std::invalid_argument);
  EXPECT_THROW((void)builder.text(Tag::ClOrdID, 0), std::invalid_argument);
  EXPECT_THROW((void)builder.text(Tag::ClOrdID, 65536), std::invalid_argument);
  EXPECT_THROW((void)builder.time(Tag::TransactTime, 10), std::invalid_argument);
  EXPECT_EQ(builder.build().view(), MessageTemplateBuilder(session_header(), "D").build().view())
      << "what was refused added nothing";
}

TEST(message_template, has_space_for_64_slots) {
  MessageTemplateBuilder builder{session_header(), "D"};
  std::vector<CharSlot> slots;
  for (std::size_t i = 2; i < MessageTemplate::max_slots; ++i) {
    slots.push_back(builder.character(Tag{static_cast<std::int32_t>(5000 + i)}));
  }
  EXPECT_THROW((void)builder.character(Tag::Side), std::invalid_argument);
  MessageTemplate message = builder.build();  // refused slots added nothing
  for (const CharSlot& slot : slots) EXPECT_EQ(message.patch(slot, 'x'), PatchError::none);
  MessageView view;
  EXPECT_EQ(view.parse(message.view()), WireError::none);
  EXPECT_EQ(view.get_view(Tag{5063}), "x");
}

}  // namespace
}  // namespace nfx
