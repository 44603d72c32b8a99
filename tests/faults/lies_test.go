package faults_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/lab/report"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/transaction"
	"github.com/haggle-protocol/haggle/sdk/wallet"
	"github.com/haggle-protocol/haggle/tests/faults/proxy"
)

// envLies is the path of the report about lies.
const envLies = "HAGGLE_LIES_REPORT"

// lieLimit is how long a negotiation with a lying node may take: longer than a settlement's failed
// verification.
const lieLimit = 75 * time.Second

// differing replaces the parts of error texts that differ between runs.
var differing = []struct {
	pattern     *regexp.Regexp
	replacement string
}{
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "HOST"},
	{regexp.MustCompile(`creation at \d+`), "creation at TIME"},
	{regexp.MustCompile(`[1-9A-HJ-NP-Za-km-z]{80,90}`), "SIGNATURE"},
	{regexp.MustCompile(`in slot \d+`), "in slot N"},
	{regexp.MustCompile(`(session id .*: )\d+`), "${1}ID"},
}

const (
	lieEscrow = 5_000_000
	liePrice  = 3_000_000
	lieTokens = 10_000 * lieEscrow
)

// deception is a negotiation between a buyer and a seller with a lying node.
type deception struct {
	lie proxy.Lie
	// alone reports that both parties use only the lying node.
	alone bool

	net           *localnet.Net
	liar          *proxy.Proxy
	client        *haggle.Client
	buyer, seller *wallet.Keypair
	negotiation   solana.PublicKey
	// single reports that the seller's agent refuses to start if this is the only node, unless the owner
	// trusts the node.
	single bool
	// refusals lists SDK errors in order of occurrence.
	refusals []string
	lock     sync.Mutex
	// sales lists the settlements reported by the seller's agent.
	sales []agent.Result
	// end is the negotiation's state on chain.
	end string
}

// A node that lies about heights, blockhashes, decimals, settlements, statuses, events or terms takes no
// money: at most one escrow is paid, on the specified terms, and every reported sale is on the chain.
func TestLyingNodeTakesNoMoney(t *testing.T) {
	net, err := localnet.Start(t.Context(), localnet.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, net.Close()) }()
	var deceptions []*deception
	t.Run("lies", func(t *testing.T) {
		for _, lie := range proxy.Lies() {
			for _, alone := range []bool{false, true} {
				d := &deception{lie: lie, alone: alone, net: net}
				deceptions = append(deceptions, d)
				t.Run(fmt.Sprintf("%s, alone %t", lie, alone), func(t *testing.T) {
					t.Parallel()
					d.run(t)
				})
			}
		}
	})
	page := lies(net, deceptions)
	t.Log("\n" + page)
	if path := os.Getenv(envLies); path != "" && !t.Failed() {
		require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
	}
}

func (d *deception) run(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), lieLimit)
	defer cancel()
	d.prepare(t, ctx)
	err := d.invite(ctx)
	d.refused(err)
	if err == nil {
		d.bargain(ctx)
	}
	d.audit(t)
}

// prepare starts the nodes and funds the parties. The buyer has enough for many escrows.
func (d *deception) prepare(t *testing.T, ctx context.Context) {
	start := func(lies ...proxy.Lie) *proxy.Proxy {
		chain := d.net.Chain
		p, err := proxy.Start(proxy.Options{RPCURL: chain.RPCURL(), WSURL: chain.WSURL(), Lies: lies})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, p.Close()) })
		return p
	}
	d.liar = start(d.lie)
	config := haggle.Config{
		Endpoint: d.liar.URL(), WSEndpoint: d.liar.WSURL(), Logger: slog.New(slog.DiscardHandler),
	}
	if !d.alone {
		for range 2 {
			honest := start()
			config.Fallbacks = append(config.Fallbacks, honest.URL())
			config.WSFallbacks = append(config.WSFallbacks, honest.WSURL())
		}
	}
	var err error
	d.client, err = haggle.NewClient(config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.client.Close()) })
	for _, party := range []**wallet.Keypair{&d.buyer, &d.seller} {
		*party, err = wallet.GenerateKeypair()
		require.NoError(t, err)
	}
	require.NoError(t, d.net.Chain.Endow(ctx, d.net.Mint,
		localnet.Holding{Owner: d.buyer.PublicKey(), Lamports: startLamports, Tokens: lieTokens},
		localnet.Holding{Owner: d.seller.PublicKey(), Lamports: startLamports}))
}

