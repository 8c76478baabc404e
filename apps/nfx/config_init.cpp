// nfx config init: writes a configuration from a few answers, with explanations from the table of keys.
#include "config_init.hpp"

#include <grp.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "command.hpp"
#include "config/commented_config.hpp"
#include "control_access.hpp"
#include "nexusfix/base/enum_values.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/dictionary/version.hpp"
#include "output.hpp"
#include "output_file.hpp"

namespace nfx::app {
namespace {

struct Answers {
  std::string side;
  std::string versions;  // "FIX.4.2,FIX.4.4"
  std::string sender;
  std::string target;
  std::string address;
  std::string store;
  std::string durability;
  std::string placement;
};

struct InitOptions {
  Answers given;
  bool defaults = false;
  std::string output = "-";
  bool force = false;
};

constexpr std::string_view in_memory = "memory";
constexpr int most_attempts = 5;
constexpr std::size_t longest_answer = 4095;
// The folder that nexusfix.service and the images may write to: not below /etc.
constexpr std::string_view service_store = "/var/lib/nexusfix/store";
// The control socket, where 'nfx top' looks for it.
constexpr std::string_view service_socket = "/run/nexusfix/control.sock", service_audit = "/var/log/nexusfix/audit.log";
constexpr std::string_view own_audit = "audit.log";
constexpr const char* service_group = "nexusfix";

using Choices = std::vector<std::string_view>;

template <class Enum>
Choices names_of() {
  Choices names;
  for (const Enum each : enum_values<Enum>()) names.push_back(to_string(each));
  return names;
}
// The others need [cluster], which this command does not write.
Choices durabilities_of_one_host() {
  Choices names;
  for (const Durability each : enum_values<Durability>()) {
    if (!is_replicated(each)) names.push_back(to_string(each));
  }
  return names;
}
Choices any_text() { return {}; }
Choices yes_or_no() { return {"yes", "no"}; }

struct Question {
  std::string_view option;
  std::string Answers::* answer;
  Literal text;
  std::string_view usual;  // used for an empty line; empty: none
  Choices (*choices)() = any_text;
};

constexpr std::array questions{
    Question{"--side", &Answers::side, "Side: the peer connects to an acceptor, an initiator connects to the peer",
             "acceptor", names_of<Role>},
    Question{"--versions", &Answers::versions, "FIX versions, one session each, such as FIX.4.2,FIX.4.4", "FIX.4.4"},
    Question{"--sender", &Answers::sender, "Our CompID, such as DESK", ""},
    Question{"--target", &Answers::target, "The peer's CompID, such as VENUE", ""},
    Question{"--address", &Answers::address, "Address to listen on, or of the peer, HOST:PORT", "127.0.0.1:9878"},
    Question{"--store", &Answers::store, "Folder of the journals, or memory for none", "store"},
    Question{"--durability", &Answers::durability, "When the journals are synced to the disk", "interval",
             durabilities_of_one_host},
    Question{"--placement", &Answers::placement, "Pin threads to CPUs", "no", yes_or_no},
};

// Whether a file at this path is for the service.
bool is_below_etc(const std::string& output) {
  if (output == "-") return false;
  std::error_code error;
  const std::filesystem::path etc = "/etc";
  const std::filesystem::path file = std::filesystem::weakly_canonical(std::filesystem::absolute(output, error), error);
  return std::mismatch(etc.begin(), etc.end(), file.begin(), file.end()).first == etc.end();
}

// The answer for an empty line, for a file at this path.
std::string_view usual_of(const Question& question, const std::string& output) {
  return question.answer == &Answers::store && is_below_etc(output) ? service_store : question.usual;
}

// The answer with --defaults: names that are obviously placeholders.
std::string_view default_of(const Question& question, const InitOptions& options, const Answers& answers) {
  const bool acceptor = answers.side == "acceptor";
  if (question.answer == &Answers::sender) return acceptor ? "VENUE" : "CLIENT";
  if (question.answer == &Answers::target) return acceptor ? "CLIENT" : "VENUE";
  return usual_of(question, options.output);
}

// A socket's path has at most 107 bytes. A file in a folder with a long path gets no control plane.
bool has_room_for_socket(const std::string& output) {
  constexpr std::size_t longest = 107;
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::absolute(output, error).parent_path();
  return output == "-" || (!error && (folder / own_control_socket).native().size() <= longest);
}

ConfigSection control_of(const std::string& output) {
  const bool service = is_below_etc(output);
  return {.name = "control",
          .settings = {{"socket", toml_text(service ? service_socket : own_control_socket)},
                       {"audit", toml_text(service ? service_audit : own_audit)}}};
}

std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t comma = list.find(',');
    parts.push_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    list.remove_prefix(comma + 1);
  }
}

// The keys of a session for version and application version.
ConfigSection session_of(std::string_view name) {
  const FixVersion* const version = find_version(name);
  const bool over_fixt = version != nullptr && !version->session;
  ConfigSection session{.name = "session", .settings = {}};
  session.settings.push_back({"begin_string", toml_text(over_fixt ? transport_version.name : name)});
  if (over_fixt) session.settings.push_back({"default_appl_ver_id", toml_text(name)});
  return session;
}

