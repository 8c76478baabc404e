// Writes forward.hpp, which declares all classes, and dispatch.hpp, which calls a function by message type.
#include "dictionary/codegen/emit.hpp"

namespace nfx::codegen {

std::string emit_forward(const Ir& ir) {
  std::string out;
  emit_top(out, ir, "Declarations of all messages.");
  line(out, "#pragma once");
  line(out);
  line(out, "namespace nfx {");
  line(out, "class FieldWriter;");
  line(out, "class MessageView;");
  line(out, "}  // namespace nfx");
  line(out);
  line(out, "namespace ", ir.name_space, " {");
  line(out);
  for (const Message& message : ir.messages) {
    line(out, "template <typename View>");
    line(out, "class ", message.name, "Fields;");
    line(out, "using ", message.name, " = ", message.name, "Fields<nfx::MessageView>;");
    line(out, "template <typename Writer>");
    line(out, "class ", message.name, "Builder;");
  }
  line(out);
  line(out, "}  // namespace ", ir.name_space);
  return out;
}

std::string emit_dispatch(const Ir& ir) {
  std::string out;
  emit_top(out, ir, "Calls a program's function for a message by its type.");
  line(out, "#pragma once");
  line(out);
  line(out, "#include \"forward.hpp\"");
  line(out, "#include \"nexusfix/dictionary/generated.hpp\"");
  line(out);
  line(out, "namespace ", ir.name_space, " {");
  line(out);
  line(out,
       "// Calls receiver.take<Class>(message) with the class of the message's type, or receiver.take_other(message).");
  line(out, "// Cost: a switch. A program includes the headers of the messages that it takes.");
  line(out, "struct Messages {");
  line(out, "  template <typename Receiver>");
  line(out, "  static decltype(auto) dispatch(Receiver&& receiver, const nfx::MessageView& message) {");
  line(out, "    switch (nfx::generated::type_key(message.msg_type())) {");
  for (const Message& message : ir.messages) {
    if (message.msg_type.size() > 8) continue;
    line(out, "      case nfx::generated::type_key(", string_literal(message.msg_type),
         "): return receiver.template take<", message.name, ">(message);");
  }
  line(out, "      default: break;");
  line(out, "    }");
  for (const Message& message : ir.messages) {
    if (message.msg_type.size() <= 8) continue;
    line(out, "    if (message.msg_type() == ", string_literal(message.msg_type), ") return receiver.template take<",
         message.name, ">(message);");
  }
  line(out, "    return receiver.take_other(message);");
  line(out, "  }");
  line(out);
  line(out, "  // Whether it has a function for one of them.");
  line(out, "  template <typename Receiver>");
  line(out, "  static consteval bool any() {");
  std::string all;
  for (const Message& message : ir.messages) {
    all += (all.empty() ? "" : " || ") + ("Receiver::template takes<" + message.name + ">");
  }
  line(out, "    return ", all.empty() ? "false" : all, ";");
  line(out, "  }");
  line(out, "};");
  line(out);
  line(out, "}  // namespace ", ir.name_space);
  return out;
}

}  // namespace nfx::codegen
