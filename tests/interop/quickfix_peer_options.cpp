// Parses the command line of quickfix_peer in a separate file, because the table of options needs a newer C++ than
// QuickFIX's headers.
#include "quickfix_peer_options.hpp"

#include <cstdio>
#include <optional>

#include "cli/command_line.hpp"

namespace quickfix_peer {

const int* read_options(Options& options, int argc, const char* const* argv) {
  static std::optional<int> exit_code;
  const nfx::cli::Command program{
      .name = "quickfix_peer",
      .summary = "A FIX counterparty built on QuickFIX; commands on standard input, events on standard output",
      .options =
          {{.names = "--initiator",
            .target = &options.initiator,
            .help = "Connect to it",
            .value = "HOST:PORT",
            .excludes = {"--acceptor"}},
           {.names = "--acceptor",
            .target = &options.acceptor,
            .help = "Listen on this port",
            .value = "PORT",
            .range = {{1, 65535}}},
           {.names = "--begin-string",
            .target = &options.begin_string,
            .help = "FIX version",
            .one_of = {"FIX.4.2", "FIX.4.4"}},
           {.names = "--sender", .target = &options.sender, .help = "Own SenderCompID"},
           {.names = "--target", .target = &options.target, .help = "The other side's CompID"},
           {.names = "--heartbeat",
            .target = &options.heartbeat_s,
            .help = "HeartBtInt in seconds (initiator)",
            .range = {{1}}},
           {.names = "--logout-timeout",
            .target = &options.logout_timeout_s,
            .help = "Seconds to wait for Logout",
            .range = {{1}}},
           {.names = "--store", .target = &options.store, .help = "memory, or file DIR", .max_values = 2},
           {.names = "--dictionary",
            .target = &options.dictionary,
            .help = "Validate with this QuickFIX XML file",
            .kind = nfx::cli::Kind::existing_file},
           {.names = "--reset-on-logon", .target = &options.reset_on_logon, .help = "ResetOnLogon=Y"},
           {.names = "--reset-on-logout", .target = &options.reset_on_logout, .help = "ResetOnLogout=Y"},
           {.names = "--reset-on-disconnect", .target = &options.reset_on_disconnect, .help = "ResetOnDisconnect=Y"},
           {.names = "--rich",
            .target = &options.rich_orders,
            .help = "Orders carry a party group (FIX.4.4) and EncodedText with SOH inside, which QuickFIX reads only "
                    "with a dictionary"},
           {.names = "--trace", .target = &options.trace, .help = "QuickFIX's log on standard error"}},
  };
  exit_code = nfx::cli::parse(program, argc, argv);
  if (!exit_code && options.initiator.empty() == (options.acceptor == 0)) {
    std::fputs("quickfix_peer: give --initiator HOST:PORT or --acceptor PORT\n", stderr);
    exit_code = nfx::cli::exit_wrong_usage;
  }
  return exit_code ? &*exit_code : nullptr;
}

}  // namespace quickfix_peer
