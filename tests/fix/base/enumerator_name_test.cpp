// The names of enumerators as texts.
#include "base/enumerator_name.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace nfx {
namespace {

enum class Colour : std::uint8_t { red, dark_blue, light_green = 5 };

TEST(EnumeratorName, is_the_name_of_the_enumerator) {
  EXPECT_EQ(enumerator_name(Colour::red), "red");
  EXPECT_EQ(enumerator_name(Colour::dark_blue), "dark_blue");
  EXPECT_EQ(enumerator_name<'-'>(Colour::dark_blue), "dark-blue");
  EXPECT_EQ(enumerator_name<' '>(Colour::light_green), "light green");
}

TEST(EnumeratorName, is_unknown_where_no_enumerator_has_the_value) {
  EXPECT_EQ(enumerator_name(static_cast<Colour>(2)), "unknown");
  EXPECT_EQ(enumerator_name(static_cast<Colour>(200)), "unknown");
}

}  // namespace
}  // namespace nfx
