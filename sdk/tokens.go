package haggle

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/rpcpool"
	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// mintsKept limits the number of mints kept by a client.
const mintsKept = 1024

// GetMint reads a mint. A mint suitable for escrow cannot be closed or changed, so it is read once. If the
// client uses several nodes, GetMint reads it from all nodes, for up to 2 seconds.
//
// It fails with [*token.DecimalsError] if two nodes state different decimals, or a node contradicts the
// decimals of a well-known mint ([token.WellKnownDecimals]). The decimals of another mint rest on the nodes
// alone: compare them with your own knowledge before you convert an amount of tokens.
//
// It fails with an [*protocol.AccountError] that wraps [protocol.ErrAccountNotFound],
// [protocol.ErrWrongOwner] together with [protocol.ErrAccountOwnedByWrongProgram] for an account of neither
// token program, or a [*protocol.DecodeError] together with [protocol.ErrUnsupportedMint] for an account
// other than a mint.
func (c *Client) GetMint(ctx context.Context, mint solana.PublicKey) (*token.Mint, error) {
	read, err := c.mintOf(ctx, mint)
	if err != nil {
		return nil, err
	}
	if _, done := c.compared.Get(mint); done {
		return read, nil
	}
	if err := c.compareDecimals(ctx, read); err != nil {
		c.logger.Error("a node states wrong decimals of a mint", "error", err)
		return nil, err
	}
	if read.IsSupported() {
		c.compared.Put(mint, struct{}{})
	}
	return read, nil
}

// mintOf reads a mint from one node, for actions that do not depend on the decimals.
func (c *Client) mintOf(ctx context.Context, mint solana.PublicKey) (*token.Mint, error) {
	if known, ok := c.mints.Get(mint); ok {
		return &known, nil
	}
	accounts, _, err := c.accounts(ctx, mint)
	if err != nil {
		return nil, err
	}
	if accounts[0] == nil {
		return nil, &protocol.AccountError{Address: mint, Err: protocol.ErrAccountNotFound}
	}
	read, err := token.DecodeMint(mint, accounts[0])
	if err != nil {
		return nil, &protocol.AccountError{Address: mint, Err: err}
	}
	if read.IsSupported() {
		c.mints.Put(mint, *read)
	}
	return read, nil
}

// mintComparison is how long the nodes may take to return a mint for comparing the decimals.
const mintComparison = 2 * time.Second

// compareDecimals returns [*token.DecimalsError] if a node contradicts the table of well-known mints, or
// another node. Nodes that do not return the mint in time are not compared.
func (c *Client) compareDecimals(ctx context.Context, read *token.Mint) error {
	if c.pool.Size() == 1 {
		return token.CheckDecimals(read.Address, "node "+c.pool.Health()[0].Host, read.Decimals)
	}
	stated := append(c.decimalsByNode(ctx, read.Address), statement{"a node", read.Decimals})
	for _, node := range stated {
		if err := token.CheckDecimals(read.Address, node.source, node.decimals); err != nil {
			return err
		}
	}
	for _, node := range stated[1:] {
		if node.decimals != stated[0].decimals {
			return &token.DecimalsError{Mint: read.Address, Source: node.source, Decimals: node.decimals,
				Reference: stated[0].source, Expected: stated[0].decimals}
		}
	}
	return nil
}

// statement is what a node states about a mint.
type statement struct {
	source   string
	decimals uint8
}

// decimalsByNode returns the decimals that each reachable node states, sorted by host.
func (c *Client) decimalsByNode(ctx context.Context, mint solana.PublicKey) (stated []statement) {
	ctx, cancel := context.WithTimeout(ctx, mintComparison)
	defer cancel()
	var lock sync.Mutex
	var reading sync.WaitGroup
	c.pool.Each("getMultipleAccounts", func(single rpcpool.Single) bool {
		reading.Go(func() {
			options := &rpc.GetMultipleAccountsOpts{Commitment: c.commitment, Encoding: solana.EncodingBase64}
			accounts, _, err := send.Accounts(ctx, clientOfNode(single.HoweverOld()), options, mint)
			if err != nil || accounts[0] == nil {
				return
			}
			if read, err := token.DecodeMint(mint, accounts[0]); err == nil {
				lock.Lock()
				defer lock.Unlock()
				stated = append(stated, statement{"node " + single.Host(), read.Decimals})
			}
		})
		return true
	})
	reading.Wait()
	slices.SortStableFunc(stated, func(a, b statement) int { return cmp.Compare(a.source, b.source) })
	return stated
}

// GetTokenAccount reads an account of SPL Token or Token-2022. It fails like [Negotiation.Snapshot].
func (c *Client) GetTokenAccount(ctx context.Context, address solana.PublicKey) (*token.Account, error) {
	accounts, slot, err := c.accounts(ctx, address)
	if err != nil {
		return nil, err
	}
	if accounts[0] == nil {
		return nil, &protocol.AccountError{Address: address, Err: protocol.ErrAccountNotFound}
	}
	return token.DecodeAccount(address, accounts[0], slot)
}

// createAssociated returns an address with the instruction that creates a wallet's associated token account
// there.
func createAssociated(
	mint *token.Mint, payer, wallet, address solana.PublicKey,
) (solana.PublicKey, []solana.Instruction, error) {
	creation, err := token.CreateAssociated(payer, wallet, mint.Address, mint.TokenProgram)
	if err != nil {
		return solana.PublicKey{}, nil, err
	}
	return address, []solana.Instruction{creation}, nil
}
