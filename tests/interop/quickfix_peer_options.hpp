// The command line of quickfix_peer. C++14, because QuickFIX's headers require it; its parser is a separate file.
#pragma once

#include <string>
#include <vector>

namespace quickfix_peer {

struct Options {
  std::string initiator;  // HOST:PORT
  int acceptor = 0;       // port
  std::string begin_string = "FIX.4.4";
  std::string sender = "PEER";
  std::string target = "NEXUS";
  int heartbeat_s = 30;
  int logout_timeout_s = 2;
  std::vector<std::string> store = {"memory"};
  std::string dictionary;
  bool reset_on_logon = false;
  bool reset_on_logout = false;
  bool reset_on_disconnect = false;
  bool rich_orders = false;
  bool trace = false;
};

// Returns null to continue, otherwise the exit status: 0 after --help, 2 after an error message.
const int* read_options(Options& options, int argc, const char* const* argv);

}  // namespace quickfix_peer
