package arena

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/haggle-protocol/haggle/sdk/internal/strictjson"
)

// The actions and facts by their names in messages.
var (
	actions = byKind[Action](
		Join{}, Connect{}, Leave{}, State{}, Split{}, Merge{}, Say{}, Pass{}, Invite{}, AcceptInvitation{},
		DeclineInvitation{}, Chat{}, Propose{}, Counter{}, Agree{}, Reject{}, LeaveChat{}, Finalize{}, Cancel{},
		Deposit{}, Withdraw{}, Resolve{},
	)
	facts = byKind[Fact](
		Joined{}, Connected{}, Left{}, Announced{}, Stated{}, Changed{}, Turn{}, Passed{}, Said{}, Invited{}, InvitationEnded{},
		ChatBegan{}, ChatJoined{}, ChatLeft{}, ChatEnded{}, ChatSaid{}, Proposed{}, AgreedTo{}, Rejected{}, Update{},
		Tentative{}, Voided{}, Countdown{}, CountdownEnded{}, Reviewed{}, Traded{}, Closed{}, Resolved{},
	)
)

func byKind[T interface{ Kind() string }](values ...T) map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, value := range values {
		types[value.Kind()] = reflect.TypeOf(value)
	}
	return types
}

// decodeKind reads an action or a fact.
func decodeKind[T any](types map[string]reflect.Type, kind string, data []byte) (value T, err error) {
	known := types[kind]
	if known == nil {
		return value, refuse(CodeMalformed, "kind: not known")
	}
	decoded := reflect.New(known)
	if err := strictjson.Decode(data, decoded.Interface()); err != nil {
		return value, refuse(CodeMalformed, "unknown field, or another type of value")
	}
	return decoded.Elem().Interface().(T), nil
}

// Shown is an event as received by an agent or a spectator.
type Shown struct {
	// Number counts the events that the agent has got since it joined, from 1; for a spectator, the public events.
	Number uint64
	At     time.Time
	Fact   Fact
}

// EventEnvelope is an event in JSON.
type EventEnvelope struct {
	// Number counts the events that the agent has got since it joined, from 1; for a spectator, the public events.
	Number uint64    `json:"number"`
	At     time.Time `json:"at"`
	// Kind names the fact.
	Kind string          `json:"kind"`
	Fact json.RawMessage `json:"fact"`
}

// Actions returns an empty action per kind, ordered by kind.
func Actions() []Action { return empty[Action](actions) }

// Facts returns an empty fact per kind, ordered by kind.
func Facts() []Fact { return empty[Fact](facts) }

func empty[T any](types map[string]reflect.Type) (all []T) {
	for _, kind := range slices.Sorted(maps.Keys(types)) {
		all = append(all, reflect.Zero(types[kind]).Interface().(T))
	}
	return all
}

// MarshalJSON implements [json.Marshaler].
func (s Shown) MarshalJSON() ([]byte, error) {
	fact, err := json.Marshal(s.Fact)
	if err != nil {
		return nil, err
	}
	return json.Marshal(EventEnvelope{Number: s.Number, At: s.At, Kind: s.Fact.Kind(), Fact: fact})
}

// UnmarshalJSON implements [json.Unmarshaler]. It refuses unknown kinds.
func (s *Shown) UnmarshalJSON(data []byte) error {
	var read EventEnvelope
	if err := strictjson.Decode(data, &read); err != nil {
		return err
	}
	fact, err := decodeKind[Fact](facts, read.Kind, read.Fact)
	if err != nil {
		return err
	}
	*s = Shown{Number: read.Number, At: read.At, Fact: fact}
	return nil
}
