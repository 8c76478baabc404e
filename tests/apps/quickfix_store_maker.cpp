// Makes a file store with QuickFIX itself, for the tests of nfx store import.
//
//   quickfix_store_maker DIR BEGIN_STRING SENDER TARGET QUALIFIER NEXT_OUT NEXT_IN NUMBER:TYPE...
//
// Stores a message of each TYPE under its NUMBER, then sets both sequence numbers.
#include <quickfix/FileStore.h>
#include <quickfix/Message.h>
#include <quickfix/SessionID.h>

#include <exception>
#include <iostream>
#include <string>

namespace {

std::string make_message(const FIX::SessionID& id, int number, const std::string& type) {
  FIX::Message message;
  message.getHeader().setField(8, id.getBeginString().getString());
  message.getHeader().setField(35, type);
  message.getHeader().setField(34, std::to_string(number));
  message.getHeader().setField(49, id.getSenderCompID().getString());
  message.getHeader().setField(56, id.getTargetCompID().getString());
  message.getHeader().setField(52, "20260102-11:12:13.456");
  message.setField(58, "text of " + std::to_string(number));
  return message.toString();
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 8) return 2;
  try {
    const FIX::SessionID id(arguments[2], arguments[3], arguments[4], arguments[5]);
    FIX::FileStore store(arguments[1], id);
    for (int i = 8; i < count; ++i) {
      const std::string text = arguments[i];
      const std::size_t colon = text.find(':');
      const int number = std::atoi(text.c_str());
      store.set(number, make_message(id, number, text.substr(colon + 1)));
    }
    store.setNextSenderMsgSeqNum(std::atoi(arguments[6]));
    store.setNextTargetMsgSeqNum(std::atoi(arguments[7]));
  } catch (const std::exception& error) {
    std::cerr << "quickfix_store_maker: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
