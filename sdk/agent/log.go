package agent

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// LevelNotice is the level at which [Config].Logger receives the course of each negotiation: "engaged" with
// the terms, "waiting" when a wait begins or changes, and each step that needs no decision, such as an
// expiry, before it is taken. It is between [slog.LevelInfo] and [slog.LevelWarn].
const LevelNotice = slog.LevelInfo + 2

// progress is the latest notice about a negotiation, which is not repeated.
type progress struct {
	// engaged reports whether the terms are logged.
	engaged bool
	// message and subject belong to the notice: the awaited party, or the state that the step ends.
	message, subject string
	// until is the wait's end, or zero.
	until int64
}

// notice logs a message about a negotiation, unless it repeats the latest message. until is zero, or a time
// in Unix seconds of the chain's clock.
func (l *loop) notice(f *tracked, v *view, message, key, subject string, until int64, more ...any) {
	latest := progress{f.progress.engaged, message, subject, until}
	if f.progress == latest {
		return
	}
	f.progress = latest
	attributes := f.attributes(key, subject, "round", v.CurrentRound)
	if until != 0 {
		attributes = append(attributes, untilAttributes(until, v.clock())...)
	}
	l.config.Logger.Log(l.ctx, LevelNotice, message, append(attributes, more...)...)
}

// untilAttributes returns a wait's end and the time left, if any, for times in Unix seconds.
func untilAttributes(until, now int64) []any {
	attributes := []any{"until", time.Unix(until, 0).UTC()}
	if until > now {
		attributes = append(attributes, "left", time.Duration(until-now)*time.Second)
	}
	return attributes
}

// logStep logs the engagement, and steps that no agent function decided, before they are taken.
func (l *loop) logStep(f *tracked, v *view, next step) {
	if f.participation == engaged && !f.progress.engaged && !v.IsOver() {
		f.progress.engaged = true
		l.logEngaged(f, v)
	}
	awaited := v.awaited()
	switch next.action {
	case idle:
		state := v.Describe()
		if !v.IsAgreed() && v.IsOverdue(v.now) {
			awaited, state = "buyer", "overdue: the buyer can expire the negotiation" // see afterSellerGrace
		}
		l.notice(f, v, "waiting", "for", awaited, next.at, "state", state)
	case expire:
		l.notice(f, v, "no move in time: expiring the negotiation", "of", awaited, v.TurnDeadline)
	case release:
		l.notice(f, v, "no review in time: releasing the milestone", "of", awaited, v.TurnDeadline)
	case settle:
		l.notice(f, v, "no decision about milestones in time: settling them", "of", awaited, v.SettleDueAt())
	case finish:
		if closes(f, v) {
			l.notice(f, v, "closing the negotiation", "reason", v.Describe(), 0)
		} else {
			l.notice(f, v, "claiming the payout", "reason", v.Describe(), 0, "amount",
				l.tokens(v.TokenMint, v.ClaimableOf(l.self)))
		}
	}
}

func (l *loop) logEngaged(f *tracked, v *view) {
	attributes := f.attributes("counterpart", f.counterpart, "mint", v.TokenMint,
		"escrow", l.tokens(v.TokenMint, v.EscrowAmount), "fee bps", v.ProtocolFeeBps, "decay bps", v.DecayRateBps,
		"response window", time.Duration(v.ResponseWindow)*time.Second, "round", v.CurrentRound,
		"max rounds", v.MaxRounds)
	if v.BondRequired > 0 {
		attributes = append(attributes, "bond", l.tokens(v.TokenMint, v.BondRequired))
	}
	attributes = append(attributes, untilAttributes(v.GlobalDeadline, v.clock())...)
	l.config.Logger.Log(l.ctx, LevelNotice, "engaged", attributes...)
}

// awaited returns the party that the negotiation waits for: "buyer", "seller" or "arbiter"; "deadline" if the agent
// takes no part, and "own decision" if it is the agent's turn.
func (v *view) awaited() string {
	mover := v.Turn()
	_, reviewed := v.UnderReview()
	switch {
	case v.participation == declined:
		return "deadline"
	case v.Status == protocol.NegotiationStatusCreated:
		mover = protocol.OfferSideSeller
	case v.IsAgreed() && !reviewed && v.openMilestones() == 0:
		return "arbiter"
	case v.IsAgreed():
		mover = protocol.OfferSideSeller
		if reviewed {
			mover = protocol.OfferSideBuyer
		}
	}
	if mover == v.side && !v.IsOverdue(v.now) {
		return "own decision"
	}
	return strings.ToLower(mover.String())
}

// loggedAmount is an amount in the log, with the decimals of the agent's limits.
type loggedAmount struct {
	amount.Tokens
	mint solana.PublicKey
}

// TextWith implements [amount.Error]: a log that knows the symbols of more mints formats the amount by it.
func (a loggedAmount) TextWith(write amount.Formatter) string { return write(a.mint, a.Units) }

// tokens returns an amount for the log.
func (l *loop) tokens(mint solana.PublicKey, units uint64) any {
	limits, listed := l.config.Mints[mint]
	if !listed {
		return fmt.Sprintf("%d base units", units)
	}
	return loggedAmount{amount.Tokens{Units: units, Decimals: limits.Decimals, Symbol: token.WellKnownSymbol(mint)}, mint}
}

// moveAttributes returns a decision and the price.
func (l *loop) moveAttributes(turn Turn, decision Decision) []any {
	mint := turn.Negotiation.TokenMint
	switch decision := decision.(type) {
	case Offer:
		return []any{"decision", "offer", "price", l.tokens(mint, decision.Amount)}
	case Accept:
		return []any{"decision", "accept", "price", l.tokens(mint, turn.Negotiation.CurrentOfferAmount)}
	}
	return []any{"decision", "reject"}
}
