package load

import (
	"context"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/token"
	"github.com/gagliardetto/solana-go/rpc"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
)

// transferStream is the load for comparison. Wallets that share no account, in a separate mint, each pay
// their own recipient, and send the next transfer after the confirmation of the last.
type transferStream struct {
	mint    solana.PublicKey
	senders []*sender
}

type sender struct {
	from, to agent
	// sent is the number of attempted transfers, and paid the base units of confirmed transfers.
	sent, paid uint64
}

// start starts all senders. stop stops the senders and waits for the transfers in flight.
func (s *transferStream) start(ctx context.Context, r *run) (stop func()) {
	stopped := make(chan struct{})
	var sending sync.WaitGroup
	for _, sender := range s.senders {
		sending.Go(func() {
			for ctx.Err() == nil {
				select {
				case <-stopped:
					return
				default:
					pause(ctx)
					sender.transfer(ctx, r)
				}
			}
		})
	}
	return func() {
		close(stopped)
		sending.Wait()
	}
}

// pauseAfterFailure is a sender's pause when a transfer has failed.
const pauseAfterFailure = 500 * time.Millisecond

func (s *sender) transfer(ctx context.Context, r *run) {
	// The amount differs between transfers: two equal transactions with one blockhash would share a
	// signature.
	s.sent++
	entry := record{stage: r.records.now(), action: plainTransfer}
	began := time.Now()
	var receipt *haggle.Receipt
	transaction, err := s.signed(ctx, r, s.sent)
	if err == nil {
		receipt, err = r.payers.Submit(ctx, transaction)
	}
	err = entry.setOutcome(ctx, r.payers.Client, receipt, err)
	entry.whole = time.Since(began)
	if ctx.Err() != nil {
		return
	}
	r.records.add(entry)
	if err == nil {
		s.paid += s.sent
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(pauseAfterFailure):
	}
}

func (s *sender) signed(ctx context.Context, r *run, amount uint64) (*solana.Transaction, error) {
	latest, err := r.payers.RPC().GetLatestBlockhash(ctx, rpc.CommitmentConfirmed)
	if err != nil {
		return nil, err
	}
	owner := s.from.PublicKey()
	transfer, err := token.NewTransferCheckedInstruction(
		amount, localnet.Decimals, s.from.account, r.transfers.mint, s.to.account, owner, nil).ValidateAndBuild()
	if err != nil {
		return nil, err
	}
	transaction, err := solana.NewTransaction(
		[]solana.Instruction{transfer}, latest.Value.Blockhash, solana.TransactionPayer(owner))
	if err != nil {
		return nil, err
	}
	private := s.from.PrivateKey()
	_, err = transaction.Sign(func(solana.PublicKey) *solana.PrivateKey { return &private })
	return transaction, err
}
