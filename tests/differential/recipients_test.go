package differential

import (
	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// vault returns a session's vault, and sometimes another account.
func (s *scenario) vault(session *session) model.Address {
	other := pick(s.random, s.participants.sessions...)
	return mostly(s.random, 98, session.vault, other.vault, session.negotiation, session.currency.adversary)
}

// mint returns a session's mint, and sometimes another mint.
func (s *scenario) mint(session *session) model.Address {
	other := pick(s.random, s.participants.currencies...)
	return mostly(s.random, 98, session.currency.mint, other.mint, s.participants.unsupported[0].mint)
}

// tokenProgram returns a session's token program, and sometimes another program.
func (s *scenario) tokenProgram(session *session) model.Address {
	return mostly(s.random, 98, session.currency.program, solana.TokenProgramID, solana.Token2022ProgramID,
		solana.SystemProgramID)
}

// recipient returns a token account for a payout to a party: mostly the party's, also a party account that
// the adversary can drain or close, and sometimes the adversary's.
func (s *scenario) recipient(session *session, side int) model.Address {
	party, cur := session.parties[side], session.currency
	return pickWeighted(s.random, []weighted[model.Address]{
		{66, cur.tokens[party][0]}, {27, cur.tokens[party][1]}, {4, cur.traps[party]}, {3, cur.adversary},
	})
}

// bondRecipient returns a token account for the seller's bond, and often none if no bond is held.
func (s *scenario) bondRecipient(session *session, n *model.Negotiation) model.Address {
	given := 30
	if n.BondState == model.BondHeld {
		given = 93
	}
	if !s.percent(given) {
		return model.Address{}
	}
	return s.recipient(session, 1)
}

// treasuryTokens returns the current treasury's token account, if there is one.
func (s *scenario) treasuryTokens(session *session) model.Address {
	cur, config := session.currency, s.config()
	if config == nil {
		return cur.treasury
	}
	switch config.Treasury {
	case s.participants.adversary:
		return cur.adversary
	case s.participants.buyer:
		return mostly(s.random, 90, cur.tokens[s.participants.buyer][0], cur.treasury)
	}
	return cur.treasury
}
