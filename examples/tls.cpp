// TLS on both ends, with a certificate on each. The program does nothing for that: everything is in tls_acceptor.toml
// and tls_initiator.toml. The initiator sends News, and the acceptor answers it.
//   openssl req -x509 -newkey rsa:2048 -nodes -days 365 -subj /CN=venue.example -keyout venue.key -out venue.crt
//   openssl req -x509 -newkey rsa:2048 -nodes -days 365 -subj /CN=trader.example -keyout trader.key -out trader.crt
//   nfx tls check --config tls_acceptor.toml --peer trader.crt
//   ./tls tls_acceptor.toml      in one terminal
//   ./tls tls_initiator.toml     in another one
// Each side trusts the other's certificate alone; usually `tls_ca` is the authority that signed it. A SIGHUP has
// nfx::run read the files again, for renewed certificates.
#include <nexusfix/engine.hpp>
#include <nexusfix/fix44.hpp>

#include <iostream>

namespace fix = nfx::fix44;

struct Both : nfx::TypedApplication<Both, fix::Messages> {
  void on_logon(nfx::SessionHandle& session) override {
    if (session.config().role == nfx::Role::acceptor) return;
    if (!tell(session, "nobody else can read this")) std::cout << "not sent" << std::endl;
  }
  nfx::Handled on(nfx::SessionHandle& session, const fix::News& news) {
    for (const auto line : news.no_lines_of_text())
      std::cout << session.config().sender_comp_id << " got: " << line.text() << std::endl;
    if (session.config().role == nfx::Role::initiator) return nfx::Handled::done;
    return tell(session, "nor this answer");
  }
  static nfx::Sent tell(nfx::SessionHandle& session, std::string_view text) {
    auto news = session.create<fix::News>();
    news.headline("TLS").no_lines_of_text(1).add().text(text);
    return news.send();
  }
};

int main(int argc, char** argv) { return nfx::run<Both>(argc, argv); }
