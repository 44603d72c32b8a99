package simulation

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/analysis"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
)

// Analyze analyzes a session's moves. With Haggle's rules it analyzes the prices, as for a negotiation on
// chain, and otherwise both parties' utilities.
func Analyze(
	s *tournament.Scenario, turns []tournament.Turn, end *tournament.Session,
) (analysis.Analysis, error) {
	agreed := end.Ending == bargain.EndingAgreement
	if s.Rules != nil {
		prices := analysis.Prices{
			Escrow: s.Rules.Escrow, MaxRounds: int(s.Rules.MaxRounds), Agreed: agreed, Price: end.Settlement.Price,
		}
		issue := s.Preferences[0].Domain().Issue(0)
		for _, turn := range turns {
			if turn.Move == bargain.MoveOffer {
				prices.Offers = append(prices.Offers, issue.Amount(uint64(turn.Outcome)))
			}
		}
		prices.Ranges = s.Rules.OfferRanges(len(prices.Offers))
		record, err := prices.Record()
		if err != nil {
			return analysis.Analysis{}, err
		}
		return analysis.Analyze(record)
	}
	record := analysis.Record{Agreed: agreed}
	for role, utility := range end.Utilities {
		record.Agreement[role] = utility.Float()
	}
	for _, turn := range turns {
		if turn.Move == bargain.MoveOffer {
			record.Offers = append(record.Offers, analysis.Offer{By: turn.By, Time: turn.Time.Float(),
				Utilities: [2]float64{turn.Utilities[0].Float(), turn.Utilities[1].Float()}})
		}
	}
	return analysis.Analyze(record)
}
