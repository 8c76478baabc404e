// An acceptor of QuickFIX without connections, compiled as C++14 because QuickFIX's headers do not compile as
// C++23.
#include "idle_stores/quickfix_idle.hpp"

#include <quickfix/Application.h>
#include <quickfix/FileStore.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketAcceptor.h>

#include <sstream>

namespace nfx {
namespace bench {

namespace {

FIX::SessionSettings settings_of(const std::string& folder, unsigned sessions, int port) {
  std::ostringstream text;
  text << "[DEFAULT]\nBeginString=FIX.4.4\nStartTime=00:00:00\nEndTime=00:00:00\nHeartBtInt=30\nUseDataDictionary=N\n"
       << "ConnectionType=acceptor\nSenderCompID=VENUE\nFileStorePath=" << folder << "\nSocketAcceptPort=" << port
       << '\n';
  for (unsigned number = 0; number < sessions; ++number) text << "[SESSION]\nTargetCompID=TRADER" << number << '\n';
  std::istringstream stream(text.str());
  return FIX::SessionSettings(stream);
}

class Acceptor final : public QuickFixAcceptor {
 public:
  Acceptor(const std::string& folder, unsigned sessions, int port)
      : settings_(settings_of(folder, sessions, port)), stores_(folder), acceptor_(application_, stores_, settings_) {
    acceptor_.start();
  }
  ~Acceptor() override { acceptor_.stop(true); }

 private:
  FIX::NullApplication application_;
  FIX::SessionSettings settings_;
  FIX::FileStoreFactory stores_;
  FIX::SocketAcceptor acceptor_;
};

}  // namespace

std::unique_ptr<QuickFixAcceptor> make_quickfix_acceptor(const std::string& folder, unsigned sessions, int port) {
  return std::unique_ptr<QuickFixAcceptor>(new Acceptor(folder, sessions, port));
}

}  // namespace bench
}  // namespace nfx
