// nfx session store show, verify and tail: requests to the control plane, which reads the journal's files.
#include "session/store.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "command.hpp"
#include "control_access.hpp"
#include "text.hpp"

namespace nfx::app {
namespace {

using Json = nlohmann::ordered_json;

struct StoreOptions {
  ControlOptions control;
  std::string session;
  std::uint32_t last = 10;
};
StoreOptions show_options, verify_options, tail_options;

void append_store(SafeText& out, const Json& answer) {
  for (const auto& [name, member] : answer.items()) {
    if (member.is_object() && !member.contains("files")) continue;
    const std::size_t start = out.size();
    out.add("{}", name).pad_to(start, 16);
    if (member.is_object()) {
      out.add("{} files, {} bytes\n", member_text(member, "files"), member_text(member, "bytes"));
    } else {
      out.add("{}\n", member_text(answer, name.c_str()));
    }
  }
  if (const Json* counters = member_object(answer, "counters")) {
    for (const auto& [name, count] : counters->items()) {
      const std::size_t start = out.size();
      out.add("{}", name).pad_to(start, 32).add("{}\n", count.dump());
    }
  }
}

// "20261126-09:30:00.000  97  8=FIX.4.4|9=120|35=D|..."
void append_messages(SafeText& out, const Json& answer) {
  for_each_object(answer, "messages", [&](const Json& message) {
    out.add("{}  {}  ", member_text(message, "time"), member_text(message, "number"));
    for (const Json& field : message.value("fields", Json::array())) {
      if (!field.is_array() || field.size() != 2 || !field[1].is_string()) continue;
      out.add("{}={}|", field[0].dump(), field[1].get<std::string>());
    }
    if (member_is_true(message, "cut")) out.add("... ({} bytes)", member_text(message, "size"));
    out += '\n';
  });
}

void append_findings(SafeText& out, const Json& answer) {
  for_each_object(answer, "findings", [&](const Json& each) {
    out.add("  {}: byte {}: {}\n", member_text(each, "file"), member_text(each, "offset"), member_text(each, "what"));
  });
}

struct Verified {
  std::uint64_t segments = 0, records = 0, messages = 0;
  std::string result = "ok";
};

// Requests part after part, each with an answer of its own.
int verify_store() {
  Verified sum;
  std::uint64_t from = 0;
  for (bool complete = false; !complete;) {
    std::uint64_t to = from;
    const int exit_code =
        ask_and_show(verify_options.control,
                     {.target = control_path(verify_options.session, "store/verify?from=" + std::to_string(from))},
                     append_findings, [&](const Json& answer) {
                       to = member_number(answer, "to").value_or(from);
                       // A part without progress ends it.
                       complete = member_is_true(answer, "complete") || to <= from;
                       sum.segments += member_number(answer, "segments").value_or(0);
                       sum.records += member_number(answer, "records").value_or(0);
                       sum.messages += member_number(answer, "messages").value_or(0);
                       const std::string result = member_text(answer, "result");
                       if (result != "ok" && sum.result != "damaged") sum.result = result;
                       complete = complete || result == "damaged";
                       return exit_done;
                     });
    if (exit_code != exit_done) return exit_code;
    from = to;
  }
  const int exit_code = sum.result == "ok" ? exit_done : exit_failed;
  if (verify_options.control.json) return exit_code;
  SafeText out;
  out.add("{}: {}, {} segments, {} records, {} messages\n", verify_options.session, sum.result, sum.segments,
          sum.records, sum.messages);
  print(out);
  return exit_code;
}

cli::Command store_command(std::string_view name, std::string_view summary, int (*run)(), StoreOptions& options,
                           std::string_view example) {
  cli::Command made = control_command(name, summary, run, options.control, example);
  made.options.insert(made.options.begin(), {.names = "SESSION",
                                             .target = &options.session,
                                             .help = "Name or number, as 'nfx session list' shows them",
                                             .required = true});
  return made;
}

}  // namespace

cli::Command session_store_command() {
  cli::Command verify_command =
      store_command("verify", "Check every checksum, message and sequence number in the files", verify_store,
                    verify_options, "nfx session store verify 'FIX.4.4:DESK->VENUE'");
  verify_command.exit_codes =
      "0 all is as written; 1 torn, damaged, refused or failed; 2 wrong usage; 3 no engine answered";
  verify_command.details =
      "The engine reads the files in parts of 16 MiB or one segment, while its sessions continue. With --json the "
      "answer of each part is a line. 'nfx store verify' checks archived segments.";
  cli::Command tail_command = store_command(
      "tail", "Show the last messages that were sent, secrets masked",
      [] {
        return ask_and_show(
            tail_options.control,
            {.target = control_path(tail_options.session, "store/tail?limit=" + std::to_string(tail_options.last))},
            append_messages);
      },
      tail_options, "nfx session store tail 'FIX.4.4:DESK->VENUE' -n 3");
  tail_command.options.push_back(
      {.names = "-n,--last", .target = &tail_options.last, .help = "Maximum number of messages", .range = {{1, 64}}});
  return {.name = "store",
          .summary = "Show and check a session's journal while the engine has it open",
          .commands = {store_command(
                           "show", "Show the journal: folder, durability, messages, files, counters",
                           [] {
                             return ask_and_show(show_options.control,
                                                 {.target = control_path(show_options.session, "store")}, append_store);
                           },
                           show_options, "nfx session store show 'FIX.4.4:DESK->VENUE'"),
                       std::move(verify_command), std::move(tail_command)},
          .details = "Needs a role at the engine and no access to the journal's files, which 'nfx store' reads.",
          .exit_codes = control_exit_codes};
}

}  // namespace nfx::app
