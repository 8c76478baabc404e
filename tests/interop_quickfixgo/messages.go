package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/quickfixgo/quickfix"
)

const (
	tagAvgPx                = quickfix.Tag(6)
	tagBeginSeqNo           = quickfix.Tag(7)
	tagClOrdID              = quickfix.Tag(11)
	tagCumQty               = quickfix.Tag(14)
	tagEndSeqNo             = quickfix.Tag(16)
	tagExecID               = quickfix.Tag(17)
	tagHandlInst            = quickfix.Tag(21)
	tagMsgSeqNum            = quickfix.Tag(34)
	tagMsgType              = quickfix.Tag(35)
	tagNewSeqNo             = quickfix.Tag(36)
	tagOrderID              = quickfix.Tag(37)
	tagOrderQty             = quickfix.Tag(38)
	tagOrdStatus            = quickfix.Tag(39)
	tagOrdType              = quickfix.Tag(40)
	tagPossDupFlag          = quickfix.Tag(43)
	tagPrice                = quickfix.Tag(44)
	tagRefSeqNum            = quickfix.Tag(45)
	tagSide                 = quickfix.Tag(54)
	tagSymbol               = quickfix.Tag(55)
	tagText                 = quickfix.Tag(58)
	tagTransactTime         = quickfix.Tag(60)
	tagHeartBtInt           = quickfix.Tag(108)
	tagTestReqID            = quickfix.Tag(112)
	tagGapFillFlag          = quickfix.Tag(123)
	tagResetSeqNumFlag      = quickfix.Tag(141)
	tagExecType             = quickfix.Tag(150)
	tagLeavesQty            = quickfix.Tag(151)
	tagEncodedTextLen       = quickfix.Tag(354)
	tagEncodedText          = quickfix.Tag(355)
	tagRefTagID             = quickfix.Tag(371)
	tagRefMsgType           = quickfix.Tag(372)
	tagSessionRejectReason  = quickfix.Tag(373)
	tagBusinessRejectReason = quickfix.Tag(380)
	tagPartyIDSource        = quickfix.Tag(447)
	tagPartyID              = quickfix.Tag(448)
	tagPartyRole            = quickfix.Tag(452)
	tagNoPartyIDs           = quickfix.Tag(453)
	tagPartySubID           = quickfix.Tag(523)
	tagNoPartySubIDs        = quickfix.Tag(802)
	tagPartySubIDType       = quickfix.Tag(803)
)

func field(fields quickfix.FieldMap, tag quickfix.Tag) string {
	if value, err := fields.GetString(tag); err == nil {
		return value
	}
	return "-"
}

func flagOf(fields quickfix.FieldMap, tag quickfix.Tag) string {
	if field(fields, tag) == "Y" {
		return "Y"
	}
	return "N"
}

func msgType(m *quickfix.Message) string { return field(m.Header.FieldMap, tagMsgType) }

func seqAndPossDup(m *quickfix.Message) string {
	return field(m.Header.FieldMap, tagMsgSeqNum) + " " + flagOf(m.Header.FieldMap, tagPossDupFlag)
}

func adminDetails(m *quickfix.Message) string {
	body := m.Body.FieldMap
	switch msgType(m) {
	case "A":
		return " heartbeat=" + field(body, tagHeartBtInt) + " reset=" + flagOf(body, tagResetSeqNumFlag)
	case "0", "1":
		return " id=" + field(body, tagTestReqID)
	case "2":
		return " begin=" + field(body, tagBeginSeqNo) + " end=" + field(body, tagEndSeqNo)
	case "4":
		return " new=" + field(body, tagNewSeqNo) + " gapfill=" + flagOf(body, tagGapFillFlag)
	case "5":
		return " text=" + field(body, tagText)
	}
	return ""
}

func reportReject(direction string, m *quickfix.Message) {
	body := m.Body.FieldMap
	reason := tagSessionRejectReason
	if msgType(m) == "j" {
		reason = tagBusinessRejectReason
	}
	report("REJECT", direction, msgType(m), field(body, tagRefSeqNum), field(body, tagRefMsgType),
		field(body, tagRefTagID), field(body, reason), field(body, tagText))
}

