package schema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/jsonview"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// sampleView is a document for the tests.
type sampleView struct {
	// Price is the price.
	Price amount.Tokens `json:"price"`
	Left  *int64        `json:"left,omitempty"`
}

type otherView struct {
	Event jsonview.List `json:"event"`
}

// sampleFolder has the schemas of sampleView and otherView.
func sampleFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	g := New("../../..")
	for name, generate := range map[string]func() ([]byte, error){
		AmountFile: Amount, EventFile: g.Event,
		"sample.json": func() ([]byte, error) {
			return g.Of("sample", reflect.TypeFor[sampleView](), reflect.TypeFor[otherView]())
		},
	} {
		content, err := generate()
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), content, 0o600))
	}
	return folder
}

func TestEveryEventOfTheIDLHasASchema(t *testing.T) {
	content, err := os.ReadFile("../../../idl/haggle.json")
	require.NoError(t, err)
	var idl struct{ Events []struct{ Name string } }
	require.NoError(t, json.Unmarshal(content, &idl))
	var want, have []string
	for _, event := range idl.Events {
		want = append(want, event.Name)
	}
	for _, event := range events {
		have = append(have, event.EventName())
	}
	require.Equal(t, want, have)
}

func TestDocumentsAreValidated(t *testing.T) {
	folder := sampleFolder(t)
	for _, event := range events {
		fields := append(jsonview.List{{Name: "event", Value: event.EventName()}}, jsonview.Of(event)...)
		document, err := json.Marshal(otherView{fields})
		require.NoError(t, err)
		require.NoError(t, Validate(folder, document, "sample.json"))
	}
	valid := `{"price":{"units":"5","decimals":0,"tokens":"5"}}`
	require.NoError(t, Validate(folder, []byte(valid+"\n"+valid+"\n"), "sample.json"))
	for _, document := range []string{
		`{}`, `{"price":5}`, `{"price":{"units":5,"decimals":0,"tokens":"5"}}`, `{"price":{"units":"5","decimals":0,"tokens":"5"},"more":1}`,
		`{"event":{"event":"Unknown"}}`, `{"event":{"event":"OfferSubmitted"}}`, `not JSON`, valid + valid, "\n",
	} {
		require.Error(t, Validate(folder, []byte(document), "sample.json"), document)
	}
}

func TestDescriptionsAreTheCommentsOfTheSources(t *testing.T) {
	c := &comments{root: "../../.."}
	require.Equal(t, "The offered price.", c.of(reflect.TypeFor[protocol.OfferSubmitted](), "Amount"))
	require.Contains(t, c.of(reflect.TypeFor[amount.Tokens](), ""), "Tokens is an amount of a mint.")
	require.Empty(t, c.of(reflect.TypeFor[string](), ""))
}
