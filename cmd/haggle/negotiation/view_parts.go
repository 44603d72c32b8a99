package negotiation

import (
	"fmt"
	"strings"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// bondView describes the seller's bond.
type bondView struct {
	Amount amount.Tokens `json:"amount"`
	State  string        `json:"state"`
}

func viewBond(n *haggle.Snapshot, tokens func(uint64) amount.Tokens) *bondView {
	if n.BondRequired == 0 {
		return nil
	}
	state := strings.ToLower(n.BondState.String())
	if n.BondState == protocol.BondStateNone {
		state = "required"
	}
	return &bondView{tokens(n.BondRequired), state}
}

func (b *bondView) text() string {
	if b == nil {
		return ""
	}
	return fmt.Sprintf("%s, %s", b.Amount, b.State)
}

// zopaView describes the comparison of reservation prices.
type zopaView struct {
	Phase       string         `json:"phase"`
	Next        string         `json:"next,omitempty"`
	BuyerPrice  *amount.Tokens `json:"buyer_price,omitempty"`
	SellerPrice *amount.Tokens `json:"seller_price,omitempty"`
	// NashPrice is the price of the Nash solution for linear utilities: the midpoint of both prices, rounded
	// down. It is missing until both are revealed, and if the buyer's is below the seller's.
	NashPrice *amount.Tokens `json:"nash_price,omitempty"`
}

func viewZopa(n *haggle.Snapshot, tokens func(uint64) amount.Tokens) *zopaView {
	if !n.ZopaEnabled {
		return nil
	}
	v := &zopaView{Phase: n.ZopaPhase.String()}
	if next := n.ZopaStep(); next != protocol.ZopaStepNone {
		v.Next = next.String()
	}
	if n.BuyerPrice > 0 {
		v.BuyerPrice = new(tokens(n.BuyerPrice))
	}
	if n.SellerPrice > 0 {
		v.SellerPrice = new(tokens(n.SellerPrice))
	}
	if v.BuyerPrice != nil && v.SellerPrice != nil {
		if nash, ok := protocol.NashBenchmark(n.BuyerPrice, n.SellerPrice); ok {
			v.NashPrice = new(tokens(nash))
		}
	}
	return v
}

func (z *zopaView) text() string {
	if z == nil {
		return ""
	}
	parts := []string{"comparison: " + z.Phase}
	if z.Next != "" {
		parts = append(parts, "next: the "+z.Next)
	}
	if z.BuyerPrice != nil {
		parts = append(parts, "buyer "+z.BuyerPrice.String())
	}
	if z.SellerPrice != nil {
		parts = append(parts, "seller "+z.SellerPrice.String())
	}
	if z.NashPrice != nil {
		parts = append(parts, "Nash price "+z.NashPrice.String())
	}
	return strings.Join(parts, ", ")
}
