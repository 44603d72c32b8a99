package proxy

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const always = 1.0

func TestWithoutRatesEverythingIsPassedOn(t *testing.T) {
	n := newNode(t)
	proxy := start(t, n, Options{Seed: 1})
	for range 50 {
		_, content, err := send(t, proxy, "getBalance", `["a"]`)
		require.NoError(t, err)
		value, slot := valueIn(t, content)
		require.Equal(t, "as of 100", value)
		require.EqualValues(t, 100, slot)
	}
	counts := proxy.Counts()
	require.Equal(t, 50, counts.Requests)
	require.Zero(t, counts.Faulty())
	require.Zero(t, counts.FaultyShare())
}

// A request takes effect exactly if the node received it, whatever the client receives.
func TestEffectOfFaultsOnTheNode(t *testing.T) {
	sent := sendTransaction
	for kind, reaches := range map[Kind][]string{
		DroppedBefore: {},
		DroppedAfter:  {sent},
		Delayed:       {sent},
		Repeated:      {sent, sent},
		RateLimited:   {},
		Failed:        {},
		FailedAfter:   {sent},
		Truncated:     {sent},
		Corrupted:     {sent},
	} {
		t.Run(string(kind), func(t *testing.T) {
			n := newNode(t)
			proxy := start(t, n, Options{Seed: 3, Rates: Rates{kind: always}, MaxDelay: time.Millisecond})
			_, _, _ = send(t, proxy, sent, `["AQ=="]`)
			n.has(t, reaches...)
			counts := proxy.Counts()
			require.Equal(t, map[Kind]int{kind: 1}, counts.Faults)
			require.Equal(t, len(reaches), counts.Transactions)
			require.InDelta(t, 1, counts.FaultyShare(), 0)
		})
	}
}

func TestDroppedConnectionsHaveNoAnswer(t *testing.T) {
	for _, kind := range []Kind{DroppedBefore, DroppedAfter} {
		proxy := start(t, newNode(t), Options{Rates: Rates{kind: always}})
		_, _, err := send(t, proxy, "getSlot", `[]`)
		require.Error(t, err, kind)
	}
}

func TestRefusalsHaveTheirStatus(t *testing.T) {
	statuses := map[Kind]map[int]bool{}
	for _, kind := range []Kind{RateLimited, Failed, FailedAfter} {
		statuses[kind] = map[int]bool{}
		proxy := start(t, newNode(t), Options{Rates: Rates{kind: always}, RetryAfter: 1500 * time.Millisecond})
		for range 32 {
			answered, _, err := send(t, proxy, "getSlot", `[]`)
			require.NoError(t, err)
			statuses[kind][answered.StatusCode] = true
			if kind == RateLimited {
				require.Equal(t, "2", answered.Header.Get("Retry-After"), "whole seconds, rounded up")
			}
		}
	}
	require.Equal(t, map[Kind]map[int]bool{
		RateLimited: {http.StatusTooManyRequests: true},
		Failed:      {http.StatusInternalServerError: true, http.StatusServiceUnavailable: true},
		FailedAfter: {http.StatusInternalServerError: true, http.StatusBadGateway: true},
	}, statuses)
}

// A damaged response is never valid JSON.
func TestDamagedAnswersAreNotJSON(t *testing.T) {
	for _, kind := range []Kind{Truncated, Corrupted} {
		proxy := start(t, newNode(t), Options{Seed: 5, Rates: Rates{kind: always}})
		broken, whole := 0, 0
		for range 300 {
			answered, content, err := send(t, proxy, "getSlot", `[]`)
			if err != nil {
				broken++
				continue
			}
			whole++
			require.Equal(t, http.StatusOK, answered.StatusCode)
			require.Equal(t, strconv.Itoa(len(content)), answered.Header.Get("Content-Length"))
			require.False(t, json.Valid(content), "%s: %q", kind, content)
		}
		require.Positive(t, whole)
		require.Equal(t, kind == Truncated, broken > 0, "only a truncated answer can be shorter than its Content-Length")
	}
}

