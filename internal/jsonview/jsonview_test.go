package jsonview

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// The names and their order are those of the IDL.
func TestFieldsAreNamedAndOrderedAsInTheIDL(t *testing.T) {
	content, err := os.ReadFile("../../idl/haggle.json")
	require.NoError(t, err)
	var idl struct {
		Types []struct {
			Name string
			Type struct {
				Fields []struct{ Name string }
			}
		}
	}
	require.NoError(t, json.Unmarshal(content, &idl))
	of := map[string]any{
		"Negotiation": &protocol.Negotiation{}, "NegotiationCreated": &protocol.NegotiationCreated{}, "OfferSubmitted": &protocol.OfferSubmitted{},
		"ProtocolConfig": &protocol.ProtocolConfig{},
	}
	for _, described := range idl.Types {
		pointer, is := of[described.Name]
		if !is {
			continue
		}
		delete(of, described.Name)
		var want, have []string
		for _, field := range described.Type.Fields {
			want = append(want, field.Name)
		}
		for _, field := range Of(pointer) {
			have = append(have, field.Name)
		}
		require.Equal(t, want, have, described.Name)
	}
	require.Empty(t, of, "the IDL has no such types")
}

func TestJSONHasEveryField(t *testing.T) {
	object, err := json.Marshal(Of(&protocol.NegotiationSettled{
		NegotiationID: protocol.ProgramID, SettledAmount: 1<<64 - 1, TotalRounds: 7,
	}))
	require.NoError(t, err)
	require.Contains(t, string(object), `"negotiation_id":"`+protocol.ProgramAddress+`"`)
	require.Contains(t, string(object), `"settled_amount":"18446744073709551615"`)
	require.Contains(t, string(object), `"total_rounds":7`)
}
