// Package faults_test checks that agents keep the SDK's guarantees while the network fails and their
// processes are killed: they act once, miss no event, and resolve every transaction.
//
// Buyers and sellers, several per process, run on [agent.Runtime] with a journal. Proxies of
// tests/faults/proxy stand between the agents and a real local chain, and drop, delay, repeat, damage and
// refuse requests; one proxy lags behind, and one lies about block heights. The processes are killed, at
// random moments and between a transaction's execution and the response, and restarted with the same journal.
// Buyers repeat their creations at several moments, and pairs of processes that share a journal resolve each
// other's transactions. Finally the chain, read over a clean connection, is compared with the scripts.
package faults_test

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if plan := os.Getenv(envPlan); plan != "" {
		if err := beHost(plan, os.Getenv(envHost)); err != nil {
			fmt.Fprintln(os.Stderr, "host:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
