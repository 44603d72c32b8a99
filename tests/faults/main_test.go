// Package faults_test shows that agents on the SDK keep its promise while the network misbehaves and they themselves are killed: they
// never act twice, never miss an event, and always know what they owe.
//
// Buyers and sellers, several to a process, run on [agent.Runtime] with a journal. Between them and a real local chain are proxies of
// tests/faults/proxy that lose, delay, repeat, damage and refuse what passes, one of which lies behind. Their processes are killed, at
// random moments and in the moment in which a transaction of theirs has taken effect and they do not know yet, and started again with
// the same journal. At the end the chain, read over a clean connection, is compared with what everybody was to do.
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
