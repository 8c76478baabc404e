// Roles of users and tokens; pages of other sites.
#include "control/access.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "nexusfix/config/engine_config.hpp"

namespace nfx::control {
namespace {

const std::string one(40, 'a'), other(40, 'b');

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(Tokens::parse(text, "tokens"));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

TEST(ControlTokens, a_token_gives_its_role_and_name) {
  const Tokens tokens =
      Tokens::parse("# users\noperator alice " + one + "\n\n viewer  bob\t" + other + "\r\n", "tokens");
  EXPECT_EQ(tokens.caller("Bearer " + one).role, Role::operator_);
  EXPECT_EQ(tokens.caller("Bearer " + one).name, "alice");
  EXPECT_EQ(tokens.caller("Bearer " + other).role, Role::viewer);
  for (const std::string& wrong : std::initializer_list<std::string>{{},
                                                                     one,
                                                                     "Bearer",
                                                                     "Bearer ",
                                                                     "bearer " + one,
                                                                     "Basic " + one,
                                                                     "Bearer " + one + "a",
                                                                     "Bearer " + one.substr(1),
                                                                     "Bearer  " + one})
    EXPECT_EQ(tokens.caller(wrong).role, Role::none) << wrong;
}

TEST(ControlTokens, names_the_line_that_is_wrong_and_never_the_token) {
  EXPECT_TRUE(error_of("operator alice short").starts_with("tokens:1: expected a token of 32 to 256")) << error_of("");
  EXPECT_TRUE(error_of("\nroot alice " + one).starts_with("tokens:2: expected \"operator NAME TOKEN\""));
  EXPECT_TRUE(error_of("operator " + one).starts_with("tokens:1: expected a role, a name and a token"));
  EXPECT_TRUE(error_of("operator alice " + one + " x").starts_with("tokens:1: expected a role"));
  EXPECT_TRUE(error_of("operator a " + one + "\nviewer b " + one).starts_with("tokens:2: duplicate token"));
  EXPECT_TRUE(error_of("# nothing\n").contains("no token"));
  EXPECT_FALSE(error_of("operator a " + one + "\nviewer b " + one).contains(one));
}

TEST(ControlTokens, a_file_that_others_may_read_is_refused) {
  const auto path = std::filesystem::temp_directory_path() / ("nfx-tokens-" + std::to_string(::getpid()));
  std::ofstream{path} << "operator alice " << one << '\n';
  ::chmod(path.c_str(), 0644);
  EXPECT_THROW(static_cast<void>(Tokens::load(path)), ConfigError);
  ::chmod(path.c_str(), 0600);
  EXPECT_EQ(Tokens::load(path).caller("Bearer " + one).name, "alice");
  std::filesystem::remove(path);
  EXPECT_THROW(static_cast<void>(Tokens::load(path)), ConfigError);
}

TEST(ControlTokens, a_fifo_or_a_device_in_place_of_the_file_is_refused_at_once) {
  const auto error_of_file = [](const std::string& file) {
    try {
      static_cast<void>(Tokens::load(file));
    } catch (const ConfigError& error) {
      return std::string{error.what()};
    }
    return std::string{"none"};
  };
  const auto path = std::filesystem::temp_directory_path() / ("nfx-tokens-fifo-" + std::to_string(::getpid()));
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_TRUE(error_of_file(path).contains("it is a FIFO, not a regular file")) << error_of_file(path);
  std::filesystem::remove(path);
  EXPECT_TRUE(error_of_file("/dev/zero").contains("it is a device")) << error_of_file("/dev/zero");
}

TEST(ControlUsers, by_default_root_and_the_process_are_operators) {
  const SocketUsers users{{}};
  const std::array<unsigned, 1> no_group{54321};
  EXPECT_EQ(users.caller(0, no_group).role, Role::operator_);
  EXPECT_EQ(users.caller(::geteuid(), no_group).role, Role::operator_);
  EXPECT_EQ(users.caller(54321, no_group).role, Role::none);
}

TEST(ControlUsers, named_users_and_groups_have_their_roles_and_no_one_else_has) {
  ControlConfig config;
  config.operators = {"1001", "@2001"};
  config.viewers = {"daemon", "@2002"};
  const SocketUsers users{config};
  const auto role = [&](unsigned uid, std::array<unsigned, 2> groups) { return users.caller(uid, groups).role; };
  EXPECT_EQ(role(1001, {1, 2}), Role::operator_);
  EXPECT_EQ(role(5000, {1, 2001}), Role::operator_);
  EXPECT_EQ(role(1, {9, 9}), Role::viewer);  // daemon
  EXPECT_EQ(role(5000, {2002, 9}), Role::viewer);
  EXPECT_EQ(role(1001, {2002, 9}), Role::operator_);
  EXPECT_EQ(role(0, {0, 0}), Role::none) << "root is one only where it is named";
  config.operators = {"no-such-user-here"};
  EXPECT_THROW(SocketUsers{config}, ConfigError);
  config.operators = {"@no-such-group-here"};
  EXPECT_THROW(SocketUsers{config}, ConfigError);
}

TEST(ControlHosts, only_loopback_with_our_port_is_ours) {
  for (const std::string_view good : {"127.0.0.1:9090", "localhost:9090", "[::1]:9090"}) {
    EXPECT_TRUE(host_is_ours(good, 9090)) << good;
    EXPECT_TRUE(origin_is_ours("http://" + std::string{good}, 9090)) << good;
  }
  for (const std::string_view bad : {"", "127.0.0.1", "127.0.0.1:9091", "evil.example:9090", "localhost.evil:9090",
                                     "127.0.0.1:9090.evil", "127.0.0.1:9090:9090", "localhost", "127.0.0.1.evil:9090"})
    EXPECT_FALSE(host_is_ours(bad, 9090)) << bad;
  for (const std::string_view bad : {"null", "https://localhost:9090", "http://evil.example", "file://"})
    EXPECT_FALSE(origin_is_ours(bad, 9090)) << bad;
}

}  // namespace
}  // namespace nfx::control
