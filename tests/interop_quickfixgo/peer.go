package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/quickfixgo/quickfix"
	"github.com/quickfixgo/quickfix/config"
)

// QuickFIX/Go's initiator or acceptor. One is made for every stay: a stopped one cannot start again.
type engine interface {
	Start() error
	Stop()
}

// The FIX side: what QuickFIX/Go calls back on its goroutines, and what the commands ask for.
type peer struct {
	options  options
	settings *quickfix.Settings
	id       quickfix.SessionID
	store    quickfix.MessageStore // outlives the engines, so that the numbers do
	engine   engine                // nil while away
	orders   int

	// The session's goroutine alone.
	logoutIn   string // of the last Logout received
	ordersIn   int
	executions int

	lock       sync.Mutex // what the callbacks share with the commands
	logoutOut  string     // for the next Logout sent
	resetLogon bool       // the next Logon carries ResetSeqNumFlag=Y
}

func newPeer(o options) (*peer, error) {
	p := &peer{options: o, settings: quickfix.NewSettings()}
	id, err := p.settings.AddSession(sessionSettings(o))
	if err != nil {
		return nil, err
	}
	// An acceptor reads its address from the settings of all sessions.
	p.settings.GlobalSettings().Set(config.SocketAcceptHost, "127.0.0.1")
	p.id = id
	p.store, err = quickfix.NewMemoryStoreFactory().Create(id)
	return p, err
}

func sessionSettings(o options) *quickfix.SessionSettings {
	s := quickfix.NewSessionSettings()
	s.Set(config.BeginString, o.beginString)
	s.Set(config.SenderCompID, o.sender)
	s.Set(config.TargetCompID, o.target)
	s.Set(config.HeartBtInt, strconv.Itoa(o.heartbeat))
	s.Set(config.LogoutTimeout, strconv.Itoa(o.logoutTimeout))
	s.Set(config.ReconnectInterval, "1")
	if o.resetOnLogon {
		s.Set(config.ResetOnLogon, "Y")
	}
	if o.transportDictionary != "" {
		s.Set(config.TransportDataDictionary, o.transportDictionary)
		s.Set(config.AppDataDictionary, o.dictionary)
	} else if o.dictionary != "" {
		s.Set(config.DataDictionary, o.dictionary)
	}
	if strings.HasPrefix(o.beginString, "FIXT") {
		s.Set(config.DefaultApplVerID, "9")
	}
	if o.acceptor != 0 {
		s.Set(config.SocketAcceptPort, strconv.Itoa(o.acceptor))
	} else if host, port, err := net.SplitHostPort(o.initiator); err == nil {
		s.Set(config.SocketConnectHost, host)
		s.Set(config.SocketConnectPort, port)
	}
	return s
}

// Create hands out the one store again and again.
func (p *peer) Create(quickfix.SessionID) (quickfix.MessageStore, error) { return p.store, nil }

func (p *peer) comeBack() (err error) {
	if p.engine != nil {
		return fmt.Errorf("not away")
	}
	logs := quickfix.NewNullLogFactory()
	if p.options.trace {
		logs = traceLog{}
	}
	var made engine
	if p.options.acceptor != 0 {
		made, err = quickfix.NewAcceptor(p, p, p.settings, logs)
	} else {
		made, err = quickfix.NewInitiator(p, p, p.settings, logs)
	}
	if err != nil {
		return err
	}
	if err = made.Start(); err == nil {
		p.engine = made
	}
	return err
}

// Logout, with its answer or its timeout, before it returns.
func (p *peer) leave(text string) {
	p.lock.Lock()
	p.logoutOut = text
	p.lock.Unlock()
	if p.engine != nil {
		p.engine.Stop()
		p.engine = nil
	}
}

func (p *peer) reset() error {
	p.leave("")
	if err := p.store.Reset(); err != nil {
		return err
	}
	p.lock.Lock()
	p.resetLogon = p.options.acceptor == 0
	p.lock.Unlock()
	return p.comeBack()
}

func (p *peer) sendOrders(count int) error {
	for ; count > 0; count-- {
		p.orders++
		if err := quickfix.SendToTarget(newOrder(p.orders, p.options.rich), p.id); err != nil {
			return err
		}
	}
	return nil
}

func (p *peer) testRequest(id string) error {
	request := newMessage("1")
	request.Body.SetString(tagTestReqID, id)
	return quickfix.SendToTarget(request, p.id)
}

func (p *peer) OnCreate(quickfix.SessionID) {}

func (p *peer) OnLogon(quickfix.SessionID) { report("LOGON") }

func (p *peer) OnLogout(quickfix.SessionID) {
	if p.logoutIn == "" {
		report("LOGOUT")
	} else {
		report("LOGOUT", p.logoutIn)
	}
	p.logoutIn = ""
}

