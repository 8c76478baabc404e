// A first program with an installed NexusFIX: loads a dictionary, parses a message, prints its name. The arguments are
// the path of the dictionary that must be found, and its name of MsgType 0.
#include <cstdio>
#include <nexusfix/control/client.hpp>
#include <nexusfix/dictionary/load.hpp>
#include <nexusfix/fabric/rail.hpp>
#include <nexusfix/fabric/rail_kinds.hpp>
#include <nexusfix/gateway/gateway.hpp>
#include <nexusfix/host/doctor.hpp>
#include <nexusfix/market/order_book.hpp>
#include <nexusfix/wire/message_view.hpp>
#include <string>

#ifdef WITH_TYPED_MESSAGES
#include "fix44/new_order_single.hpp"
#endif

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto found = nfx::find_shipped_dictionary("FIX44.xml");
  if (!found || *found != argv[1]) {
    std::printf("FIX44.xml was found as %s\n", found ? found->c_str() : "nothing");
    return 1;
  }
  const nfx::Dictionary dictionary = nfx::load_dictionary(*found);
  nfx::MessageView message;
  if (message.parse("8=FIX.4.4\0019=5\00135=0\00110=163\001") != nfx::WireError::none) return 1;
  const std::string name{dictionary.message_name(message.msg_type())};
  std::puts(name.c_str());
  if (nfx::doctor_checks().empty()) return 1;
  if (nfx::ask_control({.socket = "/nonexistent"}, {.target = "/healthz"})) return 1;
  if (nfx::market::OrderBooks{{}}.orders() != 0) return 1;
  const auto region = nfx::fabric::Region::make({.use = "consumer", .size = 4096});
  if (!region || region->size() != 4096) return 1;
  if (nfx::fabric::ShmRail::make({.address = {nfx::fabric::RailEnd::connects, "not a path"}})) return 1;
  nfx::use_cluster();
#ifdef WITH_TYPED_MESSAGES
  if (nfx::fix44::NewOrderSingle::msg_type != "D") return 1;
#endif
  return name == argv[2] ? 0 : 1;
}
