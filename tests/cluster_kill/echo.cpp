// The gateway's program: an application that answers each order once, with the given configuration.
#include <string>

#include "gateways.hpp"
#include "nexusfix/engine/run.hpp"
#include "nexusfix/gateway/gateway.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::cluster_kill {
namespace {

class Echo final : public Application {
 public:
  Handled on_message(SessionHandle& session, const MessageView& order) override {
    char space[256];
    FieldWriter report{space};
    report.append(Tag::ClOrdID, order.get_view(Tag::ClOrdID)).append(Tag::Symbol, order.get_view(Tag::Symbol));
    report.append(Tag::ExecType, '0').append(Tag::OrdStatus, '0');
    return session.send({.msg_type = "8", .body = report.view()});
  }
};

}  // namespace

int run_gateway(const std::string& file) {
  Echo echo;
  std::string program = "cluster_kill", path = file;
  char* arguments[] = {program.data(), path.data(), nullptr};
  use_cluster();
  return run(2, arguments, echo);
}

}  // namespace nfx::cluster_kill
