// Sessions that an operator adds or reloads at the listen address of another session: the settings that both must
// share.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "control/controlled_program.hpp"
#include "nexusfix/engine/observer.hpp"
#include "transport/epoll_transport.hpp"
#include "transport/tls_certificates.hpp"

namespace nfx {
namespace {

using Json = nlohmann::json;

struct Silent final : Application, Observer {
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
  // Called between the check of the listen address and the poll thread's listen.
  void on_added(SessionHandle&) override {
    if (taken) static_cast<void>(other.listen(*taken));
  }
  EpollTransport other;
  std::optional<Endpoint> taken;
};

// With a session with TLS.
class SharedListen : public test::ControlledProgram {
 protected:
  void begin() override {
    {
      EpollTransport other;
      listen = to_string(other.local_endpoint(other.listen({"127.0.0.1", 0}).value()).value());
    }
    write(head() + encrypted("FIRST", "127.0.0.1:0"));
    serve_file(application);
  }
  [[nodiscard]] static std::string head() { return std::string{control_section} + "[defaults]\nstore = \"memory\"\n"; }
  [[nodiscard]] static std::string plain(const std::string& peer, const std::string& at) {
    return "[[session]]\nsender_comp_id = \"VENUE\"\ntarget_comp_id = \"" + peer + "\"\nlisten = \"" + at + "\"\n";
  }
  [[nodiscard]] std::string encrypted(const std::string& peer, const std::string& at) const {
    return plain(peer, at) + "tls = true\ntls_certificate = \"" + server.certificate + "\"\ntls_key = \"" + server.key +
           "\"\ntls_ca = \"" + authority.file() + "\"\ntls_client_certificate = \"require\"\n";
  }

  testing::Authority authority{folder};
  const testing::Authority::Files server = authority.issue({});
  Silent application;
  std::string listen;
};

TEST_F(SharedListen, with_tls_is_refused_where_a_session_without_was_added) {
  ASSERT_EQ(add(plain("PLAIN", listen)).status, 200U);
  const ControlReply reply = add(encrypted("SECRET", listen));
  EXPECT_EQ(reply.status, 422U) << reply.body;
  EXPECT_TRUE(std::string{Json::parse(reply.body)["detail"]}.contains("must share their tls and tls_... settings"))
      << reply.body;
}

TEST_F(SharedListen, with_tls_is_not_planned_where_a_session_without_was_added) {
  ASSERT_EQ(add(plain("PLAIN", listen)).status, 200U);
  write(head() + encrypted("FIRST", "127.0.0.1:0") + encrypted("SECRET", listen));
  const Json plan = Json::parse(ask("GET", "/v1/engine/reload").body);
  ASSERT_EQ(plan["sessions"].size(), 1U) << plan;
  EXPECT_EQ(plan["sessions"][0]["when"], "restart") << plan;
  EXPECT_TRUE(plan.dump().contains("must share their tls and tls_... settings")) << plan;
}

// Like another program that is faster.
TEST_F(SharedListen, that_another_program_takes_after_the_check_is_the_answer_to_an_addition) {
  application.taken = Endpoint::parse(listen);
  const ControlReply reply = add(plain("PLAIN", listen));
  EXPECT_EQ(reply.status, 422U) << reply.body;
  EXPECT_TRUE(Json::parse(reply.body).value("detail", "none").contains("Address already in use")) << reply.body;
  EXPECT_EQ(ask("GET", control_path("FIX.4.4:VENUE->PLAIN")).status, 404U);
}

TEST_F(SharedListen, that_another_program_takes_after_the_check_is_in_the_answer_to_a_reload) {
  application.taken = Endpoint::parse(listen);
  write(head() + encrypted("FIRST", "127.0.0.1:0") + plain("PLAIN", listen));
  const Json report = Json::parse(ask("POST", "/v1/engine/reload").body);
  EXPECT_EQ(report["result"], "incomplete") << report;
  EXPECT_TRUE(report.dump().contains("Address already in use")) << report;
}

}  // namespace
}  // namespace nfx
