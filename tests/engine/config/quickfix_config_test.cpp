// Configurations in either format: QuickFIX's sample settings get the right meaning, and everything is explained.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "config/quickfix_settings.hpp"
#include "config/quickfix_text.hpp"
#include "nexusfix/dictionary/dictionary.hpp"

namespace nfx {
namespace {

namespace fs = std::filesystem;

const fs::path data_folder = NFX_SOURCE_DIR "/tests/engine/config/data";

std::vector<fs::path> samples() {
  std::vector<fs::path> files;
  for (const auto& each : fs::directory_iterator{data_folder}) {
    if (each.path().extension() == ".cfg") files.push_back(each.path());
  }
  std::ranges::sort(files);
  return files;
}

class AnyConfig : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("nfx_quickfix_test_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream{folder_ / name, std::ios::binary} << text;
    return folder_ / name;
  }

  fs::path folder_;
};

TEST_F(AnyConfig, converted_file_means_the_same) {
  ASSERT_GE(samples().size(), 10U);
  for (const fs::path& file : samples()) {
    SCOPED_TRACE(file.filename());
    const ExplainedConfig before = explain_config(file);
    const fs::path toml = write(file.stem().string() + ".toml", translate_quickfix_file(file, folder_).toml);
    const ExplainedConfig after = explain_config(toml);
    EXPECT_TRUE(before.is_quickfix);
    EXPECT_FALSE(after.is_quickfix);
    ASSERT_EQ(before.sessions.size(), after.sessions.size());
    for (std::size_t i = 0; i < before.sessions.size(); ++i) {
      EXPECT_EQ(before.sessions[i].name, after.sessions[i].name);
      ASSERT_EQ(before.sessions[i].settings.size(), after.sessions[i].settings.size());
      for (std::size_t k = 0; k < before.sessions[i].settings.size(); ++k) {
        const ExplainedSetting &a = before.sessions[i].settings[k], &b = after.sessions[i].settings[k];
        EXPECT_EQ(a.key + " = " + a.value, b.key + " = " + b.value);
      }
    }
  }
}

TEST_F(AnyConfig, every_translated_setting_is_explained_by_its_line) {
  for (const fs::path& file : samples()) {
    SCOPED_TRACE(file.filename());
    const TranslatedSettings settings = translate_quickfix_file(file, data_folder);
    const ExplainedConfig config = explain_config(file);
    for (const SettingOrigin& origin : settings.origins) {
      const bool of_log = origin.session == SettingOrigin::no_session;
      const auto& list = of_log ? config.log : config.sessions.at(origin.session).settings;
      const auto found = std::ranges::find(list, origin.key, &ExplainedSetting::key);
      ASSERT_NE(found, list.end()) << origin.key;
      EXPECT_TRUE(found->given) << origin.key;
      const std::string place = file.filename().string() + ':' + std::to_string(origin.line) + ' ';
      EXPECT_TRUE(origin.line == 0 || found->from.starts_with(place)) << found->from;
    }
  }
}

TEST_F(AnyConfig, sample_of_many_acceptors_is_read_as_meant) {
  std::vector<std::string> warnings;
  const EngineConfig config = load_any_config(data_folder / "acceptor_many.cfg", &warnings);
  ASSERT_EQ(config.sessions.size(), 3U);
  EXPECT_EQ(config.sessions[0].session.begin_string, "FIX.4.2");
  EXPECT_EQ(config.sessions[0].session.sender_comp_id, "VENUE");
  EXPECT_TRUE(config.sessions[0].session.reset_on_logout);
  EXPECT_FALSE(config.sessions[0].session.check_latency);
  EXPECT_TRUE(config.sessions[1].session.check_latency);
  EXPECT_EQ(config.sessions[1].session.max_latency, std::chrono::seconds{30});
  EXPECT_EQ(config.sessions[2].listen, (Endpoint{"0.0.0.0", 9881}));
  EXPECT_EQ(config.sessions[2].store.retain_messages, 0U);
  EXPECT_EQ(config.sessions[2].store_kind, StoreKind::journal);
  EXPECT_EQ(config.sessions[2].journal.directory, data_folder / "store");
  EXPECT_EQ(config.sessions[2].journal.retain_messages, 0U);
  EXPECT_EQ(warnings, std::vector<std::string>{});
}

TEST_F(AnyConfig, sample_with_failover_connects_where_it_says) {
  const EngineConfig config = load_any_config(data_folder / "failover.cfg");
  ASSERT_EQ(config.sessions.size(), 2U);
  EXPECT_EQ(config.sessions[1].connect,
            (std::vector<Endpoint>{{"two.example", 9001}, {"backup.example", 9102}, {"2001:db8::1", 9003}}));
  EXPECT_EQ(config.sessions[0].reconnect_delay, std::chrono::seconds{2});
  EXPECT_EQ(config.sessions[0].reconnect_delay_max, std::chrono::seconds{2});
  EXPECT_EQ(config.sessions[0].session.heartbeat_interval, std::chrono::seconds{7200});
}

TEST_F(AnyConfig, mistake_found_later_is_said_of_the_line_it_came_from) {
  const auto said = [&](const std::string& text) {
    const fs::path file = write("broker.cfg", text);
    try {
      (void)load_any_config(file);
    } catch (const ConfigError& error) {
      return std::string{error.what()}.substr(folder_.string().size() + 1);
    }
    return std::string{"no complaint"};
  };
  EXPECT_EQ(said(initiator + "TargetCompID=A B\n")
                .find("broker.cfg:11: [SESSION] TargetCompID (target_comp_id): expected the peer's CompID"),
            0U);
  EXPECT_EQ(said(initiator + "DataDictionary=missing.xml\n")
                .find("broker.cfg:11: [SESSION] DataDictionary (dictionary): no file \"missing.xml\""),
            0U);
  EXPECT_EQ(said(initiator + "SNIHostName=a\nSocketInsecureSkipVerify=Y\nPersistMessages=N\nFileStorePath=s\n"),
            "no complaint");
  EXPECT_EQ(said("[DEFAULT]\nLogonTimeout=0\n" + without(initiator, "[DEFAULT]\n"))
                .find("broker.cfg:2: [DEFAULT] LogonTimeout (logon_timeout_s): expected an integer"),
            0U);
}

TEST_F(AnyConfig, log_folder_is_said_to_come_from_its_line) {
  const fs::path file = write("broker.cfg", initiator + "FileLogPath=log\n");
  EXPECT_EQ(load_any_config(file).log.directory, folder_ / "log");
  const ExplainedConfig config = explain_config(file);
  const auto found = std::ranges::find(config.log, "directory", &ExplainedSetting::key);
  ASSERT_NE(found, config.log.end());
  EXPECT_EQ(found->value + " from " + found->from, "\"log\" from broker.cfg:11 [SESSION] FileLogPath");
}

TEST_F(AnyConfig, certificate_beside_the_file_is_found_from_the_toml) {
  fs::create_directories(folder_ / "made");
  write("own.pem", "");
  const fs::path file = write("broker.cfg", initiator + "ClientCertificateFile=own.pem\n");
  EXPECT_TRUE(load_any_config(file).sessions.at(0).tls_enabled);
  const TranslatedSettings settings = translate_quickfix_file(file, folder_ / "made");
  EXPECT_NE(settings.toml.find("\ntls_certificate = \"../own.pem\" "), std::string::npos) << settings.toml;
}

TEST_F(AnyConfig, dictionary_beside_the_file_is_found_from_the_toml) {
  fs::create_directories(folder_ / "made");
  fs::copy_file(NFX_SOURCE_DIR "/dictionaries/FIX44.xml", folder_ / "mine.xml", fs::copy_options::overwrite_existing);
  const fs::path file = write("broker.cfg", initiator + "DataDictionary=mine.xml\n");
  EXPECT_NE(load_any_config(file).sessions.at(0).dictionary, nullptr);
  const TranslatedSettings settings = translate_quickfix_file(file, folder_ / "made");
  EXPECT_NE(settings.toml.find("\ndictionary = \"../mine.xml\" "), std::string::npos) << settings.toml;
  EXPECT_NE(load_any_config(write("made/broker.toml", settings.toml)).sessions.at(0).dictionary, nullptr);
}

// As in QuickFIX's examples: the folder of the dictionaries does not exist after the file was moved.
const std::string moved_acceptor =
    "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=9\nNonStopSession=Y\nSenderCompID=US\n"
    "[SESSION]\nBeginString=FIX.4.0\nTargetCompID=A\nDataDictionary=../spec/FIX40.xml\n"  // line 9
    "[SESSION]\nBeginString=FIX.4.0\nTargetCompID=B\nDataDictionary=../spec/FIX40.xml\n"
    "[SESSION]\nBeginString=FIX.4.1\nTargetCompID=A\nDataDictionary=/nowhere/FIX41.xml\n"
    "[SESSION]\nBeginString=FIXT.1.1\nDefaultApplVerID=FIX.5.0\nTargetCompID=A\n"
    "TransportDataDictionary=../spec/FIXT11.xml\nAppDataDictionary=../spec/FIX50.xml\n";  // lines 22 and 23

TEST_F(AnyConfig, dictionary_that_is_not_there_is_replaced_by_the_shipped_one_of_its_name_with_one_warning) {
  const fs::path file = write("moved.cfg", moved_acceptor);
  std::vector<std::string> warnings;
  const EngineConfig config = load_any_config(file, &warnings);
  ASSERT_EQ(config.sessions.size(), 4U);
  EXPECT_EQ(config.sessions[1].dictionary->begin_string(), "FIX.4.0");
  EXPECT_EQ(config.sessions[3].dictionary->version_name(), "FIX.5.0");
  const std::string end = ": no such file, so the shipped dictionary of that name is read";
  EXPECT_EQ(warnings, (std::vector<std::string>{
                          file.string() + ":9: [SESSION] DataDictionary: ../spec/FIX40.xml, /nowhere/FIX41.xml" + end,
                          file.string() + ":22: [SESSION] TransportDataDictionary: ../spec/FIXT11.xml" + end,
                          file.string() + ":23: [SESSION] AppDataDictionary: ../spec/FIX50.xml" + end,
                      }));
}

TEST_F(AnyConfig, dictionary_with_backslashes_in_its_path_is_found_as_with_slashes) {
  fs::create_directories(folder_ / "spec");
  fs::copy_file(NFX_SOURCE_DIR "/dictionaries/FIX44.xml", folder_ / "spec" / "mine.xml");
  std::vector<std::string> warnings;
  EXPECT_NE(load_any_config(write("a.cfg", initiator + "DataDictionary=spec\\mine.xml\n"), &warnings)
                .sessions.at(0)
                .dictionary,
            nullptr);
  EXPECT_TRUE(warnings.empty());
  for (const char* path : {"spec\\fix\\FIX44.xml", "C:\\quickfix\\spec\\FIX44.xml", "..\\spec/FIX44.xml",
                           "\\\\server\\share\\FIX44.xml"}) {
    const fs::path file = write("b.cfg", initiator + "DataDictionary=" + path + "\n");
    EXPECT_EQ(load_any_config(file, &warnings).sessions.at(0).dictionary->begin_string(), "FIX.4.4") << path;
    EXPECT_EQ(warnings, (std::vector<std::string>{file.string() + ":11: [SESSION] DataDictionary: " + path +
                                                  ": no such file, so the shipped dictionary of that name is read"}));
  }
}

TEST_F(AnyConfig, dictionary_that_is_not_there_is_looked_for_in_the_folder_of_the_settings_first) {
  fs::create_directories(folder_ / "made");
  fs::create_directories(folder_ / "spec");
  fs::copy_file(NFX_SOURCE_DIR "/dictionaries/FIX40.xml", folder_ / "spec" / "FIX40.xml");
  fs::copy_file(NFX_SOURCE_DIR "/dictionaries/FIX41.xml", folder_ / "FIX41.xml");
  const TranslatedSettings settings = translate_quickfix_file(write("moved.cfg", moved_acceptor), folder_ / "made");
  EXPECT_NE(settings.toml.find("\ndictionary = \"../spec/FIX40.xml\" "), std::string::npos) << settings.toml;
  EXPECT_NE(settings.toml.find("\ndictionary = \"../FIX41.xml\" "), std::string::npos) << settings.toml;
  ASSERT_EQ(settings.warnings.size(), 3U);
  EXPECT_EQ(settings.warnings[0].text,
            "../spec/FIX40.xml, /nowhere/FIX41.xml: no such file, so the one in the folder of the settings is read");
}

TEST_F(AnyConfig, dictionary_that_is_neither_there_nor_shipped_is_an_error) {
  const fs::path file = write("broker.cfg", initiator + "DataDictionary=../spec/OURS44.xml\n");
  try {
    static_cast<void>(load_any_config(file));
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string_view{error.what()}.find(
                  "broker.cfg:11: [SESSION] DataDictionary (dictionary): no file \"../spec/OURS44.xml\""),
              std::string_view::npos)
        << error.what();
  }
}

