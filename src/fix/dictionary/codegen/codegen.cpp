// Generates all files of a dictionary, with a digest so that each program recompiles when one of them changes.
#include "dictionary/codegen.hpp"

#include "dictionary/codegen/emit.hpp"
#include "dictionary/codegen/ir.hpp"

namespace nfx {
namespace {

// FNV-1a over names and texts, to distinguish generated versions.
std::uint64_t digest_of(const std::vector<GeneratedFile>& files) {
  std::uint64_t digest = 0xcbf29ce484222325;
  const auto add = [&digest](std::string_view bytes) {
    for (const char c : bytes) digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  };
  for (const GeneratedFile& file : files) {
    add(file.name);
    add(file.text);
  }
  return digest;
}

}  // namespace

std::vector<GeneratedFile> generate_code(const Dictionary& dictionary, const CodegenOptions& options) {
  const codegen::Ir ir = codegen::build_ir(dictionary, options);
  std::vector<GeneratedFile> files;
  files.push_back({"fields.hpp", {}});
  files.push_back({"header.hpp", emit_header(ir)});
  files.push_back({"forward.hpp", emit_forward(ir)});
  files.push_back({"dispatch.hpp", emit_dispatch(ir)});
  files.push_back({"shared.hpp", emit_shared(ir)});
  files.push_back({"names.hpp", emit_names(ir)});
  files.push_back({"messages.hpp", emit_all_messages(ir)});
  for (const codegen::Group& group : ir.groups) files.push_back({group_path(group), emit_group(ir, group)});
  for (const codegen::Message& message : ir.messages) {
    files.push_back({message.file + ".hpp", emit_message(ir, message)});
  }
  files.front().text = emit_fields(ir, digest_of(files));
  return files;
}

}  // namespace nfx
