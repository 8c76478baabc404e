// Chooses and caches the dictionary of a message. FIXT.1.1 needs the dictionaries of session and application combined.
#include "decode/dictionaries.hpp"

#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/dictionary/model.hpp"
#include "output.hpp"

namespace nfx::app {
namespace {

constexpr std::string_view fixt = transport_version.name;
constexpr std::string_view newest = newest_application_version.name;

std::string key_of(std::string_view begin_string, std::string_view appl_ver_id) {
  std::string key(begin_string);
  if (begin_string == fixt) key.append("/").append(appl_ver_id);
  return key;
}

}  // namespace

void Dictionaries::add(const std::filesystem::path& file) {
  DictionaryModel model = load_model(file);
  if (model.version.begin_string().starts_with("FIX.5.") && model.header.empty()) {
    if (const auto transport = find_shipped_dictionary(transport_version.file))
      model = combine(load_model(*transport), model);
  }
  Dictionary dictionary = Dictionary::build(model);
  for (const std::string& line : dictionary.repairs().summary()) print_error("warning: {}\n", line);
  std::string key = key_of(dictionary.begin_string(), dictionary.appl_ver_id());
  given_.insert_or_assign(std::move(key), std::move(dictionary));
}

DictionaryChoice Dictionaries::find(std::string_view begin_string, std::string_view appl_ver_id) {
  if (begin_string == fixt) {
    std::string_view version = version_of_appl_ver_id(appl_ver_id);
    if (version.empty()) version = newest;
    if (const auto given = given_.find(key_of(fixt, appl_ver_id_of(version))); given != given_.end()) {
      return {&given->second, true};
    }
    if (const Dictionary* found = over_transport(version)) return {found, true};
  }
  if (const auto given = given_.find(begin_string); given != given_.end()) return {&given->second, true};
  // FIX 5.0 is not a BeginString, but some logs use it as one.
  if (begin_string.starts_with("FIX.5.0")) {
    if (const Dictionary* found = over_transport(begin_string)) return {found, false};
  }
  if (const Dictionary* found = shipped(begin_string)) return {found, true};
  // An unknown version is most likely malformed, so the most common names are the best guess.
  return {shipped("FIX.4.4"), false};
}

std::uint32_t Dictionaries::tag_named(std::string_view name) {
  const auto tag_in = [name](const Dictionary& dictionary) {
    const FieldDef* field = dictionary.find_field(name);
    return field == nullptr ? 0 : static_cast<std::uint32_t>(value(field->tag));
  };
  for (const auto& [key, dictionary] : given_) {
    if (const std::uint32_t tag = tag_in(dictionary); tag != 0) return tag;
  }
  const Dictionary* dictionary = over_transport(newest);
  return dictionary == nullptr ? 0 : tag_in(*dictionary);
}

const Dictionary* Dictionaries::shipped(std::string_view version_name) {
  const auto known = shipped_.find(version_name);
  if (known != shipped_.end()) return known->second.get();
  const std::string_view file = shipped_file(version_name);
  // Caches only known versions, whatever a log contains.
  if (file.empty()) return nullptr;
  std::unique_ptr<Dictionary> loaded;
  if (const auto path = find_shipped_dictionary(file)) loaded = std::make_unique<Dictionary>(load_dictionary(*path));
  return shipped_.emplace(version_name, std::move(loaded)).first->second.get();
}

const Dictionary* Dictionaries::over_transport(std::string_view version_name) {
  const std::string key = std::string(fixt) + "+" + std::string(version_name);
  const auto known = shipped_.find(key);
  if (known != shipped_.end()) return known->second.get();
  const std::string_view file = shipped_file(version_name);
  if (file.empty()) return nullptr;
  std::unique_ptr<Dictionary> loaded;
  const auto transport = find_shipped_dictionary(transport_version.file);
  const auto application = find_shipped_dictionary(file);
  if (transport && application) {
    loaded = std::make_unique<Dictionary>(
        load_dictionary(DictionaryFiles{.transport = *transport, .application = *application, .overlays = {}}));
  }
  return shipped_.emplace(key, std::move(loaded)).first->second.get();
}

}  // namespace nfx::app
