package differential

import (
	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

func (s *scenario) createNegotiation(session *session) model.AnyInstruction {
	tokens := session.currency.tokens[session.parties[0]]
	from := tokens[0]
	if amountOf(s.environment.Accounts[tokens[1]]) > amountOf(s.environment.Accounts[from]) {
		from = tokens[1]
	}
	i := &model.CreateNegotiation{
		Buyer:             session.parties[0],
		Seller:            session.parties[1],
		Negotiation:       session.negotiation,
		EscrowVault:       session.vault,
		BuyerTokenAccount: from,
		TokenMint:         session.currency.mint,
		Config:            s.participants.config,
		TokenProgram:      session.currency.program,
		SystemProgram:     solana.SystemProgramID,
		SessionID:         session.sessionID,
	}
	switch k := s.IntN(60); {
	case k == 0:
		i.Seller = i.Buyer
		i.Negotiation = model.NegotiationAddress(i.Buyer, i.Seller, i.SessionID)
		i.EscrowVault = model.VaultAddress(i.Negotiation)
	case k < 4 && i.Buyer == s.participants.buyer:
		other := pick(s.random, s.participants.unsupported...)
		i.TokenMint, i.BuyerTokenAccount, i.TokenProgram = other.mint, other.account, other.program
	}
	i.Params = s.params(session, max(amountOf(s.environment.Accounts[i.BuyerTokenAccount]), 100_000))
	return i
}

// params returns parameters using any of the features. Sometimes a parameter is out of range.
func (s *scenario) params(session *session, available uint64) model.NegotiationParams {
	now := s.environment.Now
	p := model.NegotiationParams{
		EscrowAmount:   s.escrowAmount(session, available),
		ServiceHash:    s.bytes32(),
		MaxRounds:      uint8(s.between(6, 20)),
		DecayRateBps:   uint16(s.around(0, 1_000)),
		ResponseWindow: int64(s.around(60, 3_600)),
		GlobalDeadline: addSeconds(now, int64(s.between(1_000, 30_000))),
		MinOfferBps:    uint16(s.around(100, 9_000)),
		Metadata:       s.metadata(),
		MaxFeeBps:      s.maxFeeBps(),
		Decimals:       s.decimals(session.currency.mint),
	}
	if s.percent(30) {
		p.MaxRounds = uint8(s.around(1, 4))
	}
	if s.percent(15) {
		p.DecayRateBps = 0
	}
	switch k := s.IntN(50); {
	case k < 6:
		p.GlobalDeadline = addSeconds(now, int64(s.around(60, 86_400)))
	case k < 12:
		p.GlobalDeadline = addSeconds(now, int64(s.between(60, 2_000)))
	case k == 12:
		p.GlobalDeadline = pick(s.random, int64(-1<<63), 1<<63-1)
	}
	s.addBond(&p)
	if s.percent(s.likelihood(milestoneFocus, 40)) && !s.nearEndOfTime() {
		s.addMilestones(&p)
	}
	if s.percent(4) && !s.nearEndOfTime() {
		s.spoilParams(&p)
	}
	return p
}

// decimals returns a mint's decimals, and sometimes other decimals.
func (s *scenario) decimals(mint model.Address) uint8 {
	actual := s.environment.Accounts[mint].Data[mintDecimalsOffset]
	return mostly(s.random, 97, actual, actual+1, 0, uint8(s.IntN(256)))
}

// maxFeeBps returns a limit for the fee: the current fee, any larger number, or sometimes a smaller one.
func (s *scenario) maxFeeBps() uint16 {
	fee := s.config().DefaultProtocolFeeBps
	switch k := s.IntN(30); {
	case k == 0 && fee > 0:
		return uint16(s.between(0, uint64(fee-1)))
	case k < 15:
		return fee
	case k < 18:
		return 1<<16 - 1
	}
	return uint16(s.between(uint64(fee), 1<<16-1))
}

func (s *scenario) escrowAmount(session *session, available uint64) uint64 {
	switch s.IntN(20) {
	case 0:
		return 100_000
	case 1:
		return pick(s.random, 99_999, available+1, available)
	case 2, 3:
		return 5_000_000
	case 4, 5:
		return s.between(100_000, 100_100)
	}
	return s.between(100_000, max(min(available, session.currency.funds/4), 100_000))
}

// likelihood returns the percentage of negotiations that use a feature.
func (s *scenario) likelihood(feature focus, otherwise int) int {
	if s.focus == feature {
		return 90
	}
	return otherwise
}

func (s *scenario) addBond(p *model.NegotiationParams) {
	p.ZopaEnabled = s.percent(s.likelihood(zopaFocus, 25)) && !s.nearEndOfTime()
	if p.ZopaEnabled || s.percent(40) {
		p.BondRequired = pick(s.random, 1, s.between(1, 100_000), s.between(1, 1_000), 400_000)
	}
	if s.percent(1) {
		p.BondRequired = pick(s.random, 0, -p.EscrowAmount, -p.EscrowAmount-1, 5_000_000)
	}
}

func (s *scenario) addMilestones(p *model.NegotiationParams) {
	p.Arbiter = s.participants.arbiter
	count := pick(s.random, 1, 2, 2, 3, 3, s.between(4, 7), s.between(1, 8), 8)
	left := uint64(10_000)
	for i := range count {
		share := left - (count - 1 - i)
		if i < count-1 {
			share = mostly(s.random, 80, min(share, s.between(1, 2*10_000/count)), 1)
		}
		p.MilestoneBps[i] = uint16(share)
		left -= share
	}
	p.ReviewHours = pick(s.random, 1, 1, 2, 24, uint8(s.between(1, 168)), 168)
	earliest := addSeconds(p.GlobalDeadline, int64(count)*(int64(p.ReviewHours)*3_600+60))
	latest := addSeconds(s.environment.Now, 365*86_400)
	p.MilestoneDeadline = pick(s.random, earliest, addSeconds(earliest, int64(s.between(0, 100_000))), latest,
		addSeconds(earliest, int64(s.between(0, 2_000))))
	if s.percent(2) {
		p.MilestoneDeadline = pick(s.random, earliest-1, addSeconds(latest, 1))
	}
}

// spoilParams moves a parameter out of range.
func (s *scenario) spoilParams(p *model.NegotiationParams) {
	switch s.IntN(10) {
	case 0:
		p.MilestoneBps[s.IntN(8)] ^= 1
	case 1:
		p.MilestoneBps[s.IntN(8)] = 0
	case 2:
		p.Arbiter = pick(s.random, model.Address{}, s.participants.buyer, s.participants.seller,
			s.participants.arbiter)
	case 3:
		p.MilestoneDeadline = pick(s.random, 0, 1, p.GlobalDeadline)
	case 4:
		p.ZopaEnabled, p.BondRequired = true, 0
	case 5:
		p.BondRequired = -p.EscrowAmount
	case 6:
		p.MilestoneBps[s.IntN(8)] = uint16(s.IntN(65_536))
	case 7:
		p.MilestoneBps[0], p.MilestoneBps[7] = p.MilestoneBps[7], p.MilestoneBps[0]
	case 8:
		p.Metadata[s.IntN(64)] = byte(s.IntN(256))
	case 9:
		p.ReviewHours = pick(s.random, uint8(0), 1, 168, 169, 255)
	}
}

// metadata returns metadata of a known kind, sometimes with a byte outside the content.
func (s *scenario) metadata() (metadata [64]byte) {
	first, second := s.bytes32(), s.bytes32()
	switch k := s.IntN(40); {
	case k == 0:
		metadata[s.IntN(64)] = byte(s.between(1, 255))
	case k < 8:
		metadata[0] = 1
		copy(metadata[1:33], first[:])
		copy(metadata[33:50], second[:])
	case k < 14:
		metadata[0] = 2
		copy(metadata[1:33], first[:])
	case k == 14:
		metadata[0] = pick(s.random, byte(1), 2)
		metadata[s.IntN(64)] = byte(s.between(1, 255))
	}
	return metadata
}
