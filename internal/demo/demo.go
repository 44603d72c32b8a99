// Package demo runs a negotiation on a local chain: two agents in separate processes, which know only each
// other's address, bargain, settle and close. Afterwards it checks all balances on chain.
package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/solanaconfig"
	"github.com/haggle-protocol/haggle/internal/exampleagent"
	"github.com/haggle-protocol/haggle/internal/mint"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// bargainLimit is longer than eight rounds take on the slowest chain.
const bargainLimit = 5 * time.Minute

// Options are the options of the demonstration.
type Options struct {
	// Out receives the actions and the result, Progress the steps of the preparation.
	Out, Progress io.Writer
	// JSON writes each action and the final account as a document per line.
	JSON bool
	// Colour is for terminals.
	Colour bool
	// Chain is the kind of chain to start. If empty, the environment decides.
	Chain localnet.Kind
	// Programs is the folder with the binaries buyer and seller. If empty, this binary runs their code.
	Programs string
	// Plot is the file for a plot of the offers as SVG. If empty, no plot is written.
	Plot string
}

// Run runs the demonstration. It returns an error unless the negotiation is settled and closed on chain and
// the balances add up. All processes have ended when it returns.
func Run(ctx context.Context, options Options) (err error) {
	drawing, err := openDrawing(options.Plot)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, drawing.finish()) }()
	folder, err := os.MkdirTemp("", "haggle-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	programs, err := findPrograms(options.Programs)
	if err != nil {
		return err
	}
	net, err := localnet.Start(ctx, localnet.Options{Kind: options.Chain, Progress: func(line string) { fmt.Fprintln(options.Progress, line) }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, net.Close()) }()

	read, err := mint.Read(ctx, net.Client, net.Mint)
	if err != nil {
		return err
	}
	show := &demonstration{options: options, net: net, mint: read, folder: folder, drawing: drawing}
	show.introduce()
	return show.play(ctx, programs)
}

// prices are an agent's first price and its reservation price, in tokens.
type prices struct{ opening, reservation string }

var (
	buyerPrices  = prices{"2", "3.5"}
	sellerPrices = prices{"4.5", "3"}
)

// Documents returns values of the types of the documents that Run prints as JSON.
func Documents() []any { return []any{exampleagent.Action{}, account{}} }

// demonstration has the parts of a running demonstration.
type demonstration struct {
	options Options
	net     *localnet.Net
	mint    mint.Mint
	folder  string
	drawing *drawing
}

func (s *demonstration) play(ctx context.Context, programs programs) error {
	before, err := s.holdings(ctx)
	if err != nil {
		return err
	}
	actions, err := s.bargain(ctx, programs)
	if err != nil {
		return err
	}
	if len(actions) == 0 {
		return errors.New("agents: no action")
	}
	account, err := s.account(ctx, actions[0].Negotiation, before)
	if err != nil {
		return err
	}
	if s.options.JSON {
		err = json.NewEncoder(s.options.Out).Encode(account)
	} else {
		s.reportAccount(account)
	}
	if err == nil {
		err = s.drawing.draw(account)
	}
	return errors.Join(err, account.check())
}

// ownChain are the seller's flags on a chain of one trusted node.
var ownChain = []string{"--single-source-up-to", sellerPrices.opening, "--finalized-above", sellerPrices.opening}

// bargain runs both agents until they end, and prints their actions in their order on chain.
func (s *demonstration) bargain(ctx context.Context, programs programs) ([]exampleagent.Action, error) {
	asked := ctx
	ctx, cancel := context.WithTimeout(ctx, bargainLimit)
	defer cancel()
	seller, err := s.agent(ctx, cancel, programs.seller, "seller", s.net.Seller, sellerPrices, "--buyer", s.net.Buyer.PublicKey(), ownChain...)
	if err != nil {
		return nil, err
	}
	buyer, err := s.agent(ctx, cancel, programs.buyer, "buyer", s.net.Buyer, buyerPrices, "--seller", s.net.Seller.PublicKey())
	if err != nil {
		cancel()
		return nil, errors.Join(err, seller.wait())
	}
	s.reportHeader()
	order := newOrder(s.reportAction)
	for action := range merge(seller.actions, buyer.actions) {
		order.add(action)
	}
	order.flush()
	err = errors.Join(buyer.wait(), seller.wait())
	if asked.Err() != nil {
		err = asked.Err()
	}
	return order.released, err
}

// agent starts an agent with its key, the cluster, the mint, and the other side's address. Its failure calls
// failed.
func (s *demonstration) agent(ctx context.Context, failed func(), program program, name string, key *wallet.Keypair, limits prices, flag string, counterpart solana.PublicKey, more ...string) (*process, error) {
	keypair := filepath.Join(s.folder, name+".json")
	if err := key.Save(keypair); err != nil {
		return nil, err
	}
	config := solanaconfig.Config{URL: s.net.Chain.RPCURL, WebSocketURL: s.net.Chain.WSURL, KeypairPath: keypair, Commitment: "confirmed"}
	configPath := filepath.Join(s.folder, name+".yml")
	if err := config.Write(configPath); err != nil {
		return nil, err
	}
	arguments := []string{
		"--config", configPath, flag, counterpart.String(), "--mint", s.net.Mint.String(), "--opening", limits.opening,
		"--reservation", limits.reservation, "--journal", filepath.Join(s.folder, name+"-journal.db"), "--json",
	}
	return startProcess(ctx, failed, name, program, append(arguments, more...)...)
}