std::vector<ConfigSection> sections_of(const Answers& answers, const std::string& output) {
  std::vector<ConfigSection> sections;
  if (has_room_for_socket(output)) sections.push_back(control_of(output));
  if (answers.placement == "yes") {
    sections.push_back({"placement", {{"enabled", "true"}, {"on_violation", toml_text("warn")}}});
  }
  ConfigSection defaults{.name = "defaults", .settings = {}};
  defaults.settings = {{"role", toml_text(answers.side)},
                       {"sender_comp_id", toml_text(answers.sender)},
                       {"target_comp_id", toml_text(answers.target)},
                       {answers.side == "initiator" ? "connect" : "listen", toml_text(answers.address)},
                       {"store", toml_text(answers.store == in_memory ? in_memory : "journal")}};
  if (answers.store != in_memory) {
    defaults.settings.push_back({"store_directory", toml_text(answers.store)});
    defaults.settings.push_back({"durability", toml_text(answers.durability)});
  }
  sections.push_back(std::move(defaults));
  for (const std::string_view version : parts_of(answers.versions)) sections.push_back(session_of(version));
  return sections;
}

std::string text_of(const Answers& answers, const std::string& output) {
  return commented_config("Engine configuration. 'nfx serve FILE --check' checks it, 'nfx config keys' lists all keys.",
                          sections_of(answers, output));
}

std::string names_of_versions() {
  std::string names;
  for (const FixVersion& version : fix_versions) {
    if (version.appl_ver_id.empty()) continue;
    if (!names.empty()) names += ',';
    names += version.name;
  }
  return names;
}

std::string too_long() { return "an answer has at most " + std::to_string(longest_answer) + " bytes"; }

// Why these answers are not a valid configuration, without a place in the file, which does not exist yet; empty if they
// are.
std::string problem_of(const Answers& answers) {
  if (answers.placement != "yes" && answers.placement != "no") return "expected yes or no";
  for (const std::string_view name : parts_of(answers.versions)) {
    const FixVersion* const version = find_version(name);
    if (version == nullptr || version->appl_ver_id.empty())
      return "unknown version \"" + std::string{name} + "\"; expected some of " + names_of_versions();
  }
  if (answers.store.starts_with('~'))
    return "\"" + answers.store + "\": ~ is not expanded here; write the whole path, such as /home/desk/store";
  for (const std::string Answers::* const answer :
       {&Answers::sender, &Answers::target, &Answers::address, &Answers::store}) {
    if ((answers.*answer).size() > longest_answer) return too_long();
  }
  try {
    static_cast<void>(parse_config(text_of(answers, "-"), "answers", "."));
  } catch (const ConfigError& error) {
    const std::string_view text = error.what();
    const std::size_t place = text.find("] ");
    return std::string{place == std::string_view::npos ? text : text.substr(place + 2)};
  }
  return {};
}

// Valid answers to all questions, so that one answer can be checked before the others are known.
constexpr std::string_view placeholder(const Question& question) {
  if (question.answer == &Answers::sender) return "US";
  if (question.answer == &Answers::target) return "THEM";
  return question.usual;
}

// Checks the answers so far, with valid placeholders for the others.
std::string problem_with(const Answers& known) {
  Answers probe = known;
  for (const Question& question : questions) {
    if ((probe.*question.answer).empty()) probe.*question.answer = placeholder(question);
  }
  return problem_of(probe);
}

struct Line {
  std::string text;
  std::string problem;  // why the answer is invalid; empty: valid
  bool ended = false;   // end of standard input
};

Line read_line() {
  std::array<char, longest_answer + 1> bytes;
  std::cin.getline(bytes.data(), bytes.size());
  const auto count = static_cast<std::size_t>(std::cin.gcount());
  if (std::cin.fail() && count != bytes.size() - 1) return {.text = {}, .problem = {}, .ended = true};
  if (std::cin.fail()) {
    std::cin.clear();
    std::cin.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    return {.text = {}, .problem = too_long()};
  }
  // The newline is counted, but is not part of the line.
  const std::string_view text{bytes.data(), std::cin.eof() ? count : count - 1};
  if (text.contains('\0')) return {.text = {}, .problem = "the answer has a zero byte; expected text"};
  return {.text = std::string{text}, .problem = {}};
}

[[noreturn]] void no_answer(const Question& question) {
  throw cli::UsageError("standard input ended without an answer: give " + std::string{question.option} +
                        (question.usual.empty() ? "" : ", or --defaults"));
}

