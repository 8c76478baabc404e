// The crash test: two engines as two processes with journals, and a driver that kills them, fills their disks and
// damages their files, and afterwards accounts for every order and every number. It starts `crash party` for each.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "cli/command_line.hpp"
#include "modes.hpp"

namespace {

using namespace nfx::crash;
namespace fs = std::filesystem;

struct DriverOptions {
  std::string mode = "kill";
  std::uint32_t cycles = 0;
  std::uint64_t seed = 0;
  bool keep_going = false;
  std::string folder;
};

std::uint32_t default_cycles(const std::string& mode) { return mode == "kill" ? 2000 : mode == "full" ? 5 : 200; }

fs::path make_folder(const DriverOptions& command, std::uint32_t run) {
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

Outcome run_once(const DriverOptions& command, std::uint64_t seed, std::uint32_t run) {
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
        "  folder: %s\n"
        "  to read: {exchange,trader}/log, what the engines reported; .../account, what the parties did;\n"
        "           nfx store verify %s/trader/store; nfx store cat --all ...\n",
        error.what(), static_cast<unsigned long long>(seed), options.folder.c_str(), options.folder.c_str());
    return Outcome::bad;
  }
}

int run(const DriverOptions& command) {
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

// One side, as started by the driver.
nfx::cli::Command party_command() {
  static PartyOptions options;
  static std::string role, durability, folder, store, ring, small;
  return {.name = "party",
          .summary = "One side, as the driver starts it",
          .run =
              [] {
                options.role = named(role, {nfx::Role::acceptor, nfx::Role::initiator});
                options.durability = named(durability, {nfx::Durability::none, nfx::Durability::interval,
                                                        nfx::Durability::group, nfx::Durability::message});
                options.folder = folder;
                options.store = store;
                options.ring = ring;
                options.small = small == "true";
                return run_party(options);
              },
          .options = {{.names = "--role", .target = &role, .help = {}},
                      {.names = "--port", .target = &options.port, .help = {}},
                      {.names = "--folder", .target = &folder, .help = {}},
                      {.names = "--store", .target = &store, .help = {}},
                      {.names = "--ring", .target = &ring, .help = {}},
                      {.names = "--durability", .target = &durability, .help = {}},
                      {.names = "--seed", .target = &options.seed, .help = {}},
                      {.names = "--orders", .target = &options.orders, .help = {}},
                      {.names = "--text-size", .target = &options.text_size, .help = {}},
                      {.names = "--small", .target = &small, .help = {}, .one_of = {"true", "false"}}},
          .hidden = true};
}

nfx::cli::Command crash_command() {
  static DriverOptions options;
  return {.name = "crash",
          .summary = "Kill, fill and damage two engines with journals, and account for every order",
          .run = [] { return run(options); },
          .options = {{.names = "--mode",
                       .target = &options.mode,
                       .help = "What to do to them",
                       .one_of = {"kill", "full", "damage"}},
                      {.names = "--cycles",
                       .target = &options.cycles,
                       .help = "Kills, disks filled or bytes flipped",
                       .default_text = "2000, 5 or 200"},
                      {.names = "--seed", .target = &options.seed, .help = "0: another each time", .default_text = "0"},
                      {.names = "--keep-going",
                       .target = &options.keep_going,
                       .help = "Begin again with the next seed until something fails"},
                      {.names = "--folder",
                       .target = &options.folder,
                       .help = "Where runs store their files",
                       .kind = nfx::cli::Kind::folder,
                       .default_text = "the temporary folder"}},
          .commands = {party_command()}};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return nfx::cli::run(crash_command(), argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "crash: %s\n", error.what());
    return 2;
  }
}
