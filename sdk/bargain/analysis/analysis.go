package analysis

import "fmt"

// Profile describes one party's offers.
type Profile struct {
	// Offers is the number of the party's offers.
	Offers int
	// Steps counts the party's steps by class.
	Steps Steps
	// Conceded is the conceded share of the initial gap, the difference between both first offers' worth to
	// this party: 0 if the agreement (or the party's last offer, if no agreement was reached) is as good as
	// the party's first offer, and 1 if it is only as good as the opponent's first offer. It is 0 if a party
	// made no offer or there is no gap.
	//
	// It is the concession rate of Baarslag, Hindriks, Jonker: Towards a Quantitative Concession-Based
	// Classification Method of Negotiation Strategies (2011), with the opponent's first offer as the outcome
	// that yields fully, because the opponent's preferences are not known.
	Conceded float64
	// Rate is Conceded divided by the number of the party's steps.
	Rate float64
	// Fits lists the fitted models, best first.
	Fits []Fit
}

// Nobody stands for no party.
const Nobody = -1

// Analysis describes a negotiation.
type Analysis struct {
	Parties [2]Profile
	// Imbalance is what party 0 conceded less what party 1 did, as shares of the initial gap.
	Imbalance float64
	// Exploited is the party that conceded at least three quarters of what both did, if they agreed;
	// otherwise [Nobody]. It compares the parties with their first offers: a party that opens with an extreme
	// offer looks more conceding. See [ExploitedShare].
	Exploited int
}

// ExploitedShare is the share of both parties' concessions that makes a party count as exploited.
const ExploitedShare = 0.75

// Analyze analyses a record. It returns [ErrRecord] if an offer is not by one of the two parties.
func Analyze(r Record) (Analysis, error) {
	a := Analysis{Exploited: Nobody}
	for at, offer := range r.Offers {
		if offer.By != 0 && offer.By != 1 {
			return Analysis{}, fmt.Errorf("%w: offer %d is by party %d", ErrRecord, at, offer.By)
		}
	}
	for party := range a.Parties {
		a.Parties[party] = profile(r, party)
	}
	a.Imbalance = a.Parties[0].Conceded - a.Parties[1].Conceded
	if !r.Agreed {
		return a, nil
	}
	all := max(a.Parties[0].Conceded, 0) + max(a.Parties[1].Conceded, 0)
	for party := range a.Parties {
		if all > 0 && a.Parties[party].Conceded >= ExploitedShare*all {
			a.Exploited = party
		}
	}
	return a, nil
}

func profile(r Record, party int) Profile {
	var first, last [2]*Offer
	p := Profile{}
	for at := range r.Offers {
		offer := &r.Offers[at]
		if before := last[offer.By]; offer.By == party {
			p.Offers++
			if before != nil {
				p.Steps[StepOf(offer.Utilities[party]-before.Utilities[party],
					offer.Utilities[1-party]-before.Utilities[1-party])]++
			}
		}
		if first[offer.By] == nil {
			first[offer.By] = offer
		}
		last[offer.By] = offer
	}
	p.Fits = seriesOf(r.Offers, party).fits()
	if first[0] == nil || first[1] == nil {
		return p
	}
	end := last[party].Utilities[party]
	if r.Agreed {
		end = r.Agreement[party]
	}
	start := first[party].Utilities[party]
	if gap := start - first[1-party].Utilities[party]; gap > equal {
		p.Conceded = (start - end) / gap
		p.Rate = p.Conceded / float64(max(p.Steps.Total(), 1))
	}
	return p
}
