package haggle

import (
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/feed"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// The account is the same in both reads: there is none.
func TestAccountThatIsCreatedAndClosedWithoutAHintIsNotMissed(t *testing.T) {
	withFakeClock(t, func(t *testing.T, chain *fakeChain, client *Client, _ *scriptedSource) {
		subscription, err := client.Watch(t.Context(), watchedNegotiation)
		require.NoError(t, err)
		for range 10 {
			time.Sleep(feed.ReconcileEvery)
			chain.change(func() { chain.slot += transaction.SettledSlots })
		}
		closed := &protocol.NegotiationClosed{NegotiationID: watchedNegotiation}
		var want []EventEnvelope
		for _, event := range []protocol.Event{
			&protocol.NegotiationCreated{NegotiationID: watchedNegotiation}, offerOf(1), closed,
		} {
			want = append(want, chain.emit(event).envelope(event))
			chain.next()
		}
		assert.Equal(t, want, collect(subscription, 2*feed.ReconcileEvery))
	})
}

// watchMany watches a thousand addresses.
func watchMany(t *testing.T, client *Client, prepare func(solana.PublicKey)) {
	for n := range 1_000 {
		address := solana.PublicKey{7, byte(n >> 8), byte(n)}
		prepare(address)
		_, err := client.Watch(t.Context(), address)
		require.NoError(t, err)
	}
}

func TestAddressesWithoutAnAccountAreListedInTurn(t *testing.T) {
	withFakeClock(t, func(t *testing.T, chain *fakeChain, client *Client, _ *scriptedSource) {
		watchMany(t, client, func(solana.PublicKey) {})
		time.Sleep(10 * time.Minute)
		before := chain.called("getSignaturesForAddress")
		time.Sleep(time.Minute)
		lists := chain.called("getSignaturesForAddress") - before
		assert.GreaterOrEqual(t, lists, 1_000)
		assert.LessOrEqual(t, lists, 60*20)
	})
}

func TestIdleSubscriptionsCostFewRequests(t *testing.T) {
	withFakeClock(t, func(t *testing.T, chain *fakeChain, client *Client, source *scriptedSource) {
		watchMany(t, client, func(address solana.PublicKey) { chain.accounts[address] = []byte{1} })
		count := func() (all int) {
			chain.lock.Lock()
			defer chain.lock.Unlock()
			for _, calls := range chain.calls {
				all += calls
			}
			return all
		}
		for range 10 { // at first each is listed once more, to be sure
			chain.next()
			time.Sleep(time.Minute)
			chain.change(func() { chain.slot += transaction.SettledSlots })
		}
		before := count()
		time.Sleep(10 * time.Minute)
		// A round takes 25 seconds: a request for each hundred, and a further request for the node's
		// progress.
		assert.LessOrEqual(t, count()-before, 11*(10*60/25+1))
		before = count()
		source.stream.Close()
		time.Sleep(5 * time.Second)
		assert.LessOrEqual(t, count()-before, 11, "a lost connection is made up for")
	})
}