// A lagging node returns an earlier response with the original slot.
func TestStaleAnswers(t *testing.T) {
	n := newNode(t)
	past := NewPast()
	truthful := start(t, n, Options{Past: past})
	behind := start(t, n, Options{Past: past, Rates: Rates{Stale: always}, Lag: 10})
	at := func(proxy *Proxy, params string) (string, uint64) {
		_, content, err := send(t, proxy, "getBalance", params)
		require.NoError(t, err)
		return valueIn(t, content)
	}
	value, _ := at(behind, `["a"]`)
	require.Equal(t, "as of 100", value, "there is nothing older")
	require.Zero(t, behind.Counts().Faulty())

	n.advance(9)
	at(truthful, `["a"]`)
	value, _ = at(behind, `["a"]`)
	require.Equal(t, "as of 109", value, "the only answer is not old enough")

	n.advance(6)
	at(truthful, `["b"]`)
	value, slot := at(behind, `["a"]`)
	require.Equal(t, "as of 100", value)
	require.EqualValues(t, 100, slot)
	n.advance(4)
	at(truthful, `["b"]`)
	value, _ = at(behind, `["a",{"minContextSlot":50}]`)
	require.Equal(t, "as of 119", value, "another question")
	value, _ = at(behind, `["a"]`)
	require.Equal(t, "as of 109", value, "the newest that is old enough")
	require.Equal(t, map[Kind]int{Stale: 2}, behind.Counts().Faults)

	_, content, err := send(t, behind, "sendTransaction", `["AQ=="]`)
	require.NoError(t, err)
	value, _ = valueIn(t, content)
	require.Equal(t, "as of 119", value, "a transaction is always sent on")

	n.advance(41)
	at(truthful, `["b"]`)
	value, _ = at(behind, `["a"]`)
	require.Equal(t, "as of 160", value, "a node that is behind has not stopped")
}

func TestStaleNodesAdmitThatASlotIsNotReached(t *testing.T) {
	n := newNode(t)
	proxy := start(t, n, Options{Rates: Rates{Stale: always}, Lag: 10})
	const question = `["a",{"commitment":"confirmed","minContextSlot":%]`
	asked := func(from string) []byte {
		_, content, err := send(t, proxy, "getSignaturesForAddress", strings.Replace(question, "%", from+"}", 1))
		require.NoError(t, err)
		return content
	}
	asked("1")
	n.advance(20)
	_, _, err := send(t, proxy, "getSlot", `[]`)
	require.NoError(t, err)
	_, _, err = send(t, proxy, "getBalance", `["z"]`)
	require.NoError(t, err)
	_, slot := valueIn(t, asked("100"))
	require.EqualValues(t, 100, slot)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":"x","error":{"code":-32016,"message":"Minimum context slot has not been reached","data":{"contextSlot":100}}}`,
		string(asked("101")))
}

// A delayed transaction reaches the node although the sender has disconnected.
func TestDelayedTransactionsOutliveTheirSender(t *testing.T) {
	n := newNode(t)
	proxy := start(t, n, Options{Seed: 2, Rates: Rates{Delayed: always}, MaxDelay: 400 * time.Millisecond})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for range 8 {
		request, err := http.NewRequest(http.MethodPost, proxy.URL(), strings.NewReader(`{"id":1,"method":"sendTransaction","params":[]}`))
		require.NoError(t, err)
		ctx, leave := context.WithCancel(t.Context())
		before := proxy.Counts().Requests
		go func() {
			for proxy.Counts().Requests == before {
				time.Sleep(time.Millisecond)
			}
			leave()
		}()
		// A transaction that is delayed only briefly receives a response.
		if answered, err := client.Do(request.WithContext(ctx)); err == nil {
			require.NoError(t, answered.Body.Close())
		}
	}
	require.Eventually(t, func() bool { return proxy.Counts().Transactions == 8 }, 10*time.Second, time.Millisecond)
}

// Sent receives a transaction's sender before the sender receives the response.
func TestSentReceivesTheSender(t *testing.T) {
	told := make(chan string, 1)
	proxy := start(t, newNode(t), Options{Rates: Rates{DroppedAfter: always}, Sent: func(path string) { told <- path }})
	for _, method := range []string{"getSlot", "sendTransaction"} {
		_, err := http.Post(proxy.URL()+"/third", "application/json", strings.NewReader(`{"id":1,"method":"`+method+`","params":[]}`))
		require.Error(t, err)
	}
	require.Equal(t, "/third", <-told)
	require.Empty(t, told)
}

