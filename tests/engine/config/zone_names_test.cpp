// Zone names of other systems: each is a zone on this host.
#include "config/zone_names.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "config/schedule_config.hpp"

namespace nfx {
namespace {

TEST(ZoneNames, every_name_stands_once_and_its_zone_exists) {
  std::set<std::string> names;
  for (const config::ZoneName& each : config::zone_names_of_others()) {
    std::string lower{each.name};
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    EXPECT_TRUE(names.insert(lower).second) << each.name;
    EXPECT_NO_THROW(static_cast<void>(load_time_zone(each.iana))) << each.name;
    EXPECT_EQ(config::find_zone_name(lower), &each);
  }
  EXPECT_GE(names.size(), 139U);
  EXPECT_EQ(config::find_zone_name("America/New_York"), nullptr);
}

TEST(ZoneNames, offsets_have_the_sign_of_their_name_and_whole_hours) {
  EXPECT_EQ(config::zone_of_offset("GMT+8"), "Etc/GMT-8");
  EXPECT_EQ(config::zone_of_offset("UTC-05:00"), "Etc/GMT+5");
  EXPECT_EQ(config::zone_of_offset("GMT+0530"), std::nullopt);
  EXPECT_EQ(config::zone_of_offset("GMT+15"), std::nullopt);
  EXPECT_EQ(config::zone_of_offset("UTC"), std::nullopt);
  EXPECT_EQ(config::zone_of_offset("GMT+"), std::nullopt);
}

}  // namespace
}  // namespace nfx
