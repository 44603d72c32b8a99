package localnet

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/admin"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// Decimals is the number of decimals of Net.Mint, as for USDC.
const Decimals = 6

// The balances that Start and Net.Endow give to a wallet.
const (
	// StartLamports are 10 SOL, in lamports.
	StartLamports = 10 * solana.LAMPORTS_PER_SOL
	// StartTokens is 100 tokens, in the mint's base units.
	StartTokens = 100_000_000
)

// Net is a running chain with an initialized protocol, a mint and funded buyer and seller wallets.
type Net struct {
	Chain *Chain
	// Client is a client of the chain. Close closes it.
	Client *haggle.Client
	// Mint is a new SPL Token mint. Chain.Faucet is the authority. Its metadata contains [Symbol], except on
	// external chains and ledgers from earlier versions.
	Mint solana.PublicKey
	// Treasury is the wallet receiving fees and decay. It owns a token account for Mint.
	Treasury solana.PublicKey
	// Buyer is a new wallet with StartLamports and StartTokens.
	Buyer *wallet.Keypair
	// Seller is a new wallet with StartLamports and an empty account of Mint.
	Seller *wallet.Keypair
}

// Start starts a chain with StartChain, or connects to the chain at HAGGLE_RPC_URL, and sets up a Net there.
// The context limits only startup. The chain runs until Close is called.
//
// Besides StartChain's errors, it returns an error if an external chain's protocol is not initialized and
// HAGGLE_UPGRADE_AUTHORITY is not set.
func Start(ctx context.Context, options Options) (*Net, error) {
	options.ProgramID = protocol.ProgramID
	mint, err := options.key(mintKey)
	if err != nil {
		return nil, err
	}
	options.mint = mint.PublicKey()
	chain, err := StartChain(ctx, options)
	if err != nil {
		return nil, err
	}
	net := &Net{Chain: chain, Mint: options.mint}
	if err := net.setUp(ctx, options, mint); err != nil {
		return nil, errors.Join(err, net.Close())
	}
	return net, nil
}

// Close closes the client and stops the chain as Chain.Close does.
func (n *Net) Close() error {
	var err error
	if n.Client != nil {
		err = n.Client.Close()
	}
	return errors.Join(err, n.Chain.Close())
}

func (n *Net) setUp(ctx context.Context, options Options, mint solana.PrivateKey) (err error) {
	n.Client, err = haggle.NewClient(n.Chain.ClientConfig())
	if err != nil {
		return err
	}
	if n.Buyer, err = options.keypair(buyerKey); err != nil {
		return err
	}
	if n.Seller, err = options.keypair(sellerKey); err != nil {
		return err
	}
	if err := n.configure(ctx, options); err != nil {
		return err
	}
	// A kept ledger may already contain the mint and earlier balances.
	balance, err := n.Chain.Balance(ctx, n.Mint)
	if err != nil {
		return err
	}
	if balance == 0 {
		if _, err := n.Chain.createMint(ctx, mint, solana.TokenProgramID, Decimals); err != nil {
			return err
		}
	}
	if n.Chain.local != nil {
		// Validators contain the metadata from genesis.
		if err := n.Chain.local.setMetadata(n.Mint); err != nil {
			return err
		}
	}
	if balance, err = n.Chain.Balance(ctx, n.Buyer.PublicKey()); err != nil || balance > 0 {
		return err
	}
	return n.Chain.Endow(ctx, n.Mint,
		Holding{Owner: n.Buyer.PublicKey(), Lamports: StartLamports, Tokens: StartTokens},
		Holding{Owner: n.Seller.PublicKey(), Lamports: StartLamports},
		Holding{Owner: n.Treasury})
}

// keypair returns a party's keypair.
func (o Options) keypair(name string) (*wallet.Keypair, error) {
	key, err := o.key(name)
	if err != nil {
		return nil, err
	}
	return wallet.NewKeypair(key)
}

// Endow gives StartLamports and StartTokens to each of further wallets.
func (n *Net) Endow(ctx context.Context, owners ...solana.PublicKey) error {
	var holdings []Holding
	for _, owner := range owners {
		holdings = append(holdings, Holding{Owner: owner, Lamports: StartLamports, Tokens: StartTokens})
	}
	return n.Chain.Endow(ctx, n.Mint, holdings...)
}

// configure initializes the protocol with a new treasury, unless it is initialized already.
func (n *Net) configure(ctx context.Context, options Options) error {
	config, err := n.Client.GetConfig(ctx)
	if err == nil {
		n.Treasury = config.Treasury
		return nil
	}
	if !errors.Is(err, protocol.ErrAccountNotFound) {
		return err
	}
	if n.Chain.UpgradeAuthority == nil {
		return fmt.Errorf("protocol not initialized on %s: set %s to the upgrade authority's keypair file",
			n.Chain.endpoints.RPC, EnvUpgradeAuthority)
	}
	authority, err := wallet.NewKeypair(n.Chain.UpgradeAuthority)
	if err != nil {
		return err
	}
	treasury, err := options.keypair(treasuryKey)
	if err != nil {
		return err
	}
	n.Treasury = treasury.PublicKey()
	if err := n.Chain.Fund(ctx, authority.PublicKey(), solana.LAMPORTS_PER_SOL); err != nil {
		return err
	}
	action, err := admin.InitializeConfig(n.Client,
		admin.InitializeConfigRequest{Authority: authority.PublicKey(), Treasury: n.Treasury})
	if err != nil {
		return err
	}
	if _, err := action.Do(ctx, authority); err != nil {
		return fmt.Errorf("initialize the protocol: %w", err)
	}
	return nil
}

// ReplaceTreasury replaces the protocol configuration's treasury by another wallet, and Net.Treasury. It needs
// [Chain.UpgradeAuthority] to be the configuration's authority, as Start leaves it.
func (n *Net) ReplaceTreasury(ctx context.Context, treasury solana.PublicKey) error {
	authority, err := wallet.NewKeypair(n.Chain.UpgradeAuthority)
	if err != nil {
		return err
	}
	action, err := admin.UpdateConfig(ctx, n.Client,
		admin.UpdateConfigRequest{Authority: authority.PublicKey(), Treasury: treasury})
	if err != nil {
		return err
	}
	if _, err := action.Do(ctx, authority); err != nil {
		return fmt.Errorf("replace the treasury: %w", err)
	}
	n.Treasury = treasury
	return nil
}
