// FIXT.1.1: the version of each application message selects its dictionary.
#include <gtest/gtest.h>

#include "nexusfix/dictionary/load.hpp"
#include "session/session_fixture.hpp"

namespace nfx::test {
namespace {

const Dictionary& over_fixt(std::string_view file) {
  static std::map<std::string_view, Dictionary> loaded;
  const auto path = [](std::string_view name) { return std::string{NFX_SOURCE_DIR "/dictionaries/"}.append(name); };
  const auto found = loaded.find(file);
  if (found != loaded.end()) return found->second;
  return loaded
      .emplace(file, load_dictionary({.transport = path("FIXT11.xml"), .application = path(file), .overlays = {}}))
      .first->second;
}

class ApplicationVersion : public ::testing::Test {
 protected:
  ApplicationVersion() {
    SessionConfig config = acceptor_config();
    config.begin_string = "FIXT.1.1";
    config.default_appl_ver_id = "9";
    config.dictionary = &over_fixt("FIX50SP2.xml");
    config.application_dictionaries[6] = &over_fixt("FIX44.xml");
    config.application_dictionaries[9] = config.dictionary;
    config.validation = ValidationPolicy::strict();
    rig_.emplace(config);
    rig_->connect();
  }
  void log_on(std::string_view version) {
    say(*rig_, "35=A|34=1|98=0|108=30|1137=" + std::string{version} + "|");
    rig_->sent.clear();
  }
  // Whether an order with a field of FIX 5.0 SP2 that FIX 4.4 lacks is delivered.
  bool takes_new_field(std::string_view header) {
    const std::size_t before = rig_->delivered.size();
    say(*rig_, "35=D|34=2|" + std::string{header} + "11=x|55=EUR|54=1|60=20240315-12:00:00|38=1|40=1|1138=1|");
    return rig_->delivered.size() > before;
  }

  std::optional<SessionRig> rig_;
};

TEST_F(ApplicationVersion, is_the_peers_default) {
  log_on("9");
  EXPECT_TRUE(takes_new_field({}));
}

TEST_F(ApplicationVersion, default_of_another_version_brings_its_dictionary) {
  log_on("6");
  EXPECT_FALSE(takes_new_field({}));
  EXPECT_NE(rig_->take().find("371=1138|"), std::string::npos);
}

TEST_F(ApplicationVersion, of_one_message_goes_before_the_default) {
  log_on("9");
  EXPECT_FALSE(takes_new_field("1128=6|"));
}

TEST_F(ApplicationVersion, without_a_dictionary_of_its_own_is_held_against_the_sessions) {
  log_on("7");
  EXPECT_TRUE(takes_new_field({}));
}

TEST_F(ApplicationVersion, session_messages_know_only_the_transports_fields) {
  log_on("9");
  say(*rig_, "35=0|34=2|55=EUR|");
  EXPECT_TRUE(rig_->take().contains("371=55|372=0|373=0|")) << "a field of orders is not a field of FIXT.1.1";
}

}  // namespace
}  // namespace nfx::test
