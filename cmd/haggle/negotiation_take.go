package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const takeHelp = `Takes the other side's standing offer, which settles the negotiation: the seller is paid from the
escrow, less the protocol's fee, and the buyer gets the rest back. With milestones the price stays in
escrow until they are reached. Where reservation prices were compared, either side can take the price
in the middle.

Nobody signs blind. At a terminal the command shows what will be paid and asks; a script says with
--expect at which price it takes, and nothing is signed if another one stands. An offer that carries
terms beside its price also needs --round in a script, for whoever takes it agrees to them. Either way
the transaction carries price, round and terms, and is refused if the offer has changed meanwhile.`

func newTakeCommand(s *session) *cobra.Command {
	var expected amount.Text
	var round uint8
	var unwrap unwrapFlag
	cmd := &cobra.Command{
		Use: "take NEGOTIATION", Short: "Take the standing offer (the side that it is made to)", Long: takeHelp,
		Example: "  haggle negotiation take NEGOTIATION\n  haggle negotiation take NEGOTIATION --expect 3.5 --round 4",
		Args:    exactly(1), ValidArgsFunction: s.completeNegotiations,
	}
	cmd.Flags().Var(&expected, "expect", "take at this price and at no other")
	cmd.Flags().Uint8Var(&round, "round", 0, "take the offer of this round and of no other")
	unwrap.register(cmd)
	cmd.RunE = s.limited(func(ctx context.Context, arguments []string) error {
		return s.take(ctx, arguments[0], expected, round, unwrap)
	})
	return cmd
}

// payment is what taking an offer pays.
type payment struct {
	Price, Fee, ToSeller, ToBuyer amount.Tokens
}

func paymentOf(n *haggle.NegotiationAccount, tokens func(uint64) amount.Tokens) payment {
	price := n.CurrentOfferAmount
	fee := n.FeeOn(price)
	return payment{tokens(price), tokens(fee), tokens(price - fee), tokens(n.EffectiveEscrow - price)}
}

// text tells what is paid, and for which terms beside the price.
func (p payment) text(terms string) string {
	return columns(
		row{"price", p.Price.String()},
		row{"terms", terms},
		row{"to the seller", fmt.Sprintf("%s (after the fee of %s)", p.ToSeller, p.Fee)},
		row{"to the buyer", p.ToBuyer.String() + " of the escrow"},
	)
}

func (s *session) take(ctx context.Context, written string, expected amount.Text, round uint8, unwrap unwrapFlag) error {
	client, key, err := s.clientAndKey(ctx)
	if err != nil {
		return err
	}
	n, err := s.seen(ctx, client, written)
	if err != nil {
		return err
	}
	if !n.HasOffer() || !n.IsBargaining() {
		return exitcode.WithHint(fmt.Errorf("%w: there is no offer to take", haggle.ErrNotAsExpected),
			s.stateHint(ctx, client, n, protocol.ErrInvalidState))
	}
	if err := expectRound(n, n.CurrentRound, round); err != nil {
		return err
	}
	tokens, err := s.tokensOf(ctx, n.TokenMint)
	if err != nil {
		return err
	}
	paid := paymentOf(n, tokens)
	if err := s.agree(ctx, n, paid, expected, round); err != nil {
		return err
	}
	action, err := unwrap.of(key)(client.Accept(ctx, haggle.AcceptRequest{Acceptor: key.PublicKey(), Seen: n, Price: n.CurrentOfferAmount}))
	if err != nil {
		return s.explain(ctx, client, n.Address, err)
	}
	receipt, err := s.act(ctx, client, action, key)
	if err != nil {
		return err
	}
	if count := n.MilestoneCount(); count > 0 {
		return s.done(action, receipt, fmt.Sprintf("agreed on %s, to be paid by %d milestones; %s back to the buyer", paid.Price, count, paid.ToBuyer))
	}
	return s.done(action, receipt, fmt.Sprintf("settled for %s: %s to the seller, fee %s, %s back to the buyer", paid.Price, paid.ToSeller, paid.Fee, paid.ToBuyer))
}

// agree makes sure that somebody wants to take at this price: by --expect, otherwise by asking.
func (s *session) agree(ctx context.Context, n *haggle.NegotiationAccount, paid payment, expected amount.Text, round uint8) error {
	terms := viewTerms(n.Metadata, func(units uint64) amount.Tokens { return amount.Tokens{Units: units, Decimals: paid.Price.Decimals} })
	if !expected.IsZero() {
		price, err := s.units(ctx, n.TokenMint, "--expect", expected)
		if err != nil {
			return err
		}
		if price != paid.Price.Units {
			return exitcode.WithHint(fmt.Errorf("%w: the offer that stands is %s", haggle.ErrNotAsExpected, paid.Price),
				"nothing was signed; look at it again: haggle negotiation show "+n.Address.String())
		}
		if n.Metadata != [protocol.MaxMetadataLen]byte{} && round == 0 && !s.interactive() {
			return exitcode.Usagef("the offer carries terms%s: look at them, then say which offer to take: --round %d", terms.text(), n.CurrentRound)
		}
		return nil
	}
	if !s.interactive() {
		return exitcode.Usagef("say at which price to take: the offer that stands is --expect %s", paid.Price)
	}
	offered := fmt.Sprintf("the %s offers in round %d", sideName(n.OfferSide), n.CurrentRound)
	if n.HasMidpoint() {
		offered = "in the middle of the reservation prices stands"
	}
	return s.confirm(fmt.Sprintf("%s:\n%s\ntake it?", offered, paid.text(terms.summary())),
		"not taken: nothing was signed")
}
