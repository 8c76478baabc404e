// nfx codegen: typed C++ messages from a dictionary.
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "base/error_text.hpp"
#include "command.hpp"
#include "dictionary/codegen.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/dictionary/model.hpp"
#include "output.hpp"

namespace nfx::app {
namespace {

namespace fs = std::filesystem;

struct CodegenArguments {
  std::string dictionary;
  std::string transport;
  std::string fix_version;
  std::vector<std::string> overlays;
  std::vector<std::string> messages;
  std::string name_space;
  std::string out;
};

// "FIX44.xml with venue.xml": only file names, so that a dictionary gives the same text in every folder.
std::string source_name(const DictionaryFiles& files) {
  std::string name = files.application.filename().string();
  if (!files.transport.empty()) name = files.transport.filename().string() + " and " + name;
  const char* between = " with ";
  for (const fs::path& overlay : files.overlays) {
    name += between + overlay.filename().string();
    between = ", ";
  }
  return name;
}

// FIX44.xml becomes fix44.
std::string default_name_space(const fs::path& dictionary) {
  std::string name;
  for (const char c : dictionary.stem().string()) {
    if (c >= 'A' && c <= 'Z') {
      name += static_cast<char>(c - 'A' + 'a');
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9' && !name.empty())) {
      name += c;
    }
  }
  return name.empty() ? "messages" : name;
}

std::optional<std::string> read_text(const fs::path& file) {
  std::error_code ignored;
  std::ifstream in(file, std::ios::binary);
  if (!fs::is_regular_file(file, ignored) || !in.is_open()) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

[[noreturn]] void cannot_write(const fs::path& path, int error) {
  throw std::runtime_error(cannot("write", path, error) + "; give --out a writable folder");
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) cannot_write(folder, error.value());
}

// Does not touch an up-to-date file, so that its includers are not recompiled. Returns true if it was written.
bool write_file(const fs::path& path, const std::string& text) {
  if (read_text(path) == text) return false;
  make_folder(path.parent_path());
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) cannot_write(path, errno);
  return true;
}

// Headers of messages that are no longer selected would still compile, but be stale. Removes only generated files.
std::size_t remove_others(const fs::path& folder, const std::set<fs::path>& written) {
  std::size_t removed = 0;
  for (const fs::path& each : {folder, folder / "groups"}) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(each, error)) {
      if (entry.path().extension() != ".hpp" || written.contains(entry.path())) continue;
      if (const auto text = read_text(entry.path()); !text || !text->starts_with(generated_file_mark)) continue;
      if (fs::remove(entry.path(), error)) ++removed;
    }
  }
  return removed;
}

int generate(const CodegenArguments& arguments) {
  DictionaryFiles files;
  files.application = arguments.dictionary;
  files.transport = arguments.transport;
  for (const std::string& overlay : arguments.overlays) files.overlays.emplace_back(overlay);
  files.version = arguments.fix_version;
  const Dictionary dictionary = load_dictionary(files);
  for (const std::string& line : dictionary.repairs().summary()) print_error("warning: {}\n", line);

  CodegenOptions options;
  options.source = source_name(files);
  options.name_space = arguments.name_space.empty() ? default_name_space(files.application) : arguments.name_space;
  options.messages = arguments.messages;
  const std::vector<GeneratedFile> generated = generate_code(dictionary, options);

  const fs::path folder = arguments.out;
  std::size_t changed = 0;
  std::set<fs::path> written;
  // fields.hpp comes last: a program watching that file finds everything else in place.
  for (auto file = generated.rbegin(); file != generated.rend(); ++file) {
    const fs::path path = folder / file->name;
    if (write_file(path, file->text)) ++changed;
    written.insert(path);
  }
  const std::size_t removed = remove_others(folder, written);
  print("{}: {} files from {}, {} changed, {} removed\n", folder.string(), generated.size(), options.source, changed,
        removed);
  return exit_done;
}

}  // namespace

cli::Command codegen_command() {
  static CodegenArguments arguments;
  return {
      .name = "codegen",
      .summary = "Write typed C++ messages from a dictionary",
      .run = [] { return generate(arguments); },
      .options = {{.names = "DICTIONARY",
                   .target = &arguments.dictionary,
                   .help = "A dictionary file, or the name of a shipped one: FIX44.xml",
                   .required = true,
                   .kind = cli::Kind::file},
                  {.names = "--out",
                   .target = &arguments.out,
                   .help = "Output folder; headers of an earlier run are replaced",
                   .required = true,
                   .kind = cli::Kind::folder},
                  {.names = "--transport",
                   .target = &arguments.transport,
                   .help = "Header and session messages, for FIX 5.0: FIXT11.xml",
                   .kind = cli::Kind::file},
                  {.names = "--overlay",
                   .target = &arguments.overlays,
                   .help = "Changes to the dictionary; several are applied in order",
                   .kind = cli::Kind::file},
                  {.names = "--fix-version",
                   .target = &arguments.fix_version,
                   .help = "FIX version of a file that states none, such as FIX.4.4",
                   .value = "VERSION"},
                  {.names = "--messages",
                   .target = &arguments.messages,
                   .help = "Only these, by type or name: D,8,OrderCancelReject",
                   .value = "TYPE[,TYPE]",
                   .separator = ','},
                  {.names = "--namespace",
                   .target = &arguments.name_space,
                   .help = "Namespace of the generated code; fix44 becomes nfx::fix44, venue::fix44 stays unchanged",
                   .default_text = "the dictionary's name"}},
      .examples = {{.line = "nfx codegen FIX44.xml --out include/fix44",
                    .about = "typed C++ readers and builders from a dictionary"},
                   {.line = "nfx codegen FIX50SP2.xml --transport FIXT11.xml --overlay venue.xml --messages D,8 --out "
                            "include/venue"}},
  };
}

}  // namespace nfx::app
