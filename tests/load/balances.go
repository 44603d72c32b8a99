package load

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
)

// compareBalances compares every token account of the mint, of any owner, with the expected balance at the
// end of a stage.
func (a *audit) compareBalances(ctx context.Context, r *run, after stageID) error {
	held, err := r.tokenAccounts(ctx, r.mint)
	if err != nil {
		return err
	}
	want, err := r.balances(after)
	if err != nil {
		return err
	}
	a.supply = 0
	for address, amount := range held {
		a.supply += amount
		expected, known := want[address]
		delete(want, address)
		if amount != expected || !known {
			a.findings.Add("token account %s after %q: holds %d base units instead of %d", address,
				stages[after].title, amount, expected)
		}
	}
	for address := range want {
		a.findings.Add("token account %s after %q: account missing", address, stages[after].title)
	}
	if issued := uint64(len(r.negotiations)) * startTokens; a.supply != issued {
		a.findings.Add("supply after %q: %d base units instead of %d", stages[after].title, a.supply, issued)
	}
	return nil
}

// tokenAccounts returns all token accounts of a mint, with balances in base units.
func (r *run) tokenAccounts(ctx context.Context, mint solana.PublicKey) (map[solana.PublicKey]uint64, error) {
	accounts, err := r.net.Client.RPC().GetProgramAccountsWithOpts(ctx, solana.TokenProgramID,
		&rpc.GetProgramAccountsOpts{
			Commitment: rpc.CommitmentConfirmed, Encoding: solana.EncodingBase64,
			Filters: []rpc.RPCFilter{{DataSize: tokenAccountSize},
				{Memcmp: &rpc.RPCFilterMemcmp{Offset: 0, Bytes: mint.Bytes()}}},
		})
	if err != nil {
		return nil, err
	}
	held := map[solana.PublicKey]uint64{}
	for _, account := range accounts {
		held[account.Pubkey] = binary.LittleEndian.Uint64(
			account.Account.Data.GetBinary()[tokenAmountOffset:])
	}
	return held, nil
}

// The layout of SPL Token's accounts: mint, owner, amount, and more.
const (
	tokenAccountSize  = 165
	tokenAmountOffset = 64
)

// balances returns, for every token account of the mint, the expected balance at the end of a stage in base
// units.
func (r *run) balances(after stageID) (map[solana.PublicKey]uint64, error) {
	treasury, _, err := solana.FindAssociatedTokenAddress(r.net.Treasury, r.mint)
	if err != nil {
		return nil, err
	}
	want := map[solana.PublicKey]uint64{treasury: 0}
	for _, n := range r.negotiations {
		buyer, seller, vault := startTokens-n.script.escrow, uint64(0), n.script.escrow
		if after >= ending {
			d := n.script.division(r.terms)
			buyer, seller, vault = buyer+d.refund, d.toSeller, d.swept()
		}
		want[n.buyer.account], want[n.seller.account] = buyer, seller
		if after >= closing {
			want[treasury] += vault
		} else {
			want[n.vault] = vault
		}
	}
	return want, nil
}

// compareTransfers compares each sender's confirmed transfers with the balances of sender and recipient.
func (a *audit) compareTransfers(ctx context.Context, r *run) error {
	held, err := r.tokenAccounts(ctx, r.transfers.mint)
	if err != nil {
		return err
	}
	for i, s := range r.transfers.senders {
		if left, arrived := held[s.from.account], held[s.to.account]; arrived != s.paid ||
			left != transferTokens-s.paid {
			a.findings.Add("sender %d: %d base units confirmed, %d received, %d left", i, s.paid, arrived,
				left)
		}
	}
	return nil
}

// accountsPerRequest is the largest number of accounts that nodes read per request.
const accountsPerRequest = 100

// compareLamports requires that every party holds the starting lamports less transaction fees. This shows
// that all rent was returned.
func (a *audit) compareLamports(ctx context.Context, r *run) error {
	fees := map[solana.PublicKey]uint64{}
	for i := range r.blocks.program {
		fees[r.blocks.program[i].payer] += r.blocks.program[i].fee
	}
	var parties []solana.PublicKey
	for _, n := range r.negotiations {
		parties = append(parties, n.buyer.PublicKey(), n.seller.PublicKey())
	}
	for batch := range slices.Chunk(parties, accountsPerRequest) {
		answer, err := r.net.Client.RPC().GetMultipleAccountsWithOpts(ctx, batch,
			&rpc.GetMultipleAccountsOpts{Commitment: rpc.CommitmentConfirmed})
		if err != nil {
			return err
		}
		for i, account := range answer.Value {
			if want := startLamports - fees[batch[i]]; account == nil || account.Lamports != want {
				a.findings.Add("party %s: has %+v instead of %d lamports", batch[i], account, want)
			}
		}
	}
	return nil
}
