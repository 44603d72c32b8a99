package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/amount"
	"github.com/haggle-protocol/haggle/sdk"
)

// eventView is an event with its fields named as in the IDL. Numbers of 64 bits without sign are strings, in base units where
// they are amounts; keys are in base 58, other bytes in hex.
type eventView struct {
	event  haggle.Event
	fields []eventField
}

type eventField struct {
	name  string
	value any
}

func viewEvent(event haggle.Event) eventView {
	v := eventView{event: event}
	value := reflect.ValueOf(event).Elem()
	for i := range value.NumField() {
		v.fields = append(v.fields, eventField{snakeCase(value.Type().Field(i).Name), plain(value.Field(i))})
	}
	return v
}

// plain is a field's value as JSON has it.
func plain(value reflect.Value) any {
	switch typed := value.Interface().(type) {
	case solana.PublicKey:
		return typed
	case uint64:
		return strconv.FormatUint(typed, 10)
	case fmt.Stringer:
		return typed.String()
	}
	if value.Kind() == reflect.Array && value.Type().Elem().Kind() == reflect.Uint8 {
		content := make([]byte, value.Len())
		reflect.Copy(reflect.ValueOf(content), value)
		return hex.EncodeToString(content)
	}
	return value.Interface()
}

// snakeCase turns SessionID into session_id.
func snakeCase(name string) string {
	var text strings.Builder
	letters := []rune(name)
	for i, letter := range letters {
		begins := i > 0 && unicode.IsUpper(letter) && (unicode.IsLower(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if begins {
			text.WriteByte('_')
		}
		text.WriteRune(unicode.ToLower(letter))
	}
	return text.String()
}

// MarshalJSON keeps the order of the fields.
func (v eventView) MarshalJSON() ([]byte, error) {
	text := []byte(`{"event":"` + v.event.EventName() + `"`)
	for _, field := range v.fields {
		encoded, err := json.Marshal(field.value)
		if err != nil {
			return nil, err
		}
		text = append(text, `,"`+field.name+`":`...)
		text = append(text, encoded...)
	}
	return append(text, '}'), nil
}

// sentence tells an event to people.
func sentence(event haggle.Event, tokens func(uint64) amount.Tokens) string {
	switch e := event.(type) {
	case *haggle.NegotiationCreated:
		return fmt.Sprintf("created: %s escrowed, %d rounds, until %s", tokens(e.EscrowAmount), e.MaxRounds, clock(e.GlobalDeadline))
	case *haggle.InvitationAccepted:
		return "the seller takes part"
	case *haggle.OfferSubmitted:
		return fmt.Sprintf("round %d: %s offered, the escrow is worth %s", e.Round, tokens(e.Amount), tokens(e.EffectiveEscrow))
	case *haggle.OfferAccepted:
		return fmt.Sprintf("%s taken in round %d", tokens(e.Amount), e.Round)
	case *haggle.NegotiationSettled:
		return fmt.Sprintf("settled for %s (fee %s, decay %s)", tokens(e.SettledAmount), tokens(e.ProtocolFee), tokens(e.EscrowDecayTotal))
	case *haggle.NegotiationRejected:
		return fmt.Sprintf("rejected by %s, %s goes back", e.RejectedBy, tokens(e.RefundAmount))
	case *haggle.NegotiationExpired:
		return fmt.Sprintf("expired, %s goes back", tokens(e.RefundAmount))
	case *haggle.PayoutRecorded:
		return fmt.Sprintf("%s could not be delivered to %s and waits for a claim", tokens(e.Amount), e.Party)
	case *haggle.PayoutClaimed:
		return fmt.Sprintf("%s delivered to %s", tokens(e.Amount), e.Party)
	case *haggle.NegotiationClosed:
		return fmt.Sprintf("closed, %s to the treasury", tokens(e.Swept))
	}
	return event.EventName()
}
