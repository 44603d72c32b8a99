package differential

import "github.com/haggle-protocol/haggle/tests/differential/model"

func (s *scenario) submitZopaCommitment(session *session, n *model.Negotiation) model.AnyInstruction {
	side := int(n.ZopaPhase) & 1
	agent := mostly(s.random, 94, session.parties[side], session.parties[1-side], s.participants.adversary)
	least := min(n.MinPrice(), n.EscrowAmount)
	price := pick(s.random, s.between(least, n.EscrowAmount), s.between(least, n.EscrowAmount), least,
		n.EscrowAmount, max(least, n.EscrowAmount/2+1))
	if side == model.Seller && s.percent(15) {
		price = session.reveals[model.Buyer].price
	}
	if s.percent(3) {
		price = pick(s.random, 0, least-1, least-1, n.EscrowAmount+1)
	}
	committed := reveal{price: price, nonce: s.bytes32()}
	if n.ZopaPhase <= model.ZopaBuyerCommitted {
		session.reveals[side] = committed
	}
	commitment := model.Commitment(session.negotiation, n.CreatedAt, agent, committed.price, committed.nonce)
	switch s.IntN(40) {
	case 0:
		commitment = [32]byte{}
	case 1:
		commitment = n.Commitments[model.Buyer]
	case 2:
		if len(session.history) > 1 {
			// The commitment belongs to an earlier negotiation at the same address.
			createdAt := session.history[s.IntN(len(session.history)-1)].createdAt
			commitment = model.Commitment(session.negotiation, createdAt, agent, committed.price,
				committed.nonce)
		}
	}
	return &model.SubmitZopaCommitment{Agent: agent, Negotiation: session.negotiation,
		CreatedAt: s.createdAt(session, n), Commitment: commitment}
}

func (s *scenario) revealZopaPrice(session *session, n *model.Negotiation) model.AnyInstruction {
	side := model.Buyer
	if n.Prices[model.Buyer] != 0 {
		side = model.Seller
	}
	committed := session.reveals[mostly(s.random, 96, side, 1-side)]
	i := &model.RevealZopaPrice{
		Agent: mostly(s.random, 94, session.parties[side], session.parties[1-side],
			s.participants.adversary),
		Negotiation: session.negotiation,
		CreatedAt:   s.createdAt(session, n),
		Price:       committed.price,
		Nonce:       committed.nonce,
	}
	switch s.IntN(40) {
	case 0:
		i.Nonce[s.IntN(32)] ^= 1
	case 1:
		i.Price++
	}
	given := 30
	if side == model.Seller {
		given = 97
	}
	for _, optional := range []struct {
		field *model.Address
		value model.Address
	}{
		{&i.EscrowVault, s.vault(session)}, {&i.BuyerTokenAccount, s.recipient(session, 0)},
		{&i.SellerTokenAccount, s.recipient(session, 1)}, {&i.TokenMint, s.mint(session)},
		{&i.TokenProgram, s.tokenProgram(session)},
	} {
		if s.percent(given) {
			*optional.field = optional.value
		}
	}
	return i
}
