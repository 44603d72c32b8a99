package load

import (
	"context"
	"fmt"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// audit compares what is on the chain with what everybody believes to have done.
type audit struct {
	before protocol.ProtocolConfig
	// open is how many negotiations were in each stage's state at once when it was over.
	open [stageCount]int
	// supply is all there is of the mint, in base units.
	supply   uint64
	findings findings
	locks    *locks
}

// findings are what is not as it should be. Only the first ones are kept.
type findings struct {
	count int
	texts []string
}

const findingsKept = 20

func (f *findings) add(format string, arguments ...any) {
	f.count++
	if len(f.texts) < findingsKept {
		f.texts = append(f.texts, fmt.Sprintf(format, arguments...))
	}
}

// afterStage looks at every negotiation's account, and at every token account of the mint.
func (a *audit) afterStage(ctx context.Context, r *run, after stageID) error {
	found := map[solana.PublicKey]*haggle.NegotiationAccount{}
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
			a.findings.add("negotiation %d (%s) after %q: stuck: %v", n.number, n.address, stages[after].title, n.err)
		} else if difference := n.compare(have, r, after); difference != "" {
			a.findings.add("negotiation %d (%s) after %q: %s", n.number, n.address, stages[after].title, difference)
		}
	}
	for address := range found {
		a.findings.add("a negotiation that nobody has created: %s", address)
	}
	return a.compareBalances(ctx, r, after)
}

// compare says how a negotiation's account differs from what it should be after a stage; empty if it does not.
func (n *negotiation) compare(have *haggle.NegotiationAccount, r *run, after stageID) string {
	if after == closing {
		if have != nil {
			return "is still there"
		}
		return ""
	}
	if have == nil {
		return "is not there"
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
		buyer: have.Buyer, seller: have.Seller, mint: have.TokenMint, status: have.Status, round: int(have.CurrentRound),
		offer: have.CurrentOfferAmount, escrow: have.EscrowAmount, effective: have.EffectiveEscrow,
		settled: have.SettledAmount, toBuyer: have.ClaimableBuyer, toSeller: have.ClaimableSeller,
	}
	if got != want {
		return fmt.Sprintf("is %+v and should be %+v", got, want)
	}
	return ""
}

// afterAll compares the blocks' transactions with the records, and looks at the totals, the senders and everyone's lamports.
func (a *audit) afterAll(ctx context.Context, r *run) error {
	negotiations := map[solana.PublicKey]bool{}
	for _, n := range r.negotiations {
		negotiations[n.address] = true
	}
	a.locks = findLocks(r.blocks.program, negotiations)
	for _, address := range a.locks.shared {
		a.findings.add("transactions of different negotiations share %s before the closings, and some write it", address)
	}
	for _, signature := range a.locks.unrelated {
		a.findings.add("transaction %s names no negotiation of the run, or more than one", signature)
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

// compareTotals compares what the protocol's configuration adds up with the scripts' sums.
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
		a.findings.add("the protocol's configuration is %+v and should be %+v", config.ProtocolConfig, want)
	}
	return nil
}
