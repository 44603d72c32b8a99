package faults_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// plan is the input of all processes, in a file.
type plan struct {
	// Folder contains the keys, the journals and the received events.
	Folder string
	// Endpoints lists the proxies' JSON-RPC interfaces, and Sockets their WebSocket interfaces.
	Endpoints, Sockets []string
	Terms              terms
	Mint               solana.PublicKey
	// Wallets lists the agents' wallets, the buyers' first.
	Wallets      []solana.PublicKey
	Negotiations []negotiation
	// Hosts lists each process's wallet numbers.
	Hosts [][]int
}

// negotiation is a script with the parties.
type negotiation struct {
	Script        script
	Address       solana.PublicKey
	Buyer, Seller int
}

const (
	envPlan = "HAGGLE_FAULTS_PLAN"
	envHost = "HAGGLE_FAULTS_HOST"
)

// newPlan distributes the negotiations: each buyer bargains with several sellers, and each seller with
// several buyers.
func newPlan(folder string, s scale, t terms, mint solana.PublicKey) (*plan, error) {
	p := &plan{Folder: folder, Terms: t, Mint: mint, Hosts: make([][]int, s.processes)}
	for number := range s.buyers + s.sellers {
		key, err := wallet.GenerateKeypair()
		if err != nil {
			return nil, err
		}
		if err := key.Save(p.keyFile(number)); err != nil {
			return nil, err
		}
		p.Wallets = append(p.Wallets, key.PublicKey())
		p.Hosts[number%s.processes] = append(p.Hosts[number%s.processes], number)
	}
	for number := range s.negotiations {
		n := negotiation{
			Script: scriptFor(number, t), Buyer: number % s.buyers, Seller: s.buyers + (number+number/s.buyers)%s.sellers,
		}
		var err error
		n.Address, _, err = protocol.FindNegotiationAddress(p.Wallets[n.Buyer], p.Wallets[n.Seller], n.Script.session())
		if err != nil {
			return nil, err
		}
		p.Negotiations = append(p.Negotiations, n)
	}
	return p, nil
}

func (p *plan) keyFile(wallet int) string {
	return filepath.Join(p.Folder, fmt.Sprintf("wallet-%d.json", wallet))
}

// repetitionsFile returns the path to the creations repeated by a wallet.
func (p *plan) repetitionsFile(wallet int) string {
	return filepath.Join(p.Folder, fmt.Sprintf("repeated-by-%d.jsonl", wallet))
}

func (p *plan) logFile(host int) string {
	return filepath.Join(p.Folder, fmt.Sprintf("host-%d.log", host))
}

func (p *plan) outputFile(host int) string {
	return filepath.Join(p.Folder, fmt.Sprintf("host-%d.output", host))
}

// receivedFile returns the path to the events that a wallet has received from a negotiation.
func (p *plan) receivedFile(wallet, number int) string {
	return filepath.Join(p.Folder, fmt.Sprintf("received-%d-by-%d.jsonl", number, wallet))
}

func (p *plan) file() string { return filepath.Join(p.Folder, "plan.json") }

func (p *plan) save() error {
	content, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return os.WriteFile(p.file(), content, 0o600)
}

func readPlan(path string) (*plan, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p := new(plan)
	return p, json.Unmarshal(content, p)
}

// of returns a wallet's negotiations.
func (p *plan) of(wallet int) (all []negotiation) {
	for _, n := range p.Negotiations {
		if n.Buyer == wallet || n.Seller == wallet {
			all = append(all, n)
		}
	}
	return all
}

// config returns the configuration for a client using the proxies. Each client starts with a different proxy,
// so that all proxies are used.
func (p *plan) config(number int, path string) haggle.Config {
	rotated := func(all []string, path string) (turned []string) {
		for i := range all {
			turned = append(turned, all[(number+i)%len(all)]+path)
		}
		return turned
	}
	endpoints, sockets := rotated(p.Endpoints, path), rotated(p.Sockets, path)
	return haggle.Config{
		Endpoint: endpoints[0], Fallbacks: endpoints[1:], WSEndpoint: sockets[0], WSFallbacks: sockets[1:],
	}
}
