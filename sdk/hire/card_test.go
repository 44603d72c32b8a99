package hire

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const origin = "https://agent.example"

func publicOf(id string) ed25519.PublicKey { return keyOf(id).Public().(ed25519.PublicKey) }

func cardOf(t *testing.T, at string, previous ed25519.PrivateKey) []byte {
	t.Helper()
	text, err := SignCard(keyOf(worker), previous, Card{
		ID: at, Inbox: at + "/hire", Settlement: address, Skills: []string{"logo"}, Prices: []UnitPrice{{"logo", "5 USDC"}},
	})
	require.NoError(t, err)
	return text
}

func TestCardOfAnotherOriginOrKeyIsRefused(t *testing.T) {
	text := cardOf(t, origin, nil)
	card, err := ParseCard(text, origin)
	require.NoError(t, err)
	require.Equal(t, publicOf(worker), card.Public())

	refused := func(reason Reason, data []byte, origin string) {
		t.Helper()
		_, err := ParseCard(data, origin)
		var refusal *Refusal
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, reason, refusal.Reason, refusal.Text)
	}
	refused(ReasonParty, text, "https://other.example")
	for field, value := range map[string]any{
		"key": Address(publicOf(seeker)), "settlement": Address(publicOf(seeker)), "skills": []string{"x"},
		"inbox": origin + "/other", "previous_key": Address(publicOf(seeker)), "signature": strings.Repeat("A", 86),
		"previous_signature": strings.Repeat("A", 86),
	} {
		var fields map[string]any
		require.NoError(t, json.Unmarshal(text, &fields))
		fields[field] = value
		altered, err := json.Marshal(fields)
		require.NoError(t, err)
		refused(ReasonSignature, altered, origin)
	}
	replace := func(old, new string) []byte { return []byte(strings.Replace(string(text), old, new, 1)) }
	refused(ReasonVersion, replace("HIRE/1.0", "HIRE/2.0"), origin)
	refused(ReasonMalformed, replace(`{`, `{"more":1,`), origin)
	refused(ReasonMalformed, replace(`"skills"`, `"Skills"`), origin)
	refused(ReasonMalformed, replace(origin+"/hire", "https://thief.example/hire"), origin)
	refused(ReasonMalformed, replace(origin+"/hire", origin+".thief.example/hire"), origin)
	refused(ReasonMalformed, []byte(strings.Repeat(" ", MaxSize)+"{}"), origin)
}

func TestChangedKeyNeedsThePinnedKeysSignature(t *testing.T) {
	same, err := ParseCard(cardOf(t, origin, nil), origin)
	require.NoError(t, err)
	require.NoError(t, same.Continues(publicOf(worker)))
	var refusal *Refusal
	require.ErrorAs(t, same.Continues(publicOf(seeker)), &refusal)
	require.Equal(t, ReasonKey, refusal.Reason)

	rotated, err := ParseCard(cardOf(t, origin, keyOf(seeker)), origin)
	require.NoError(t, err)
	require.NoError(t, rotated.Continues(publicOf(seeker)))
	require.NoError(t, rotated.Continues(publicOf(worker)))
	require.Error(t, rotated.Continues(publicOf("stranger")))
}

func TestOnlyOriginsAreIDsOfCards(t *testing.T) {
	for _, id := range []string{origin, origin + ":8443", "http://localhost:1", "http://127.0.0.1:80", "http://[::1]:1"} {
		require.NoError(t, CheckOrigin(id), id)
	}
	for _, id := range []string{
		"", "agent.example", origin + "/", origin + "/a", origin + "?a", origin + "#a", "https://a@agent.example", "https://",
		"https://:1", "HTTPS://agent.example", "https://Agent.example", origin + ":443", "http://agent.example",
		"http://10.0.0.1", "ftp://agent.example", "https://" + strings.Repeat("a", MaxIDLength), "https://agent.example:x",
	} {
		require.Error(t, CheckOrigin(id), id)
	}
}

// serve serves a card using a handler that knows the server's origin.
func serve(t *testing.T, handler func(w http.ResponseWriter, origin string)) string {
	var at string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != CardPath {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		handler(w, at)
	}))
	t.Cleanup(server.Close)
	at = server.URL
	return at
}

