package faults_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The environment variables that configure a run.
const (
	envNegotiations = "HAGGLE_NEGOTIATIONS"
	envBuyers       = "HAGGLE_BUYERS"
	envSellers      = "HAGGLE_SELLERS"
	// envProcesses is the number of processes that the agents are distributed over.
	envProcesses = "HAGGLE_PROCESSES"
	// envKills is the number of kills.
	envKills = "HAGGLE_KILLS"
	envSeed  = "HAGGLE_SEED"
	// envReport is the path of the report.
	envReport = "HAGGLE_FAULTS_REPORT"
	// envLimit is the time limit of the run, as a Go duration.
	envLimit = "HAGGLE_FAULTS_LIMIT"
)

// scale is a run's size.
type scale struct {
	negotiations, buyers, sellers, processes, kills int
	seed                                            uint64
	limit                                           time.Duration
}

// scaleOf reads the environment. The defaults suit a daily run.
func scaleOf(t *testing.T) scale {
	number := func(name string, otherwise int) int {
		text := os.Getenv(name)
		if text == "" {
			return otherwise
		}
		value, err := strconv.Atoi(text)
		require.NoError(t, err, name)
		require.Positive(t, value, name)
		return value
	}
	s := scale{
		negotiations: number(envNegotiations, 40), buyers: number(envBuyers, 8), sellers: number(envSellers, 8),
		seed: uint64(time.Now().UnixNano()), limit: 15 * time.Minute,
	}
	s.processes = number(envProcesses, (s.buyers+s.sellers+3)/4)
	s.kills = number(envKills, 3*s.processes)
	if text := os.Getenv(envSeed); text != "" {
		var err error
		s.seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err, envSeed)
	}
	if text := os.Getenv(envLimit); text != "" {
		var err error
		s.limit, err = time.ParseDuration(text)
		require.NoError(t, err, envLimit)
	}
	require.GreaterOrEqual(t, s.negotiations, max(s.buyers, s.sellers), "every agent needs a negotiation")
	return s
}
