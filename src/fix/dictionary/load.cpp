// Builds a dictionary from file names: finds the base, the transport and the overlays, and applies them in order.
#include "nexusfix/dictionary/load.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/error_text.hpp"
#include "dictionary/model_overlay.hpp"
#include "dictionary/model_reader.hpp"

// Folders separated by colons: absolute, or relative to the folder of the program or library.
#ifndef NFX_DICTIONARY_PATH
#define NFX_DICTIONARY_PATH ""
#endif
#ifndef NFX_RELATIVE_DICTIONARY_PATH
#define NFX_RELATIVE_DICTIONARY_PATH ""
#endif

namespace nfx {
namespace {

constexpr std::size_t max_overlay_chain = 16;

constinit const char* package_folder = nullptr;

[[noreturn]] void fail_to_read(const std::filesystem::path& file, std::string_view why) {
  throw DictionaryError(cannot("read", file, why) + "; give the path of a dictionary file");
}

// Reads at most the maximum size, whatever the file is.
std::string read_file(const std::filesystem::path& file) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  const bool too_large = !error && size > max_dictionary_size;
  std::ifstream in(file, std::ios::binary);
  if (!in.is_open()) fail_to_read(file, system_text(errno));
  std::string text;
  constexpr std::size_t step = 1 << 20;
  while (!too_large && in && text.size() <= max_dictionary_size) {
    const std::size_t before = text.size();
    text.resize(before + step);
    in.read(text.data() + before, step);
    text.resize(before + static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad() || (!too_large && text.empty())) {
    fail_to_read(file, in.bad() ? system_text(errno) : "it is empty");
  }
  if (too_large || text.size() > max_dictionary_size) {
    fail_to_read(file, "it is larger than " + std::to_string(max_dictionary_size >> 20) + " MiB");
  }
  return text;
}

std::vector<std::string> parts(const char* path) {
  std::vector<std::string> folders;
  std::istringstream known{path};
  for (std::string each; std::getline(known, each, ':');) folders.push_back(each);
  return folders;
}

// The folders of the program and of the shared library that may contain this code.
std::vector<std::filesystem::path> own_folders() {
  std::vector<std::filesystem::path> folders;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error && program.has_parent_path()) folders.push_back(program.parent_path());
  Dl_info here{};
  if (::dladdr(reinterpret_cast<const void*>(&own_folders), &here) != 0 && here.dli_fname != nullptr) {
    const std::filesystem::path library = std::filesystem::weakly_canonical(here.dli_fname, error);
    if (!error && library.has_parent_path() && library != program) folders.push_back(library.parent_path());
  }
  return folders;
}

std::string chain_of(const std::vector<std::filesystem::path>& files) {
  std::string text;
  for (const std::filesystem::path& file : files) text += (text.empty() ? "" : " -> ") + file.string();
  return text;
}

// A file named in an overlay: in the same folder, or a shipped dictionary.
std::filesystem::path named_by(const OverlayModel& overlay, const std::filesystem::path& file,
                               const std::string& name) {
  if (name.empty()) {
    Problems::fail(overlay.place, "the overlay names no base; write base=\"FIX44.xml\", or give it together with one");
  }
  std::filesystem::path beside = file.parent_path() / name;
  std::error_code ignored;
  if (std::filesystem::exists(beside, ignored)) return beside;
  if (const auto shipped = find_shipped_dictionary(name)) return *shipped;
  Problems::fail(overlay.place, "the base " + in_quotes(name) +
                                    " is neither in the overlay's folder nor a shipped dictionary; write its path");
}

// `chain` contains the overlays that led here; each names the next as its base.
DictionaryModel load_based(const std::filesystem::path& file, std::vector<std::filesystem::path> chain,
                           std::string_view version, std::vector<std::string>* problems) {
  std::error_code ignored;
  const bool again = std::ranges::any_of(
      chain, [&](const std::filesystem::path& before) { return std::filesystem::equivalent(before, file, ignored); });
  chain.push_back(file);
  if (again || chain.size() > max_overlay_chain) {
    throw DictionaryError(chain.front().string() +
                          (again ? ": the overlay is its own base (" : ": too many overlays are each other's bases (") +
                          chain_of(chain) + "); let the last one name a dictionary");
  }
  auto any = read_any(read_file(file), file.string(), version, problems);
  if (auto* model = std::get_if<DictionaryModel>(&any)) return std::move(*model);
  const auto& overlay = std::get<OverlayModel>(any);
  DictionaryModel base = load_based(named_by(overlay, file, overlay.base), chain, version, problems);
  if (!overlay.transport.empty()) {
    base = combine(load_based(named_by(overlay, file, overlay.transport), chain, {}, problems), base);
  }
  return apply_overlay(base, overlay, problems);
}

// A bare file name that does not exist here names a shipped dictionary.
std::filesystem::path or_shipped(const std::filesystem::path& file) {
  std::error_code ignored;
  if (file.has_parent_path() || std::filesystem::exists(file, ignored)) return file;
  return find_shipped_dictionary(file.string()).value_or(file);
}

// Leaves a version without its own session layer, or without a shipped dictionary, unchanged.
void complete(DictionaryModel& model) {
  if (!lacks_session_messages(model)) return;
  const bool is_application = model.version.type == "FIX" && model.version.major == "5";
  const std::string_view name = shipped_file(model.version.name());
  if (is_application || name.empty()) return;
  const auto shipped = find_shipped_dictionary(name);
  if (!shipped) return;
  add_session_messages(model, load_based(*shipped, {}, {}, nullptr), name);
}

}  // namespace

