package chain_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/arena/arenatest"
	"github.com/haggle-protocol/haggle/internal/arena/chain"
	"github.com/haggle-protocol/haggle/sdk/arena"
)

var opens = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// record returns a log and events from a market where two agents have acted.
func record(t *testing.T) (*chain.Log, []chain.Line, []arena.Event) {
	t.Helper()
	first, err := chain.Begin(arenatest.Config("m", opens), opens)
	require.NoError(t, err)
	log, lines, events := new(chain.Log), []chain.Line{first}, []arena.Event(nil)
	_, err = log.Follow(first)
	require.NoError(t, err)
	for i, step := range []struct {
		seed   byte
		action arena.Action
	}{
		{1, arena.Join{Name: "degen"}}, {2, arena.Join{Name: "karpathy"}}, {1, arena.Split{Sets: 20}},
		{1, arena.Invite{Agents: []string{arenatest.ID(2)}}}, {2, arena.AcceptInvitation{Chat: 1}},
		{1, arena.Chat{Chat: 1, Text: "meet at 0.58?"}}, {2, arena.State{}},
	} {
		now := opens.Add(time.Duration(i) * 2 * time.Second)
		id := arenatest.ID(step.seed)
		m, err := arena.Sign(arenatest.Key(step.seed), arena.Draft{
			Market: "m", Sequence: log.Book.Next(id), Expires: now.Add(time.Minute), Action: step.action,
		})
		require.NoError(t, err)
		entry, more, err := log.Book.Enter(m, now, [arena.SaltSize]byte{byte(i), 1})
		require.NoError(t, err)
		added, err := log.Lines(entry)
		require.NoError(t, err)
		log.Add(added)
		lines, events = append(lines, added...), append(events, more...)
	}
	return log, lines, events
}

func follow(lines []chain.Line) (log *chain.Log, events []arena.Event, err error) {
	log = new(chain.Log)
	for _, line := range lines {
		more, err := log.Follow(line)
		if err != nil {
			return log, events, err
		}
		events = append(events, more...)
	}
	return log, events, nil
}

// Rule 1.
func TestLogLeadsToTheSameMarket(t *testing.T) {
	recorded, lines, events := record(t)
	log, again, err := follow(lines)
	require.NoError(t, err)
	require.Equal(t, events, again)
	require.Equal(t, recorded.Head(), log.Head())
	require.Equal(t, recorded.Book.Market().View(), log.Book.Market().View())
	require.Equal(t, 7, log.Messages)
}

// Rules 3 and 48.
func TestPublicLogHidesPrivateMessages(t *testing.T) {
	_, lines, _ := record(t)
	var public []chain.Line
	for _, line := range lines {
		public = append(public, line.Public(false))
	}
	log, events, err := follow(public)
	require.NoError(t, err)
	require.Empty(t, events)
	require.Nil(t, log.Book)
	require.Equal(t, 7, log.Messages)
	require.Equal(t, 3, log.Shown, "two joined and one stated its interest")
	for _, line := range public {
		require.NotContains(t, line.Text+line.Message, "meet at")
	}
	require.Empty(t, public[0].Seed)
	require.NotEmpty(t, lines[0].Public(true).Seed)
}

func TestChangedLogIsRefused(t *testing.T) {
	_, lines, _ := record(t)
	_, others, _ := record(t)
	for name, change := range map[string]func([]chain.Line) []chain.Line{
		"without an entry":  func(l []chain.Line) []chain.Line { return slices.Delete(l, 3, 4) },
		"in another order":  func(l []chain.Line) []chain.Line { l[3], l[4] = l[4], l[3]; return l },
		"without the first": func(l []chain.Line) []chain.Line { return l[1:] },
		"with another seed": func(l []chain.Line) []chain.Line { l[0].Seed = "00" + l[0].Seed[2:]; return l },
		"with another salt": func(l []chain.Line) []chain.Line { l[3].Salt = "ff" + l[3].Salt[2:]; return l },
		"without a salt":    func(l []chain.Line) []chain.Line { l[3].Salt = ""; return l },
		"with another text": func(l []chain.Line) []chain.Line {
			l[6].Message = strings.Replace(l[6].Message, "58", "59", 1)
			return l
		},
		"with another's":     func(l []chain.Line) []chain.Line { l[6].Message = l[5].Message; return l },
		"with another time":  func(l []chain.Line) []chain.Line { l[3].Text = strings.Replace(l[3].Text, ":04", ":05", 1); return l },
		"with another hash":  func(l []chain.Line) []chain.Line { l[3].Hash = l[2].Hash; return l },
		"with an entry more": func(l []chain.Line) []chain.Line { return append(l, others[7]) },
		"with spaces in it":  func(l []chain.Line) []chain.Line { l[3].Message = " " + l[3].Message; return l },
	} {
		_, _, err := follow(change(slices.Clone(lines)))
		require.Error(t, err, name)
	}
}
