package mcp

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/policy"
)

// Budget describes the wallet's money, and the limits in the owner's policy.
type Budget struct {
	Day            string     `json:"day" jsonschema:"UTC day of per_day"`
	Open           int        `json:"open" jsonschema:"number of transactions of unknown outcome; their amounts count as used"`
	SOL            Asset      `json:"sol" jsonschema:"lamports: fees and rent"`
	Tokens         []Asset    `json:"tokens" jsonschema:"one for each mint"`
	Terms          TermLimits `json:"terms"`
	Counterparties []string   `json:"counterparties,omitempty" jsonschema:"the only parties that the policy allows, the first 50; missing if it allows everyone"`
	DeniedActions  []string   `json:"denied_actions,omitempty" jsonschema:"instructions of the program that the policy denies"`
	SignsNothing   string     `json:"signs_nothing,omitempty" jsonschema:"reason why the policy denies every transaction at present"`
}

// Asset is the balance in lamports or in a mint, and the limits. All sums count money that the wallet spends:
// an escrow counts in full when it is deposited.
type Asset struct {
	Mint            string  `json:"mint,omitempty" jsonschema:"missing for SOL"`
	Balance         *Amount `json:"balance,omitempty" jsonschema:"tokens in the wallet's associated account; missing if the mint is unknown"`
	Problem         string  `json:"problem,omitempty" jsonschema:"why the mint is unknown: its amounts are in base units only"`
	Allowed         bool    `json:"allowed" jsonschema:"whether the policy allows the mint; if not, it has no limits"`
	PerTransaction  *Limit  `json:"per_transaction,omitempty"`
	PerDay          *Limit  `json:"per_day,omitempty"`
	PerNegotiation  *Limit  `json:"per_negotiation,omitempty" jsonschema:"used and left are those of the negotiation in the arguments"`
	PerCounterparty *Limit  `json:"per_counterparty,omitempty" jsonschema:"used and left are those of the counterparty in the arguments"`
	ApproveAbove    *Limit  `json:"approve_above,omitempty" jsonschema:"a transaction or price above it is denied, because no approval is possible"`
	MaxTotal        *Limit  `json:"max_total,omitempty" jsonschema:"as a buyer: highest price and decay together"`
	MinPrice        *Amount `json:"min_price,omitempty" jsonschema:"as a seller: lowest price, before the protocol's fee"`
}

// Limit is a limit of the policy.
type Limit struct {
	Unlimited bool    `json:"unlimited"`
	Limit     *Amount `json:"limit,omitempty" jsonschema:"missing if unlimited"`
	Used      *Amount `json:"used,omitempty"`
	Left      *Amount `json:"left,omitempty" jsonschema:"missing if unlimited"`
}

// TermLimits lists the worst terms that the wallet creates or accepts.
type TermLimits struct {
	MaxDecayRateBps          uint16 `json:"max_decay_rate_bps" jsonschema:"basis points of the escrow for each offer"`
	MaxRounds                uint8  `json:"max_rounds"`
	MinResponseWindowSeconds int64  `json:"min_response_window_seconds"`
	MaxFeeBps                uint16 `json:"max_fee_bps" jsonschema:"protocol fee, in basis points of the price"`
}

type budgetArguments struct {
	Mint         string `json:"mint,omitempty" jsonschema:"another mint whose balance is shown"`
	Negotiation  string `json:"negotiation,omitempty" jsonschema:"address: also shows the usage on it, and with its other party"`
	Counterparty string `json:"counterparty,omitempty" jsonschema:"address: also shows the usage with this party"`
}

// spent holds the used part of the limits, for a negotiation and counterparty or for none.
type spent struct {
	totals                    policy.Totals
	negotiation, counterparty solana.PublicKey
}

func (s *server) budget(ctx context.Context, in budgetArguments) *Answer {
	ctx, cancel := context.WithTimeout(ctx, s.Wait)
	defer cancel()
	used, mints, err := s.budgetFor(ctx, in)
	if err != nil {
		return s.failed(ctx, "", solana.PublicKey{}, err)
	}
	terms := s.Limits.Terms.WithDefaults()
	budget := &Budget{
		Day: used.totals.Day.Format(time.DateOnly), Open: used.totals.Open, Tokens: []Asset{},
		Terms: TermLimits{
			*terms.MaxDecayRateBps, terms.MaxRounds, int64(terms.MinResponseWindow / time.Second), *terms.MaxFeeBps,
		},
		DeniedActions: s.deniedActions(),
	}
	for _, counterparty := range s.Limits.Counterparties[:min(len(s.Limits.Counterparties), maxListed)] {
		budget.Counterparties = append(budget.Counterparties, counterparty.String())
	}
	if err := s.Wallet.CheckUsable(); err != nil {
		budget.SignsNothing = exitcode.Message(err)
	}
	lamports, err := onchain.Lamports(ctx, s.Client, s.me())
	if err != nil {
		return s.failed(ctx, "", solana.PublicKey{}, err)
	}
	sol := func(lamports uint64) Amount {
		return Amount{strconv.FormatUint(lamports, 10), amount.Tokens{Units: lamports, Decimals: amount.SOLDecimals}.Decimal()}
	}
	budget.SOL = assetOf(solana.PublicKey{}, s.Limits.Lamports, used, sol)
	budget.SOL.Balance = new(sol(lamports))
	for _, address := range mints {
		asset, err := s.asset(ctx, address, used)
		if err != nil {
			return s.failed(ctx, "", solana.PublicKey{}, err)
		}
		budget.Tokens = append(budget.Tokens, asset)
	}
	answer := &Answer{Outcome: Read, Wallet: s.me().String(), Budget: budget,
		Next: "stay within these limits: the owner's policy denies everything beyond them"}
	if len(s.Limits.Tokens) > maxListed {
		answer.Next += "; only the first 50 mints are listed: name another one in mint"
	}
	return answer
}

