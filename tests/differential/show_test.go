package differential

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/model"
	"github.com/haggle-protocol/haggle/sdk"
)

// say tells a step aloud.
func (st *stage) say(next step, outcome string) {
	if st.aloud != nil {
		st.aloud(fmt.Sprintf("%3d. %s", st.played, st.showStep(next, outcome)))
	}
}

func (st *stage) showStep(next step, outcome string) string {
	switch {
	case next.until != nil:
		return fmt.Sprintf("it is %d", *next.until)
	case next.trick != nil:
		return next.what
	}
	shown := st.showCall(next.call)
	if next.what != "" {
		shown += " [" + next.what + "]"
	}
	return shown + " -> " + outcome
}

// showCall shows an instruction with names for the addresses; one that is malformed as it is.
func (st *stage) showCall(call *model.Instruction) string {
	metas := make([]*solana.AccountMeta, len(call.Accounts))
	for i := range call.Accounts {
		metas[i] = &call.Accounts[i]
	}
	if instruction, err := haggle.DecodeInstruction(metas, call.Data); err == nil {
		return instruction.InstructionName() + st.showFields(instruction)
	}
	var shown strings.Builder
	fmt.Fprintf(&shown, "%s of %s, data %x", model.NameOf(call.Data), st.cast.name(call.Program), call.Data)
	for _, meta := range call.Accounts {
		fmt.Fprintf(&shown, ", %s", st.cast.name(meta.PublicKey))
	}
	return shown.String()
}

func (st *stage) showEvent(data []byte) string {
	event, err := haggle.DecodeEvent(data)
	if err != nil {
		return fmt.Sprintf("%x (%v)", data, err)
	}
	return event.EventName() + st.showFields(event)
}

// showFields shows the fields of a struct that are not zero.
func (st *stage) showFields(record any) string {
	var shown strings.Builder
	value := reflect.ValueOf(record).Elem()
	for i := range value.NumField() {
		field := value.Field(i)
		if field.IsZero() {
			continue
		}
		fmt.Fprintf(&shown, " %s=%s", value.Type().Field(i).Name, st.showValue(field.Interface()))
	}
	return shown.String()
}

func (st *stage) showValue(value any) string {
	switch v := value.(type) {
	case solana.PublicKey:
		return st.cast.name(v)
	case [32]byte:
		return fmt.Sprintf("%x", v[:4])
	case [64]byte:
		return fmt.Sprintf("%x...", v[:8])
	case haggle.NegotiationParams:
		return "{" + st.showFields(&v) + " }"
	}
	return fmt.Sprint(value)
}

// accountDifferences names what is different in an account: the fields of a negotiation or a configuration, or the bytes.
func accountDifferences(found, expected model.Account) string {
	var shown strings.Builder
	if found.Lamports != expected.Lamports {
		fmt.Fprintf(&shown, "  lamports %d, and not %d\n", found.Lamports, expected.Lamports)
	}
	if found.Owner != expected.Owner {
		fmt.Fprintf(&shown, "  owner %s, and not %s\n", found.Owner, expected.Owner)
	}
	a, b := fieldsOf(found.Data), fieldsOf(expected.Data)
	if a == nil || b == nil || a.Type() != b.Type() {
		if string(found.Data) != string(expected.Data) {
			fmt.Fprintf(&shown, "  data %x\n   and not %x\n", found.Data, expected.Data)
		}
		return shown.String()
	}
	for i := range a.NumField() {
		if x, y := a.Field(i).Interface(), b.Field(i).Interface(); x != y {
			fmt.Fprintf(&shown, "  %s %v, and not %v\n", a.Type().Field(i).Name, x, y)
		}
	}
	return shown.String()
}

func fieldsOf(data []byte) *reflect.Value {
	for _, record := range []interface{ Decode([]byte) error }{new(haggle.Negotiation), new(haggle.ProtocolConfig)} {
		if record.Decode(data) == nil {
			value := reflect.ValueOf(record).Elem()
			return &value
		}
	}
	return nil
}
