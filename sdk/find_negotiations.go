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

// Role is an agent's part in a negotiation.
type Role uint8

// The roles.
const (
	// RoleAny is either of the parties.
	RoleAny Role = iota
	// RoleBuyer pays.
	RoleBuyer
	// RoleSeller is paid.
	RoleSeller
	// RoleArbiter decides disputes about milestones, and is not a party.
	RoleArbiter
)

// Filter selects negotiations. The zero value selects all.
type Filter struct {
	// Agent is a party, or the arbiter if Role says so; zero selects those of all agents.
	Agent solana.PublicKey
	// Role is the agent's role. It is ignored if Agent is zero.
	Role Role
	// Status are the statuses to select; none selects all.
	Status []protocol.NegotiationStatus
}

// FindNegotiations lists the negotiations that are not closed, in no particular order. (The documents call it
// findNegotiationsForAgent.) The node filters by agent, and by status if there is only one.
//
// The list is a stream: it yields a negotiation while the node still sends the next ones, so that its memory
// does not grow with their number. A loop body that takes long holds the connection open. Collect the
// addresses first if it makes requests.
//
// An account that cannot be decoded yields an error, and the list goes on. Any other error ends the list; the
// negotiations before it are valid.
//
//	for negotiation, err := range client.FindNegotiations(ctx, haggle.Filter{Agent: me, Role: haggle.RoleSeller}) {
func (c *Client) FindNegotiations(ctx context.Context, filter Filter) iter.Seq2[*Snapshot, error] {
	return func(yield func(*Snapshot, error) bool) {
		for _, filters := range filter.queries() {
			err := c.streamNegotiations(ctx, filters, func(negotiation *Snapshot, err error) error {
				if negotiation != nil && !filter.selects(&negotiation.Negotiation) {
					if len(filter.Status) > 1 && filter.hasAgent(&negotiation.Negotiation) {
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

// listedAccount is an element of the answer to getProgramAccounts.
type listedAccount struct {
	Pubkey  solana.PublicKey `json:"pubkey"`
	Account *struct {
		Owner    solana.PublicKey `json:"owner"`
		Lamports uint64           `json:"lamports"`
		// Data is the content and its encoding.
		Data *[2]string `json:"data"`
	} `json:"account"`
}

// streamNegotiations calls each for every account of one query: with the negotiation, or with an error if the
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

// hasAgent reports whether the agent has its role in the negotiation.
func (f Filter) hasAgent(n *protocol.Negotiation) bool {
	if f.Agent.IsZero() {
		return true
	}
	agents := map[Role]solana.PublicKey{RoleBuyer: n.Buyer, RoleSeller: n.Seller, RoleArbiter: n.Arbiter}
	return slices.ContainsFunc(f.roles(), func(role Role) bool { return agents[role] == f.Agent })
}

// selects reports whether the filter selects a negotiation.
func (f Filter) selects(n *protocol.Negotiation) bool {
	return f.hasAgent(n) && (len(f.Status) == 0 || slices.Contains(f.Status, n.Status))
}

// roles returns the roles that the agent may have.
func (f Filter) roles() []Role {
	if f.Role == RoleAny {
		return []Role{RoleBuyer, RoleSeller}
	}
	return []Role{f.Role}
}

// roleOffsets are the offsets of the roles' addresses in a negotiation's account.
var roleOffsets = map[Role]uint64{
	RoleBuyer: protocol.NegotiationOffsetBuyer, RoleSeller: protocol.NegotiationOffsetSeller,
	RoleArbiter: protocol.NegotiationOffsetArbiter,
}

// queries returns the node's filters; an account matches a query if it matches all of its filters. No account
// matches two queries: buyer and seller differ. Several statuses are not queries of their own: a negotiation
// that changes its status between two queries would be in both, or in none.
func (f Filter) queries() [][]rpc.RPCFilter {
	shared := []rpc.RPCFilter{{DataSize: protocol.NegotiationSize},
		bytesAt(0, []byte(protocol.NegotiationDiscriminator))}
	if len(f.Status) == 1 {
		shared = append(shared, bytesAt(protocol.NegotiationOffsetStatus, []byte{byte(f.Status[0])}))
	}
	if f.Agent.IsZero() {
		return [][]rpc.RPCFilter{shared}
	}
	var queries [][]rpc.RPCFilter
	for _, role := range f.roles() {
		queries = append(queries, append(slices.Clip(shared), bytesAt(roleOffsets[role], f.Agent[:])))
	}
	return queries
}

func bytesAt(offset uint64, value []byte) rpc.RPCFilter {
	return rpc.RPCFilter{Memcmp: &rpc.RPCFilterMemcmp{Offset: offset, Bytes: value}}
}
