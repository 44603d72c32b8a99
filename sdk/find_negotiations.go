package haggle

import (
	"context"
	"encoding/base64"
	"errors"
	"iter"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Filter selects negotiations. Each nonzero field must match; the zero value selects all.
type Filter struct {
	// Party is the buyer or seller.
	Party solana.PublicKey
	// Buyer, Seller and Arbiter have these roles. The arbiter is not a party.
	Buyer, Seller, Arbiter solana.PublicKey
	// Status lists the statuses to select; none selects all.
	Status []protocol.NegotiationStatus
}

// FindNegotiations lists the negotiations that are not closed, in no particular order. (The documents call it
// findNegotiationsForAgent.) The node filters by addresses, and by status if there is only one.
//
// The list is a stream: it yields a negotiation while the node still sends more, so memory does not grow with
// their number. A loop body that takes long holds the connection open. Collect the addresses first if it
// makes requests.
//
// An account that cannot be decoded yields an error, and the list goes on. Any other error ends the list;
// earlier negotiations are valid.
//
//	for negotiation, err := range client.FindNegotiations(ctx, haggle.Filter{Seller: me}) {
func (c *Client) FindNegotiations(ctx context.Context, filter Filter) iter.Seq2[*Snapshot, error] {
	return func(yield func(*Snapshot, error) bool) {
		for _, filters := range filter.queries() {
			err := c.streamNegotiations(ctx, filters, func(negotiation *Snapshot, err error) error {
				if negotiation != nil && !filter.selects(&negotiation.Negotiation) {
					if len(filter.Status) > 1 && filter.hasAgents(&negotiation.Negotiation) {
						return nil
					}
					return malformed("node returned a negotiation that does not match the filter: %s",
						negotiation.Address)
				}
				if !yield(negotiation, err) {
					return errStopped
				}
				return nil
			})
			if errors.Is(err, errStopped) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// errStopped ends a list when the caller leaves the loop.
var errStopped = errors.New("the caller has stopped")

// listedAccount is an element of the getProgramAccounts response.
type listedAccount struct {
	Pubkey  solana.PublicKey `json:"pubkey"`
	Account *struct {
		Owner    solana.PublicKey `json:"owner"`
		Lamports uint64           `json:"lamports"`
		// Data holds the content and encoding.
		Data *[2]string `json:"data"`
	} `json:"account"`
}

// streamNegotiations calls each for every account matching a query: with the negotiation, or an error if the
// account cannot be decoded.
func (c *Client) streamNegotiations(
	ctx context.Context, filters []rpc.RPCFilter, each func(*Snapshot, error) error,
) error {
	const method = "getProgramAccounts"
	params := []any{protocol.ProgramID, rpc.M{
		"commitment": string(c.commitment), "encoding": solana.EncodingBase64, "filters": filters, "withContext": true,
	}}
	var rejected error
	err := c.pool.Values(ctx, method, params, func(slot uint64, decode func(any) error) error {
		var listed *listedAccount
		if err := decode(&listed); err != nil {
			return err
		}
		rejected = c.listed(listed, slot, each)
		return rejected
	})
	if rejected != nil {
		return rejected
	}
	return nodeError(method, err)
}

func (c *Client) listed(listed *listedAccount, slot uint64, each func(*Snapshot, error) error) error {
	if listed == nil || listed.Pubkey.IsZero() || listed.Account == nil || listed.Account.Data == nil {
		return malformed("node returned an account without data")
	}
	content, encoding := listed.Account.Data[0], listed.Account.Data[1]
	if encoding != string(solana.EncodingBase64) {
		return malformed("node returned an account in encoding %q", encoding)
	}
	data, err := base64.StdEncoding.DecodeString(content)
	if err != nil {
		return malformed("node returned an account that cannot be decoded: %v", err)
	}
	return each(decodeNegotiation(listed.Pubkey, &rpc.Account{
		Owner: listed.Account.Owner, Lamports: listed.Account.Lamports,
		Data: rpc.DataBytesOrJSONFromBytes(data),
	}, slot))
}

// hasAgents reports whether the agents have their roles in the negotiation.
func (f Filter) hasAgents(n *protocol.Negotiation) bool {
	is := func(required, actual solana.PublicKey) bool { return required.IsZero() || required == actual }
	return (is(f.Party, n.Buyer) || is(f.Party, n.Seller)) &&
		is(f.Buyer, n.Buyer) && is(f.Seller, n.Seller) && is(f.Arbiter, n.Arbiter)
}

// selects reports whether the filter selects a negotiation.
func (f Filter) selects(n *protocol.Negotiation) bool {
	return f.hasAgents(n) && (len(f.Status) == 0 || slices.Contains(f.Status, n.Status))
}

// queries returns the node's filters; an account matches a query if it matches all filters in it. No account
// matches two queries: buyer and seller differ. Several statuses are not separate queries: a negotiation
// whose status changes between queries would be in both, or in none.
func (f Filter) queries() [][]rpc.RPCFilter {
	shared := []rpc.RPCFilter{{DataSize: protocol.NegotiationSize},
		bytesAt(0, []byte(protocol.NegotiationDiscriminator))}
	if len(f.Status) == 1 {
		shared = append(shared, bytesAt(protocol.NegotiationOffsetStatus, []byte{byte(f.Status[0])}))
	}
	for _, role := range []struct {
		offset uint64
		agent  solana.PublicKey
	}{
		{protocol.NegotiationOffsetBuyer, f.Buyer}, {protocol.NegotiationOffsetSeller, f.Seller},
		{protocol.NegotiationOffsetArbiter, f.Arbiter},
	} {
		if !role.agent.IsZero() {
			shared = append(shared, bytesAt(role.offset, role.agent[:]))
		}
	}
	if f.Party.IsZero() {
		return [][]rpc.RPCFilter{shared}
	}
	return [][]rpc.RPCFilter{
		append(slices.Clip(shared), bytesAt(protocol.NegotiationOffsetBuyer, f.Party[:])),
		append(slices.Clip(shared), bytesAt(protocol.NegotiationOffsetSeller, f.Party[:])),
	}
}

func bytesAt(offset uint64, value []byte) rpc.RPCFilter {
	return rpc.RPCFilter{Memcmp: &rpc.RPCFilterMemcmp{Offset: offset, Bytes: value}}
}
