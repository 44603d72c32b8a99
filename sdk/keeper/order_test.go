package keeper_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/keeper"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// actionTime is how long an action takes on a crowdedChain.
const actionTime = 2 * time.Second

// crowdedChain is a node with many negotiations. It runs in a bubble of synctest. An action on a negotiation
// takes actionTime and finds it closed by another sender.
type crowdedChain struct {
	t            *testing.T
	lock         sync.Mutex
	negotiations map[solana.PublicKey]*protocol.Negotiation
	// attempted is the time of the first action on each negotiation.
	attempted map[solana.PublicKey]time.Time
}

func newCrowdedChain(t *testing.T) *crowdedChain {
	return &crowdedChain{
		t: t, negotiations: make(map[solana.PublicKey]*protocol.Negotiation),
		attempted: make(map[solana.PublicKey]time.Time),
	}
}

// add creates a negotiation at the address for a number.
func (c *crowdedChain) add(number uint64, n protocol.Negotiation) solana.PublicKey {
	var address solana.PublicKey
	binary.BigEndian.PutUint64(address[:], number)
	address[31] = 1
	n.Version, n.CreatedAt = protocol.NegotiationVersion, time.Now().Unix()-600
	c.lock.Lock()
	defer c.lock.Unlock()
	c.negotiations[address] = &n
	return address
}

func accountJSON(owner solana.PublicKey, data []byte) string {
	return fmt.Sprintf(`{"data":[%q,"base64"],"executable":false,"lamports":1000000,"owner":%q,"rentEpoch":0,"space":%d}`,
		base64.StdEncoding.EncodeToString(data), owner, len(data))
}

// account returns an account in JSON. The first read of each negotiation starts an action.
func (c *crowdedChain) account(address solana.PublicKey) string {
	if address == solana.SysVarClockPubkey {
		clock := make([]byte, 40)
		binary.LittleEndian.PutUint64(clock[32:], uint64(time.Now().Unix()))
		return accountJSON(solana.MustPublicKeyFromBase58("Sysvar1111111111111111111111111111111111111"), clock)
	}
	c.lock.Lock()
	if _, exists := c.negotiations[address]; exists {
		c.attempted[address] = time.Now()
		delete(c.negotiations, address)
	}
	c.lock.Unlock()
	return "null"
}

func (c *crowdedChain) result(method string, params []json.RawMessage) string {
	switch method {
	case "getProgramAccounts":
		c.lock.Lock()
		defer c.lock.Unlock()
		var listed []string
		for address, n := range c.negotiations {
			listed = append(listed, fmt.Sprintf(`{"pubkey":%q,"account":%s}`, address, accountJSON(protocol.ProgramID, n.Encode())))
		}
		return fmt.Sprintf(`{"context":{"slot":9},"value":[%s]}`, strings.Join(listed, ","))
	case "getAccountInfo":
		var address solana.PublicKey
		require.NoError(c.t, json.Unmarshal(params[0], &address))
		return fmt.Sprintf(`{"context":{"slot":9},"value":%s}`, c.account(address))
	case "getMultipleAccounts":
		var addresses []solana.PublicKey
		require.NoError(c.t, json.Unmarshal(params[0], &addresses))
		values := make([]string, len(addresses))
		for i, address := range addresses {
			values[i] = c.account(address)
			if values[i] == "null" && i == 0 {
				time.Sleep(actionTime)
			}
		}
		return fmt.Sprintf(`{"context":{"slot":9},"value":[%s]}`, strings.Join(values, ","))
	case "getGenesisHash":
		return `"5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"`
	}
	return "null"
}

func (c *crowdedChain) RoundTrip(request *http.Request) (*http.Response, error) {
	var call struct {
		ID     json.RawMessage
		Method string
		Params []json.RawMessage
	}
	if err := json.NewDecoder(request.Body).Decode(&call); err != nil {
		return nil, err
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, c.result(call.Method, call.Params))
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		Body: io.NopCloser(strings.NewReader(body)),
	}, nil
}

// keep runs a keeper for a while.
func (c *crowdedChain) keep(length time.Duration, config keeper.Config) {
	client, err := haggle.NewClient(haggle.Config{
		Endpoint: "http://node.test", HTTPClient: &http.Client{Transport: c}, Source: noEvents{},
	})
	require.NoError(c.t, err)
	defer func() { require.NoError(c.t, client.Close()) }()
	key, err := wallet.GenerateKeypair()
	require.NoError(c.t, err)
	config.Grace, config.Jitter = -1, -1
	k, err := keeper.New(client, key, config)
	require.NoError(c.t, err)
	ctx, stop := context.WithTimeout(c.t.Context(), length)
	defer stop()
	require.ErrorIs(c.t, k.Run(ctx), context.DeadlineExceeded)
}

