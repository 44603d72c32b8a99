package haggle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/history"
	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/internal/wait"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Settlement is a payment, or an agreed price in escrow, to be verified by a seller before delivery: see
// [Client.VerifySettlement].
type Settlement struct {
	// Negotiation is the negotiation's address, and CreatedAt the creation time in Unix seconds.
	Negotiation solana.PublicKey
	CreatedAt   int64
	// Seller is the paid wallet, and Mint the mint of the payment.
	Seller, Mint solana.PublicKey
	// Price is the paid price in the mint's base units, the fee included; with Agreed the agreed price.
	Price uint64
	// Agreed selects, instead of a payment, an escrowed price to be paid by milestones.
	Agreed bool
	// FinalizedAbove is the price, in base units, above which a settlement must be finalized, which takes
	// about 13 seconds. Up to this price the client's commitment suffices. If zero, every settlement must be
	// finalized.
	FinalizedAbove uint64
	// SingleSourceUpTo is the highest price, in base units, that a single node may confirm. If zero, at least
	// two nodes must agree.
	SingleSourceUpTo uint64
}

// Limits of VerifySettlement.
const (
	// settlementLimit is how long a node may take to show a settlement: longer than finalization.
	settlementLimit = time.Minute
	// unreachableAfter is how long a node may fail to respond before being left out.
	unreachableAfter = 10 * time.Second
	// settlementHistory is the number of latest transactions searched per negotiation.
	settlementHistory = 1_000
)

