package haggle

import (
	"cmp"
	"context"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// maxSnapshots limits the negotiations per request: a node returns up to 100 accounts, including the clock.
const maxSnapshots = 99

// Snapshots reads negotiations, up to 99 per request, with the chain's clock for the same slot. An element of
// the result is nil if the address holds no negotiation that this version can read: see
// [Negotiation.Snapshot]. The finalized state, which no fork can replace, is about 13 seconds old. If the
// commitment level is empty, the client's is used.
func (c *Client) Snapshots(
	ctx context.Context, commitment rpc.CommitmentType, addresses ...solana.PublicKey,
) ([]*Snapshot, error) {
	c.syncSlot(ctx)
	options := &rpc.GetMultipleAccountsOpts{Commitment: cmp.Or(commitment, c.commitment), Encoding: solana.EncodingBase64}
	all := make([]*Snapshot, 0, len(addresses))
	for part := range slices.Chunk(addresses, maxSnapshots) {
		accounts, slot, err := send.Accounts(ctx, c.rpc, options, append(slices.Clone(part), solana.SysVarClockPubkey)...)
		if err != nil {
			return nil, err
		}
		clock, err := ownedBy(sysvarOwner, solana.SysVarClockPubkey, accounts[len(part)])
		if err != nil {
			return nil, err
		}
		now, err := clockIn(clock)
		if err != nil {
			return nil, err
		}
		for i, address := range part {
			var read *Snapshot
			if account, err := ownedBy(protocol.ProgramID, address, accounts[i]); err == nil {
				if read, err = decodeNegotiation(address, account, slot); err == nil {
					read.Time = now
				}
			}
			all = append(all, read)
		}
	}
	return all, nil
}
