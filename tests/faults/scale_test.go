package faults_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What a run can be told in the environment.
const (
	envNegotiations = "HAGGLE_NEGOTIATIONS"
	envBuyers       = "HAGGLE_BUYERS"
	envSellers      = "HAGGLE_SELLERS"
	// envProcesses is how many processes the agents are spread over.
	envProcesses = "HAGGLE_PROCESSES"
	// envKills is how often a process is killed.
	envKills = "HAGGLE_KILLS"
	envSeed  = "HAGGLE_SEED"
	// envReport is a file to write what came of it to.
	envReport = "HAGGLE_FAULTS_REPORT"
	// envLimit is how long everything may take, as Go writes durations.
	envLimit = "HAGGLE_FAULTS_LIMIT"
)

// scale is how much happens.
type scale struct {
	negotiations, buyers, sellers, processes, kills int
	seed                                            uint64
	limit                                           time.Duration
}

// scaleOf reads the environment. What is not said there is small enough for every day.
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
	require.GreaterOrEqual(t, s.negotiations, max(s.buyers, s.sellers), "everybody is to negotiate")
	return s
}
