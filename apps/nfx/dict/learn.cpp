// nfx dict learn: reads a log twice, to write an overlay and to count the violations that remain with it.
#include <fstream>
#include <map>
#include <stdexcept>

#include "command.hpp"
#include "dict/commands.hpp"
#include "dict/files.hpp"
#include "dict/learner.hpp"
#include "nexusfix/dictionary/validator.hpp"
#include "output.hpp"

namespace nfx::app {
namespace {

constexpr std::size_t max_kinds_shown = 20;

// The base's file as an overlay names it: by its name when it is shipped, from the overlay's folder otherwise.
std::string base_name(const std::string& given, const std::string& out) {
  if (given.empty()) return {};
  std::error_code ignored;
  const std::filesystem::path path = dictionary_path(given);
  if (!std::filesystem::exists(given, ignored)) return path.filename().string();
  const std::filesystem::path folder = out.empty() ? "." : std::filesystem::path(out).parent_path();
  return std::filesystem::proximate(std::filesystem::absolute(path), std::filesystem::absolute(folder)).string();
}

// The violations that remain once the overlay is applied, counted by kind.
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

  // Whether there are none.
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

int learn_dictionary(const LearnOptions& options) {
  const DictionaryModel base =
      load_model({.transport = options.transport.empty() ? "" : dictionary_path(options.transport),
                  .application = dictionary_path(options.base),
                  .overlays = {}});
  const Dictionary dictionary = Dictionary::build(base);
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
    throw std::runtime_error("no FIX message found: a message starts with 8=FIX");
  }
  OverlayModel overlay = learner.overlay();
  overlay.base = base_name(options.base, options.out);
  overlay.transport = base_name(options.transport, options.out);
  const std::string xml = overlay_to_xml(overlay);
  // The overlay is the result: other lines go to standard error where both would go to standard output.
  const auto say = [&](const SafeText& text) { options.out.empty() ? print_error(text) : print(text); };
  if (options.out.empty()) {
    print(SafeText::lines(xml));
  } else {
    std::ofstream out(options.out, std::ios::binary);
    out << xml;
    out.close();
    if (!out)
      throw std::runtime_error(options.out + ": cannot be written; give the path of a file in a writable folder");
  }
  SafeText found;
  for (const std::string& line : learner.describe()) found.add("{}\n", line);
  if (learner.left_out() > 0) {
    found.add(
        "too many findings: {} times a field was left out (there may be {}, of them {} in one message or group)\n",
        learner.left_out(), Learner::max_findings, Learner::max_per_scope);
  }
  if (others > 0) found.add("{} messages are not {}: left out\n", others, dictionary.begin_string());
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
