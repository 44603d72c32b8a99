package demo

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/actions"
	"github.com/haggle-protocol/haggle/internal/cli/demo"
	"github.com/haggle-protocol/haggle/internal/cli/solanaconfig"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// play runs both agents as processes until their ends.
func (p programs) play(ctx context.Context, stage demo.Stage, acted func(actions.Action)) (err error) {
	folder, err := os.MkdirTemp("", "haggle-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	start := func(
		program program, name string, key *wallet.Keypair, prices demo.Prices, flag string, counterpart solana.PublicKey, more ...string,
	) (*process, error) {
		keypair := filepath.Join(folder, name+".json")
		if err := key.Save(keypair); err != nil {
			return nil, err
		}
		config := solanaconfig.Config{
			URL: stage.Chain.RPCURL(), WebSocketURL: stage.Chain.WSURL(), KeypairPath: keypair, Commitment: "confirmed",
		}
		configPath := filepath.Join(folder, name+".yml")
		if err := config.Write(configPath); err != nil {
			return nil, err
		}
		arguments := []string{
			"--config", configPath, flag, counterpart.String(), "--mint", stage.Mint.String(),
			"--opening", stage.Tokens(prices.Opening).Decimal(), "--reservation", stage.Tokens(prices.Reservation).Decimal(),
			"--journal", filepath.Join(folder, name+"-journal.db"), "--json",
		}
		return startProcess(ctx, acted, cancel, name, program, append(arguments, more...)...)
	}
	// The chain is a single trusted node.
	opening := stage.Tokens(demo.SellerPrices.Opening).Decimal()
	seller, err := start(p.seller, "seller", stage.Seller, demo.SellerPrices, "--buyer", stage.Buyer.PublicKey(),
		"--single-source-up-to", opening, "--finalized-above", opening)
	if err != nil {
		return err
	}
	buyer, err := start(p.buyer, "buyer", stage.Buyer, demo.BuyerPrices, "--seller", stage.Seller.PublicKey())
	if err != nil {
		cancel()
		return errors.Join(err, seller.wait())
	}
	return errors.Join(buyer.wait(), seller.wait())
}