// budgetFor returns usage and mints for a call: the mints in the policy, and the call's mint.
func (s *server) budgetFor(ctx context.Context, in budgetArguments) (used spent, mints []solana.PublicKey, err error) {
	mints = slices.SortedFunc(maps.Keys(s.Limits.Tokens), func(a, b solana.PublicKey) int { return bytes.Compare(a[:], b[:]) })
	mints = mints[:min(len(mints), maxListed)]
	if in.Mint != "" {
		named, err := address("mint", in.Mint)
		if err != nil {
			return used, nil, err
		}
		if _, err := s.mint(ctx, named); err != nil {
			return used, nil, err
		}
		if !slices.Contains(mints, named) {
			mints = append(mints, named)
		}
	}
	if in.Counterparty != "" {
		if used.counterparty, err = address("counterparty", in.Counterparty); err != nil {
			return used, nil, err
		}
	}
	if in.Negotiation != "" {
		n, err := s.ownNegotiation(ctx, in.Negotiation)
		if err != nil {
			return used, nil, err
		}
		used.negotiation = n.Address
		if other := n.Buyer; other != s.me() {
			used.counterparty = other
		} else {
			used.counterparty = n.Seller
		}
		if in.Counterparty != "" && in.Counterparty != used.counterparty.String() {
			return used, nil, invalid("counterparty: must be the other party of the negotiation, %s", used.counterparty)
		}
	}
	records, err := s.Usage(ctx)
	if err != nil {
		return used, nil, err
	}
	used.totals, err = policy.TotalsOf(records, time.Now())
	return used, mints, err
}

// ownNegotiation reads a negotiation where this wallet is a party.
func (s *server) ownNegotiation(ctx context.Context, written string) (*haggle.Snapshot, error) {
	negotiation, err := address("negotiation", written)
	if err != nil {
		return nil, err
	}
	n, err := onchain.Read(ctx, s.Client, negotiation)
	if err != nil {
		return nil, err
	}
	if _, party := n.SideOf(s.me()); !party {
		return nil, s.notParty(n)
	}
	return n, nil
}

// asset returns the balance and the limits in a mint. It returns an error only if the node does not respond:
// an unusable mint in the policy does not hide other mints.
func (s *server) asset(ctx context.Context, address solana.PublicKey, used spent) (Asset, error) {
	units := func(units uint64) Amount { return Amount{BaseUnits: strconv.FormatUint(units, 10)} }
	var balance *Amount
	m, err := s.mint(ctx, address)
	if err == nil {
		units = func(units uint64) Amount { return amountOf(m, units) }
		var held uint64
		if held, err = onchain.TokensHeld(ctx, s.Client, s.me(), address); err == nil {
			balance = new(units(held))
		}
	}
	limits, allowed := s.Limits.Tokens[address]
	asset := Asset{}
	if allowed {
		asset = assetOf(address, limits.Limits, used, units)
		asset.MaxTotal = limitOf(limits.MaxTotal, units)
		asset.MinPrice = new(units(limits.MinPrice))
	}
	asset.Mint, asset.Allowed, asset.Balance = address.String(), allowed, balance
	if err != nil {
		if kind := exitcode.KindOf(err); kind == exitcode.Network || errors.Is(err, context.DeadlineExceeded) {
			return Asset{}, err
		}
		asset.Problem = exitcode.Message(err)
	}
	return asset, nil
}

// assetOf returns limits and their usage in a mint, or in lamports for the zero mint.
func assetOf(
	mint solana.PublicKey, limits policy.Limits, used spent, units func(uint64) Amount,
) Asset {
	on := func(totals []policy.Total, account solana.PublicKey) uint64 {
		for _, total := range totals {
			if total.Mint == mint && total.Account == account {
				return total.Amount
			}
		}
		return 0
	}
	asset := Asset{
		Allowed: true, PerTransaction: limitOf(limits.PerTransaction, units),
		PerDay:          limitOf(limits.PerDay, units).with(on(used.totals.Today, solana.PublicKey{}), limits.PerDay, units),
		PerNegotiation:  limitOf(limits.PerNegotiation, units),
		PerCounterparty: limitOf(limits.PerCounterparty, units), ApproveAbove: limitOf(limits.ApproveAbove, units),
	}
	if !used.negotiation.IsZero() {
		asset.PerNegotiation.with(on(used.totals.Negotiations, used.negotiation), limits.PerNegotiation, units)
	}
	if !used.counterparty.IsZero() {
		asset.PerCounterparty.with(on(used.totals.Counterparties, used.counterparty), limits.PerCounterparty, units)
	}
	return asset
}

func limitOf(limit uint64, units func(uint64) Amount) *Limit {
	if limit == policy.Unlimited {
		return &Limit{Unlimited: true}
	}
	return &Limit{Limit: new(units(limit))}
}

// with adds the used part of the limit. If the policy has changed, it can exceed the limit.
func (l *Limit) with(used, limit uint64, units func(uint64) Amount) *Limit {
	l.Used = new(units(used))
	if !l.Unlimited {
		l.Left = new(units(limit - min(used, limit)))
	}
	return l
}

// deniedActions returns the usual instructions of the program that the policy denies.
func (s *server) deniedActions() (denied []string) {
	if s.Limits.Instructions == nil {
		return nil
	}
	for _, name := range policy.DefaultInstructions() {
		action, is := strings.CutPrefix(name, "haggle.")
		if is && !slices.Contains(s.Limits.Instructions, name) {
			denied = append(denied, action)
		}
	}
	return denied
}
