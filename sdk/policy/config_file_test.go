package policy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func TestConfigFile(t *testing.T) {
	text := fmt.Sprintf(`{
		"lamports": {"perTransaction": 20000000, "perNegotiation": 10000000, "perCounterparty": 0, "perDay": 100000000, "approveAbove": "unlimited"},
		"tokens": {%q: {"perTransaction": 1, "perNegotiation": 2, "perCounterparty": "unlimited", "perDay": 18446744073709551615, "maxTotal": 4, "minPrice": 5, "buyerBand": {"lower": 1, "upper": 4}, "sellerBand": {"lower": 0, "upper": "unlimited"}}},
		"programs": [%q], "instructions": ["haggle.submit_offer"], "counterparties": [], "arbiters": [%q], "destinations": [%q],
		"terms": {"maxDecayRateBps": 0, "maxRounds": 12, "minResponseWindow": "90s"},
		"agreement": {"maxToSellerBps": 6000, "maxToBuyerBps": 5000, "maxBondToBuyerBps": 10000},
		"approvalTimeout": "30s", "stopFile": "/etc/agent/stop"
	}`, mint, protocol.ProgramID, friend, thief)
	path := filepath.Join(t.TempDir(), "policy.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	config, err := policy.ReadConfig(path)
	require.NoError(t, err)
	require.Equal(t, policy.Config{
		Lamports: policy.Limits{PerTransaction: 20_000_000, PerNegotiation: 10_000_000, PerDay: 100_000_000, ApproveAbove: policy.Unlimited},
		Tokens: map[solana.PublicKey]policy.TokenLimits{mint: {
			Limits:   policy.Limits{PerTransaction: 1, PerNegotiation: 2, PerCounterparty: policy.Unlimited, PerDay: policy.Unlimited},
			MaxTotal: 4, MinPrice: 5, BuyerBand: policy.Band{Lower: 1, Upper: 4}, SellerBand: policy.Band{Upper: policy.Unlimited},
		}},
		Programs: []solana.PublicKey{protocol.ProgramID}, Instructions: []string{"haggle.submit_offer"},
		Counterparties: []solana.PublicKey{}, Arbiters: []solana.PublicKey{friend}, Destinations: []solana.PublicKey{thief},
		Terms:           policy.TermLimits{MaxDecayRateBps: new(uint16), MaxRounds: 12, MinResponseWindow: 90 * time.Second},
		Agreement:       &policy.AgreementLimits{MaxToSellerBps: 6_000, MaxToBuyerBps: 5_000, MaxBondToBuyerBps: 10_000},
		ApprovalTimeout: 30 * time.Second, StopFile: "/etc/agent/stop",
	}, config)

	// A file that lacks money limits causes an error naming them: such a policy would limit nothing, or sign
	// nothing.
	_, err = policy.ParseConfig([]byte("{}"))
	var missing *policy.MissingLimitsError
	require.ErrorAs(t, err, &missing)
	require.Equal(t, []string{
		"lamports.perTransaction", "lamports.perNegotiation", "lamports.perCounterparty", "lamports.perDay", "tokens",
	}, missing.Fields)
	_, err = policy.ParseConfig(fmt.Appendf(nil, `{
		"lamports": {"perTransaction": 1, "perNegotiation": 1, "perCounterparty": 1, "perDay": 1},
		"tokens": {%q: {"perTransaction": 1, "perNegotiation": 1, "perCounterparty": 1, "maxTotal": 1}}
	}`, mint))
	require.EqualError(t, err, fmt.Sprintf("haggle: policy: money limits not set: tokens.%[1]s.perDay, tokens.%[1]s.minPrice", mint))
}

// A partly invalid policy file is refused as a whole.
func TestConfigFilesThatAreNone(t *testing.T) {
	for name, text := range map[string]string{
		"empty":              "",
		"a list":             "[]",
		"cut off":            `{"lamports": {`,
		"more than a policy": `{} {}`,
		"an unknown field":   `{"perDay": 5}`,
		"a misspelt limit":   `{"lamports": {"perday": 5, "per_day": 5}}`,
		"the same twice":     `{"lamports": {"perDay": 5, "perDay": 500}}`,
		"twice, once loudly": `{"lamports": {"perDay": 5, "PERDAY": 500}}`,
		"a negative limit":   `{"lamports": {"perDay": -1}}`,
		"half a unit":        `{"lamports": {"perDay": 1.5}}`,
		"no limit":           `{"lamports": {"perDay": null}}`,
		"limited by a word":  `{"lamports": {"perDay": "much"}}`,
		"no mint":            `{"tokens": {"gold": {}}}`,
		"no instruction":     `{"instructions": ["token.approve"]}`,
		"no duration":        `{"approvalTimeout": "soon"}`,
		"no time":            `{"approvalTimeout": "0s"}`,
		"a program unknown":  `{"programs": ["` + otherMint.String() + `"]}`,
	} {
		_, err := policy.ParseConfig([]byte(text))
		require.Error(t, err, name)
	}
	_, err := policy.ReadConfig(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Errors in a policy file name the location.
func TestASlipInAConfigFileIsFound(t *testing.T) {
	for text, said := range map[string]string{
		"{\n\"lamports\": {\n  \"perDay\": 1\n  \"perTransaction\": 2}}": `line 4: invalid character '"' after object key:value pair`,
		"{\n\"lamports\": {":                              "line 2: unexpected end of the file",
		"{\"lamports\": {\"perDay\": 1,\n\"perDay\": 2}}": `line 2: duplicate key "perDay"`,
		`{"lamports": {"perDay": -1}}`:                    `lamports: perDay: -1 is neither a whole number of base units nor "unlimited"`,
		`{"lamports": {"perdai": 1}}`: `lamports: unknown key "perdai": use one of ` +
			`approveAbove, perCounterparty, perDay, perNegotiation, perTransaction`,
		`{"tokens": {"MINT": {}}}`:                                                        `tokens: "MINT" is not an address (32 bytes in base 58)`,
		`{"tokens": {"` + mint.String() + `": {"perDay": 1.5}}}`:                          `tokens: ` + mint.String() + `: perDay: 1.5 is neither a whole number of base units nor "unlimited"`,
		`{"tokens": {"` + mint.String() + `": {"maxPrice": 4}}}`:                          `tokens: ` + mint.String() + `: unknown key "maxPrice": replaced by "maxTotal", which limits price and decay together`,
		`{"tokens": {"` + mint.String() + `": {"buyerBand": {}}}}`:                        `tokens: ` + mint.String() + `: buyerBand: upper must be positive`,
		`{"tokens": {"` + mint.String() + `": {"sellerBand": {"lower": 5, "upper": 4}}}}`: `tokens: ` + mint.String() + `: sellerBand: lower 5 is above upper 4`,
		`{"tokens": {"` + mint.String() + `": {"sellerBand": {"least": 5}}}}`:             `tokens: ` + mint.String() + `: sellerBand: unknown key "least": use one of lower, upper`,
		`{"counterparties": null}`:                                                        "counterparties: null is not a list of strings: [...]",
		`{"counterparties": [null]}`:                                                      "counterparties: [null] is not a list of strings: [...]",
		`{"agreement": {"maxToSellerBps": 10001}}`:                                        "agreement: maxToSellerBps: 10001 is not a number of basis points from 0 to 10000",
		`{"terms": {"maxRounds": 0}}`:                                                     "terms: maxRounds: 0 is not a number of rounds from 1 to 20",
		`{"terms": {"maxFeeBps": 10001}}`:                                                 "terms: maxFeeBps: 10001 is not a number of basis points from 0 to 10000",
		`{"terms": {"minResponseWindow": "0s"}}`:                                          `terms: minResponseWindow: "0s" is not a positive duration, such as "30s"`,
		`{"agreement": null}`:                                                             "agreement: null is not an object: {...}",
		`{"approvalTimeout": 30}`:                                                         `approvalTimeout: 30 is not a positive duration, such as "30s"`,
	} {
		_, err := policy.ParseConfig([]byte(text))
		require.EqualError(t, err, "haggle: policy: "+said)
		path := filepath.Join(t.TempDir(), "policy.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err = policy.ReadConfig(path)
		require.EqualError(t, err, "haggle: policy: "+path+": "+said)
	}
}
