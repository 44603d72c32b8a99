package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gagliardetto/anchor-go/idl"
	"github.com/stretchr/testify/require"
)

const (
	idlPath     = "../../../idl/haggle.json"
	effectsPath = "../../../idl/effects.json"
	cuPath      = "../../../program/cu.json"
	sdkFolder   = "../../protocol"
)

func TestTheGeneratedFilesAreWhatTheIDLSays(t *testing.T) {
	out := t.TempDir()
	require.NoError(t, run(idlPath, effectsPath, cuPath, out))
	requireSameFiles(t, out, sdkFolder, "_gen.go")
}

// requireSameFiles compares the files in two directories whose names end in suffix.
func requireSameFiles(t *testing.T, generated, committed, suffix string) {
	t.Helper()
	want := read(t, generated, suffix)
	got := read(t, committed, suffix)
	require.NotEmpty(t, want)
	for name, content := range want {
		require.Equal(t, content, got[name], "%s is not what idl/haggle.json, idl/effects.json or program/cu.json says: run `go generate ./sdk/protocol` and commit the result", name)
	}
	for name := range got {
		require.Contains(t, want, name, "%s is not generated any more: delete it", name)
	}
}

func read(t *testing.T, folder, suffix string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	files := map[string]string{}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), suffix) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		require.NoError(t, err)
		files[entry.Name()] = string(content)
	}
	return files
}

func TestNamesAreGoNames(t *testing.T) {
	for name, want := range map[string]string{
		"session_id":             "SessionID",
		"default_decay_rate_bps": "DefaultDecayRateBps",
		"MAX_ROUNDS":             "MaxRounds",
		"buyer":                  "Buyer",
		"pda":                    "PDA",
	} {
		require.Equal(t, want, goName(name))
	}
	require.Equal(t, "sessionID", paramName("session_id"))
	require.Equal(t, "buyer", paramName("buyer"))
}

func TestCommentsContinueTheirSubject(t *testing.T) {
	require.Equal(t, "MaxRounds is the most rounds.", sentence("MaxRounds is", []string{"The most", "rounds."}))
	require.Equal(t, "Hash is SHA-256 of it.", sentence("Hash is", []string{"SHA-256 of it."}))
	require.Equal(t, "SubmitOffer offers.", subject("SubmitOffer", []string{"Offers."}))
	require.Equal(t, "Accept: the seller does.", subject("Accept", []string{"The seller does."}))
}

// The generator refuses everything that it does not support.
func TestUnsupportedIDLsAreRefused(t *testing.T) {
	const frame = `{"address": "11111111111111111111111111111111", "instructions": [],
		"accounts": [{"name": "A", "discriminator": [1,2,3,4,5,6,7,8]}],
		"types": [{"name": "A", "type": {"kind": "struct", "fields": [{"name": "x", "type": TYPE}]}}]}`
	for idlType, want := range map[string]string{
		`"u64"`:                           "",
		`"string"`:                        "type string is not supported",
		`{"vec": "u8"}`:                   "type Vec<u8> is not supported",
		`{"option": "u8"}`:                "type Option<u8> is not supported",
		`{"array": ["i64", 3]}`:           "an array of i64 is not supported",
		`{"defined": {"name": "Absent"}}`: "type Absent is not defined",
	} {
		path := filepath.Join(t.TempDir(), "idl.json")
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(frame, "TYPE", idlType, 1)), 0o600))
		file, err := idl.ParseFromFilepath(path)
		if err == nil {
			_, err = render(file, nil)
		}
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}

// An expected value would stay zero if the generator did not know the negotiation field.
func TestUnknownExpectationsAreRefused(t *testing.T) {
	const frame = `{"address": "11111111111111111111111111111111", "instructions": [{"name": "act",
		"discriminator": [1,2,3,4,5,6,7,8], "accounts": [], "args": [{"name": "NAME", "type": "u64"}]}]}`
	for name, want := range map[string]string{
		"amount": "", "expected_amount": "", "expected_price": "ExpectedPrice has no field of the negotiation",
	} {
		path := filepath.Join(t.TempDir(), "idl.json")
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(frame, "NAME", name, 1)), 0o600))
		file, err := idl.ParseFromFilepath(path)
		require.NoError(t, err)
		_, err = render(file, nil)
		if want == "" {
			require.NotContains(t, fmt.Sprint(err), "no field of the negotiation")
			continue
		}
		require.ErrorContains(t, err, want)
	}
}

// A consumer would take an instruction without effects for one that pays nothing.
func TestIncompleteEffectsAreRefused(t *testing.T) {
	file, err := idl.ParseFromFilepath(idlPath)
	require.NoError(t, err)
	change := func(name string, changes func(*effects)) map[string]effects {
		rows, err := readEffects(effectsPath)
		require.NoError(t, err)
		row := rows[name]
		changes(&row)
		rows[name] = row
		return rows
	}
	missing := change("dispute_milestone", func(*effects) {})
	delete(missing, "dispute_milestone")
	for want, rows := range map[string]map[string]effects{
		"no entry for instruction dispute_milestone": missing,
		"22 entries for 21 instructions":             change("unknown", func(*effects) {}),
		"incomplete entry":                           change("close_negotiation", func(e *effects) { e.Idempotency = "" }),
		"actor: no account nobody":                   change("submit_offer", func(e *effects) { e.Actors[0].Account = "nobody" }),
		"guard round: no argument nothing":           change("submit_offer", func(e *effects) { e.Guards[2].Argument = "nothing" }),
		"payment refund: no account escrow_vault or nowhere": change("accept_offer", func(e *effects) {
			e.Payments[0].Destination = "nowhere"
		}),
	} {
		_, err := render(file, rows)
		require.ErrorContains(t, err, want)
	}
}
