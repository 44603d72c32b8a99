package haggle

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// NegotiationAccount is a negotiation as the chain had it at a slot. Actions take one as what their signer has seen: should the
// chain have another state by then, the program answers [protocol.ErrStaleState].
type NegotiationAccount struct {
	// Address is the negotiation's PDA.
	Address solana.PublicKey
	protocol.Negotiation
	// Data are the account's 512 bytes.
	Data []byte
	// Slot is when the account was read.
	Slot uint64
	// Lamports are the account's rent, which the buyer gets back.
	Lamports uint64
}

// TermsHash is what a seller signs in accept_invitation: see [protocol.TermsHash].
func (n *NegotiationAccount) TermsHash() [32]byte { return protocol.TermsHash(n.Address, n.Data) }

// Vault is the address of the token account that holds the escrow.
func (n *NegotiationAccount) Vault() (solana.PublicKey, error) {
	return solana.CreateProgramAddress([][]byte{[]byte(protocol.VaultSeed), n.Address[:], {n.VaultBump}}, protocol.ProgramID)
}

// ConfigAccount is the protocol's configuration as the chain had it at a slot.
type ConfigAccount struct {
	// Address is the configuration's PDA.
	Address solana.PublicKey
	protocol.ProtocolConfig
	// Slot is when the account was read.
	Slot uint64
}

// DerivePDA is a negotiation's address. It is [protocol.FindNegotiationAddress] without the bump.
func DerivePDA(buyer, seller solana.PublicKey, sessionID uint64) (solana.PublicKey, error) {
	address, _, err := protocol.FindNegotiationAddress(buyer, seller, sessionID)
	return address, err
}

// GetNegotiation reads a negotiation.
//
// It fails with an [*AccountError] that holds [ErrAccountNotFound] once the negotiation has been closed, and always if it never
// was; [ErrWrongOwner] or a [*protocol.DecodeError] for an account that is no negotiation, or one of a later version.
func (c *Client) GetNegotiation(ctx context.Context, negotiation solana.PublicKey) (*NegotiationAccount, error) {
	account, slot, err := c.accountOf(ctx, negotiation, protocol.ProgramID)
	if err != nil {
		return nil, err
	}
	return decodeNegotiation(negotiation, account, slot)
}

// GetConfig reads the protocol's configuration. Its error is as GetNegotiation's; [ErrAccountNotFound] means that nobody has
// initialized it.
func (c *Client) GetConfig(ctx context.Context) (*ConfigAccount, error) {
	address, _, err := protocol.FindConfigAddress()
	if err != nil {
		return nil, err
	}
	account, slot, err := c.accountOf(ctx, address, protocol.ProgramID)
	if err != nil {
		return nil, err
	}
	config := &ConfigAccount{Address: address, Slot: slot}
	if err := config.ProtocolConfig.Decode(account.Data.GetBinary()); err != nil {
		return nil, &AccountError{Address: address, Err: err}
	}
	return config, nil
}

func decodeNegotiation(address solana.PublicKey, account *rpc.Account, slot uint64) (*NegotiationAccount, error) {
	if account.Owner != protocol.ProgramID {
		return nil, &AccountError{Address: address, Err: ErrWrongOwner}
	}
	read := &NegotiationAccount{Address: address, Data: account.Data.GetBinary(), Slot: slot, Lamports: account.Lamports}
	if err := read.Negotiation.DecodeVersioned(read.Data); err != nil {
		return nil, &AccountError{Address: address, Err: err}
	}
	return read, nil
}

// accountOf reads an account that has to belong to a program.
func (c *Client) accountOf(ctx context.Context, address, owner solana.PublicKey) (*rpc.Account, uint64, error) {
	accounts, slot, err := c.accounts(ctx, address)
	if err != nil {
		return nil, 0, err
	}
	account := accounts[0]
	if account == nil {
		return nil, 0, &AccountError{Address: address, Err: ErrAccountNotFound}
	}
	if account.Owner != owner {
		return nil, 0, &AccountError{Address: address, Err: fmt.Errorf("%w: %s", ErrWrongOwner, account.Owner)}
	}
	return account, slot, nil
}

// accounts reads accounts, all at the same slot. What does not exist is nil; so is what has neither lamports nor data, which is
// how some nodes tell of an account that has just been closed.
func (c *Client) accounts(ctx context.Context, addresses ...solana.PublicKey) ([]*rpc.Account, uint64, error) {
	options := &rpc.GetMultipleAccountsOpts{Commitment: c.commitment, Encoding: solana.EncodingBase64}
	return accountsAt(ctx, c.rpc, options, addresses...)
}

func accountsAt(ctx context.Context, node *rpc.Client, options *rpc.GetMultipleAccountsOpts, addresses ...solana.PublicKey) ([]*rpc.Account, uint64, error) {
	answer, err := node.GetMultipleAccountsWithOpts(ctx, addresses, options)
	if err != nil {
		return nil, 0, err
	}
	if len(answer.Value) != len(addresses) {
		return nil, 0, malformed("the node answers with %d accounts instead of %d", len(answer.Value), len(addresses))
	}
	for i, account := range answer.Value {
		if account == nil {
			continue
		}
		if account.Data == nil {
			return nil, 0, malformed("the node answers with an account without data: %s", addresses[i])
		}
		if account.Lamports == 0 && len(account.Data.GetBinary()) == 0 {
			answer.Value[i] = nil
		}
	}
	return answer.Value, answer.Context.Slot, nil
}

