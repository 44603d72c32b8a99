package demo

import (
	"encoding/json"
	"fmt"

	"github.com/haggle-protocol/haggle/internal/cli/actions"
	"github.com/haggle-protocol/haggle/sdk/amount"
)

// The escape codes of the colours.
const (
	plain = "\x1b[0m"
	bold  = "\x1b[1m"
	faint = "\x1b[2m"
	green = "\x1b[32m"
)

func (s *demonstration) paint(colour, text string) string {
	if !s.options.Colour {
		return text
	}
	return colour + text + plain
}

func (s *demonstration) printf(format string, arguments ...any) {
	fmt.Fprintf(s.options.Out, format, arguments...)
}

func (s *demonstration) introduce() {
	if s.options.JSON {
		return
	}
	s.printf("%s\n\n", s.paint(bold, "Two agents bargain over a price and settle it from escrow"))
	for _, known := range [][2]string{
		{"chain", s.net.Chain.String()},
		{"program", s.net.Chain.ProgramID.String()},
		{"mint", fmt.Sprintf("%s  whose symbol is %s", s.net.Mint, s.symbol)},
		{"buyer", fmt.Sprintf("%s  offers from %s up to %s", s.net.Buyer.PublicKey(), s.tokens(BuyerPrices.Opening).Decimal(), s.tokens(BuyerPrices.Reservation).Decimal())},
		{"seller", fmt.Sprintf("%s  offers from %s down to %s", s.net.Seller.PublicKey(), s.tokens(SellerPrices.Opening).Decimal(), s.tokens(SellerPrices.Reservation).Decimal())},
	} {
		s.printf("  %-8s %s\n", known[0], known[1])
	}
	s.printf("\n")
}

func (s *demonstration) reportHeader() {
	if !s.options.JSON {
		s.printf("%s\n", s.paint(faint, actions.Header(s.symbol)))
	}
}

func (s *demonstration) reportAction(action actions.Action) {
	if s.options.JSON {
		_ = json.NewEncoder(s.options.Out).Encode(action)
		return
	}
	s.printf("%s\n", action.Line())
}

func (s *demonstration) reportAccount(a *Account) {
	s.printf("\n%s", a.picture())
	s.printf("\n%s\n", s.paint(faint, fmt.Sprintf(balances, "balances", "before", "after", "change")))
	for _, party := range []string{buyer, seller, treasury} {
		before, after := a.Before[party].Tokens, a.After[party].Tokens
		s.printf("%s\n", balanceLine(party+" "+s.symbol, before, after, a.Escrow.Decimals))
	}
	for _, party := range []string{buyer, seller} {
		s.printf("%s\n", balanceLine(party+" SOL", a.Before[party].Lamports, a.After[party].Lamports, amount.SOLDecimals))
	}
	s.printf("\n%d transactions cost the buyer %s and the seller %s\n", a.Transactions, amount.SOL(a.Fees[buyer]), amount.SOL(a.Fees[seller]))
	if a.Gone {
		s.printf("negotiation and vault are closed; their rent, %s, is back with the buyer\n", amount.SOL(a.Rent))
	}
	s.printf("\nescrow %s = paid %s + fee %s + decay %s + refund %s %s\n", a.Escrow.Decimal(), a.Paid.Decimal(),
		a.Fee.Decimal(), a.Decay.Decimal(), a.Refund.Decimal(), s.symbol)
	if err := a.check(); err == nil {
		s.printf("%s\n", s.paint(green, "settled, closed, and conserved to the unit"))
	}
}

// balances is the format for balance rows, with room for the longest symbol.
const balances = "%-19s  %16s  %16s  %16s"

func balanceLine(name string, before, after uint64, decimals uint8) string {
	change := amount.Tokens{Units: after - before, Decimals: decimals}
	sign := "+"
	if after < before {
		sign, change.Units = "-", before-after
	}
	if after == before {
		sign = ""
	}
	return fmt.Sprintf(balances, name,
		amount.Tokens{Units: before, Decimals: decimals}, amount.Tokens{Units: after, Decimals: decimals}, sign+change.String())
}