// invite creates the negotiation, and retries on errors as an agent does.
func (d *deception) invite(ctx context.Context) (err error) {
	// The buyer computes the escrow of 5 tokens with the decimals stated by the node.
	decimals, escrow := uint8(localnet.Decimals), uint64(lieEscrow)
	mint, err := d.client.GetMint(ctx, d.net.Mint)
	if err != nil {
		d.refused(err)
	} else {
		for ; decimals < mint.Decimals; decimals++ {
			escrow *= 10
		}
	}
	for range 3 {
		var action *haggle.Action
		action, err = d.client.CreateNegotiation(haggle.CreateRequest{
			Buyer: d.buyer.PublicKey(), Seller: d.seller.PublicKey(), Mint: d.net.Mint, Decimals: decimals,
			EscrowAmount: escrow, ServiceHash: service, Key: string(d.lie),
		}).Build(ctx)
		if err != nil {
			d.refused(err)
			continue
		}
		d.negotiation = action.Negotiation
		if _, err = action.Do(ctx, d.buyer); err == nil {
			return nil
		}
		d.refused(err)
	}
	return err
}

// bargain runs both agents.
func (d *deception) bargain(ctx context.Context) {
	var agents sync.WaitGroup
	for _, as := range []*wallet.Keypair{d.buyer, d.seller} {
		agents.Go(func() {
			runtime, err := agent.New(d.client, as, d.agent(as))
			if errors.Is(err, transaction.ErrSingleSource) {
				d.single = true
				config := d.agent(as)
				limits := config.Mints[d.net.Mint]
				limits.SingleSourceUpTo = math.MaxUint64 // the owner trusts the node nevertheless
				config.Mints[d.net.Mint] = limits
				runtime, err = agent.New(d.client, as, config)
			}
			if err == nil {
				_, err = runtime.RunOne(ctx, d.negotiation)
			}
			d.refused(err)
		})
	}
	agents.Wait()
}

func (d *deception) agent(as *wallet.Keypair) agent.Config {
	limits := agent.Limits{Decimals: localnet.Decimals, MaxTotal: lieEscrow}
	if as == d.seller {
		limits = agent.Limits{Decimals: localnet.Decimals, MinPrice: 1, FinalizedAbove: math.MaxUint64}
	}
	return agent.Config{
		Mints: map[solana.PublicKey]agent.Limits{d.net.Mint: limits}, Services: [][32]byte{service},
		Decide: func(_ context.Context, turn agent.Turn) (agent.Decision, error) {
			if turn.CanAccept() && turn.Standing() == liePrice {
				return agent.Accept{}, nil
			}
			price, err := turn.InRange(liePrice)
			return agent.Offer{Amount: price}, err
		},
		Ended: func(result agent.Result) {
			if as == d.seller && result.Status == protocol.NegotiationStatusSettled {
				d.sales = append(d.sales, result)
			}
		},
		Failed: func(_ solana.PublicKey, err error) { d.refused(err) },
		Logger: slog.New(slog.DiscardHandler),
	}
}

// refused notes a refusal of the SDK.
func (d *deception) refused(err error) {
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		return
	}
	d.lock.Lock()
	defer d.lock.Unlock()
	text := err.Error()
	for address, name := range map[solana.PublicKey]string{d.negotiation: "NEGOTIATION", d.net.Mint: "MINT"} {
		text = strings.ReplaceAll(text, address.String(), name)
	}
	for _, part := range differing {
		text = part.pattern.ReplaceAllString(text, part.replacement)
	}
	for _, known := range d.refusals {
		if known == text {
			return
		}
	}
	d.refusals = append(d.refusals, text)
}

