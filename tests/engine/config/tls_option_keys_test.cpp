// Every row of the TLS options is a key of a session and is compared; paths are relative to the file's folder.
#include <gtest/gtest.h>

#include <type_traits>
#include <variant>

#include "config/config_text.hpp"
#include "transport/tls_option_rows.hpp"

namespace nfx::test {
namespace {

// Sets a value other than the default.
void change(TlsOptions& options, const TlsOption& row) {
  const auto set = [&]<class Member>(Member TlsOptions::* member) {
    Member& value = options.*member;
    if constexpr (std::is_same_v<Member, bool>) {
      value = !value;
    } else if constexpr (std::is_enum_v<Member>) {
      value = static_cast<Member>(std::to_underlying(value) == 0 ? 1 : 0);
    } else if constexpr (std::is_same_v<Member, std::string>) {
      value = "other";
    } else {
      value = {"other"};
    }
  };
  std::visit(set, row.member);
}

TEST(TlsOptionRows, every_option_makes_two_sessions_differ) {
  for (const TlsOption& row : tls_option_rows) {
    TlsOptions options;
    change(options, row);
    EXPECT_NE(options, TlsOptions{}) << row.key;
  }
  TlsOptions with_function;
  with_function.key_password = [] { return std::string{"secret"}; };
  EXPECT_NE(with_function, TlsOptions{});
}

TEST(TlsOptionRows, every_path_counts_from_the_folder_of_the_file) {
  std::size_t paths = 0;
  for (const TlsOption& row : tls_option_rows) {
    const bool text = std::holds_alternative<TlsOption::Text>(row.member);
    if (!text && !std::holds_alternative<TlsOption::Texts>(row.member)) continue;
    Keys keys = acceptor_keys;
    keys["dictionary"] = "\"none\"";
    keys["tls"] = "false";
    keys[std::string{row.key}] = "\"some.pem\"";
    const TlsOptions read = parse_config(document({}, keys), "test.toml", "/etc/desk").sessions.at(0).tls;
    const std::string value =
        text ? read.*std::get<TlsOption::Text>(row.member) : (read.*std::get<TlsOption::Texts>(row.member)).at(0);
    EXPECT_EQ(value, row.is_path ? "/etc/desk/some.pem" : "some.pem") << row.key;
    if (row.is_path) ++paths;
  }
  EXPECT_EQ(paths, 4U);
}

}  // namespace
}  // namespace nfx::test
