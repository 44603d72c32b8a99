package load

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/gagliardetto/solana-go"
	"golang.org/x/sync/errgroup"

	"github.com/haggle-protocol/haggle/sdk/localnet"
)

// setUp creates and endows all wallets, and starts the reader of blocks after that.
func (r *run) setUp(ctx context.Context) (err error) {
	if r.parties, err = r.newClient(r.InFlight); err != nil {
		return err
	}
	if r.payers, err = r.newClient(r.Transfers); err != nil {
		return err
	}
	config, err := r.net.Client.GetConfig(ctx)
	if err != nil {
		return err
	}
	r.audit.before = config.ProtocolConfig
	r.terms = terms{decayBps: uint64(config.DefaultDecayRateBps),
		feeBps: uint64(config.DefaultProtocolFeeBps)}
	if err := r.makeParties(ctx); err != nil {
		return err
	}
	if err := r.makeSenders(ctx); err != nil {
		return err
	}
	r.blocks, err = readBlocksFromNow(ctx, r.net.Client.RPC())
	return err
}

func (r *run) makeParties(ctx context.Context) (err error) {
	if r.mint, err = r.net.Chain.CreateMint(ctx, localnet.Decimals); err != nil {
		return err
	}
	// The treasury's token account exists before any closing, as on a cluster in use.
	holdings := []localnet.Holding{{Owner: r.net.Treasury}}
	for number := range r.Pairs {
		n := &negotiation{number: number, script: scriptFor(number, r.terms)}
		if n.buyer, err = newAgent(r.mint); err != nil {
			return err
		}
		if n.seller, err = newAgent(r.mint); err != nil {
			return err
		}
		r.negotiations = append(r.negotiations, n)
		holdings = append(holdings,
			localnet.Holding{Owner: n.buyer.PublicKey(), Lamports: startLamports, Tokens: startTokens},
			localnet.Holding{Owner: n.seller.PublicKey(), Lamports: startLamports})
	}
	return r.endow(ctx, "endow the parties", r.mint, holdings)
}

// transferTokens is a sender's starting balance, in base units: enough for over ten thousand transfers.
const transferTokens = 1_000_000_000

func (r *run) makeSenders(ctx context.Context) error {
	mint, err := r.net.Chain.CreateMint(ctx, localnet.Decimals)
	if err != nil {
		return err
	}
	r.transfers = &transferStream{mint: mint}
	var holdings []localnet.Holding
	for range r.Transfers {
		s := new(sender)
		if s.from, err = newAgent(mint); err != nil {
			return err
		}
		if s.to, err = newAgent(mint); err != nil {
			return err
		}
		r.transfers.senders = append(r.transfers.senders, s)
		holdings = append(holdings,
			localnet.Holding{Owner: s.from.PublicKey(), Lamports: startLamports, Tokens: transferTokens},
			localnet.Holding{Owner: s.to.PublicKey(), Lamports: startLamports})
	}
	return r.endow(ctx, "endow the senders of plain transfers", mint, holdings)
}

// Five holdings fit into a transaction. endowmentsInFlight is the number of concurrent transactions.
const (
	holdingsAtOnce     = 5
	endowmentsInFlight = 32
)

func (r *run) endow(ctx context.Context, title string, mint solana.PublicKey,
	holdings []localnet.Holding) error {
	var done atomic.Int64
	defer r.progress.watch(title, "wallets", len(holdings), &done)()
	endowing, ctx := errgroup.WithContext(ctx)
	endowing.SetLimit(endowmentsInFlight)
	for batch := range slices.Chunk(holdings, holdingsAtOnce) {
		endowing.Go(func() error {
			if err := r.net.Chain.Endow(ctx, mint, batch...); err != nil {
				return fmt.Errorf("%s: %w", title, err)
			}
			done.Add(int64(len(batch)))
			return nil
		})
	}
	return endowing.Wait()
}
