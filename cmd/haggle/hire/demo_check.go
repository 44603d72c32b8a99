package hire

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/hire/verify"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// check verifies the demonstration's conversation log, the settlement and the worker's balance.
func (st *stage) check(ctx context.Context, origin string, deal dealView) error {
	client := &hire.Client{Local: true}
	home := &hire.Home{
		Origin: origin, Agent: st.net.Buyer.PublicKey().String(), Key: ed25519.PrivateKey(st.net.Buyer.PrivateKey()),
		Client: client,
	}
	log, err := home.Log(ctx, deal.Conversation, home.Agent)
	if err != nil {
		return err
	}
	links, err := verify.Links(log)
	if err != nil {
		return err
	}
	card, err := client.Card(ctx, origin)
	if err != nil {
		return err
	}
	report, err := verify.Log(ctx, links, verify.Options{
		Rules:  card.Rules(),
		Assets: []hire.Asset{{Symbol: "TEST", Mint: hire.Base58(st.net.Mint.String()), Decimals: localnet.Decimals}},
		Key: func(_ context.Context, id string) (ed25519.PublicKey, error) {
			if id == origin {
				return card.Public(), nil
			}
			return hire.KeyOf(id)
		},
	})
	if err == nil {
		err = report.Chain(ctx, st.net.Client)
	}
	if err != nil {
		return err
	}
	if len(report.Findings) > 0 || len(report.Deals) != 1 || report.Deals[0].Contracts != 2 {
		return fmt.Errorf("log not as agreed: %+v", *report)
	}
	settled := report.Deals[0].Settlement
	received, err := st.received(ctx)
	if err != nil {
		return err
	}
	v := demoView{
		Conversation: deal.Conversation, Messages: report.Messages, Paid: settled.Paid, Fee: settled.Fee, Received: received,
		Evidence: settled.Evidence,
		Verified: settled.Status == protocol.NegotiationStatusSettled.String() && settled.Paid == settled.Escrow && settled.Evidence == deal.Evidence &&
			received == settled.Paid-settled.Fee,
	}
	asset := hire.Asset{Symbol: "TEST", Decimals: localnet.Decimals}
	err = st.Print(v, "", fmt.Sprintf("%d messages, each signed and in order; two copies of the contract", v.Messages),
		fmt.Sprintf("escrow %s = paid to the worker %s + fee %s", asset.Price(settled.Escrow), asset.Price(received),
			asset.Price(settled.Fee)),
		"delivered, paid, and verified against the log and the chain")
	if err == nil && !v.Verified {
		err = errors.New("settlement or balance not as agreed")
	}
	return err
}

// received returns the worker's balance in base units. It starts at zero.
func (st *stage) received(ctx context.Context) (uint64, error) {
	account, _, err := solana.FindAssociatedTokenAddress(st.net.Seller.PublicKey(), st.net.Mint)
	if err != nil {
		return 0, err
	}
	return st.net.Chain.Tokens(ctx, account)
}