// audit reads the chain over a connection without lies.
func (d *deception) audit(t *testing.T) {
	ctx := t.Context()
	created, settled := 0, []*protocol.NegotiationSettled(nil)
	if !d.negotiation.IsZero() {
		for envelope, err := range d.net.Client.History(ctx, d.negotiation) {
			require.NoError(t, err)
			switch event := envelope.Event.(type) {
			case *protocol.NegotiationCreated:
				created++
				assert.LessOrEqual(t, event.DecayRateBps, protocol.DefaultDecayRateBps)
			case *protocol.NegotiationSettled:
				settled = append(settled, event)
			}
		}
	}
	assert.LessOrEqual(t, created, 1)
	left := d.tokens(t, d.buyer)
	assert.GreaterOrEqual(t, left, uint64(lieTokens-lieEscrow), "the buyer has paid more than one escrow")
	for _, sale := range d.sales {
		require.Len(t, settled, 1, "a sale that the chain does not have")
		assert.Equal(t, settled[0].SettledAmount, sale.Price)
		assert.Equal(t, settled[0].SettledAmount-settled[0].ProtocolFee, d.tokens(t, d.seller))
	}
	assert.LessOrEqual(t, len(d.sales), 1)
	switch {
	case len(d.sales) == 1:
		d.end = "settled, one escrow, one sale reported"
	case len(settled) == 1:
		d.end = "settled, one escrow, no sale reported"
	case created == 1:
		d.end = "one escrow, no sale reported"
	default:
		d.end = "nothing paid"
	}
}

func (d *deception) tokens(t *testing.T, of *wallet.Keypair) uint64 {
	account, err := token.AssociatedAddress(of.PublicKey(), d.net.Mint, solana.TokenProgramID)
	require.NoError(t, err)
	balance, err := d.net.Chain.Client().GetTokenAccountBalance(t.Context(), account, "confirmed")
	require.NoError(t, err)
	var units uint64
	_, err = fmt.Sscan(balance.Value.Amount, &units)
	require.NoError(t, err)
	return units
}

// lies returns the report.
func lies(net *localnet.Net, deceptions []*deception) string {
	table := report.NewTable("lie", "nodes", "times told", "end, read over a connection without lies")
	var refusals strings.Builder
	for _, d := range deceptions {
		nodes := "with two honest nodes"
		if d.alone {
			nodes = "alone"
		}
		table.Row(string(d.lie), nodes, report.Count(d.liar.Counts().Lies[d.lie]), d.end)
		if len(d.refusals) > 0 {
			fmt.Fprintf(&refusals, "\n%s, %s:\n\n", d.lie, nodes)
		}
		for _, refusal := range d.refusals {
			fmt.Fprintf(&refusals, "- `%s`\n", refusal)
		}
	}
	return fmt.Sprintf(`# Lying nodes

Written by %s. Each row is a negotiation between a buyer and a seller with a node that lies, on a local
chain (%s). It is the first of three nodes, or the only one. The buyer has tokens for 10,000 escrows,
computes its escrow of 5 tokens with the decimals that the node states, and repeats a creation that fails. Each
negotiation lasts up to %.0f seconds.

The seller's agent trusts no node's word about its payment. With a lying node alone it does not start:
"%s". The run then continues with an agent that trusts this node at every price.

No buyer paid more than one escrow or accepted worse terms than the defaults, and no sale was reported
that the chain does not have. The SDK requests heights and the validity of blockhashes only for transactions that
are open for 90 seconds; sdk/lying_node_test.go covers these lies.

%s
## Errors of the SDK
%s`, "`make faults`", net.Chain.Kind, lieLimit.Seconds(), transaction.ErrSingleSource, table, refusals.String())
}
