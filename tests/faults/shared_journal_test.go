package faults_test

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// Every second pair of processes shares a journal. All other processes use separate journals.

// partner returns the process sharing a host's journal.
func (p *plan) partner(host int) (partner int, ok bool) {
	partner = host ^ 1
	return partner, host/2%2 == 0 && partner < len(p.Hosts)
}

func (p *plan) journalFile(host int) string {
	if partner, shared := p.partner(host); shared {
		return filepath.Join(p.Folder, fmt.Sprintf("hosts-%d-%d.db", min(host, partner), max(host, partner)))
	}
	return filepath.Join(p.Folder, fmt.Sprintf("host-%d.db", host))
}

// sharing returns the number of processes that share a journal.
func (p *plan) sharing() (count int) {
	for host := range p.Hosts {
		if _, shared := p.partner(host); shared {
			count++
		}
	}
	return count
}

const (
	// recoverAgain is the pause between recoveries of another process's wallet.
	recoverAgain = time.Second
	// resolvedElsewhere is logged for each transaction sent by another process.
	resolvedElsewhere = "resolved a transaction of another process"
)

// recoverFor resolves the transactions that another process leaves unfinished when it is killed.
func (h *host) recoverFor(ctx context.Context, number int) error {
	for {
		resolved, err := h.client.Recover(ctx, h.Wallets[number])
		for _, tx := range resolved {
			h.logger.Info(resolvedElsewhere, "wallet", number, "action", tx.Entry.Action,
				"signature", tx.Entry.Signature, "outcome", tx.Outcome)
		}
		if err != nil && ctx.Err() == nil {
			h.logger.Warn("transactions of another process are unresolved", "wallet", number, "error", err)
		}
		if err := pause(ctx, recoverAgain); err != nil {
			return err
		}
	}
}