func emptySubIDs() *quickfix.RepeatingGroup {
	return quickfix.NewRepeatingGroup(tagNoPartySubIDs,
		quickfix.GroupTemplate{quickfix.GroupElement(tagPartySubID), quickfix.GroupElement(tagPartySubIDType)})
}

func emptyParties() *quickfix.RepeatingGroup {
	return quickfix.NewRepeatingGroup(tagNoPartyIDs, quickfix.GroupTemplate{quickfix.GroupElement(tagPartyID),
		quickfix.GroupElement(tagPartyIDSource), quickfix.GroupElement(tagPartyRole), emptySubIDs()})
}

func addParty(parties *quickfix.RepeatingGroup, id, role, subID string) {
	party := parties.Add()
	party.SetString(tagPartyID, id).SetString(tagPartyIDSource, "D").SetString(tagPartyRole, role)
	if subID == "" {
		return
	}
	subIDs := emptySubIDs()
	subIDs.Add().SetString(tagPartySubID, subID).SetString(tagPartySubIDType, "4")
	party.SetGroup(subIDs)
}

// The parties of a message as "firm/1,trader/12/desk", and the group itself for the answer; nil when there are none.
func partiesOf(m *quickfix.Message) (string, *quickfix.RepeatingGroup) {
	if !m.Body.Has(tagNoPartyIDs) {
		return "-", nil
	}
	parties := emptyParties()
	if err := m.Body.GetGroup(parties); err != nil {
		return "unreadable:" + strings.ReplaceAll(err.Error(), " ", "_"), nil
	}
	texts := make([]string, 0, parties.Len())
	echo := emptyParties()
	for i := 0; i < parties.Len(); i++ {
		party := parties.Get(i)
		text := field(party.FieldMap, tagPartyID) + "/" + field(party.FieldMap, tagPartyRole)
		subID := ""
		if party.Has(tagNoPartySubIDs) {
			subIDs := emptySubIDs()
			if err := party.GetGroup(subIDs); err == nil && subIDs.Len() == 1 {
				subID = field(subIDs.Get(0).FieldMap, tagPartySubID)
				text += "/" + subID
			}
		}
		texts = append(texts, text)
		addParty(echo, field(party.FieldMap, tagPartyID), field(party.FieldMap, tagPartyRole), subID)
	}
	return strings.Join(texts, ","), echo
}

func newMessage(msgType string) *quickfix.Message {
	m := quickfix.NewMessage()
	m.Header.SetString(tagMsgType, msgType)
	return m
}

// Deterministic, and no two neighbours alike. QuickFIX/Go takes no SOH inside EncodedText, so there is none.
func newOrder(n int, rich bool) *quickfix.Message {
	symbols := []string{"MSFT", "EUR/USD", "VOD.L", "6758.T"}
	sides := []string{"1", "2"}
	number := strconv.Itoa(n)
	order := newMessage("D")
	order.Body.SetString(tagClOrdID, "id-"+number).
		SetString(tagHandlInst, "1").
		SetString(tagSymbol, symbols[n%len(symbols)]).
		SetString(tagSide, sides[n%2]).
		SetInt(tagOrderQty, 100*(n%7+1)).
		SetString(tagOrdType, "2").
		SetString(tagPrice, strconv.Itoa(n%500+1)+".25").
		SetString(tagTransactTime, time.Now().UTC().Format("20060102-15:04:05"))
	if rich {
		data := "data|" + number + "|10=000|"
		order.Body.SetInt(tagEncodedTextLen, len(data)).SetString(tagEncodedText, data)
		parties := emptyParties()
		addParty(parties, "firm-"+number, "1", "")
		addParty(parties, "trader-"+number, "12", "desk-"+number)
		order.Body.SetGroup(parties)
	}
	return order
}
