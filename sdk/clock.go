package haggle

import (
	"context"
	"encoding/binary"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// The Clock sysvar: slot, start of the epoch, epoch, epoch of the leader schedule and Unix time, of eight
// bytes each.
const (
	clockSize           = 40
	clockOffsetUnixTime = 32
)

// sysvarOwner is the owner of the chain's sysvars.
var sysvarOwner = solana.MustPublicKeyFromBase58("Sysvar1111111111111111111111111111111111111")

// Now returns the chain's time in Unix seconds. Deadlines are in this time: the machine's clock may differ by
// more than a response window.
func (c *Client) Now(ctx context.Context) (int64, error) {
	c.syncSlot(ctx)
	account, _, err := c.accountOf(ctx, solana.SysVarClockPubkey, sysvarOwner)
	if err != nil {
		return 0, err
	}
	return clockIn(account)
}

// clockIn returns the time in the Clock sysvar.
func clockIn(account *rpc.Account) (int64, error) {
	data := account.Data.GetBinary()
	if len(data) != clockSize {
		return 0, &protocol.AccountError{Address: solana.SysVarClockPubkey,
			Err: protocol.WrongSize("Clock", len(data), clockSize)}
	}
	return int64(binary.LittleEndian.Uint64(data[clockOffsetUnixTime:])), nil
}