func wrongSize(name string, got, want int) error {
	return &protocol.DecodeError{Type: name, Reason: protocol.ErrWrongLength, Detail: fmt.Sprintf("%d bytes instead of %d", got, want)}
}

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
	// Role is the agent's; without an agent it means nothing.
	Role Role
	// Status are the statuses to select; none selects all.
	Status []protocol.NegotiationStatus
}

// FindNegotiations lists the negotiations that have not been closed, the oldest first. (The documents call it
// findNegotiationsForAgent.) The node filters them; an account that claims to be a negotiation and cannot be decoded is an error
// in its place, and the others follow.
//
//	for negotiation, err := range client.FindNegotiations(ctx, haggle.Filter{Agent: me, Role: haggle.RoleSeller}) {
func (c *Client) FindNegotiations(ctx context.Context, filter Filter) iter.Seq2[*NegotiationAccount, error] {
	return func(yield func(*NegotiationAccount, error) bool) {
		found, broken, err := c.findNegotiations(ctx, filter)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, err := range broken {
			if !yield(nil, err) {
				return
			}
		}
		for _, negotiation := range found {
			if !yield(negotiation, nil) {
				return
			}
		}
	}
}

func (c *Client) findNegotiations(ctx context.Context, filter Filter) (found []*NegotiationAccount, broken []error, err error) {
	latest := make(map[solana.PublicKey]*NegotiationAccount)
	for _, filters := range filter.queries() {
		answer, err := c.rpc.GetProgramAccountsWithContext(ctx, protocol.ProgramID, &rpc.GetProgramAccountsOpts{
			Commitment: c.commitment,
			Encoding:   solana.EncodingBase64,
			Filters:    filters,
		})
		if err != nil {
			return nil, nil, err
		}
		if answer == nil {
			return nil, nil, malformed("the node does not answer with a list of accounts")
		}
		for _, keyed := range answer.Value {
			if keyed == nil || keyed.Account == nil || keyed.Account.Data == nil {
				return nil, nil, malformed("the node answers with an account without data")
			}
			negotiation, err := decodeNegotiation(keyed.Pubkey, keyed.Account, answer.Context.Slot)
			if err != nil {
				broken = append(broken, err)
				continue
			}
			if !filter.selects(&negotiation.Negotiation) {
				return nil, nil, malformed("the node answers with a negotiation that has not been asked for: %s", keyed.Pubkey)
			}
			// A negotiation that moves on between two queries answers both.
			if before := latest[keyed.Pubkey]; before == nil || before.Slot < negotiation.Slot {
				latest[keyed.Pubkey] = negotiation
			}
		}
	}
	for _, negotiation := range latest {
		found = append(found, negotiation)
	}
	slices.SortFunc(found, func(a, b *NegotiationAccount) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), bytes.Compare(a.Address[:], b.Address[:]))
	})
	return found, broken, nil
}

// selects says whether the node's filters let a negotiation through.
func (f Filter) selects(n *protocol.Negotiation) bool {
	roles := map[Role]solana.PublicKey{RoleBuyer: n.Buyer, RoleSeller: n.Seller, RoleArbiter: n.Arbiter}
	has := func(role Role) bool { return roles[role] == f.Agent }
	if !f.Agent.IsZero() && !slices.ContainsFunc(f.roles(), has) {
		return false
	}
	return len(f.Status) == 0 || slices.Contains(f.Status, n.Status)
}

// roles are those that the agent may have.
func (f Filter) roles() []Role {
	if f.Role == RoleAny {
		return []Role{RoleBuyer, RoleSeller}
	}
	return []Role{f.Role}
}

// roleOffsets are where a negotiation says who has a role.
var roleOffsets = map[Role]uint64{
	RoleBuyer: protocol.NegotiationOffsetBuyer, RoleSeller: protocol.NegotiationOffsetSeller, RoleArbiter: protocol.NegotiationOffsetArbiter,
}

// queries are the node's filters, of which each account has to meet all of one query.
func (f Filter) queries() [][]rpc.RPCFilter {
	shape := []rpc.RPCFilter{{DataSize: protocol.NegotiationSize}, bytesAt(0, []byte(protocol.NegotiationDiscriminator))}
	parties := [][]rpc.RPCFilter{shape}
	if !f.Agent.IsZero() {
		parties = nil
		for _, role := range f.roles() {
			parties = append(parties, append(slices.Clip(shape), bytesAt(roleOffsets[role], f.Agent[:])))
		}
	}
	if len(f.Status) == 0 {
		return parties
	}
	var queries [][]rpc.RPCFilter
	for _, filters := range parties {
		for _, status := range f.Status {
			queries = append(queries, append(slices.Clip(filters), bytesAt(protocol.NegotiationOffsetStatus, []byte{byte(status)})))
		}
	}
	return queries
}

func bytesAt(offset uint64, value []byte) rpc.RPCFilter {
	return rpc.RPCFilter{Memcmp: &rpc.RPCFilterMemcmp{Offset: offset, Bytes: value}}
}
