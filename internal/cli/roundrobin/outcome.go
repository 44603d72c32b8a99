package roundrobin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// ErrDiffers reports that an on-chain outcome differs from the prediction.
var ErrDiffers = errors.New("outcome on chain differs from its prediction")

// Outcome describes a negotiation's offers and end, in the mint's base units.
type Outcome struct {
	// Status is "Settled", "Rejected" or "Expired".
	Status string `json:"status"`
	// Offers holds the offer prices, oldest first.
	Offers []uint64 `json:"offers"`
	// Price is 0 if there is no deal. It includes the fee.
	Price uint64 `json:"price"`
	Fee   uint64 `json:"fee"`
	// Refund is the buyer's part of the escrow, and Decay what the offers have cost.
	Refund uint64 `json:"refund"`
	Decay  uint64 `json:"decay"`
}

func (o Outcome) equal(other Outcome) bool {
	same := slices.Equal(o.Offers, other.Offers)
	return same && o.Status == other.Status && o.Price == other.Price && o.Fee == other.Fee &&
		o.Refund == other.Refund && o.Decay == other.Decay
}

// text describes an outcome, with amounts formatted by tokens.
func (o Outcome) text(tokens func(units uint64) amount.Tokens) string {
	var offers []string
	for _, price := range o.Offers {
		offers = append(offers, tokens(price).Decimal())
	}
	return fmt.Sprintf("%s at %s after offers of %s, fee %s, refund %s, decay %s", o.Status, tokens(o.Price),
		strings.Join(offers, ", "), tokens(o.Fee), tokens(o.Refund), tokens(o.Decay))
}

// Predict returns the outcome of a simulated negotiation between two strategies. The fee is in basis points
// of the price, and the seed selects the strategies' random numbers.
func Predict(feeBps uint16, seed uint64, buyer, seller bargain.Strategy) (o Outcome, err error) {
	rules, sides := Terms, [2]agent.Player{protocol.OfferSideBuyer: Buyer, protocol.OfferSideSeller: Seller}
	rules.FeeBps = feeBps
	sides[protocol.OfferSideBuyer].Strategy, sides[protocol.OfferSideSeller].Strategy = buyer, seller
	var players [2]onchain.Player
	for side := range players {
		if players[side], err = sides[side].Simulated(rules, protocol.OfferSide(side)); err != nil {
			return o, err
		}
	}
	result, err := rules.Run(seed, players[protocol.OfferSideBuyer], players[protocol.OfferSideSeller])
	if err != nil {
		return o, err
	}
	return simulated(rules, result)
}

// simulated returns a simulation's outcome.
func simulated(rules onchain.Rules, result onchain.Result) (o Outcome, err error) {
	status := map[bargain.Ending]protocol.NegotiationStatus{
		bargain.EndingAgreement: protocol.NegotiationStatusSettled,
		bargain.EndingLeft:      protocol.NegotiationStatusRejected,
		bargain.EndingDeadline:  protocol.NegotiationStatusExpired,
	}[result.Ending]
	domain, err := onchain.Domain(rules.Escrow)
	if err != nil {
		return o, err
	}
	s := result.Settlement
	o = Outcome{
		Status: status.String(), Offers: []uint64{}, Price: s.Price, Fee: s.Fee, Refund: s.Refund, Decay: s.Decay,
	}
	for _, offer := range result.History {
		o.Offers = append(o.Offers, domain.Issue(0).Amount(uint64(offer.Outcome)))
	}
	return o, nil
}

// read returns a negotiation's outcome, read from the events on chain.
func (c *contest) read(ctx context.Context, negotiation solana.PublicKey) (Outcome, error) {
	o := Outcome{Offers: []uint64{}}
	for envelope, err := range c.net.Client.History(ctx, negotiation) {
		if err != nil {
			return o, err
		}
		switch event := envelope.Event.(type) {
		case *protocol.OfferSubmitted:
			o.Offers = append(o.Offers, event.Amount)
		case *protocol.NegotiationSettled:
			o.Status, o.Decay = protocol.NegotiationStatusSettled.String(), event.EscrowDecayTotal
			o.Price, o.Fee = event.SettledAmount, event.ProtocolFee
			o.Refund = c.rules.Escrow - o.Decay - o.Price
		case *protocol.NegotiationRejected:
			o.Status, o.Refund = protocol.NegotiationStatusRejected.String(), event.RefundAmount
			o.Decay = c.rules.Escrow - o.Refund
		case *protocol.NegotiationExpired:
			o.Status, o.Refund = protocol.NegotiationStatusExpired.String(), event.RefundAmount
			o.Decay = c.rules.Escrow - o.Refund
		}
	}
	return o, nil
}