bool detail::set_package_folder(const char* folder) noexcept {
  package_folder = folder;
  return true;
}

DictionaryModel load_model(const std::filesystem::path& file, std::vector<std::string>* problems) {
  return load_based(or_shipped(file), {}, {}, problems);
}

DictionaryModel load_model(const DictionaryFiles& files, std::vector<std::string>* problems) {
  DictionaryModel model = load_based(or_shipped(files.application), {}, files.version, problems);
  if (!files.version.empty()) take_version(model, files.version);
  if (!files.transport.empty()) model = combine(load_model(files.transport, problems), model);
  for (const std::filesystem::path& file : files.overlays) {
    model = apply_overlay(model, read_overlay(read_file(file), file.string(), problems), problems);
  }
  if (files.for_session) complete(model);
  return model;
}

Dictionary load_dictionary(const std::filesystem::path& file) { return Dictionary::build(load_model(file)); }

Dictionary load_dictionary(const DictionaryFiles& files) { return Dictionary::build(load_model(files)); }

std::optional<std::filesystem::path> find_shipped_dictionary(std::string_view file,
                                                             const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> places;
  if (!folder.empty()) places.push_back(folder / file);
  const char* named = std::getenv("NFX_DICTIONARIES");  // NOLINT(concurrency-mt-unsafe): no thread sets any
  if (named != nullptr) places.push_back(std::filesystem::path{named} / file);
  // In a relocated installation, dictionaries have the same place relative to the program or shared library.
  for (const std::filesystem::path& from : own_folders()) {
    for (const std::string& each : parts(NFX_RELATIVE_DICTIONARY_PATH)) places.push_back(from / each / file);
  }
  // From the compiler's name of the header. A relative name is meaningless where the program runs.
  if (package_folder != nullptr && *package_folder == '/') {
    places.push_back((std::filesystem::path{package_folder} / file).lexically_normal());
  }
  // The source tree, then the installation.
  for (const std::string& each : parts(NFX_DICTIONARY_PATH)) places.push_back(std::filesystem::path{each} / file);
  for (const auto& place : places) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(place, ignored)) return place.lexically_normal();
  }
  return std::nullopt;
}

}  // namespace nfx