void ask(const Question& question, const std::string& output, Answers& answers) {
  std::string& answer = answers.*question.answer;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    SafeText prompt{question.text};
    std::string_view before = " (";
    for (const std::string_view choice : question.choices()) prompt.add("{}{}", std::exchange(before, ", "), choice);
    if (before != " (") prompt += ')';
    const std::string_view usual = usual_of(question, output);
    if (!usual.empty()) prompt.add(" [{}]", usual);
    prompt += ": ";
    print_error(prompt);
    const Line line = read_line();
    if (line.ended) no_answer(question);
    answer = trimmed(line.text);
    if (answer.empty()) answer = usual;
    const std::string problem = !line.problem.empty() ? line.problem
                                : answer.empty()      ? "an answer is needed"
                                                      : problem_with(answers);
    if (problem.empty()) return;
    print_error("  {}\n", problem);
  }
  throw cli::UsageError("no usable answer in " + std::to_string(most_attempts) + ": give " +
                        std::string{question.option});
}

// The service runs as a separate user, who must be able to read the file.
std::optional<unsigned> group_of_service(const std::string& output) {
  if (!is_below_etc(output)) return std::nullopt;
  const group* const found = ::getgrnam(service_group);  // NOLINT(concurrency-mt-unsafe): the only thread
  return found == nullptr ? std::nullopt : std::optional<unsigned>{found->gr_gid};
}

int init(const InitOptions& options) {
  Answers answers = options.given;
  if (const std::string problem = problem_with(answers); !problem.empty())
    throw cli::UsageError("these options are not a configuration: " + problem);
  for (const Question& question : questions) {
    std::string& answer = answers.*question.answer;
    if (!answer.empty()) continue;
    if (question.answer == &Answers::durability && answers.store == in_memory) {
      answer = question.usual;
    } else if (!options.defaults) {
      ask(question, options.output, answers);
    } else {
      answer = default_of(question, options, answers);
    }
  }
  if (const std::string problem = problem_of(answers); !problem.empty())
    throw cli::UsageError("these answers are not a configuration: " + problem);
  OutputFile out{{.path = options.output,
                  .overwrite = options.force,
                  .secret = true,
                  .group = group_of_service(options.output),
                  .printable = true}};
  out.bytes = text_of(answers, options.output);
  out.finish();
  if (options.output == "-") return exit_done;
  print_error("{} is written; 'nfx serve {} --check' checks it\n", options.output, options.output);
  if (options.given.sender.empty() && options.defaults)
    print_error("our CompID in it is {}, the peer's {}: write yours\n", answers.sender, answers.target);
  return exit_done;
}

}  // namespace

cli::Command config_init_command() {
  static InitOptions options;
  Answers& given = options.given;
  return {.name = "init",
          .summary = "Write a commented configuration from a few answers",
          .run = [] { return init(options); },
          .options = {{.names = "--side",
                       .target = &given.side,
                       .help = "Role of this engine: an acceptor listens, an initiator connects",
                       .one_of = names_of<Role>()},
                      {.names = "--versions",
                       .target = &given.versions,
                       .help = "FIX versions, one session each: FIX.4.2,FIX.5.0SP2; at most one of FIX 5.0 or later",
                       .value = "LIST"},
                      {.names = "--sender", .target = &given.sender, .help = "Our CompID", .value = "COMPID"},
                      {.names = "--target", .target = &given.target, .help = "The peer's CompID", .value = "COMPID"},
                      {.names = "--address",
                       .target = &given.address,
                       .help = "Address to listen on, or of the peer",
                       .value = "HOST:PORT"},
                      {.names = "--store",
                       .target = &given.store,
                       .help = "Folder of the journals, or 'memory' for no journals. Relative to the file",
                       .value = "DIR",
                       .kind = cli::Kind::folder},
                      {.names = "--durability",
                       .target = &given.durability,
                       .help = "When the journals are synced to the disk",
                       .one_of = durabilities_of_one_host()},
                      {.names = "--placement",
                       .target = &given.placement,
                       .help = "Pin threads to CPUs",
                       .one_of = yes_or_no()},
                      {.names = "--defaults",
                       .target = &options.defaults,
                       .help = "Take the defaults without asking; the CompIDs are VENUE and CLIENT"},
                      {.names = "--output",
                       .target = &options.output,
                       .help = "Write to this file, which must not exist; - is standard output",
                       .kind = cli::Kind::file},
                      {.names = "--force", .target = &options.force, .help = "Overwrite the file of --output"}},
          .details =
              "Asks on standard error for each answer that no option gives; an empty line takes the answer in "
              "brackets.\nEvery key in the result has its meaning, type and default as a comment, as 'nfx config keys' "
              "lists them. For a file below /etc the folder of the journals is /var/lib/nexusfix/store, where the "
              "service may write. Only its owner can read it; below /etc its group too, which is the service's. "
              "[control] has a socket next to the file, or the service's, where 'nfx top' finds it. Sessions of a "
              "cluster need [cluster], which is not written: docs/cluster.md.",
          .examples = {{.line = "nfx config init --output engine.toml", .about = "answer questions, then serve"},
                       {.line = "nfx config init --defaults --sender VENUE --target CLIENT --output venue.toml"}}};
}

}  // namespace nfx::app