// delay returns the time from a deadline to the first action.
func (c *crowdedChain) delay(negotiation solana.PublicKey, deadline int64) time.Duration {
	c.lock.Lock()
	defer c.lock.Unlock()
	at, acted := c.attempted[negotiation]
	require.True(c.t, acted, "no action")
	return at.Sub(time.Unix(deadline, 0))
}

const mostJunk = 130

// usual is the longest delay when a task waits for no others: the interval between reads of the chain's
// clock, plus the interval between actions.
const usual = idleBetweenReads + 2*time.Second

const idleBetweenReads = 15 * time.Second

var (
	attacker = solana.PublicKey{66}
	junkMint = solana.PublicKey{67}
)

func honest(deadline int64) protocol.Negotiation {
	return protocol.Negotiation{
		Buyer: solana.PublicKey{1}, Seller: solana.PublicKey{2}, TokenMint: token.USDC, EscrowAmount: 5_000_000,
		Status: protocol.NegotiationStatusCountered, TurnDeadline: deadline,
	}
}

// Finished negotiations cost their creator almost nothing. Their closes use neither the rate nor the places
// reserved for other actions.
func TestClosesDoNotDelayAnExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowdedChain(t)
		for i := range uint64(mostJunk) {
			c.add(i, protocol.Negotiation{Buyer: attacker, TokenMint: token.USDC, Status: protocol.NegotiationStatusRejected})
		}
		deadline := time.Now().Unix() + 5
		expiry := c.add(mostJunk, honest(deadline))
		c.keep(20*time.Minute, keeper.Config{Concurrency: 1})
		require.Less(t, c.delay(expiry, deadline), usual)
		require.Len(t, c.attempted, mostJunk+1, "and the others are closed")
	})
}

// A closing starts only when no other task waits, even if it was due before.
func TestClosesComeLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowdedChain(t)
		closing := c.add(0, protocol.Negotiation{Buyer: attacker, Status: protocol.NegotiationStatusRejected})
		var expiries []solana.PublicKey
		for i := range uint64(20) {
			expiries = append(expiries, c.add(1+i, honest(time.Now().Unix()-int64(i))))
		}
		c.keep(5*time.Minute, keeper.Config{})
		for _, expiry := range expiries {
			require.False(t, c.attempted[closing].Before(c.attempted[expiry]))
		}
		require.Contains(t, c.attempted, closing)
	})
}

// One buyer's overdue negotiations, even when older, delay another buyer's expiries by one task per turn.
func TestJunkExpiriesOfABuyerTakeTurnsWithOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowdedChain(t)
		now := time.Now().Unix()
		for i := range uint64(mostJunk) {
			junk := honest(now - 60)
			junk.Buyer, junk.Seller = attacker, solana.PublicKey{2}
			c.add(i, junk)
		}
		deadline := now + 5
		expiry := c.add(mostJunk, honest(deadline))
		c.keep(20*time.Minute, keeper.Config{Concurrency: 1})
		require.Less(t, c.delay(expiry, deadline), usual+2*actionTime)
		require.Len(t, c.attempted, mostJunk+1)
	})
}

// A new wallet for each negotiation does not help: every second task uses a listed mint.
func TestJunkExpiriesOfWorthlessMintsAlternateWithListedMints(t *testing.T) {
	for name, mints := range map[string][]solana.PublicKey{"default": nil, "configured": {{9}}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCrowdedChain(t)
				now := time.Now().Unix()
				for i := range uint64(mostJunk) {
					junk := honest(now - 60)
					junk.TokenMint, junk.EscrowAmount = junkMint, 1<<60
					binary.BigEndian.PutUint64(junk.Buyer[:], 1000+i)
					c.add(i, junk)
				}
				deadline := now + 5
				valued := honest(deadline)
				if mints != nil {
					valued.TokenMint = mints[0]
				}
				expiry := c.add(mostJunk, valued)
				c.keep(20*time.Minute, keeper.Config{Concurrency: 1, Mints: mints})
				require.Less(t, c.delay(expiry, deadline), usual+2*actionTime)
				require.Len(t, c.attempted, mostJunk+1)
			})
		})
	}
}