// With the same seed the n-th call of each method meets the same fault, whatever other requests are sent.
func TestSeedsReplay(t *testing.T) {
	rates := Rates{DroppedBefore: 0.2, RateLimited: 0.2, Failed: 0.2, Corrupted: 0.2}
	play := func(seed uint64, disturbed bool) (story []string) {
		proxy := start(t, newNode(t), Options{Seed: seed, Rates: rates})
		for range 60 {
			if disturbed {
				_, _, _ = send(t, proxy, "getSlot", `[]`)
			}
			answered, content, err := send(t, proxy, "getBalance", `["a"]`)
			switch {
			case err != nil:
				story = append(story, "dropped")
			case json.Valid(content):
				story = append(story, "answered")
			default:
				story = append(story, strconv.Itoa(answered.StatusCode))
			}
		}
		return story
	}
	first := play(7, false)
	require.Equal(t, first, play(7, true))
	require.NotEqual(t, first, play(8, false))
	for _, part := range []string{"dropped", "answered", "429"} {
		require.Contains(t, first, part)
	}
}

// The share of faults approaches the rates.
func TestRatesAreObserved(t *testing.T) {
	rates := Rates{DroppedBefore: 0.1, RateLimited: 0.05, Failed: 0.15}
	dice := newDice(11)
	const throws = 20_000
	drawn := map[Kind]int{}
	for range throws {
		if kind, faulty := rates.pick(dice.next("getSlot"), ofRequests); faulty {
			drawn[kind]++
		}
	}
	for kind, rate := range rates {
		require.InDelta(t, rate, float64(drawn[kind])/throws, 0.01, kind)
	}
	require.Len(t, drawn, len(rates))
}

func TestOptionsThatCannotBe(t *testing.T) {
	n := newNode(t)
	for name, options := range map[string]Options{
		"no node":              {},
		"a rate above 1":       {RPCURL: n.URL, WSURL: n.URL, Rates: Rates{Failed: 1.1}},
		"a rate below 0":       {RPCURL: n.URL, WSURL: n.URL, Rates: Rates{ConnectionRefused: -0.1}},
		"rates above 1":        {RPCURL: n.URL, WSURL: n.URL, Rates: Rates{Failed: 0.6, Truncated: 0.6}},
		"an unknown kind":      {RPCURL: n.URL, WSURL: n.URL, Rates: Rates{"unknown": 0.1}},
		"a delay that is past": {RPCURL: n.URL, WSURL: n.URL, MaxDelay: -1},
	} {
		_, err := Start(options)
		require.Error(t, err, name)
	}
	_, err := Start(Options{RPCURL: n.URL, WSURL: n.URL, Rates: Rates{ConnectionCut: 1, NotificationDropped: 0.1}})
	require.Error(t, err)
}

func TestPastIsBounded(t *testing.T) {
	past := NewPast()
	large := json.RawMessage(`"` + strings.Repeat("x", answerMost-2) + `"`)
	for i := range 2 * pastMost / answerMost {
		past.newest = uint64(i + 1)
		past.note(parseCall([]byte(`{"method":"getTransaction","params":["`+strconv.Itoa(i%7)+`"]}`)), large)
	}
	require.LessOrEqual(t, past.bytes, pastMost)
	require.Greater(t, past.bytes, pastMost-2*answerMost)
	kept := 0
	for _, answers := range past.answers {
		kept += len(answers)
	}
	require.Len(t, past.order, kept)
	past.note(parseCall([]byte(`{"method":"getTransaction","params":["new"]}`)), append(large, ' '))
	require.Len(t, past.order, kept, "too large answers are not stored")
}

func TestEveryKindHasAName(t *testing.T) {
	seen := map[string]bool{}
	for _, kind := range Kinds() {
		require.NotEmpty(t, string(kind))
		seen[string(kind)] = true
	}
	require.Len(t, seen, 16)
}