func sendCard(t *testing.T, w http.ResponseWriter, origin string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(cardOf(t, origin, nil))
}

func TestCardIsFetchedWithinBounds(t *testing.T) {
	good := serve(t, func(w http.ResponseWriter, origin string) { sendCard(t, w, origin) })
	card, err := (&Client{Local: true}).Card(t.Context(), good)
	require.NoError(t, err)
	require.Equal(t, good+"/hire", card.Inbox)

	_, err = new(Client).Card(t.Context(), good)
	require.ErrorIs(t, err, errNotPublic)
	for name, handler := range map[string]func(w http.ResponseWriter, origin string){
		"redirect": func(w http.ResponseWriter, _ string) {
			w.Header().Set("Location", good+CardPath)
			w.WriteHeader(http.StatusFound)
		},
		"not found": func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusNotFound) },
		"another type": func(w http.ResponseWriter, origin string) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write(cardOf(t, origin, nil))
		},
		"huge": func(w http.ResponseWriter, _ string) {
			w.Header().Set("Content-Type", "application/json")
			for range 1 << 10 {
				if _, err := io.WriteString(w, strings.Repeat(" ", 1<<10)); err != nil {
					return
				}
			}
		},
		"another origin's": func(w http.ResponseWriter, _ string) { sendCard(t, w, good) },
	} {
		_, err := (&Client{Local: true}).Card(t.Context(), serve(t, handler))
		require.Error(t, err, name)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = (&Client{Local: true}).Card(gone, good)
	require.ErrorIs(t, err, context.Canceled)
}

func TestPrivateAddressesAreNotPublic(t *testing.T) {
	for _, text := range []string{"1.1.1.1", "2606:4700::1111"} {
		require.True(t, isPublic(netip.MustParseAddr(text)), text)
	}
	for _, text := range []string{
		"127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
		"255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "ff02::1",
	} {
		require.False(t, isPublic(netip.MustParseAddr(text)), text)
	}
}

func FuzzParseCard(f *testing.F) {
	text, err := SignCard(keyOf(worker), keyOf(seeker), Card{ID: origin, Inbox: origin + "/hire"})
	require.NoError(f, err)
	f.Add(text, origin)
	f.Fuzz(func(t *testing.T, data []byte, origin string) {
		card, err := ParseCard(data, origin)
		if err != nil {
			return
		}
		require.Equal(t, origin, card.ID)
		require.NoError(t, card.Continues(card.Public()))
	})
}

func TestCardHasTheTimeoutsOfItsConversations(t *testing.T) {
	sign := func(timeouts Timeouts) ([]byte, error) {
		return SignCard(keyOf(worker), nil, Card{
			ID: origin, Inbox: origin + "/hire", Settlement: address, Timeouts: timeouts,
		})
	}
	text, err := sign(Timeouts{FirstResponse: 5 * time.Minute, Acceptance: MaxTimeout})
	require.NoError(t, err)
	require.Contains(t, string(text), `"timeouts":{"acceptance":86400,"first_response":300}`)
	card, err := ParseCard(text, origin)
	require.NoError(t, err)
	require.Equal(t, Rules{
		Timeouts: Timeouts{FirstResponse: 5 * time.Minute, Acceptance: MaxTimeout}, System: address,
	}, card.Rules())
	require.Equal(t, 30*time.Second, card.Rules().Timeouts.WithDefaults().Clarification)

	text, err = sign(Timeouts{})
	require.NoError(t, err)
	require.NotContains(t, string(text), "timeouts")
	for _, timeouts := range []Timeouts{{FirstResponse: -1}, {Clarification: time.Millisecond}, {Acceptance: MaxTimeout + time.Second}} {
		_, err := sign(timeouts)
		require.Error(t, err, "%v", timeouts)
	}
	for _, written := range []string{
		`{}`, `null`, `{"acceptance":0}`, `{"acceptance":-1}`, `{"acceptance":1.5}`, `{"acceptance":86401}`, `{"other":1}`, `"1m"`,
	} {
		altered := strings.Replace(string(text), `{`, `{"timeouts":`+written+`,`, 1)
		_, err := ParseCard([]byte(altered), origin)
		require.True(t, isRefusal(err, ReasonMalformed), "%s: %v", written, err)
	}
}
