package service_test

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/internal/hire/service"
	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// victimVariable is the environment variable with the database URL for the process to be killed.
const victimVariable = "HAGGLE_TEST_HIRE_HOME"

// victims is the number of simultaneous conversations in a victim.
const victims = 4

var victimWorker = hiretest.Named("worker of a victim")

// receiveUntilKilled receives conversation messages. It prints a line for each message acknowledged by the
// home, and a line for each streamed event.
func receiveUntilKilled(address string) error {
	ctx := context.Background()
	opened, err := store.Open(ctx, address)
	if err != nil {
		return err
	}
	h, err := service.New(service.Config{
		Store: opened, ID: origin, Key: victimWorker.Public(), Hosts: []string{victimWorker.ID},
	})
	if err != nil {
		return err
	}
	failed := make(chan error)
	var lines sync.Mutex
	print := func(words ...any) {
		lines.Lock()
		defer lines.Unlock()
		fmt.Println(words...)
	}
	for range victims {
		go func() {
			for {
				if err := victimDeal(ctx, h, print); err != nil {
					failed <- err
				}
			}
		}()
	}
	go func() {
		stream, err := h.Events(victimWorker.ID, 0)
		for err == nil {
			var events []store.Event
			events, err = stream.Next(ctx)
			for _, event := range events {
				var m *hire.Message
				if m, err = hire.Parse(event.Message); err == nil {
					print("event", event.Number, m.Hash())
				}
			}
		}
		failed <- err
	}()
	return <-failed
}

// victimDeal is a conversation until both sides have accepted.
func victimDeal(ctx context.Context, h *service.Service, print func(...any)) error {
	seeker := hiretest.NewAgent()
	state := hire.State{}
	now := time.Now().Truncate(time.Second)
	deadline := hire.NewTime(now.Add(time.Hour))
	terms := hire.Terms{Price: "5 USDC", Deadline: deadline}
	for i, payload := range []func(hire.Reply) hire.Payload{
		func(hire.Reply) hire.Payload { return &hire.Proposal{Budget: "4 USDC", Deadline: deadline} },
		func(r hire.Reply) hire.Payload {
			return &hire.Counter{Reply: r, Price: "5 USDC", EstimatedDelivery: deadline}
		},
		func(r hire.Reply) hire.Payload { return &hire.Accept{Reply: r, Terms: terms} },
		func(r hire.Reply) hire.Payload { return &hire.Accept{Reply: r, Terms: terms} },
	} {
		from, to := seeker, victimWorker
		if i%2 == 1 {
			from, to = to, from
		}
		m, err := hire.Sign(from.Key, hire.Draft{
			From: from.ID, To: to.ID, At: now, Conversation: "conv_" + seeker.ID,
			Payload: payload(hire.Reply{InReplyTo: state.Last}),
		})
		if err != nil {
			return err
		}
		if err := h.Receive(ctx, m); err != nil {
			return err
		}
		state.Last = m.Hash()
		print("stored", seeker.ID, state.Last)
	}
	return nil
}

// killed runs a victim, kills it, and returns the printed lines.
func killed(t *testing.T, address string) (lines [][]string) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	victim := exec.CommandContext(t.Context(), program)
	victim.Env = append(os.Environ(), victimVariable+"="+address)
	var complaint strings.Builder
	victim.Stderr = &complaint
	output, err := victim.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, victim.Start())
	for text := bufio.NewScanner(output); text.Scan(); {
		if len(lines) == 0 {
			time.AfterFunc(time.Duration(rand.IntN(300))*time.Millisecond, func() { _ = victim.Process.Kill() })
		}
		if words := strings.Fields(text.Text()); len(words) == 3 && len(words[2]) == 64 {
			lines = append(lines, words)
		}
	}
	require.Error(t, victim.Wait())
	require.Empty(t, complaint.String(), "it was to be killed, and not to fail")
	return lines
}

// A home killed at any moment loses no acknowledged message, uses no event number twice, and leaves every
// conversation in the state that follows from the log.
func TestKilledHomeLosesAndRepeatsNothing(t *testing.T) {
	const lives = 6
	server.OnBoth(t, func(t *testing.T, address string) {
		stored, delivered := map[string]string{}, map[string]string{}
		for range lives {
			for _, words := range killed(t, address) {
				if words[0] == "stored" {
					stored[words[2]] = words[1]
					continue
				}
				if before, known := delivered[words[1]]; known {
					require.Equal(t, before, words[2], "event %s is another one", words[1])
				}
				delivered[words[1]] = words[2]
			}
		}
		require.NotEmpty(t, stored)
		h := newHome(t, address, nil)
		last := last(t, h, victimWorker.ID)
		events := map[string]string{}
		for i, m := range h.received(t, victimWorker.ID, 0, last) {
			events[strconv.Itoa(i+1)] = string(m.Hash())
		}
		require.Len(t, slices.Compact(slices.Sorted(maps.Values(events))), last, "a message is delivered twice")
		for number, hash := range delivered {
			require.Equal(t, hash, events[number])
		}
		for hash, seeker := range stored {
			found, err := h.config.Store.Contains(t.Context(), hire.Hash(hash))
			require.NoError(t, err)
			require.True(t, found, "an acknowledged message is lost")
			k := &hiretest.Talk{
				Seeker: hiretest.Agent{ID: seeker}, Worker: victimWorker, Conversation: "conv_" + seeker,
			}
			require.Equal(t, h.state(t, k), h.replayed(t, k))
		}
	})
}

// last returns the number of an agent's newest event.
func last(t *testing.T, h *home, agent string) int {
	t.Helper()
	page, err := h.Conversations(t.Context(), service.Selection{Agent: agent})
	require.NoError(t, err)
	return int(page.Latest)
}
