package faults_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// audit compares the chain, read over a clean connection, with the scripts.
type audit struct {
	*fixture
	ledger   *ledger
	findings []string
	// executed and failed count the program's transactions; fees holds each payer's fees in lamports.
	executed, failed int
	fees             map[solana.PublicKey]uint64
	// known contains the planned transactions.
	known map[solana.Signature]bool
	// events counts the events on the chain, complete the listeners that have received every event.
	events, complete int
	// repeated counts the repeated creations, secondEscrows the creations on the chain beyond the orders.
	repeated, secondEscrows int
}

const findingsKept = 40

func (a *audit) find(format string, arguments ...any) {
	if len(a.findings) < findingsKept {
		a.findings = append(a.findings, fmt.Sprintf(format, arguments...))
	}
}

// everything makes all comparisons.
func (a *audit) everything(ctx context.Context) error {
	for _, step := range []func(context.Context) error{a.moves, a.unrelated, a.balances, a.lamports, a.repetitions, a.journals, a.deliveries} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// moves requires that each negotiation's transactions follow the script, each once and in order, and moved
// the script's amounts.
func (a *audit) moves(ctx context.Context) error {
	a.ledger = &ledger{client: a.clean, mint: a.plan.Mint, read: make(map[solana.Signature]*landed)}
	a.fees, a.known = make(map[solana.PublicKey]uint64), make(map[solana.Signature]bool)
	for _, n := range a.plan.Negotiations {
		all, err := a.ledger.history(ctx, n.Address)
		if err != nil {
			return err
		}
		var moves []string
		moved := make(map[solana.PublicKey]int64)
		for _, one := range all {
			a.fees[one.payer] += one.fee
			a.known[one.signature] = true
			if one.failed {
				a.failed++
				continue
			}
			a.executed++
			moves = append(moves, one.moves...)
			for owner, amount := range one.moved {
				moved[owner] += amount
			}
		}
		if want := n.Script.moves(); !slices.Equal(moves, want) {
			a.find("negotiation %d: the chain has executed\n%q\ninstead of\n%q", n.Script.Number, moves, want)
		}
		// balances checks the vault and the treasury.
		delete(moved, n.Address)
		delete(moved, a.net.Treasury)
		buyer, seller, _ := n.Script.movements()
		for who, want := range map[solana.PublicKey]int64{a.plan.Wallets[n.Buyer]: buyer, a.plan.Wallets[n.Seller]: seller} {
			if moved[who] != want {
				a.find("negotiation %d: %s has %+d base units instead of %+d", n.Script.Number, who, moved[who], want)
			}
			delete(moved, who)
		}
		for who, amount := range moved {
			if amount != 0 {
				a.find("negotiation %d: an unrelated owner, %s, has %+d base units", n.Script.Number, who, amount)
			}
		}
	}
	return nil
}

// unrelated requires that all wallet transactions are planned, which excludes a second escrow for the same
// order.
func (a *audit) unrelated(ctx context.Context) error {
	for _, wallet := range a.plan.Wallets {
		all, err := a.ledger.history(ctx, wallet)
		if err != nil {
			return err
		}
		for _, one := range all {
			if len(one.moves) > 0 && !a.known[one.signature] {
				a.find("transaction %s of %s is in no script: %q on %s", one.signature, wallet, one.moves, one.negotiations)
			}
		}
	}
	return nil
}

// balances requires that every token account's balance matches the scripts, and that all together hold the
// supply.
func (a *audit) balances(ctx context.Context) error {
	want := make(map[solana.PublicKey]uint64)
	for wallet := range a.plan.Wallets {
		want[a.plan.Wallets[wallet]] = a.issued[wallet]
	}
	for _, n := range a.plan.Negotiations {
		buyer, seller, treasury := n.Script.movements()
		want[a.plan.Wallets[n.Buyer]] += uint64(buyer)
		want[a.plan.Wallets[n.Seller]] += uint64(seller)
		want[a.net.Treasury] += uint64(treasury)
	}
	sum, issued := uint64(0), uint64(0)
	for owner, amount := range want {
		account, _, err := solana.FindAssociatedTokenAddress(owner, a.plan.Mint)
		if err != nil {
			return err
		}
		held, err := a.net.Chain.Tokens(ctx, account)
		if err != nil {
			return err
		}
		if held != amount {
			a.find("%s holds %d base units instead of %d", owner, held, amount)
		}
		sum += held
	}
	for _, amount := range a.issued {
		issued += amount
	}
	supply, err := a.clean.GetTokenSupply(ctx, a.plan.Mint, rpc.CommitmentConfirmed)
	if err != nil {
		return err
	}
	if sum != issued || supply.Value.Amount != fmt.Sprint(issued) {
		a.find("%d base units have been issued; the mint says %s, and all accounts together hold %d", issued, supply.Value.Amount, sum)
	}
	for _, n := range a.plan.Negotiations {
		for _, address := range []solana.PublicKey{n.Address, n.vault()} {
			left, err := a.net.Chain.Balance(ctx, address)
			if err != nil {
				return err
			}
			if left != 0 {
				a.find("negotiation %d: %d lamports are left at %s", n.Script.Number, left, address)
			}
		}
	}
	return nil
}

// lamports requires that every wallet holds the starting lamports less transaction fees: all rent was
// returned.
func (a *audit) lamports(ctx context.Context) error {
	for batch := range slices.Chunk(a.plan.Wallets, accountsAtOnce) {
		answer, err := a.clean.GetMultipleAccountsWithOpts(ctx, batch, &rpc.GetMultipleAccountsOpts{Commitment: rpc.CommitmentConfirmed})
		if err != nil {
			return err
		}
		for i, account := range answer.Value {
			if want := startLamports - a.fees[batch[i]]; account == nil || account.Lamports != want {
				a.find("%s should have %d lamports and has %+v", batch[i], want, account)
			}
		}
	}
	return nil
}

// journals requires that the journals are readable and contain no unfinished entry.
func (a *audit) journals(ctx context.Context) error {
	for host, wallets := range a.plan.Hosts {
		book, err := sqlite.Open(ctx, a.plan.journalFile(host))
		if err != nil {
			a.find("the journal of host %d: %v", host, err)
			continue
		}
		entries := book.OpenJournal()
		for _, wallet := range wallets {
			for entry, err := range entries.Unfinished(ctx, a.plan.Wallets[wallet]) {
				a.find("the journal of host %d has something unfinished of %s: %s %s (%v)",
					host, a.plan.Wallets[wallet], entry.Action, entry.Signature, err)
			}
		}
		if err := book.Close(); err != nil {
			return err
		}
	}
	return nil
}

// deliveries requires that every listener has received exactly the events on the chain.
func (a *audit) deliveries(ctx context.Context) error {
	for _, n := range a.plan.Negotiations {
		history, err := a.history(ctx, n)
		if err != nil {
			return err
		}
		a.events += len(history)
		for _, wallet := range []int{n.Buyer, n.Seller} {
			events, err := readReceived(a.plan.receivedFile(wallet, n.Script.Number))
			if err != nil {
				return err
			}
			a.compare(fmt.Sprintf("wallet %d, whose process was killed", wallet), n, events, history)
		}
		a.compare("the listener in the test process", n, a.listeners.of(n.Address), history)
		for _, wallet := range []int{n.Buyer, n.Seller} {
			a.compare(fmt.Sprintf("the listener to all negotiations of wallet %d", wallet), n, a.listeners.ofWallet(wallet, n.Address), history)
		}
	}
	return nil
}

func (a *audit) compare(who string, n negotiation, events, history []received) {
	if slices.Equal(events, history) {
		a.complete++
		return
	}
	a.find("negotiation %d: %s has received\n%s\ninstead of\n%s", n.Script.Number, who, summary(events), summary(history))
}

func summary(all []received) (text string) {
	for _, one := range all {
		text += fmt.Sprintf("  %d %s %s\n", one.Slot, one.Signature.String()[:8], one.Event)
	}
	return text
}
