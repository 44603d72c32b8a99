// Package demo runs a negotiation on a local chain: two agents, which know only each other's address,
// bargain, settle and close. Afterwards it checks all balances on chain. The caller supplies the agents:
// goroutines or processes.
package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/haggle-protocol/haggle/internal/cli/actions"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/localnet"
)

// bargainLimit is longer than eight rounds take on the slowest chain.
const bargainLimit = 5 * time.Minute

// Options configures the demonstration.
type Options struct {
	// Out receives the actions and the result, Progress the steps of the preparation.
	Out, Progress io.Writer
	// JSON writes each action and the final account as a document per line.
	JSON bool
	// Colour is for terminals.
	Colour bool
	// Chain selects the kind of chain to start. If it is "", the environment decides.
	Chain localnet.Kind
	// Agents runs a buyer and a seller until both have ended, and reports their actions in any order, from any goroutine.
	Agents func(ctx context.Context, stage Stage, acted func(actions.Action)) error
}

// Stage is what the agents get.
type Stage struct {
	*localnet.Net
	// Tokens returns base units of the mint as an amount.
	Tokens func(uint64) amount.Tokens
}

// Prices holds an agent's opening price and reservation price, in base units.
type Prices struct{ Opening, Reservation uint64 }

// The agents' prices, in base units, with [localnet.Decimals] decimals.
var (
	BuyerPrices  = Prices{2_000_000, 3_500_000}
	SellerPrices = Prices{4_500_000, 3_000_000}
)

// MaxTotal limits the buyer's total payments, price and decay, in base units.
const MaxTotal = 4_100_000

// Escrow is the buyer's deposit, in base units.
const Escrow = 5_000_000

// Run runs the demonstration. It returns an error unless the negotiation is settled and closed on chain and
// the balances match. The agents have ended when it returns.
func Run(ctx context.Context, options Options) (a *Account, err error) {
	net, err := localnet.Start(ctx, localnet.Options{
		Kind: options.Chain, Progress: func(line string) { fmt.Fprintln(options.Progress, line) },
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, net.Close()) }()
	show := &demonstration{options: options, net: net, symbol: localnet.Symbol}
	if kind := net.Chain.Kind; kind != localnet.Process && kind != localnet.Validator {
		show.symbol = net.Mint.Short(4) // there the mint has no metadata
	}
	show.introduce()
	return show.play(ctx)
}

// Documents returns values of the types of the documents that Run prints as JSON.
func Documents() []any { return []any{actions.Action{}, Account{}} }

// demonstration holds a running demonstration's parts.
type demonstration struct {
	options Options
	net     *localnet.Net
	symbol  string
}

func (s *demonstration) tokens(units uint64) amount.Tokens {
	return amount.Tokens{Units: units, Decimals: localnet.Decimals, Symbol: s.symbol}
}

func (s *demonstration) play(ctx context.Context) (*Account, error) {
	before, err := s.holdings(ctx)
	if err != nil {
		return nil, err
	}
	acted, err := s.bargain(ctx)
	if err != nil {
		return nil, err
	}
	if len(acted) == 0 {
		return nil, errors.New("agents: no action")
	}
	account, err := s.account(ctx, acted[0].Negotiation, before)
	if err != nil {
		return nil, err
	}
	if s.options.JSON {
		err = json.NewEncoder(s.options.Out).Encode(account)
	} else {
		s.reportAccount(account)
	}
	return account, errors.Join(err, account.check())
}

// bargain runs both agents to completion, and prints their actions in on-chain order.
func (s *demonstration) bargain(asked context.Context) ([]actions.Action, error) {
	ctx, cancel := context.WithTimeout(asked, bargainLimit)
	defer cancel()
	s.reportHeader()
	order := newOrder(s.reportAction)
	var lock sync.Mutex
	err := s.options.Agents(ctx, Stage{s.net, s.tokens}, func(action actions.Action) {
		lock.Lock()
		defer lock.Unlock()
		order.add(action)
	})
	order.flush()
	if asked.Err() != nil {
		err = asked.Err()
	}
	return order.released, err
}
