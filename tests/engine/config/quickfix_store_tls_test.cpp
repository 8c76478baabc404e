// QuickFIX's keys for stores, logs and TLS: each becomes the NexusFIX setting with the same effect.
#include "config/quickfix_text.hpp"

namespace nfx {
namespace {

TEST(QuickFixStoreAndTls, file_store_becomes_a_journal) {
  expect_cases(initiator, {{"FileStorePath=s", "store = \"journal\""},
                           {"FileStorePath=s", "store_directory = \"s\""},
                           {"FileStorePath=s\nFileStoreSync=Y", "durability = \"group\""},
                           {"FileStorePath=s\nFileStoreSync=N", "durability = "},
                           {"FileStorePath=s\nPersistMessages=N", "store = \"journal\""},
                           {"FileStorePath=s\nPersistMessages=N", "retain_messages = 0"},
                           {"PersistMessages=N", "store = "},
                           {"", "store = "}});
}

TEST(QuickFixStoreAndTls, log_path_becomes_the_folder_of_the_log_and_a_second_one_is_said_to_be_without_effect) {
  const TranslatedSettings settings =
      translated("[DEFAULT]\nFileLogPath=a\n" + without(initiator, "[DEFAULT]\n") + "FileLogPath=b\n");
  EXPECT_NE(settings.toml.find("\n[log]\ndirectory = \"a\" "), std::string::npos) << settings.toml;
  EXPECT_EQ(warnings_of(settings),
            "broker.cfg:12: [SESSION] FileLogPath: has no effect: the sessions share the folder of line 2\n");
  EXPECT_EQ(translated(initiator).toml.find("[log]"), std::string::npos);
}

TEST(QuickFixStoreAndTls, tls_keys_of_an_initiator_become_ours) {
  expect_cases(initiator,
               {{"", "tls = "},
                {"SocketUseSSL=Y", "tls = true"},
                {"SSLEnable=Y", "tls = true"},
                {"SocketUseSSL=N\nCertificationAuthoritiesFile=ca.pem", "tls = false"},
                {"SocketUseSSL=N\nCertificationAuthoritiesFile=ca.pem", "tls_ca = "},
                {"CertificationAuthoritiesFile=ca.pem", "tls = true"},
                {"CertificationAuthoritiesFile=ca.pem", "tls_ca = \"ca.pem\""},
                {"CertificationAuthoritiesDirectory=cas", "tls_ca = \"cas\""},
                {"ClientCertificateFile=c.pem", "tls_certificate = \"c.pem\""},
                {"ClientCertificateKeyFile=k.pem", "tls_key = \"k.pem\""},
                {"ServerCertificateFile=c.pem", "tls = "},
                {"SocketCertificateFile=c.pem", "tls_certificate = \"c.pem\""},
                {"SocketPrivateKeyFile=k.pem", "tls_key = \"k.pem\""},
                {"SocketCAFile=ca.pem", "tls_ca = \"ca.pem\""},
                {"SocketCAFile=ca.pem", "tls_client_certificate = "},
                {"SSLCACertificate=ca.pem", "tls_ca = \"ca.pem\""},
                {"CertificateRevocationListFile=a.crl", "tls_crl = [\"a.crl\"]"},
                {"CertificateVerifyLevel=0", "tls_verify = false"},
                {"CertificateVerifyLevel=2", "tls_verify = "},
                {"SocketInsecureSkipVerify=Y", "tls_verify = false"},
                {"SocketInsecureSkipVerify=N", "tls = "},
                {"SSLValidateCertificates=N", "tls_verify = false"},
                {"SNIHostName=v", "tls_server_name = \"v\""},
                {"SocketServerName=v", "tls_server_name = \"v\""},
                {"SSLServerName=v", "tls_server_name = \"v\""},
                {"SSLProtocol=all -SSLv2 -SSLv3 -TLSv1", "tls_min_version = \"1.2\""},
                {"SSLProtocol=all -SSLv2 -SSLv3 -TLSv1", "tls_max_version = \"1.3\""},
                {"SSLProtocol=+TLSv1_1 +TLSv1_2", "tls_max_version = \"1.2\""},
                {"SSLProtocol=all -TLSv1_2", "tls_min_version = \"1.3\""},
                {"EnabledProtocols=TLSv1.2, TLSv1.3", "tls_max_version = \"1.3\""},
                {"SSLProtocols=Tls12", "tls_max_version = \"1.2\""},
                {"SocketMinimumTLSVersion=TLS13", "tls_min_version = \"1.3\""},
                {"SocketMinimumTLSVersion=TLS10", "tls_min_version = \"1.2\""},
                {"SSLCipherSuite=HIGH:!aNULL", "tls_ciphers = \"HIGH:!aNULL\""},
                {"TLSCipherSuites=TLS_AES_128_GCM_SHA256", "tls_ciphersuites = \"TLS_AES_128_GCM_SHA256\""}});
}

TEST(QuickFixStoreAndTls, ciphers_of_java_have_openssl_s_names_and_versions_without_any_are_not_used) {
  expect_cases(
      initiator,
      {{"CipherSuites=TLS_RSA_WITH_AES_128_CBC_SHA", "tls_ciphers = \"AES128-SHA\""},
       {"CipherSuites=TLS_RSA_WITH_AES_128_CBC_SHA", "tls_max_version = \"1.2\""},
       {"CipherSuites=SSL_RSA_WITH_AES_128_CBC_SHA", "tls_ciphers = \"AES128-SHA\""},
       {"CipherSuites=TLS_AES_128_GCM_SHA256", "tls_ciphersuites = \"TLS_AES_128_GCM_SHA256\""},
       {"CipherSuites=TLS_AES_128_GCM_SHA256", "tls_min_version = \"1.3\""},
       {"CipherSuites=TLS_AES_128_GCM_SHA256", "tls_ciphers = "},
       {"CipherSuites=TLS_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, "
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, TLS_EMPTY_RENEGOTIATION_INFO_SCSV",
        "tls_ciphers = \"ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-GCM-SHA384\""},
       {"CipherSuites=TLS_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "tls_max_version = "},
       {"EnabledProtocols=TLSv1.2,TLSv1.3\nCipherSuites=TLS_RSA_WITH_AES_128_CBC_SHA", "tls_max_version = \"1.2\""},
       {"SocketUseSSL=N\nCipherSuites=TLS_RSA_WITH_AES_128_CBC_SHA", "tls_ciphers = "}});
  EXPECT_EQ(warnings_of(translated(initiator + "CipherSuites=SSL_RSA_WITH_X,TLS_AES_128_GCM_SHA256\n")),
            "broker.cfg:11: [SESSION] CipherSuites: OpenSSL does not have SSL_RSA_WITH_X, which is left out\n");
  EXPECT_NE(complaint(initiator + "CipherSuites=none\n").find("OpenSSL has none of these ciphers"), std::string::npos);
}

TEST(QuickFixStoreAndTls, tls_keys_of_an_acceptor_become_ours) {
  expect_cases(acceptor, {{"ServerCertificateFile=c.pem", "tls_certificate = \"c.pem\""},
                          {"ServerCertificateKeyFile=k.pem", "tls_key = \"k.pem\""},
                          {"ClientCertificateFile=c.pem", "tls = "},
                          {"CertificateVerifyLevel=0", "tls_client_certificate = \"none\""},
                          {"CertificateVerifyLevel=1", "tls_client_certificate = \"request\""},
                          {"CertificateVerifyLevel=2", "tls_client_certificate = \"require\""},
                          {"CertificateVerifyLevel=0", "tls_verify = "},
                          {"NeedClientAuth=Y", "tls_client_certificate = \"require\""},
                          {"NeedClientAuth=N", "tls = "},
                          {"SSLEnable=Y\nSSLRequireClientCertificate=N", "tls_client_certificate = \"none\""},
                          {"SocketCAFile=ca.pem", "tls_client_certificate = \"require\""}});
}

TEST(QuickFixStoreAndTls, old_versions_alone_are_warned_of_and_turn_nothing_on) {
  for (const std::string versions : {"+SSLv3 +TLSv1 -SSLv2", "TLSv1_1", "all -TLSv1_2 -TLSv1_3"}) {
    const TranslatedSettings settings = translated(initiator + "SSLProtocol = " + versions + "\n");
    EXPECT_EQ(settings.toml.find("\ntls"), std::string::npos) << settings.toml;
    EXPECT_EQ(warnings_of(settings),
              "broker.cfg:11: [SESSION] SSLProtocol: has no effect: it has only versions older than TLS 1.2, and "
              "nothing else turns TLS on, so the session is not encrypted; to encrypt it write SocketUseSSL=Y and "
              "SSLProtocol=all\n");
    EXPECT_NE(complaint(initiator + "SSLProtocol = " + versions + "\nSocketUseSSL=Y\n").find("add TLSv1.2"),
              std::string::npos);
    EXPECT_NE(
        complaint(initiator + "SSLProtocol = " + versions + "\nClientCertificateFile=c.pem\n").find("add TLSv1.2"),
        std::string::npos);
  }
}

TEST(QuickFixStoreAndTls, certificate_that_is_not_checked_is_warned_of) {
  EXPECT_NE(warnings_of(translated(initiator + "SocketInsecureSkipVerify=Y\n")).find("for tests only"),
            std::string::npos);
}

}  // namespace
}  // namespace nfx
