// Package hire_test checks that HIRE loses nothing when processes are killed, refuses hostile messages, and
// holds many conversations at once. Homes, workers and seekers are processes of this binary, or share a
// single process where nothing is killed; the chain is real.
package hire_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/haggle-protocol/haggle/internal/testpostgres"
)

// server is the PostgreSQL server of all tests.
var server *testpostgres.Server

func TestMain(m *testing.M) {
	if path := os.Getenv(envPlan); path != "" {
		if err := play(path, os.Getenv(envRole)); err != nil {
			fmt.Fprintln(os.Stderr, os.Getenv(envRole)+":", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(testpostgres.Run(m, &server))
}