TEST_F(AnyConfig, certificate_that_is_not_there_leaves_an_acceptor_unencrypted_only_where_nothing_asks_for_tls) {
  const std::string text =
      "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=9\nNonStopSession=Y\nSenderCompID=US\n"
      "ServerCertificateFile=./certs/us.crt\nServerCertificateKeyFile=./certs/us.key\nSSLProtocol=all\n"
      "[SESSION]\nBeginString=FIX.4.4\nTargetCompID=THEM\n";
  std::vector<std::string> warnings;
  EXPECT_FALSE(load_any_config(write("executor.cfg", text), &warnings).sessions.at(0).tls_enabled);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("executor.cfg:6: [DEFAULT] ServerCertificateFile: no file ./certs/us.crt: the session is "
                             "NOT ENCRYPTED"),
            std::string::npos)
      << warnings[0];
  for (const std::string asks : {"SocketUseSSL=Y", "SSLEnable=Y", "CertificateVerifyLevel=2", "NeedClientAuth=Y",
                                 "CertificationAuthoritiesFile=ca.pem"}) {
    const fs::path file = write("executor.cfg", text + asks + "\n");
    EXPECT_NE(translate_quickfix_file(file, folder_).toml.find("\ntls = true "), std::string::npos) << asks;
  }
  fs::create_directories(folder_ / "certs");
  write("certs/us.key", "");
  EXPECT_NE(translate_quickfix_file(write("executor.cfg", text), folder_).toml.find("\ntls = true "), std::string::npos)
      << "the private key is there: the path of the certificate is wrong";
  write("certs/us.crt", "");
  EXPECT_TRUE(load_any_config(write("executor.cfg", text)).sessions.at(0).tls_enabled) << "the file is there";
}

