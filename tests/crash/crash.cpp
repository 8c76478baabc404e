// The crash test: two engines as two processes with journals, and a driver that kills them, fills their disks and
// damages their files, and afterwards accounts for every order and every number. `crash party` is what it starts.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include <CLI/CLI.hpp>

#include "modes.hpp"

namespace {

using namespace nfx::crash;
namespace fs = std::filesystem;

struct Command {
  std::string mode = "kill";
  std::uint32_t cycles = 0;
  std::uint64_t seed = 0;
  bool keep_going = false;
  fs::path folder;
};

std::uint32_t default_cycles(const std::string& mode) { return mode == "kill" ? 2000 : mode == "full" ? 5 : 200; }

fs::path make_folder(const Command& command, std::uint32_t run) {
  fs::path folder = command.folder;
  if (folder.empty()) {
    std::string name = (fs::temp_directory_path() / "nfx-crash-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::system_error{errno, std::generic_category(), name};
    folder = name;
  } else {
    folder /= "run" + std::to_string(run);
    if (!fs::create_directories(folder)) throw std::runtime_error(folder.string() + " is there already: remove it");
  }
  return folder;
}

enum class Outcome { good, bad, impossible };

Outcome run_once(const Command& command, std::uint64_t seed, std::uint32_t run) {
  const CrashOptions options{.cycles = command.cycles != 0 ? command.cycles : default_cycles(command.mode),
                             .seed = seed,
                             .folder = make_folder(command, run),
                             .quiet = false};
  std::printf("crash --mode %s --cycles %u --seed %llu\n", command.mode.c_str(), options.cycles,
              static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  std::string why_not;
  try {
    if (command.mode == "kill") run_kill(options);
    if (command.mode == "damage") run_damage(options);
    if (command.mode == "full" && !run_full(options, why_not)) {
      std::printf("SKIPPED: %s\n", why_not.c_str());
      fs::remove_all(options.folder);
      return Outcome::impossible;
    }
    fs::remove_all(options.folder);
    return Outcome::good;
  } catch (const std::exception& error) {
    std::printf(
        "FAILED: %s\n"
        "  seed %llu (the moments of kills differ from run to run; the choices do not)\n"
        "  kept: %s\n"
        "  look at: {exchange,trader}/log, what the engines said; .../account, what the parties did;\n"
        "           nfx store verify %s/trader/store; nfx store cat --all ...\n",
        error.what(), static_cast<unsigned long long>(seed), options.folder.c_str(), options.folder.c_str());
    return Outcome::bad;
  }
}

int run(const Command& command) {
  constexpr int skipped = 77;
  std::uint64_t seed = command.seed != 0 ? command.seed : std::random_device{}();
  for (std::uint32_t i = 1;; ++i, ++seed) {
    const Outcome outcome = run_once(command, seed, i);
    if (outcome == Outcome::impossible) return skipped;
    if (outcome == Outcome::bad) return 1;
    if (!command.keep_going) return 0;
  }
}

template <class Enum>
Enum named(const std::string& text, std::initializer_list<Enum> values) {
  for (const Enum each : values) {
    if (text == to_string(each)) return each;
  }
  throw std::runtime_error("unexpected " + text);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Kills, fills and damages two engines with journals, and accounts for every order"};
  Command command;
  app.add_option("--mode", command.mode, "kill, full or damage")->check(CLI::IsMember({"kill", "full", "damage"}));
  app.add_option("--cycles", command.cycles, "Kills (2000), disks filled (5) or bytes flipped (200)");
  app.add_option("--seed", command.seed, "0: another each time");
  app.add_flag("--keep-going", command.keep_going, "Begin again with the next seed until something fails");
  app.add_option("--folder", command.folder, "Where runs keep their files; otherwise the temporary folder");

  CLI::App* party = app.add_subcommand("party", "One side, as the driver starts it")->group("");
  PartyOptions options;
  std::string role, durability;
  party->add_option("--role", role);
  party->add_option("--port", options.port);
  party->add_option("--folder", options.folder);
  party->add_option("--store", options.store);
  party->add_option("--ring", options.ring);
  party->add_option("--durability", durability);
  party->add_option("--seed", options.seed);
  party->add_option("--orders", options.orders);
  party->add_option("--text-size", options.text_size);
  party->add_option("--small", options.small);
  CLI11_PARSE(app, argc, argv);
  try {
    if (!party->parsed()) return run(command);
    options.role = named(role, {nfx::Role::acceptor, nfx::Role::initiator});
    options.durability = named(durability, {nfx::Durability::none, nfx::Durability::interval, nfx::Durability::group,
                                            nfx::Durability::message});
    return run_party(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "crash: %s\n", error.what());
    return 2;
  }
}
