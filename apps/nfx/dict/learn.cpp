// nfx dict learn: reads a log twice: once to write an overlay, once to count the remaining violations.
#include <algorithm>
#include <map>
#include <stdexcept>

#include "command.hpp"
#include "dict/commands.hpp"
#include "dict/files.hpp"
#include "dict/learner.hpp"
#include "nexusfix/dictionary/validator.hpp"
#include "nexusfix/dictionary/version.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "output.hpp"
#include "output_file.hpp"

namespace nfx::app {
namespace {

constexpr std::size_t max_kinds_shown = 20;
constexpr std::string_view no_message = "no FIX message found: a message starts with 8=FIX";

// The base's file as written into the overlay: a bare name if it is shipped, otherwise relative to the overlay's
// folder.
std::string base_name(const std::string& given, const std::string& out) {
  if (given.empty()) return {};
  std::error_code ignored;
  const std::filesystem::path path = dictionary_path(given);
  if (!std::filesystem::exists(given, ignored)) return path.filename().string();
  const std::filesystem::path file{out};
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  return std::filesystem::proximate(std::filesystem::absolute(path), std::filesystem::absolute(folder)).string();
}

// Counts the versions of a log's messages, to choose the dictionary for comparison.
class Versions {
 public:
  void see(const MessageView& message) {
    const std::string_view begin_string = message.begin_string();
    if (!is_begin_string(begin_string)) return;
    ++sessions_[std::string(begin_string)];
    if (begin_string != transport_version.name) return;
    const std::string_view own = version_of_appl_ver_id(message.get_view(Tag::ApplVerID));
    const std::string_view of_logon = version_of_appl_ver_id(message.get_view(Tag::DefaultApplVerID));
    if (!own.empty()) ++applications_[std::string(own)];
    if (!of_logon.empty()) ++defaults_[std::string(of_logon)];
  }

  // The options with base and transport for the most frequent version.
  LearnOptions choose(LearnOptions options) const {
    if (sessions_.empty()) {
      throw std::runtime_error(options.log +
                               ": no message has a BeginString(8) that a dictionary is shipped for; give one with "
                               "--base, such as --base FIX.4.4");
    }
    std::string_view version = most_frequent(sessions_);
    if (version == transport_version.name) {
      if (options.transport.empty()) options.transport = transport_version.file;
      version = newest_application_version.name;
      if (!defaults_.empty()) version = most_frequent(defaults_);
      if (!applications_.empty()) version = most_frequent(applications_);
    }
    options.base = shipped_file(version);
    return options;
  }

 private:
  using Counts = std::map<std::string, std::uint64_t>;  // at most one entry per version

  static std::string_view most_frequent(const Counts& counts) {
    return std::ranges::max_element(counts, {}, &Counts::value_type::second)->first;
  }

  Counts sessions_;      // by BeginString(8)
  Counts applications_;  // by ApplVerID(1128)
  Counts defaults_;      // by DefaultApplVerID(1137)
};

LearnOptions with_base(const LearnOptions& options) {
  if (!options.base.empty()) return options;
  if (options.log == "-") {
    throw cli::UsageError("--base is needed with standard input, which is read only once: such as --base FIX.4.4");
  }
  Versions versions;
  const LogCount count = for_each_message(options.log, "finding the version of",
                                          [&](const MessageView& message) { versions.see(message); });
  if (count.messages + count.unreadable == 0) throw std::runtime_error(options.log + ": " + std::string{no_message});
  return versions.choose(options);
}

// Counts the violations that remain with the overlay, by kind.
class Rest {
 public:
  explicit Rest(const Dictionary& dictionary) : dictionary_(dictionary) {}

  void see(const MessageView& message) {
    if (message.begin_string() != dictionary_.begin_string()) return;
    ++messages_;
    ValidationReport report;
    const auto violation = validate(message, dictionary_, policy_, report);
    if (!violation) return;
    ++invalid_;
    std::string kind = std::string(message.msg_type()) + ": " + std::string(to_text(violation->reason));
    if (violation->has_tag()) kind += " (" + std::to_string(value(violation->tag)) + ")";
    if (kinds_.size() < max_kinds_shown || kinds_.contains(kind)) ++kinds_[kind];
  }

  // Returns whether there are none.
  bool append_to(SafeText& out) const {
    out.add("{} of {} messages are valid with the overlay\n", messages_ - invalid_, messages_);
    for (const auto& [kind, count] : kinds_) out.add("  {}, {} messages\n", kind, count);
    return invalid_ == 0;
  }

 private:
  const Dictionary& dictionary_;
  ValidationPolicy policy_ = ValidationPolicy::strict();
  std::uint64_t messages_ = 0, invalid_ = 0;
  std::map<std::string, std::uint64_t> kinds_;
};

}  // namespace

int learn_dictionary(const LearnOptions& given) {
  const LearnOptions options = with_base(given);
  const DictionaryModel base =
      load_model({.transport = options.transport.empty() ? "" : dictionary_path(options.transport),
                  .application = dictionary_path(options.base),
                  .overlays = {}});
  const Dictionary dictionary = Dictionary::build(base);
  for (const std::string& line : dictionary.repairs().summary()) print_error("warning: {}\n", line);
  Learner learner(dictionary);
  std::uint64_t others = 0;
  const LogCount count = for_each_message(options.log, "learning from", [&](const MessageView& message) {
    if (message.begin_string() == dictionary.begin_string()) {
      learner.see(message);
    } else {
      ++others;
    }
  });
  if (count.messages + count.unreadable == 0) {
    throw std::runtime_error(options.log + ": " + std::string{no_message});
  }
  OverlayModel overlay = learner.overlay();
  overlay.base = base_name(options.base, options.out);
  overlay.transport = base_name(options.transport, options.out);
  const std::string xml = overlay_to_xml(overlay);
  // The overlay is the result. If it goes to standard output, other lines go to standard error.
  const auto say = [&](const SafeText& text) { options.out.empty() ? print_error(text) : print(text); };
  if (options.out.empty()) {
    print(SafeText::lines(xml));
  } else {
    OutputFile out{{.path = options.out, .overwrite = true}};
    out.bytes = xml;
    out.finish();
  }
  SafeText found;
  if (given.base.empty()) {
    found.add("compared with {}{}{}, the version of most messages; --base names another dictionary\n",
              options.transport, options.transport.empty() ? "" : " and ", options.base);
  }
  for (const std::string& line : learner.describe()) found.add("{}\n", line);
  if (learner.left_out() > 0) {
    found.add(
        "too many findings: {} times a field was left out (there may be {}, of them {} in one message or group)\n",
        learner.left_out(), Learner::max_findings, Learner::max_per_scope);
  }
  if (others > 0) found.add("{} messages are not {}: left out\n", others, dictionary.begin_string());
  if (count.corrected > 0) {
    found.add(
        "{} of {} messages have a wrong BodyLength or CheckSum, as in a log with masked values; they were used "
        "too\n",
        count.corrected, count.messages);
  }
  if (count.unreadable > 0) found.add("{} messages cannot be read: 'nfx decode' explains\n", count.unreadable);
  say(found);
  if (options.log == "-") return exit_done;
  const Dictionary with_overlay = Dictionary::build(apply_overlay(base, overlay));
  Rest rest(with_overlay);
  static_cast<void>(
      for_each_message(options.log, "validating", [&](const MessageView& message) { rest.see(message); }));
  SafeText remaining;
  const bool all_valid = rest.append_to(remaining);
  say(remaining);
  return all_valid && learner.left_out() == 0 ? exit_done : exit_failed;
}

}  // namespace nfx::app