func (p *peer) ToAdmin(m *quickfix.Message, _ quickfix.SessionID) {
	p.lock.Lock()
	if msgType(m) == "A" && p.resetLogon {
		m.Body.SetString(tagResetSeqNumFlag, "Y")
		p.resetLogon = false
	}
	if msgType(m) == "5" && p.logoutOut != "" {
		m.Body.SetString(tagText, p.logoutOut)
		p.logoutOut = ""
	}
	p.lock.Unlock()
	report("ADMIN-OUT", msgType(m), seqAndPossDup(m)+adminDetails(m))
	if msgType(m) == "3" {
		reportReject("out", m)
	}
}

func (p *peer) ToApp(m *quickfix.Message, _ quickfix.SessionID) error {
	report("APP-OUT", msgType(m), seqAndPossDup(m))
	return nil
}

func (p *peer) FromAdmin(m *quickfix.Message, _ quickfix.SessionID) quickfix.MessageRejectError {
	report("ADMIN-IN", msgType(m), seqAndPossDup(m)+adminDetails(m))
	if msgType(m) == "3" {
		reportReject("in", m)
	}
	if msgType(m) == "5" && m.Body.Has(tagText) {
		p.logoutIn = field(m.Body.FieldMap, tagText)
	}
	return nil
}

func (p *peer) FromApp(m *quickfix.Message, _ quickfix.SessionID) quickfix.MessageRejectError {
	body := m.Body.FieldMap
	switch msgType(m) {
	case "D":
		p.takeOrder(m)
	case "8":
		report("EXEC", field(body, tagClOrdID), field(body, tagExecType), field(body, tagOrdStatus), seqAndPossDup(m))
	case "j":
		reportReject("in", m)
	default:
		return quickfix.UnsupportedMessageType()
	}
	return nil
}

func (p *peer) takeOrder(order *quickfix.Message) {
	body := order.Body.FieldMap
	text, parties := partiesOf(order)
	report("ORDER", field(body, tagClOrdID), seqAndPossDup(order), field(body, tagSymbol), field(body, tagSide),
		field(body, tagOrderQty), field(body, tagPrice), text, field(body, tagEncodedText))
	p.ordersIn++
	p.answer(body, parties, fill{execType: "0", ordStatus: "0", leaves: field(body, tagOrderQty), done: "0", avgPx: "0"})
	p.answer(body, parties, fill{execType: "F", ordStatus: "2", leaves: "0", done: field(body, tagOrderQty),
		avgPx: field(body, tagPrice)})
}

// What two answers to an order differ in.
type fill struct{ execType, ordStatus, leaves, done, avgPx string }

func (p *peer) answer(order quickfix.FieldMap, parties *quickfix.RepeatingGroup, f fill) {
	p.executions++
	execution := newMessage("8")
	execution.Body.SetString(tagOrderID, "order-"+strconv.Itoa(p.ordersIn)).
		SetString(tagClOrdID, field(order, tagClOrdID)).
		SetString(tagExecID, "exec-"+strconv.Itoa(p.executions)).
		SetString(tagExecType, f.execType).
		SetString(tagOrdStatus, f.ordStatus).
		SetString(tagSymbol, field(order, tagSymbol)).
		SetString(tagSide, field(order, tagSide)).
		SetString(tagOrderQty, field(order, tagOrderQty)).
		SetString(tagLeavesQty, f.leaves).
		SetString(tagCumQty, f.done).
		SetString(tagAvgPx, f.avgPx)
	// What is hard to parse goes back as it was understood.
	if order.Has(tagEncodedText) {
		execution.Body.SetString(tagEncodedTextLen, field(order, tagEncodedTextLen)).
			SetString(tagEncodedText, field(order, tagEncodedText))
	}
	if parties != nil {
		execution.Body.SetGroup(parties)
	}
	if err := quickfix.SendToTarget(execution, p.id); err != nil {
		report("ERROR", err.Error())
	}
}

// QuickFIX/Go's log on standard error, with SOH made visible; standard output keeps to the event lines.
type traceLog struct{}

func (traceLog) write(what, text string) {
	fmt.Fprintln(os.Stderr, what, strings.ReplaceAll(text, "\001", "|"))
}
func (t traceLog) OnIncoming(bytes []byte) { t.write("in   ", string(bytes)) }
func (t traceLog) OnOutgoing(bytes []byte) { t.write("out  ", string(bytes)) }
func (t traceLog) OnEvent(text string)     { t.write("event", text) }
func (t traceLog) OnEventf(format string, values ...any) {
	t.write("event", fmt.Sprintf(format, values...))
}
func (t traceLog) Create() (quickfix.Log, error)                             { return t, nil }
func (t traceLog) CreateSessionLog(quickfix.SessionID) (quickfix.Log, error) { return t, nil }
