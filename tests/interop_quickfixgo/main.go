// A FIX counterparty built on QuickFIX/Go for interoperability tests: it does what standard input says, one command a
// line, and reports every event as one line on standard output. Commands and events are those of the peer built on
// QuickFIX for C++, as far as QuickFIX/Go can do them. Exit code: 0 clean, 1 a command failed, 2 it could not start.
// End of input means `quit`.
//
// Commands
//
//	order N            send N NewOrderSingle with ClOrdID id-1, id-2, ...; without a session they are stored
//	logout [TEXT]      Logout, then stay away until `logon`; an acceptor does not even listen meanwhile
//	logon              come back
//	reset              Logout, both sequence numbers to 1, log on again (an initiator with ResetSeqNumFlag=Y)
//	seq                report SEQ
//	test-request ID    send TestRequest
//	quit               leave, with Logout when there is a session
//
// Events (POSSDUP is Y or N; an absent field is -)
//
//	READY                                          started; an acceptor listens
//	LOGON
//	LOGOUT [TEXT]                                  session over; TEXT is that of the last Logout received
//	ORDER CLORDID SEQ POSSDUP SYMBOL SIDE QUANTITY PRICE PARTIES DATA   NewOrderSingle; answered by New and Filled
//	EXEC CLORDID EXECTYPE ORDSTATUS SEQ POSSDUP    ExecutionReport
//	ADMIN-IN MSGTYPE SEQ POSSDUP [KEY=VALUE ...]   Logon: heartbeat reset; TestRequest, Heartbeat: id; ResendRequest:
//	ADMIN-OUT MSGTYPE SEQ POSSDUP [KEY=VALUE ...]    begin end; SequenceReset: new gapfill; Logout: text, to end of line
//	APP-OUT MSGTYPE SEQ POSSDUP                    application message sent, resent, or stored
//	REJECT in|out MSGTYPE REFSEQ REFMSGTYPE REFTAG REASON TEXT   Reject (3) or BusinessMessageReject (j)
//	SEQ OUT IN                                     next numbers
//	ERROR TEXT
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

type options struct {
	initiator           string
	acceptor            int
	beginString         string
	sender              string
	target              string
	heartbeat           int
	logoutTimeout       int
	dictionary          string
	transportDictionary string
	resetOnLogon        bool
	rich                bool
	trace               bool
}

func parseOptions() (options, error) {
	var o options
	flag.StringVar(&o.initiator, "initiator", "", "connect to HOST:PORT")
	flag.IntVar(&o.acceptor, "acceptor", 0, "listen on PORT of the loopback address")
	flag.StringVar(&o.beginString, "begin-string", "FIX.4.4", "FIX.4.4, or FIXT.1.1 for FIX.5.0SP2")
	flag.StringVar(&o.sender, "sender", "PEER", "own SenderCompID")
	flag.StringVar(&o.target, "target", "NEXUS", "the other side's CompID")
	flag.IntVar(&o.heartbeat, "heartbeat", 30, "HeartBtInt in seconds (initiator)")
	flag.IntVar(&o.logoutTimeout, "logout-timeout", 2, "seconds to wait for Logout")
	flag.StringVar(&o.dictionary, "dictionary", "", "validate with this file")
	flag.StringVar(&o.transportDictionary, "transport-dictionary", "", "the session messages' file, for FIXT.1.1")
	flag.BoolVar(&o.resetOnLogon, "reset-on-logon", false, "start over with every connection")
	flag.BoolVar(&o.rich, "rich", false, "orders carry a party group and EncodedText")
	flag.BoolVar(&o.trace, "trace", false, "QuickFIX/Go's log on standard error")
	flag.Parse()
	if (o.initiator == "") == (o.acceptor == 0) {
		return o, fmt.Errorf("one of --initiator and --acceptor is needed")
	}
	if o.beginString != "FIX.4.4" && o.beginString != "FIXT.1.1" {
		return o, fmt.Errorf("--begin-string is FIX.4.4 or FIXT.1.1")
	}
	return o, nil
}

var reportLock sync.Mutex

// One write per line, so that a reader at the other end of a pipe sees each event when it happens.
func report(words ...string) {
	line := strings.Map(func(r rune) rune {
		if r == '\001' {
			return '|'
		}
		if r < ' ' {
			return ' '
		}
		return r
	}, strings.Join(words, " "))
	reportLock.Lock()
	defer reportLock.Unlock()
	os.Stdout.WriteString(line + "\n")
}

func execute(p *peer, line string) error {
	name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch name {
	case "":
		return nil
	case "order":
		count, err := strconv.Atoi(rest)
		if err != nil || count < 1 {
			return fmt.Errorf("expected: order N")
		}
		return p.sendOrders(count)
	case "logout":
		p.leave(rest)
		return nil
	case "logon":
		return p.comeBack()
	case "reset":
		return p.reset()
	case "seq":
		report("SEQ", strconv.Itoa(p.store.NextSenderMsgSeqNum()), strconv.Itoa(p.store.NextTargetMsgSeqNum()))
		return nil
	case "test-request":
		return p.testRequest(rest)
	}
	return fmt.Errorf("unknown command")
}

func run() int {
	o, err := parseOptions()
	if err != nil {
		report("ERROR", err.Error())
		return 2
	}
	p, err := newPeer(o)
	if err == nil {
		err = p.comeBack()
	}
	if err != nil {
		report("ERROR", err.Error())
		return 2
	}
	report("READY")
	failed := false
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() && strings.TrimSpace(input.Text()) != "quit" {
		if err := execute(p, input.Text()); err != nil {
			failed = true
			report("ERROR", input.Text()+":", err.Error())
		}
	}
	p.leave("")
	if failed {
		return 1
	}
	return 0
}

func main() { os.Exit(run()) }
