package haggle

import (
	"context"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Snapshot is a negotiation as it was on chain at a slot. [Client.At] builds actions on snapshots.
type Snapshot struct {
	// Address is the negotiation's PDA.
	Address solana.PublicKey
	protocol.Negotiation
	// Data holds the account's 512 bytes.
	Data []byte
	// Slot is the slot of the snapshot.
	Slot uint64
	// Time is the chain's clock at Slot, in Unix seconds; deadlines are compared with it. It is zero in the
	// negotiations of [Client.FindNegotiations].
	Time int64
	// Lamports is the account's rent. It goes back to the buyer.
	Lamports uint64
}

// TermsHash is what a seller signs in accept_invitation: see [protocol.TermsHash].
func (n *Snapshot) TermsHash() [32]byte { return protocol.TermsHash(n.Address, n.Data) }

// vault is the address of the token account that holds the escrow.
func (n *Snapshot) vault() (solana.PublicKey, error) {
	return solana.CreateProgramAddress([][]byte{[]byte(protocol.VaultSeed), n.Address[:], {n.VaultBump}},
		protocol.ProgramID)
}

// ConfigAccount is the protocol's configuration as the chain had it at a slot.
type ConfigAccount struct {
	// Address is the configuration's PDA.
	Address solana.PublicKey
	protocol.ProtocolConfig
	// Slot is when the account was read.
	Slot uint64
}

// Snapshot reads the negotiation and the chain's clock for the same slot, in a single request.
//
// It returns an [*protocol.AccountError] that wraps [protocol.ErrAccountNotFound] if the negotiation is
// closed or was never created, and [protocol.ErrWrongOwner] or a [*protocol.DecodeError] if the account is
// not a negotiation or belongs to a later version.
func (n *Negotiation) Snapshot(ctx context.Context) (*Snapshot, error) {
	if n.err != nil {
		return nil, n.err
	}
	return n.client.snapshot(ctx, n.address)
}

func (c *Client) snapshot(ctx context.Context, negotiation solana.PublicKey) (*Snapshot, error) {
	c.syncSlot(ctx)
	accounts, slot, err := c.accounts(ctx, negotiation, solana.SysVarClockPubkey)
	if err != nil {
		return nil, err
	}
	account, err := ownedBy(protocol.ProgramID, negotiation, accounts[0])
	if err != nil {
		return nil, err
	}
	clock, err := ownedBy(sysvarOwner, solana.SysVarClockPubkey, accounts[1])
	if err != nil {
		return nil, err
	}
	read, err := decodeNegotiation(negotiation, account, slot)
	if err != nil {
		return nil, err
	}
	read.Time, err = clockIn(clock)
	return read, err
}

// GetConfig reads the protocol's configuration. It fails like [Negotiation.Snapshot];
// [protocol.ErrAccountNotFound] means that the program is not initialized.
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
		return nil, &protocol.AccountError{Address: address, Err: err}
	}
	return config, nil
}

func decodeNegotiation(address solana.PublicKey, account *rpc.Account, slot uint64) (*Snapshot, error) {
	if account.Owner != protocol.ProgramID {
		return nil, &protocol.AccountError{Address: address, Err: protocol.ErrWrongOwner}
	}
	read := &Snapshot{Address: address, Data: account.Data.GetBinary(), Slot: slot,
		Lamports: account.Lamports}
	if err := read.Negotiation.DecodeVersioned(read.Data); err != nil {
		return nil, &protocol.AccountError{Address: address, Err: err}
	}
	return read, nil
}

// accountOf reads an account and checks the owner.
func (c *Client) accountOf(
	ctx context.Context, address, owner solana.PublicKey,
) (*rpc.Account, uint64, error) {
	accounts, slot, err := c.accounts(ctx, address)
	if err != nil {
		return nil, 0, err
	}
	account, err := ownedBy(owner, address, accounts[0])
	return account, slot, err
}

// ownedBy returns the account, or an error if it does not exist or if the owner differs.
func ownedBy(owner, address solana.PublicKey, account *rpc.Account) (*rpc.Account, error) {
	if account == nil {
		return nil, &protocol.AccountError{Address: address, Err: protocol.ErrAccountNotFound}
	}
	if account.Owner != owner {
		return nil, &protocol.AccountError{Address: address,
			Err: fmt.Errorf("%w: %s", protocol.ErrWrongOwner, account.Owner)}
	}
	return account, nil
}

// accounts reads accounts, all from the same slot. A missing account is nil, and so is an account without
// lamports and data, because some nodes return closed accounts in this form.
func (c *Client) accounts(
	ctx context.Context, addresses ...solana.PublicKey,
) ([]*rpc.Account, uint64, error) {
	options := &rpc.GetMultipleAccountsOpts{Commitment: c.commitment, Encoding: solana.EncodingBase64}
	return send.Accounts(ctx, c.rpc, options, addresses...)
}
