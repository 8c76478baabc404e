// A broker whose clients are not in its configuration: one template for all, and a file with their passwords.
//   echo "CLIENT1 first-password" > clients.txt; chmod 600 clients.txt; ./broker broker.toml
//   CLIENT_PASSWORD=first-password ./initiator broker_client.toml      (in another terminal)
// A Logon with another CompID or password ends its connection without an answer; no session and no journal begin.
#include <nexusfix/engine.hpp>
#include <nexusfix/fix44.hpp>

#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
namespace fix = nfx::fix44;

struct Broker : nfx::TypedApplication<Broker, fix::Messages>, nfx::Authenticator {
  Broker() {
    std::ifstream file{"clients.txt"};
    for (std::string client, password; file >> client >> password;) {
      nfx::Secret& secret = passwords[client] = password;
      secret.keep_digest();  // a core of this process, or a debugger, shows no password
      nfx::clear_text(password);
    }
    if (passwords.empty()) throw std::runtime_error("clients.txt must have lines of a CompID and a password");
  }

  // On the poll thread, before the session exists. `matches` takes equally long for every wrong password.
  bool on_logon_request(const nfx::LogonRequest& request) override {
    const auto client = passwords.find(request.session.target_comp_id);
    return client != passwords.end() && client->second.matches(request.message.get_view(nfx::Tag::Password));
  }

  nfx::Sent on(nfx::SessionHandle& session, const fix::NewOrderSingle& order) {
    // Each client has a session, with sequence numbers, of its own.
    const std::string id = session.config().target_comp_id + "-" + std::to_string(value(session.next_outbound()));
    auto report = session.create<fix::ExecutionReport>();
    report.order_id(id).exec_id(id).exec_type(fix::ExecType::new_).ord_status(fix::OrdStatus::new_);
    report.cl_ord_id(order.cl_ord_id()).symbol(order.symbol()).side(order.side());
    report.leaves_qty(order.order_qty()).cum_qty(0).avg_px(0);
    return report.send_or_reject(order);
  }

  std::map<std::string, nfx::Secret> passwords;  // only read after the start: any poll thread may
};

int main(int argc, char** argv) { return nfx::run<Broker>(argc, argv); }