TEST_F(AnyConfig, toml_is_loaded_and_explained_as_ever) {
  const fs::path file = write("engine.toml",
                              "[engine]\nidle = \"spin\"\n[defaults]\nsender_comp_id = \"US\"\n[[session]]\n"
                              "target_comp_id = \"THEM\"\nlisten = \"127.0.0.1:1\"\npassword = \"hidden\"\n"
                              "logon_fields = [\"96=hidden\"]\n");
  EXPECT_EQ(load_any_config(file).sessions.size(), 1U);
  const ExplainedConfig config = explain_config(file);
  std::map<std::string, std::string> shown;
  for (const ExplainedSetting& each : config.engine) shown[each.key] = each.value + " from " + each.from;
  for (const ExplainedSetting& each : config.sessions.at(0).settings)
    shown[each.key] = each.value + " from " + each.from;
  EXPECT_EQ(shown["idle"], "\"spin\" from engine.toml:2");
  EXPECT_EQ(shown["poll_threads"], "1 from built-in default");
  EXPECT_EQ(shown["sender_comp_id"], "\"US\" from engine.toml:4 [defaults]");
  EXPECT_EQ(shown["listen"], "\"127.0.0.1:1\" from engine.toml:7");
  EXPECT_EQ(shown["password"], "\"***\" from engine.toml:8");
  EXPECT_EQ(shown["logon_fields"], "[\"96=***\"] from engine.toml:9");
  EXPECT_EQ(shown["check_latency"], "true from built-in default");
}

TEST_F(AnyConfig, every_key_of_ours_in_the_table_is_a_key_of_the_configuration) {
  const std::string reference = config_reference();
  for (const QuickFixKey& key : quickfix_keys()) {
    for (std::size_t begin = 0; begin < key.ours.size();) {
      const std::size_t end = std::min(key.ours.find(", ", begin), key.ours.size());
      const std::string ours{key.ours.substr(begin, end - begin)};
      EXPECT_NE(reference.find("\n  " + ours + " = "), std::string::npos) << key.name << ": " << ours;
      begin = end + 2;
    }
  }
}

}  // namespace
}  // namespace nfx