// VerifySettlement verifies that a negotiation is settled and the seller is paid. It requests the
// negotiation's account, the settling transaction, and the credited token account from every node. It waits
// up to a minute for nodes that are behind, and leaves out nodes that do not respond for ten seconds. Verify
// a settlement before the payment is spent: the account must still hold it.
//
// With [Settlement].Agreed it verifies that the price is agreed and in escrow: the status is Accepted, and
// the vault holds the undecided part of the price and all other debts. It requests both accounts from every
// node. The agreed price is paid only for claimed milestones: see [protocol.Negotiation.LatestClaim].
//
// The error is nil only if no responding node objects and at least two hosts agree, or one if Price is at
// most SingleSourceUpTo. Otherwise it is an [*transaction.ContradictionError] if the nodes disagree, an error
// that wraps [transaction.ErrSingleSource] if a single node confirms the settlement, or an error that wraps
// [ErrNotAsExpected] if no node does: the negotiation is not settled, was settled with other values, or the
// payment is recorded for the seller but still unclaimed. With Agreed the price is not agreed, the agreement
// differs or is over, or the vault holds too little.
func (c *Client) VerifySettlement(ctx context.Context, settlement Settlement) error {
	if settlement.Negotiation.IsZero() || settlement.CreatedAt == 0 || settlement.Seller.IsZero() ||
		settlement.Mint.IsZero() || settlement.Price == 0 {
		return unsent(errors.New(
			"haggle: verify settlement: negotiation, creation time, seller, mint or price not set"))
	}
	commitment := c.commitment
	if settlement.Price > settlement.FinalizedAbove {
		commitment = rpc.CommitmentFinalized
	}
	nodes := c.pool.All()
	claims := make([]settlementClaim, len(nodes))
	limited, cancel := context.WithTimeout(ctx, settlementLimit)
	defer cancel()
	var all sync.WaitGroup
	for i, single := range nodes {
		all.Go(func() {
			at := settlementReader{Settlement: settlement, node: clientOfNode(single), commitment: commitment}
			claims[i] = at.await(limited)
			claims[i].host = single.Host()
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return opaque(context.Cause(ctx))
	}
	err := judge(&settlement, claims)
	if errors.As(err, new(*transaction.ContradictionError)) {
		c.logger.Error("nodes contradict each other about "+settlement.subject(), "negotiation",
			settlement.Negotiation, "error", err)
	}
	return err
}

// subject names the object of the verification.
func (s *Settlement) subject() string {
	if s.Agreed {
		return "escrow"
	}
	return "settlement"
}

// settlementClaim is a node's claim about a settlement.
type settlementClaim struct {
	host string
	// signature identifies the settling transaction; zero for an agreed price, and if the node denies the
	// settlement or did not respond.
	signature solana.Signature
	// err is nil if the node confirms the settlement, a denial, or the reason for the missing response.
	err error
}

// denial describes how a node denies a settlement. It is final if the node cannot confirm it later.
type denial struct {
	text  string
	final bool
}

func (d *denial) Error() string { return d.text }

func denied(format string, values ...any) error { return &denial{text: fmt.Sprintf(format, values...)} }

func disproved(format string, values ...any) error {
	return &denial{text: fmt.Sprintf(format, values...), final: true}
}

// judge returns the error of VerifySettlement.
func judge(settlement *Settlement, claims []settlementClaim) error {
	var confirmed []string
	var signatures []solana.Signature
	var denials []transaction.NodeClaim
	var failures []error
	subject := fmt.Sprintf("%s of %s", settlement.subject(), settlement.Negotiation)
	contradiction := &transaction.ContradictionError{Subject: "the " + subject}
	for _, claim := range claims {
		var refused *denial
		switch {
		case claim.err == nil:
			confirmed, signatures = append(confirmed, claim.host), append(signatures, claim.signature)
			text := "settled by " + claim.signature.String()
			if settlement.Agreed {
				text = "agreed and in escrow"
			}
			contradiction.Claims = append(contradiction.Claims, transaction.NodeClaim{Host: claim.host, Text: text})
		case errors.As(claim.err, &refused):
			denials = append(denials, transaction.NodeClaim{Host: claim.host, Text: refused.text})
			contradiction.Claims = append(contradiction.Claims, denials[len(denials)-1])
		default:
			failures = append(failures, fmt.Errorf("%s: %w", claim.host, claim.err))
		}
	}
	slices.Sort(confirmed)
	switch hosts, sources := slices.Compact(confirmed), len(slices.Compact(signatures)); {
	case len(hosts) > 0 && (len(denials) > 0 || sources > 1):
		return unsent(contradiction)
	case len(denials) > 0:
		return fmt.Errorf("%w: %s: %s: %s", ErrNotAsExpected, subject, denials[0].Host, denials[0].Text)
	case len(hosts) == 0:
		return unsent(fmt.Errorf("haggle: %s: no node responds: %w", subject, errors.Join(failures...)))
	case len(hosts) == 1 && settlement.Price > settlement.SingleSourceUpTo:
		return unsent(fmt.Errorf("haggle: %s: %w: %s", subject, transaction.ErrSingleSource, hosts[0]))
	}
	return nil
}

// settlementReader reads a settlement at one node.
type settlementReader struct {
	Settlement
	node       *rpc.Client
	commitment rpc.CommitmentType
}

// await repeats the requests to the node until it confirms or disproves the settlement, stops responding, or
// the context ends.
func (s *settlementReader) await(ctx context.Context) (claim settlementClaim) {
	for responded := time.Now(); ; {
		limited, cancel := context.WithTimeout(ctx, unreachableAfter)
		signature, err := s.read(limited)
		cancel()
		if err == nil {
			return settlementClaim{signature: signature}
		}
		var now, before *denial
		if errors.As(err, &now) {
			responded = time.Now()
		}
		// If a node stops responding, the denial stands.
		if now != nil || !errors.As(claim.err, &before) {
			claim.err = err
		}
		if now != nil && now.final || time.Since(responded) >= unreachableAfter ||
			wait.For(ctx, send.LastPoll) != nil {
			return claim
		}
	}
}

// read returns the settling transaction, if the node shows that the seller was paid; for an agreed price
// none.
func (s *settlementReader) read(ctx context.Context) (solana.Signature, error) {
	if s.Agreed {
		return solana.Signature{}, s.checkEscrow(ctx)
	}
	accounts, _, err := s.accounts(ctx, s.Negotiation)
	if err != nil {
		return solana.Signature{}, err
	}
	until, err := s.checkAccount(accounts[0])
	if err != nil {
		return solana.Signature{}, err
	}
	executed, err := s.find(ctx, accounts[0] == nil, until)
	if err != nil {
		return solana.Signature{}, err
	}
	return executed.signature, s.checkPayment(ctx, executed)
}

func (s *settlementReader) accounts(
	ctx context.Context, addresses ...solana.PublicKey,
) ([]*rpc.Account, uint64, error) {
	options := &rpc.GetMultipleAccountsOpts{Commitment: s.commitment, Encoding: solana.EncodingBase64}
	return send.Accounts(ctx, s.node, options, addresses...)
}

// checkAccount denies the settlement unless the negotiation is settled as expected or closed. until is the
// creation time of a later negotiation with that address; zero if there is none.
func (s *settlementReader) checkAccount(account *rpc.Account) (until int64, err error) {
	if account == nil {
		return 0, nil
	}
	n, err := decodeNegotiation(s.Negotiation, account, 0)
	switch {
	case err != nil:
		return 0, disproved("negotiation account cannot be decoded")
	case n.CreatedAt > s.CreatedAt:
		return n.CreatedAt, nil
	case n.CreatedAt < s.CreatedAt:
		return 0, denied("negotiation is still the previous one")
	case n.Status == protocol.NegotiationStatusRejected, n.Status == protocol.NegotiationStatusExpired:
		return 0, disproved("status is %s", n.Status)
	case n.Status != protocol.NegotiationStatusSettled:
		return 0, denied("status is %s", n.Status)
	case n.Seller != s.Seller || n.TokenMint != s.Mint || n.PaidGross != s.Price:
		return 0, disproved("seller %s is paid %d base units of mint %s", n.Seller, n.PaidGross, n.TokenMint)
	}
	return 0, nil
}

// settlingTransaction is an executed transaction with a settlement.
type settlingTransaction struct {
	signature solana.Signature
	details   *rpc.GetTransactionResult
	events    []protocol.Event
	// claims are later transactions that have paid the amount recorded for the seller.
	claims []*rpc.GetTransactionResult
}

// find returns the transaction that settled the negotiation. closed reports whether the negotiation's account
// is missing, and until is the creation time of a later negotiation with that address.
func (s *settlementReader) find(ctx context.Context, closed bool, until int64) (*settlingTransaction, error) {
	searched := 0
	var found *settlingTransaction
	var claims []*rpc.GetTransactionResult
	query := history.Query{Address: s.Negotiation, Commitment: s.commitment}
	for page, err := range history.Pages(ctx, s.node, query) {
		if err != nil {
			return nil, err
		}
		for _, listed := range page {
			if listed.Failed {
				continue
			}
			if searched++; searched > settlementHistory {
				return nil, fmt.Errorf("%w: %s", ErrHistoryTooLong, s.Negotiation)
			}
			executed, err := s.executed(ctx, listed.Signature)
			if err != nil {
				return nil, err
			}
			for _, event := range slices.Backward(executed.events) {
				switch event := event.(type) {
				case *protocol.NegotiationCreated:
					switch {
					case event.NegotiationID != s.Negotiation:
					case until != 0 && event.Timestamp >= until:
						found, claims = nil, nil // a later negotiation's
					case found != nil && event.Timestamp == s.CreatedAt:
						return found, nil
					default:
						return nil, denied("no settlement since the creation at %d", s.CreatedAt)
					}
				case *protocol.PayoutClaimed:
					if event.NegotiationID == s.Negotiation && event.Party == s.Seller {
						claims = append(claims, executed.details)
					}
				case *protocol.NegotiationSettled:
					if event.NegotiationID != s.Negotiation || event.Timestamp < s.CreatedAt ||
						until != 0 && event.Timestamp > until {
						continue
					}
					if err := s.checkEvent(event); err != nil {
						return nil, err
					}
					found = executed
					found.claims = claims
					// A settlement in the creation second may be the previous negotiation's.
					if until == 0 && (event.Timestamp > s.CreatedAt || !closed) {
						return found, nil
					}
				}
			}
		}
	}
	return nil, denied("no settling transaction found")
}

// executed returns an executed transaction with the program's events.
func (s *settlementReader) executed(
	ctx context.Context, signature solana.Signature,
) (*settlingTransaction, error) {
	details, err := send.LookUp(ctx, s.node, signature, s.commitment)
	switch {
	case err != nil:
		return nil, err
	case details == nil:
		return nil, denied("transaction %s not found", signature)
	case details.Meta.Err != nil:
		return &settlingTransaction{signature: signature}, nil
	}
	// Truncated logs: later events do not count.
	events, _ := protocol.ParseLogs(details.Meta.LogMessages)
	return &settlingTransaction{signature: signature, details: details, events: events}, nil
}

func (s *settlementReader) checkEvent(settled *protocol.NegotiationSettled) error {
	if settled.Seller != s.Seller || settled.TokenMint != s.Mint || settled.SettledAmount != s.Price {
		return disproved("seller %s is paid %d base units of mint %s", settled.Seller, settled.SettledAmount,
			settled.TokenMint)
	}
	return nil
}

// due returns the amount that the transaction and the claims pay to the seller, in base units: the price less
// the fee, or the seller's part of the milestones decided by the transaction, and the seller's part of the
// bond.
func (s *settlementReader) due(executed *settlingTransaction) (due uint64, err error) {
	var atOnce, parts, bond uint64
	byParts := false
	for _, event := range executed.events {
		if about, ok := event.NegotiationAddress(); !ok || about != s.Negotiation {
			continue
		}
		part := uint64(0)
		switch event := event.(type) {
		case *protocol.NegotiationSettled:
			atOnce = event.SettledAmount - min(event.ProtocolFee, event.SettledAmount)
			continue
		case *protocol.BondSettled:
			if event.To == s.Seller {
				bond = event.Amount
			}
			continue
		case *protocol.PayoutRecorded:
			// The claim may be under way: the settlement can be finalized earlier.
			if event.Party == s.Seller && len(executed.claims) == 0 {
				return 0, denied("payment of %d base units is recorded for the seller, not delivered",
					event.Amount)
			}
			continue
		case *protocol.MilestoneReleased:
			part = event.SellerAmount
		case *protocol.DisputeResolved:
			part = event.SellerAmount
		case *protocol.DeadlineSettled:
			part = event.SellerAmount
		case *protocol.AgreementSettled:
			part = event.SellerAmount
		default:
			continue
		}
		byParts = true
		if parts += part; parts < part {
			return 0, disproved("amounts of the events overflow")
		}
	}
	if !byParts {
		parts = atOnce
	}
	if due = parts + bond; due < bond {
		return 0, disproved("amounts of the events overflow")
	}
	return due, nil
}

// checkPayment denies the settlement unless the transaction and the claims paid token accounts of the seller,
// which still hold the payment.
func (s *settlementReader) checkPayment(ctx context.Context, executed *settlingTransaction) error {
	due, err := s.due(executed)
	if err != nil {
		return err
	}
	var paid, newest uint64
	var addresses []solana.PublicKey
	received := make(map[solana.PublicKey]uint64)
	for _, details := range append([]*rpc.GetTransactionResult{executed.details}, executed.claims...) {
		newest = max(newest, details.Slot)
		for _, payment := range send.PaymentsOf(details) {
			if payment.Owner != s.Seller || payment.Mint != s.Mint || paid+payment.Amount < paid {
				continue
			}
			paid += payment.Amount
			if received[payment.Account] += payment.Amount; !slices.Contains(addresses, payment.Account) {
				addresses = append(addresses, payment.Account)
			}
		}
	}
	if paid < due {
		return disproved("transaction %s pays the seller %d base units instead of %d", executed.signature,
			paid, due)
	}
	if len(addresses) == 0 {
		return nil
	}
	accounts, slot, err := s.accounts(ctx, addresses...)
	if err != nil {
		return err
	}
	if slot < newest {
		return denied("node is at slot %d, before the settlement", slot)
	}
	for i, address := range addresses {
		if accounts[i] == nil {
			return denied("token account %s does not exist", address)
		}
		account, err := token.DecodeAccount(address, accounts[i], slot)
		if err != nil || account.Owner != s.Seller || account.Mint != s.Mint {
			return disproved("account %s is not the seller's token account", address)
		}
		if account.Amount < received[address] {
			return denied("token account %s holds %d base units, less than the payment of %d", address,
				account.Amount, received[address])
		}
	}
	return nil
}
