package proving

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
)

// difference describes the earliest kind of difference between a proof and the chain, checked in order: terms,
// offers, end. If they agree, it returns "". An unfinished proof may lack the last offers.
func (c *course) difference(p *proof.Proof) string {
	if found := differentTerms(p.Terms, c.terms); found != "" {
		return found
	}
	for i := range min(len(p.Offers), len(c.offers)) {
		file, chain := p.Offers[i], c.offers[i]
		subject := fmt.Sprintf("offer %d", i+1)
		if file.Amount != chain.Amount {
			return inBoth(subject, baseUnits(file.Amount), baseUnits(chain.Amount))
		}
		if file.Metadata != chain.Metadata {
			return inBoth("metadata of "+subject, hexOf(file.Metadata), hexOf(chain.Metadata))
		}
	}
	if p.Last == nil && len(p.Offers) <= len(c.offers) {
		return ""
	}
	if len(p.Offers) != len(c.offers) {
		return inBoth("number of offers", len(p.Offers), len(c.offers))
	}
	if file, chain := describeLast(p.Last), describeLast(c.last); file != chain {
		return inBoth("end", file, chain)
	}
	return ""
}

func differentTerms(file, chain proof.Terms) string {
	var found []string
	compare := func(subject string, file, chain any) {
		if file != chain {
			found = append(found, inBoth(subject, file, chain))
		}
	}
	compare("buyer", solana.PublicKey(file.Buyer), solana.PublicKey(chain.Buyer))
	compare("seller", solana.PublicKey(file.Seller), solana.PublicKey(chain.Seller))
	compare("escrow", baseUnits(file.Escrow), baseUnits(chain.Escrow))
	compare("rounds", file.MaxRounds, chain.MaxRounds)
	compare("decay", basisPoints(file.DecayRateBps), basisPoints(chain.DecayRateBps))
	compare("least offer", basisPoints(file.MinOfferBps), basisPoints(chain.MinOfferBps))
	compare("fee", basisPoints(file.FeeBps), basisPoints(chain.FeeBps))
	compare("bond", baseUnits(file.Bond), baseUnits(chain.Bond))
	return strings.Join(found, "; ")
}

func inBoth(subject string, file, chain any) string {
	return fmt.Sprintf("%s: %v in the file, %v on chain", subject, file, chain)
}

func baseUnits(units uint64) string { return count(units, "base unit") }

func basisPoints(bps uint16) string { return count(uint64(bps), "basis point") }

func count(number uint64, unit string) string {
	return fmt.Sprintf("%d %s", number, english.PluralWord(int(min(number, 2)), unit, ""))
}

// hexOf formats metadata, trailing zeros removed.
func hexOf(m proof.Metadata) string {
	if m == (proof.Metadata{}) {
		return "none"
	}
	return hex.EncodeToString(bytes.TrimRight(m[:], "\x00"))
}

func describeLast(last *proof.Last) string {
	switch {
	case last == nil:
		return "none"
	case last.Move == "expire":
		return "expired"
	}
	return fmt.Sprintf("%sed by the %s", last.Move, last.By)
}

// utc writes a time in Unix seconds.
func utc(seconds int64) string { return time.Unix(seconds, 0).UTC().Format("2006-01-02 15:04:05 UTC") }
