package load

import (
	"context"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/lab/report"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// audit compares the chain with the scripts and the records of all parties.
type audit struct {
	before protocol.ProtocolConfig
	// open is the number of negotiations still open at the end of each stage.
	open [stageCount]int
	// supply is the sum of all token accounts of the mint, in base units.
	supply   uint64
	findings report.Findings
	locks    *locks
}

// afterStage compares every negotiation's account, and every token account of the mint.
func (a *audit) afterStage(ctx context.Context, r *run, after stageID) error {
	found := map[solana.PublicKey]*haggle.Snapshot{}
	for negotiation, err := range r.net.Client.FindNegotiations(ctx, haggle.Filter{}) {
		if err != nil {
			return err
		}
		found[negotiation.Address] = negotiation
	}
	for _, n := range r.negotiations {
		have := found[n.address]
		delete(found, n.address)
		if have != nil {
			a.open[after]++
		}
		if n.err != nil {
			a.findings.Add("negotiation %d (%s) after %q: stuck: %v", n.number, n.address,
				stages[after].title, n.err)
		} else if difference := n.compare(have, r, after); difference != "" {
			a.findings.Add("negotiation %d (%s) after %q: %s", n.number, n.address, stages[after].title,
				difference)
		}
	}
	for address := range found {
		a.findings.Add("negotiation %s: not created by this run", address)
	}
	return a.compareBalances(ctx, r, after)
}

// compare describes how a negotiation's account differs from the script at the end of a stage. If nothing
// differs, it returns an empty string.
func (n *negotiation) compare(have *haggle.Snapshot, r *run, after stageID) string {
	if after == closing {
		if have != nil {
			return "account not closed"
		}
		return ""
	}
	if have == nil {
		return "account missing"
	}
	type state struct {
		buyer, seller, mint        solana.PublicKey
		status                     protocol.NegotiationStatus
		round                      int
		offer, escrow, effective   uint64
		settled, toBuyer, toSeller uint64
	}
	want := state{
		buyer: n.buyer.PublicKey(), seller: n.seller.PublicKey(), mint: r.mint,
		status: protocol.NegotiationStatusCreated, escrow: n.script.escrow, effective: n.script.escrow,
	}
	if after >= bargaining {
		last := n.script.last()
		want.round, want.offer, want.effective = len(n.script.offers), last.amount, last.effective
		want.status = protocol.NegotiationStatusProposed
		if last.side == protocol.OfferSideSeller {
			want.status = protocol.NegotiationStatusCountered
		}
	}
	if after >= ending {
		want.status = protocol.NegotiationStatusRejected
		if n.script.accepted {
			want.status, want.settled = protocol.NegotiationStatusSettled, n.script.last().amount
		}
	}
	got := state{
		buyer: have.Buyer, seller: have.Seller, mint: have.TokenMint, status: have.Status,
		round: int(have.CurrentRound),
		offer: have.CurrentOfferAmount, escrow: have.EscrowAmount, effective: have.EffectiveEscrow,
		settled: have.SettledAmount, toBuyer: have.ClaimableBuyer, toSeller: have.ClaimableSeller,
	}
	if got != want {
		return fmt.Sprintf("is %+v instead of %+v", got, want)
	}
	return ""
}

// afterAll compares the blocks' transactions with the records, and the totals, the transfers and the lamports
// of all parties with the scripts.
func (a *audit) afterAll(ctx context.Context, r *run) error {
	negotiations := map[solana.PublicKey]bool{}
	for _, n := range r.negotiations {
		negotiations[n.address] = true
	}
	a.locks = findLocks(r.blocks.program, negotiations)
	for _, address := range a.locks.shared {
		a.findings.Add("account %s: one negotiation writes it and another names it before closing", address)
	}
	for _, signature := range a.locks.unrelated {
		a.findings.Add("transaction %s names no negotiation of the run, or more than one", signature)
	}
	a.compareSignatures(r.records.records, r.blocks)
	a.compareEvents(r)
	if err := a.compareTotals(ctx, r); err != nil {
		return err
	}
	if err := a.compareTransfers(ctx, r); err != nil {
		return err
	}
	return a.compareLamports(ctx, r)
}

// compareTotals compares the totals in the protocol's configuration with the sums of the scripts.
func (a *audit) compareTotals(ctx context.Context, r *run) error {
	config, err := r.net.Client.GetConfig(ctx)
	if err != nil {
		return err
	}
	want := a.before
	want.TotalNegotiations += uint64(len(r.negotiations))
	for _, n := range r.negotiations {
		if n.script.accepted {
			want.TotalSettledVolume += n.script.last().amount
			want.TotalFeesCollected += n.script.division(r.terms).fee
		}
	}
	if config.ProtocolConfig != want {
		a.findings.Add("protocol configuration: is %+v instead of %+v", config.ProtocolConfig, want)
	}
	return nil
}
