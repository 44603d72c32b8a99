package proxy

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Lie is a false statement in a node's otherwise correct response, by description.
type Lie string

// The lies.
const (
	// LieHeight: the block height is far ahead, so that every transaction seems to have expired.
	LieHeight Lie = "block height far ahead"
	// LieValidHeight: a new blockhash is valid until height 1.
	LieValidHeight Lie = "blockhash with an early last valid height"
	// LieBlockhash: a blockhash is not valid.
	LieBlockhash Lie = "valid blockhash called invalid"
	// LieDecimals: a mint has three decimals more.
	LieDecimals Lie = "mint with three decimals more"
	// LieSettled: an unfinished negotiation is settled for the whole escrow.
	LieSettled Lie = "open negotiation called settled"
	// LieStatus: a signature unknown to the node is finalized.
	LieStatus Lie = "unknown signature called finalized"
	// LieEvent: an offer's logs contain a settlement for the whole escrow in place of the offer's event.
	LieEvent Lie = "settlement in the logs of an offer"
	// LieTerms: the configuration contains the highest decay and fee, one round and the shortest response
	// window.
	LieTerms Lie = "configuration with the worst terms"
)

// Lies returns all lies.
func Lies() []Lie {
	return []Lie{LieHeight, LieValidHeight, LieBlockhash, LieDecimals, LieSettled, LieStatus, LieEvent, LieTerms}
}

// The offset of the decimals in an SPL Token mint, and the size of the mint.
const (
	mintDecimalsAt = 44
	mintSize       = 82
	moreDecimals   = 3
	farAhead       = 1 << 30
)

// object is a JSON object that keeps all digits of numbers.
type object = map[string]any

// lie changes the node's response to a request. It leaves a response alone that the lies do not concern.
func (p *Proxy) lie(call *call, answered *response) {
	if len(p.options.Lies) == 0 {
		return
	}
	var envelope object
	decoder := json.NewDecoder(bytes.NewReader(answered.body))
	decoder.UseNumber()
	if decoder.Decode(&envelope) != nil || envelope["result"] == nil {
		return
	}
	told := liar{lies: p.options.Lies}
	envelope["result"] = told.result(call.Method, envelope["result"])
	if len(told.told) == 0 {
		return
	}
	body, err := json.Marshal(envelope)
	if err != nil {
		return
	}
	answered.body = body
	p.stats.add(func(c *Counts) {
		if c.Lies == nil {
			c.Lies = make(map[Lie]int)
		}
		for _, lie := range told.told {
			c.Lies[lie]++
		}
	})
}

// liar changes one response.
type liar struct {
	lies []Lie
	// told lists the lies in the response.
	told []Lie
}

// tells reports whether the node tells the lie, and notes it.
func (l *liar) tells(lie Lie) bool {
	if !slices.Contains(l.lies, lie) {
		return false
	}
	if !slices.Contains(l.told, lie) {
		l.told = append(l.told, lie)
	}
	return true
}

func (l *liar) result(method string, result any) any {
	fields, _ := result.(object)
	value := fields["value"]
	switch method {
	case "getBlockHeight":
		if l.tells(LieHeight) {
			return farAhead
		}
	case "getEpochInfo":
		if fields != nil && l.tells(LieHeight) {
			fields["blockHeight"] = farAhead
		}
	case "getLatestBlockhash":
		if latest, is := value.(object); is && l.tells(LieValidHeight) {
			latest["lastValidBlockHeight"] = 1
		}
	case "isBlockhashValid":
		if value == true && l.tells(LieBlockhash) {
			fields["value"] = false
		}
	case "getSignatureStatuses":
		l.statuses(fields)
	case "getTransaction":
		l.logs(fields)
	case "getAccountInfo":
		l.account(value)
	case "getMultipleAccounts":
		accounts, _ := value.([]any)
		for _, account := range accounts {
			l.account(account)
		}
	case "getProgramAccounts":
		listed, _ := result.([]any)
		if listed == nil {
			listed, _ = value.([]any)
		}
		for _, item := range listed {
			if item, is := item.(object); is {
				l.account(item["account"])
			}
		}
	}
	return result
}

func (l *liar) statuses(fields object) {
	statuses, _ := fields["value"].([]any)
	context, _ := fields["context"].(object)
	for i, status := range statuses {
		if status == nil && context != nil && l.tells(LieStatus) {
			statuses[i] = object{"slot": context["slot"], "confirmations": nil, "err": nil,
				"status": object{"Ok": nil}, "confirmationStatus": "finalized"}
		}
	}
}

const eventLine = "Program data: "

// logs changes an offer's event in a transaction's logs.
func (l *liar) logs(transaction object) {
	meta, _ := transaction["meta"].(object)
	lines, _ := meta["logMessages"].([]any)
	for i, line := range lines {
		text, _ := line.(string)
		encoded, is := strings.CutPrefix(text, eventLine)
		if !is {
			continue
		}
		var offer protocol.OfferSubmitted
		data, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || offer.Decode(data) != nil || !l.tells(LieEvent) {
			continue
		}
		settled := protocol.NegotiationSettled{
			NegotiationID: offer.NegotiationID, SettledAmount: offer.EffectiveEscrow, TotalRounds: offer.Round,
			Timestamp: offer.Timestamp,
		}
		lines[i] = eventLine + base64.StdEncoding.EncodeToString(settled.AppendTo(nil))
	}
}

// account changes a mint account, a negotiation or the configuration.
func (l *liar) account(value any) {
	account, _ := value.(object)
	content, _ := account["data"].([]any)
	if len(content) != 2 || content[1] != "base64" {
		return
	}
	text, _ := content[0].(string)
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return
	}
	switch account["owner"] {
	case solana.TokenProgramID.String():
		if len(data) != mintSize || !l.tells(LieDecimals) {
			return
		}
		data[mintDecimalsAt] += moreDecimals
	case protocol.ProgramID.String():
		if data = l.ofProgram(data); data == nil {
			return
		}
	default:
		return
	}
	content[0] = base64.StdEncoding.EncodeToString(data)
}

// ofProgram returns the changed data of a program account, or nil if it stays.
func (l *liar) ofProgram(data []byte) []byte {
	var n protocol.Negotiation
	var config protocol.ProtocolConfig
	switch {
	case n.Decode(data) == nil:
		if n.IsOver() || !l.tells(LieSettled) {
			return nil
		}
		n.Status, n.PaidGross, n.SettledAmount = protocol.NegotiationStatusSettled, n.EscrowAmount, n.EscrowAmount
		n.SettledAt = n.CreatedAt + 1
		return n.Encode()
	case config.Decode(data) == nil:
		if !l.tells(LieTerms) {
			return nil
		}
		config.DefaultDecayRateBps, config.DefaultProtocolFeeBps = protocol.MaxDecayRateBps, protocol.MaxProtocolFeeBps
		config.DefaultMaxRounds, config.DefaultResponseWindow = protocol.MinRounds, protocol.MinResponseWindow
		return config.Encode()
	}
	return nil
}
