package indexer

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// server is the PostgreSQL server of all tests. Each test has its own databases.
var server *cluster

// childVariable is set in the process of an indexer that is killed.
const childVariable = "HAGGLE_TEST_INDEXER"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(child())
	}
	os.Exit(withPostgres(m))
}

func withPostgres(m *testing.M) int {
	var err error
	if server, err = startCluster(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := server.close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
