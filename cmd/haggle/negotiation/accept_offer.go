package negotiation

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const acceptOfferHelp = `Accepts the other side's current offer, which settles the negotiation: the escrow pays the seller, less
the protocol's fee, and returns the rest to the buyer. With milestones the price stays in escrow until
they are reached. A midpoint of reservation prices that the seller's reveal left open can be accepted by
either side.

At a terminal the command shows the payments and asks for confirmation. A script states the price with
--price; nothing is signed if the offer has another price. A script also needs --round for an offer with
terms, because accepting the offer accepts its terms. The transaction carries price, round and terms. The
program rejects it if the offer has changed.`

func newAcceptOfferCommand(s *session.Session) *cobra.Command {
	var expected amount.Text
	var round uint8
	var unwrap unwrapFlag
	cmd := &cobra.Command{
		Use: "accept-offer NEGOTIATION", Short: "Accept the current offer (the other side)", Long: acceptOfferHelp,
		Example: "  haggle negotiation accept-offer NEGOTIATION\n  haggle negotiation accept-offer NEGOTIATION --price 3.5 --round 4",
	}
	cmd.Flags().Var(&expected, "price", "accept only this price")
	cmd.Flags().Uint8Var(&round, "round", 0, "accept only the offer of this round")
	unwrap.register(cmd)
	return onchain.Command(s, cmd, func(ctx context.Context, arguments []string) error {
		return acceptOffer(ctx, s, arguments[0], expected, round, unwrap)
	})
}

// payment holds the amounts paid on offer acceptance.
type payment struct {
	Price, Fee, ToSeller, ToBuyer amount.Tokens
}

func paymentOf(n *haggle.Snapshot, tokens func(uint64) amount.Tokens) payment {
	price := n.CurrentOfferAmount
	fee := n.FeeOn(price)
	return payment{tokens(price), tokens(fee), tokens(price - fee), tokens(n.EffectiveEscrow - price)}
}

// text describes the payments and the terms of the offer.
func (p payment) text(terms string) string {
	return format.Rows{
		{"price", p.Price.String()},
		{"terms", terms},
		{"to the seller", fmt.Sprintf("%s (after the fee of %s)", p.ToSeller, p.Fee)},
		{"to the buyer", p.ToBuyer.String() + " of the escrow"},
	}.String()
}

func acceptOffer(ctx context.Context, s *session.Session, written string, expected amount.Text, round uint8, unwrap unwrapFlag) error {
	t, err := onchain.Open(ctx, s, written)
	if err != nil {
		return err
	}
	n := t.Snapshot
	if !n.HasOffer() || !n.IsBargaining() {
		return exitcode.WithHint(fmt.Errorf("%w: there is no offer to accept", haggle.ErrNotAsExpected),
			onchain.StateHint(ctx, s, n, protocol.ErrInvalidState))
	}
	if err := expectRound(n, n.CurrentRound, round); err != nil {
		return err
	}
	tokens, err := s.TokensOf(ctx, n.TokenMint)
	if err != nil {
		return err
	}
	paid := paymentOf(n, tokens)
	if err := agree(ctx, s, n, paid, expected, round); err != nil {
		return err
	}
	action := unwrap.of(t.Key, t.Client.At(n).AcceptOffer(t.Key.PublicKey(), n.CurrentOfferAmount))
	return t.Do(ctx, action, func(*haggle.Receipt) string {
		separator := ";"
		if n.MilestoneCount() > 0 {
			separator = ","
		}
		return fmt.Sprintf("offer accepted: %s%s %s", paid.Price, separator, onchain.Accepted(n, n.CurrentOfferAmount, tokens))
	})
}

// agree checks the price against --price, or asks for confirmation.
func agree(ctx context.Context, s *session.Session, n *haggle.Snapshot, paid payment, expected amount.Text, round uint8) error {
	terms := viewTerms(n.Metadata, func(units uint64) amount.Tokens {
		return amount.Tokens{Units: units, Decimals: paid.Price.Decimals, Symbol: paid.Price.Symbol}
	})
	if !expected.IsZero() {
		price, err := s.Units(ctx, n.TokenMint, "--price", expected)
		if err != nil {
			return err
		}
		if price != paid.Price.Units {
			return exitcode.WithHint(fmt.Errorf("%w: the current offer is %s", haggle.ErrNotAsExpected, paid.Price),
				"nothing was signed; read the offer again: haggle negotiation show "+n.Address.String())
		}
		if n.Metadata != [protocol.MaxMetadataLen]byte{} && round == 0 && !s.Interactive() {
			return exitcode.Usagef("--round not set: the offer carries terms%s; to accept them: --round %d", terms.text(), n.CurrentRound)
		}
		return nil
	}
	if !s.Interactive() {
		return exitcode.Usagef("--price not set: the current offer is --price %s", paid.Price.Decimal())
	}
	offered := fmt.Sprintf("the %s offers in round %d", format.Side(n.OfferSide), n.CurrentRound)
	if n.HasMidpoint() {
		offered = "the midpoint of the reservation prices is"
	}
	return s.Confirm(ctx, fmt.Sprintf("%s:\n%s\naccept the offer?", offered, paid.text(terms.summary())),
		"offer not accepted: nothing was signed")
}
