// Tests the comparison itself: it finds deliberately broken kernels, each with one small defect, and its messages cover
// all kinds that it is trusted to cover.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "differential/differential_run.hpp"
#include "differential/kernel_comparer.hpp"
#include "differential/message_generator.hpp"

namespace nfx::test {
namespace {

using kernels::FieldArrays;
using kernels::IndexResult;
using kernels::KernelTable;
using kernels::WideFieldArrays;

// The scalar kernel under another name; a test replaces one function by a wrong one.
KernelTable sound() {
  KernelTable table = kernels::scalar;
  table.name = "broken";
  return table;
}

[[noreturn]] void run(const KernelTable& table) {
  DifferentialOptions options;
  options.kernels = {&table};
  options.executions = 200000;
  std::exit(run_differential(options));
}

void expect_found(const KernelTable& table, const std::string& report) {
  EXPECT_EXIT(run(table), testing::ExitedWithCode(1), "DIFFERENCE: broken " + report);
}

IndexResult index_narrow(const char* message, std::size_t size, const FieldArrays& out) noexcept {
  return kernels::scalar.index_fields(message, size, out);
}

TEST(differential, finds_no_difference_where_there_is_none) {
  EXPECT_EXIT(run(sound()), testing::ExitedWithCode(0), "");
}

TEST(differential, finds_an_end_that_is_off_by_one) {
  KernelTable table = sound();
  table.index_fields = [](const char* message, std::size_t size, const FieldArrays& out) noexcept {
    const IndexResult result = index_narrow(message, size, out);
    if (result.count == 17) ++out.ends[16];
    return result;
  };
  expect_found(table, "index_fields: end of field 16 is");
}

TEST(differential, finds_a_begin_that_is_off_by_one_behind_an_equals_sign_on_a_block_border) {
  KernelTable table = sound();
  table.index_fields = [](const char* message, std::size_t size, const FieldArrays& out) noexcept {
    const IndexResult result = index_narrow(message, size, out);
    for (std::uint32_t i = 0; i < result.count; ++i) {
      if (out.begins[i] == 128) --out.begins[i];
    }
    return result;
  };
  expect_found(table, "index_fields: begin of field [0-9]+ is 127, scalar returns 128");
}

TEST(differential, finds_a_wrong_tag_of_five_digits) {
  KernelTable table = sound();
  table.index_fields = [](const char* message, std::size_t size, const FieldArrays& out) noexcept {
    const IndexResult result = index_narrow(message, size, out);
    for (std::uint32_t i = 0; i < result.count; ++i) {
      if (out.tags[i] > 65000) out.tags[i] = static_cast<std::uint16_t>(out.tags[i] % 10000);
    }
    return result;
  };
  expect_found(table, "index_fields: tag of field");
}

TEST(differential, finds_a_field_that_is_not_written) {
  KernelTable table = sound();
  table.index_fields = [](const char* message, std::size_t size, const FieldArrays& out) noexcept {
    if (size != 200) return index_narrow(message, size, out);
    static std::vector<std::uint16_t> elsewhere(KernelComparer::max_capacity + kernels::array_padding);
    return index_narrow(message, size, {out.tags, out.begins, elsewhere.data(), out.capacity});
  };
  expect_found(table, "index_fields: end of field 0 is 42405");
}

TEST(differential, finds_a_message_with_one_field_too_many_that_is_accepted) {
  KernelTable table = sound();
  table.index_fields = [](const char* message, std::size_t size, const FieldArrays& out) noexcept {
    return index_narrow(message, size, {out.tags, out.begins, out.ends, out.capacity + 1});
  };
  expect_found(table, "index_fields: (error|count) is");
}

TEST(differential, finds_the_wrong_error) {
  KernelTable table = sound();
  table.index_fields = [](const char* message, std::size_t size, const FieldArrays& out) noexcept {
    IndexResult result = index_narrow(message, size, out);
    if (result.error == WireError::bad_data_length && size > 300) result.error = WireError::bad_tag;
    return result;
  };
  expect_found(table, "index_fields: error is");
}

TEST(differential, finds_a_tag_beyond_16_bits_that_is_not_reported) {
  KernelTable table = sound();
  table.index_fields = [](const char* message, std::size_t size, const FieldArrays& out) noexcept {
    IndexResult result = index_narrow(message, size, out);
    result.needs_wide = false;
    return result;
  };
  expect_found(table, "index_fields: needs_wide is 0, scalar returns 1");
}

TEST(differential, finds_a_sum_without_the_last_byte_of_a_full_block) {
  KernelTable table = sound();
  table.index_fields = [](const char* message, std::size_t size, const FieldArrays& out) noexcept {
    IndexResult result = index_narrow(message, size, out);
    if (size % 64 == 0 && size != 0) result.sum = static_cast<std::uint8_t>(result.sum - message[size - 1]);
    return result;
  };
  expect_found(table, "index_fields: sum is");
}

TEST(differential, finds_a_wide_end_that_wraps_at_16_bits) {
  KernelTable table = sound();
  table.index_wide_fields = [](const char* message, std::size_t size, const WideFieldArrays& out) noexcept {
    const IndexResult result = kernels::scalar.index_wide_fields(message, size, out);
    for (std::uint32_t i = 0; i < result.count; ++i) out.ends[i] &= 0xFFFF;
    return result;
  };
  expect_found(table, "index_wide_fields: end of field");
}

TEST(differential, finds_a_wrong_sum_of_one_length) {
  KernelTable table = sound();
  table.check_sum = [](const char* bytes, std::size_t size) noexcept {
    return static_cast<std::uint8_t>(kernels::scalar.check_sum(bytes, size) + (size == 65 ? 1 : 0));
  };
  expect_found(table, "check_sum: sum is");
}

TEST(differential, finds_a_soh_that_is_overlooked_in_the_last_byte) {
  KernelTable table = sound();
  table.scan_soh = [](const char* bytes, std::size_t size) noexcept {
    const char* const found = kernels::scalar.scan_soh(bytes, size);
    return size > 32 && found == bytes + size - 1 ? bytes + size : found;
  };
  expect_found(table, "scan_soh: place is");
}

TEST(differential, finds_a_read_in_front_of_the_message) {
  KernelTable table = sound();
  table.index_fields = [](const char* message, std::size_t size, const FieldArrays& out) noexcept {
    [[maybe_unused]] const volatile char read = size > 64 ? *(message - 1) : '\0';
    return index_narrow(message, size, out);
  };
  expect_found(table, "index_fields: touches memory at input -1,");
}

TEST(differential, finds_a_read_behind_the_message) {
  KernelTable table = sound();
  table.index_wide_fields = [](const char* message, std::size_t size, const WideFieldArrays& out) noexcept {
    [[maybe_unused]] const volatile char read = *(message + size);
    return kernels::scalar.index_wide_fields(message, size, out);
  };
  expect_found(table, "index_wide_fields: touches memory at input .*, end of input .0");
}

TEST(differential, finds_a_write_behind_the_padding_of_the_arrays) {
  KernelTable table = sound();
  table.index_fields = [](const char* message, std::size_t size, const FieldArrays& out) noexcept {
    const IndexResult result = index_narrow(message, size, out);
    if (result.count == out.capacity) out.ends[out.capacity + kernels::array_padding] = 0;
    return result;
  };
  expect_found(table, "index_fields: touches memory");
}

TEST(message_generator, makes_the_same_messages_of_the_same_seed_and_others_of_another) {
  MessageGenerator first{7}, again{7}, other{8};
  std::size_t different = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string_view message = first.next();
    ASSERT_EQ(message, again.next()) << i;
    different += message != other.next();
  }
  EXPECT_GT(different, 19000u);
}

// Properties of the messages, as read by the scalar kernel.
struct Seen {
  std::array<int, 12> errors{};
  int needs_wide = 0;
  int starting_with_long_tags = 0;
  int data_with_soh = 0;
  int beyond_16_bits = 0;
  std::set<std::size_t> sizes, ends_of_tags, ends_of_values, sizes_of_tags, most_in_a_block;
};

void look_at(std::string_view message, Seen& seen) {
  constexpr std::uint32_t capacity = 300;
  static std::uint16_t tags[capacity + kernels::array_padding];
  static std::uint16_t begins[capacity + kernels::array_padding];
  static std::uint16_t ends[capacity + kernels::array_padding];
  if (message.size() > KernelComparer::max_narrow_size) {
    ++seen.beyond_16_bits;
    return;
  }
  const IndexResult result =
      kernels::scalar.index_fields(message.data(), message.size(), {tags, begins, ends, capacity});
  if (message.size() <= 200) seen.sizes.insert(message.size());
  if (result.needs_wide) {
    ++seen.needs_wide;
    return;
  }
  ++seen.errors[static_cast<std::size_t>(result.error)];
  std::size_t in_block = 0;
  std::size_t start = 0;
  for (std::uint32_t i = 0; i < result.count; ++i) {
    const std::size_t size_of_tag = begins[i] - start - 1;
    seen.sizes_of_tags.insert(size_of_tag);
    seen.ends_of_tags.insert(begins[i] % 64);
    seen.ends_of_values.insert(ends[i] % 64);
    seen.starting_with_long_tags += i == 0 && size_of_tag > 4;
    seen.data_with_soh += message.substr(begins[i], ends[i] - begins[i]).find('\x01') != std::string_view::npos;
    in_block = i != 0 && ends[i] / 64 == ends[i - 1] / 64 ? in_block + 1 : 1;
    seen.most_in_a_block.insert(in_block);
    start = ends[i] + std::size_t{1};
  }
}

TEST(message_generator, makes_messages_of_every_kind) {
  MessageGenerator generator{1};
  Seen seen;
  for (int i = 0; i < 100000; ++i) look_at(generator.next(), seen);
  EXPECT_GT(seen.errors[static_cast<std::size_t>(WireError::none)], 20000);
  for (const WireError error :
       {WireError::truncated, WireError::bad_tag, WireError::bad_data_length, WireError::too_many_fields}) {
    EXPECT_GT(seen.errors[static_cast<std::size_t>(error)], 50) << to_string(error);
  }
  EXPECT_GT(seen.needs_wide, 1000);
  EXPECT_GT(seen.starting_with_long_tags, 1000);
  EXPECT_GT(seen.data_with_soh, 1000);
  EXPECT_GT(seen.beyond_16_bits, 5);
  EXPECT_GT(seen.sizes.size(), 190u) << "of the 201 up to 200";
  EXPECT_EQ(seen.ends_of_tags.size(), 64u) << "of the places in a block";
  EXPECT_EQ(seen.ends_of_values.size(), 64u) << "of the places in a block";
  EXPECT_EQ(seen.sizes_of_tags.size(), 10u) << "of one digit to ten";
  EXPECT_GT(*seen.most_in_a_block.rbegin(), 16u) << "fields ending in one block";
}

}  // namespace
}  // namespace nfx::test