// Match is a negotiation of two strategies in the output. Amounts are base units of the mint.
type Match struct {
	Buyer       string           `json:"buyer"`
	Seller      string           `json:"seller"`
	Negotiation solana.PublicKey `json:"negotiation"`
	// Predicted and Actual hold the simulated and on-chain outcomes.
	Predicted Outcome `json:"predicted"`
	Actual    Outcome `json:"actual"`
	Equal     bool    `json:"equal"`
}

// compare prints all matches. It returns ErrDiffers for every difference, including balances.
func (c *contest) compare(ctx context.Context) error {
	var wrong []error
	differs := func(format string, arguments ...any) {
		wrong = append(wrong, fmt.Errorf("%w: %s", ErrDiffers, fmt.Sprintf(format, arguments...)))
	}
	expected, treasury, deals := make([]uint64, len(c.players)), uint64(0), 0
	for i := range expected {
		expected[i] = localnet.StartTokens
	}
	c.printHeader()
	for _, m := range c.matches {
		var err error
		if m.actual, err = c.read(ctx, m.negotiation); err != nil {
			return err
		}
		p := m.predicted
		expected[m.buyer] -= c.rules.Escrow - p.Refund
		expected[m.seller] += p.Price - p.Fee
		treasury += p.Fee + p.Decay
		if p.Price > 0 {
			deals++
		}
		c.print(m)
		if !p.equal(m.actual) {
			differs("%s and %s: predicted %s; actual %s", c.players[m.buyer].name, c.players[m.seller].name,
				p.text(c.mint.Tokens), m.actual.text(c.mint.Tokens))
		}
	}
	owners := []solana.PublicKey{c.net.Treasury}
	for _, p := range c.players {
		owners = append(owners, p.wallet.PublicKey())
	}
	for i, owner := range owners {
		units, err := c.tokens(ctx, owner)
		switch {
		case err != nil:
			return err
		case i == 0 && units != treasury:
			differs("the treasury has %s, predicted %s", c.mint.Tokens(units), c.mint.Tokens(treasury))
		case i > 0 && units != expected[i-1]:
			differs("%s has %s, predicted %s", c.players[i-1].name, c.mint.Tokens(units),
				c.mint.Tokens(expected[i-1]))
		}
	}
	if len(wrong) == 0 && !c.JSON {
		fmt.Fprintf(c.Out, "%d matches, %d deals: all offers, outcomes and balances are as predicted\n",
			len(c.matches), deals)
	}
	return errors.Join(wrong...)
}

func (c *contest) tokens(ctx context.Context, owner solana.PublicKey) (uint64, error) {
	address, err := token.AssociatedAddress(owner, c.net.Mint, solana.TokenProgramID)
	if err != nil {
		return 0, err
	}
	return c.net.Chain.Tokens(ctx, address)
}

func (c *contest) print(m *match) {
	document := Match{
		Buyer: c.players[m.buyer].name, Seller: c.players[m.seller].name, Negotiation: m.negotiation,
		Predicted: m.predicted, Actual: m.actual, Equal: m.predicted.equal(m.actual),
	}
	if c.JSON {
		_ = json.NewEncoder(c.Out).Encode(document)
		return
	}
	compared := "equal"
	if !document.Equal {
		compared = "DIFFERENT"
	}
	price := ""
	if m.actual.Price > 0 {
		price = c.mint.Tokens(m.actual.Price).Decimal()
	}
	fmt.Fprintf(c.Out, columns, document.Buyer, document.Seller, m.actual.Status, len(m.actual.Offers),
		c.priceWidth(), price, compared)
}

// columns formats a row: buyer, seller, outcome on chain, offers, price, and whether the simulation predicted
// it. With the longest symbol, rows take 83 columns.
const columns = "%-16s  %-16s  %-8s  %6v  %-*s  %s\n"

func (c *contest) printHeader() {
	if !c.JSON {
		fmt.Fprintf(c.Out, columns, "buyer", "seller", "outcome", "offers", c.priceWidth(), c.priceTitle(),
			"prediction")
	}
}

func (c *contest) priceTitle() string { return "price (" + c.mint.Symbol + ")" }

// priceWidth is the price column's width.
func (c *contest) priceWidth() int { return utf8.RuneCountInString(c.priceTitle()) }
