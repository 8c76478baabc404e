"""Settings with the keys and paths of QuickFIX's example programs, in a folder without the files that they name: dictionaries
of another folder, a certificate, versions of SSL that are out of use."""

EXECUTOR = """[DEFAULT]
ConnectionType=acceptor
SocketAcceptAddress=127.0.0.1
SocketAcceptPort=0
SocketReuseAddress=Y
StartTime=00:00:00
EndTime=00:00:00
FileStorePath=store
FileLogPath=log
ServerCertificateFile=./cfg/certs/server.crt
ServerCertificateKeyFile=./cfg/certs/server.key
SSLProtocol = all
TimestampPrecision=6
PreserveMessageFieldsOrder=N
"""
SESSIONS = (("FIX.4.0", "DataDictionary=../spec/FIX40.xml"),
            ("FIX.4.2", "DataDictionary=../spec/FIX42.xml\nAllowedRemoteAddresses=127.0.0.1,127.0.0.2"),
            ("FIXT.1.1", "DefaultApplVerID=FIX.5.0\nTransportDataDictionary=../spec/FIXT11.xml\n"
             "AppDataDictionary=../spec/FIX50.xml"))
TRADECLIENT = """[DEFAULT]
ConnectionType=initiator
ReconnectInterval=2
FileStorePath=client_store
FileLogPath=client_log
StartTime=00:00:00
EndTime=00:00:00
UseDataDictionary=Y
DataDictionary=../spec/FIX42.xml
HttpAcceptPort=9911
SSLProtocol = +SSLv3 +TLSv1 -SSLv2
TimestampPrecision=6
[SESSION]
BeginString=FIX.4.2
SenderCompID=CLIENT1
TargetCompID=EXECUTOR
SocketConnectHost=127.0.0.1
"""


def executor():
    """Of an acceptor, on a port of the kernel's choice."""
    sessions = (f"[SESSION]\nBeginString={begin_string}\nSenderCompID=EXECUTOR\nTargetCompID=CLIENT1\n{keys}\n"
                for begin_string, keys in SESSIONS)
    return EXECUTOR + "".join(sessions)


def tradeclient(port):
    """Of the initiator that connects to it."""
    return TRADECLIENT + f"SocketConnectPort={port}\nHeartBtInt=30 \n"
