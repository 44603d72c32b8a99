package simulation_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/haggle-protocol/haggle/internal/lab/simulation"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/bargain/scenario"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

func options(folder string, workers int) simulation.Options {
	return simulation.Options{
		Strategies: []string{"micro", "linear", "random", "hardliner"}, Scenarios: []string{"random:3", "haggle:2"},
		Seed: 4, Rounds: 20, Workers: workers, Folder: folder,
	}
}

var results = []string{
	"plan.json", "sessions.csv", "sessions.parquet", "scores.csv", "scores.parquet", "index.html",
}

func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	found := map[string]string{}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		require.NoError(t, err)
		found[entry.Name()] = string(content)
	}
	return found
}

func requireSame(t *testing.T, want, got map[string]string) {
	t.Helper()
	require.Len(t, got, len(results))
	for _, name := range results {
		require.NotEmpty(t, got[name], name)
		require.True(t, want[name] == got[name], "%s differs", name)
	}
}

func TestOneWorkerAndManyWriteTheSameBytes(t *testing.T) {
	one, many := t.TempDir(), t.TempDir()
	report, err := simulation.Run(t.Context(), options(one, 1))
	require.NoError(t, err)
	require.True(t, report.Complete)
	require.Equal(t, 4*3*5, report.Sessions)
	_, err = simulation.Run(t.Context(), options(many, 5))
	require.NoError(t, err)
	requireSame(t, contents(t, one), contents(t, many))
}

// TestAStoppedTournamentContinues stops after some sessions, and kills another run in mid-line.
func TestAStoppedTournamentContinues(t *testing.T) {
	whole, stopped := t.TempDir(), t.TempDir()
	_, err := simulation.Run(t.Context(), options(whole, 2))
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := options(stopped, 2)
	o.Progress = func(sessions, _ int) {
		if sessions == 15 {
			cancel()
		}
	}
	report, err := simulation.Run(ctx, o)
	require.NoError(t, err)
	require.False(t, report.Complete)
	require.GreaterOrEqual(t, report.Sessions, 15)
	partial := contents(t, stopped)
	rows, err := csv.NewReader(bytes.NewBufferString(partial["sessions.csv"])).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 1+report.Sessions)
	require.Contains(t, partial["index.html"], "not complete")

	path := filepath.Join(stopped, "blocks.jsonl")
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString(`{"block":5,"scen`)
	require.NoError(t, err)
	require.NoError(t, file.Close())

	continued, err := simulation.Run(t.Context(), options(stopped, 3))
	require.NoError(t, err)
	require.True(t, continued.Complete)
	require.Equal(t, report.Sessions, continued.Continued)
	requireSame(t, contents(t, whole), contents(t, stopped))
}

func TestFoldersOfOthersAreRefused(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "notes.txt"), nil, 0o600))
	_, err := simulation.Run(t.Context(), options(folder, 1))
	require.ErrorIs(t, err, simulation.ErrFolder)
	require.Len(t, contents(t, folder), 1)

	folder = t.TempDir()
	_, err = simulation.Run(t.Context(), options(folder, 1))
	require.NoError(t, err)
	other := options(folder, 1)
	other.Seed++
	_, err = simulation.Run(t.Context(), other)
	require.ErrorContains(t, err, "another tournament")
}

// TestAFailedStartLeavesNothing uses an unresponsive database, and a process killed before finishing a block.
func TestAFailedStartLeavesNothing(t *testing.T) {
	parent := t.TempDir()
	broken := errors.New("broken")
	o := options(filepath.Join(parent, "new"), 1)
	o.Play = func(context.Context, string, *tournament.Plan, int, func(*tournament.Block) error) error {
		return broken
	}
	_, err := simulation.Run(t.Context(), o)
	require.ErrorIs(t, err, broken)
	require.Empty(t, contents(t, parent))

	o.Folder = t.TempDir()
	_, err = simulation.Run(t.Context(), o)
	require.ErrorIs(t, err, broken)
	require.Empty(t, contents(t, o.Folder))

	for name, content := range map[string]string{"plan.json": "{}", "blocks.jsonl": "", "lock": ""} {
		require.NoError(t, os.WriteFile(filepath.Join(o.Folder, name), []byte(content), 0o600))
	}
	_, err = simulation.Run(t.Context(), options(o.Folder, 1))
	require.NoError(t, err)
	finished := contents(t, o.Folder)
	require.Len(t, finished, len(results))

	// A failure does not remove results.
	_, err = simulation.Run(t.Context(), o)
	require.ErrorIs(t, err, broken)
	for _, name := range results {
		require.True(t, finished[name] == contents(t, o.Folder)[name], "%s differs", name)
	}
}

func TestResultsOfAnotherVersionDoNotContinue(t *testing.T) {
	o := options(t.TempDir(), 1)
	_, err := simulation.Run(t.Context(), o)
	require.NoError(t, err)
	path := filepath.Join(o.Folder, "plan.json")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(content), `"engine": "`+proof.Version+`"`)
	older := bytes.Replace(content, []byte(proof.Version), []byte("haggle-proof-v0"), 1)
	require.NoError(t, os.WriteFile(path, older, 0o600))
	_, err = simulation.Run(t.Context(), o)
	require.ErrorIs(t, err, simulation.ErrFolder)
	require.ErrorContains(t, err, "another version of the strategies (haggle-proof-v0 instead of "+proof.Version)
}

// TestTablesHaveTheSameRows compares CSV and Parquet.
func TestTablesHaveTheSameRows(t *testing.T) {
	folder := t.TempDir()
	_, err := simulation.Run(t.Context(), options(folder, 2))
	require.NoError(t, err)
	for _, name := range []string{"sessions", "scores"} {
		content, err := os.ReadFile(filepath.Join(folder, name+".csv"))
		require.NoError(t, err)
		records, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
		require.NoError(t, err)
		file, err := os.Open(filepath.Join(folder, name+".parquet"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = file.Close() })
		rows := parquet.NewReader(file)
		require.Equal(t, int64(len(records)-1), rows.NumRows())
		for _, record := range records[1:] {
			row := map[string]any{}
			require.NoError(t, rows.Read(&row))
			require.Len(t, row, len(record))
			for i, column := range records[0] {
				switch value := row[column].(type) {
				case nil:
					require.Empty(t, record[i], column)
				case float64:
					number, err := strconv.ParseFloat(record[i], 64)
					require.NoError(t, err)
					require.InDelta(t, number, value, 1e-11, column)
				case int64: // the reader lacks another type for unsigned numbers
					require.Contains(t,
						[]string{strconv.FormatInt(value, 10), strconv.FormatUint(uint64(value), 10)}, record[i], column)
				case string:
					require.Equal(t, record[i], value, column)
				case []byte:
					require.Equal(t, record[i], string(value), column)
				default:
					t.Fatalf("column %s has the type %T", column, value)
				}
			}
		}
	}
}

// TestThePageNeedsNothingElse requires that the page loads nothing and runs nothing.
func TestThePageNeedsNothingElse(t *testing.T) {
	folder := t.TempDir()
	_, err := simulation.Run(t.Context(), options(folder, 2))
	require.NoError(t, err)
	content := contents(t, folder)["index.html"]
	root, err := html.Parse(bytes.NewBufferString(content))
	require.NoError(t, err)
	pictures := 0
	for node := range root.Descendants() {
		require.NotContains(t, []string{"script", "link", "img", "iframe", "object"}, node.Data)
		if node.Type == html.ElementNode && node.Data == "svg" {
			pictures++
		}
		for _, attribute := range node.Attr {
			require.NotContains(t, []string{"href", "src", "onload", "style"}, attribute.Key)
		}
	}
	require.Equal(t, 4+1+4+4, pictures, "bars, agreement over time, concession curves, outcomes")
	for _, part := range []string{
		"Tournament of 4 strategies in 5 scenarios", "95 % confidence interval", "A scenario is one\nobservation",
		"<h2>Agreement over time</h2>", "<h2>Concession curves</h2>", "Pareto frontier</span>",
	} {
		require.Contains(t, content, part)
	}
	require.NotContains(t, content, "against itself")
	require.NotContains(t, content, "ZgotmplZ")
	require.Contains(t, content, "prefers-color-scheme:dark")
}

// categorical returns a generated scenario without numbers, which GENIUS can write.
func categorical(t *testing.T) *tournament.Scenario {
	t.Helper()
	for at := 0; ; at++ {
		s, err := tournament.Random{Seed: 9, Count: at + 1}.Scenario(at)
		require.NoError(t, err)
		domain := s.Preferences[0].Domain()
		numeric := domain.Len() < 2
		for issue := range domain.Len() {
			numeric = numeric || domain.Issue(issue).IsNumeric()
		}
		if !numeric {
			return s
		}
	}
}

func TestScenariosOfFolders(t *testing.T) {
	from := categorical(t)
	domain := from.Preferences[0].Domain()
	folder := t.TempDir()
	write := func(name string, content []byte, err error) {
		t.Helper()
		require.NoError(t, err)
		path := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, content, 0o600))
	}
	content, err := scenario.WriteGeniusDomain("deal", domain)
	write("genius/deal.xml", content, err)
	content, err = scenario.WriteNegmasDomain("deal", domain, scenario.YAML)
	write("negmas/deal.yml", content, err)
	for role, name := range []string{"a", "b"} {
		content, err = scenario.WriteGeniusProfile(name, from.Preferences[role])
		write("genius/deal-"+name+".xml", content, err)
		content, err = scenario.WriteNegmasProfile(name, from.Preferences[role], scenario.YAML)
		write("negmas/"+name+".yml", content, err)
	}
	_, _, err = simulation.Scenarios([]string{folder}, 1)
	require.ErrorContains(t, err, `the scenarios "genius" and "negmas" have the same content`)
	second := from.Preferences[1]
	changed, err := bargain.NewDiscounted(domain, second.Utility(),
		second.Reservation()+fixed.One/1000, second.Discount())
	require.NoError(t, err)
	content, err = scenario.WriteNegmasProfile("b", changed, scenario.YAML)
	write("negmas/b.yml", content, err)
	source, _, err := simulation.Scenarios([]string{folder, "random:2"}, 1)
	require.NoError(t, err)
	require.Equal(t, 4, source.Len())
	for at, name := range []string{"genius", "negmas"} {
		read, err := source.Scenario(at)
		require.NoError(t, err)
		require.Equal(t, name, read.Name)
		for role := range read.Preferences {
			want := from.Preferences[role]
			if name == "negmas" && role == 1 {
				want = changed
			}
			require.Equal(t, want.Reservation(), read.Preferences[role].Reservation())
			for o := range bargain.Outcome(domain.Size()) {
				require.InDelta(t, from.Preferences[role].Of(o).Float(), read.Preferences[role].Of(o).Float(), 1e-9)
			}
		}
	}
	generated, err := simulation.Scenario("random-1-2")
	require.NoError(t, err)
	last, err := source.Scenario(3)
	require.NoError(t, err)
	require.Equal(t, last.Name, generated.Name)

	for _, list := range [][]string{
		{"random:0"}, {"random:x"}, {t.TempDir()}, {filepath.Join(folder, "missing")},
	} {
		_, _, err := simulation.Scenarios(list, 1)
		require.ErrorIs(t, err, simulation.ErrInput, "%s", list)
	}
	for _, name := range []string{"haggle-1-0", "haggle-1", "random-01-1", "random-1-1000001", "missing"} {
		_, err = simulation.Scenario(name)
		require.ErrorIs(t, err, simulation.ErrInput)
		require.ErrorContains(t, err, name+`" is not a folder; generated scenarios are random-SEED-NUMBER and `)
	}
}

// TestNoScenarioCountsTwice lists scenarios with equal names or equal content.
func TestNoScenarioCountsTwice(t *testing.T) {
	from := categorical(t)
	parent := t.TempDir()
	write := func(folder, comment, a, b string) string {
		t.Helper()
		path := filepath.Join(parent, folder)
		require.NoError(t, os.MkdirAll(path, 0o700))
		domain, err := scenario.WriteNegmasDomain("deal", from.Preferences[0].Domain(), scenario.YAML)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(path, "domain.yml"), append(domain, comment...), 0o600))
		for role, name := range []string{a, b} {
			profile, err := scenario.WriteNegmasProfile("party", from.Preferences[role], scenario.YAML)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(path, name), profile, 0o600))
		}
		return path
	}
	first := write("first", "", "a.yml", "b.yml")
	copied := write("copied", "# a copy\n", "x.yml", "y.yml")
	turned := write("turned", "", "b.yml", "a.yml")
	same := write("other/first", "", "a.yml", "b.yml")
	named := write("random-1-3", "", "a.yml", "b.yml")
	for _, refused := range []struct {
		list []string
		text string
	}{
		{[]string{"haggle:2", "haggle:2"}, `scenarios "haggle" are listed twice`},
		{[]string{"random:2", "haggle:2", "random:3"}, `scenarios "random" are listed twice`},
		{[]string{first, first}, `two scenarios have the name "first"`},
		{[]string{first, same}, `two scenarios have the name "first"`},
		{[]string{first, "haggle:2", copied}, `the scenarios "first" and "copied" have the same content`},
		{[]string{first, turned}, `the scenarios "first" and "turned" have the same content`},
		{[]string{named, "random:3"}, `the folder "random-1-3" has the name of a generated scenario`},
	} {
		_, _, err := simulation.Scenarios(refused.list, 1)
		require.ErrorIs(t, err, simulation.ErrInput, "%s", refused.list)
		require.ErrorContains(t, err, refused.text)
	}
	for _, list := range [][]string{{named, "random:2"}, {named, "haggle:3"}} {
		_, _, err := simulation.Scenarios(list, 1)
		require.NoError(t, err)
	}
	_, _, err := simulation.Scenarios([]string{named, "random:3"}, 2)
	require.NoError(t, err)
	other := from.Preferences[1]
	discount := bargain.Discount{Factor: fixed.One / 2}
	for folder, change := range map[string]func() (*bargain.Preferences, error){
		"reservation": func() (*bargain.Preferences, error) {
			return bargain.NewPreferences(other.Domain(), other.Utility(), other.Reservation()+fixed.One/1000)
		},
		"utility": func() (*bargain.Preferences, error) {
			return bargain.NewPreferences(other.Domain(), from.Preferences[0].Utility(), other.Reservation())
		},
		"discount": func() (*bargain.Preferences, error) {
			return bargain.NewDiscounted(other.Domain(), other.Utility(), other.Reservation(), discount)
		},
	} {
		from.Preferences[1], err = change()
		require.NoError(t, err)
		_, _, err = simulation.Scenarios([]string{first, write(folder, "", "a.yml", "b.yml")}, 1)
		require.NoError(t, err, folder)
	}
	// Rounding makes no other scenario.
	from.Preferences[1], err = bargain.NewPreferences(other.Domain(), other.Utility(), other.Reservation()+1)
	require.NoError(t, err)
	_, _, err = simulation.Scenarios([]string{first, write("rounded", "", "a.yml", "b.yml")}, 1)
	require.ErrorContains(t, err, `the scenarios "first" and "rounded" have the same content`)
	// Equal utilities for other issues make another scenario.
	from.Preferences[1] = other
	renamed := write("renamed", "", "a.yml", "b.yml")
	for _, name := range []string{"domain.yml", "a.yml", "b.yml"} {
		path := filepath.Join(renamed, name)
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		content = bytes.ReplaceAll(content, []byte("v1"), []byte("w1"))
		require.NoError(t, os.WriteFile(path, content, 0o600))
	}
	_, _, err = simulation.Scenarios([]string{first, renamed}, 1)
	require.NoError(t, err)
}

// TestTheFrontierIsThatOfAllOutcomes uses a domain that the plot shows only in part.
func TestTheFrontierIsThatOfAllOutcomes(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "large")
	require.NoError(t, os.Mkdir(folder, 0o700))
	random, issues := bargain.NewRandom(1, 1), []bargain.Issue{}
	for _, name := range []string{"a", "b", "c"} {
		issues = append(issues, bargain.Integer(name, 1, 30))
	}
	domain, err := bargain.NewDomain(issues...)
	require.NoError(t, err)
	content, err := scenario.WriteNegmasDomain("large", domain, scenario.YAML)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "domain.yml"), content, 0o600))
	var preferences [2]*bargain.Preferences
	for role, name := range []string{"x.yml", "y.yml"} {
		values := make([]utility.Values, len(issues))
		for issue := range values {
			table := make(utility.Table, issues[issue].Count)
			for at := range table {
				table[at] = random.Fraction() / fixed.Number(len(issues))
			}
			values[issue] = table
		}
		additive, err := utility.NewAdditive(domain, 0, nil, values...)
		require.NoError(t, err)
		preferences[role], err = bargain.NewPreferences(domain, additive, 0)
		require.NoError(t, err)
		content, err := scenario.WriteNegmasProfile(name, preferences[role], scenario.YAML)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), content, 0o600))
	}
	// An outcome is on the frontier if, among the outcomes better for the first party, none is as good for
	// the second.
	outcomes := make([]bargain.Outcome, domain.Size())
	for at := range outcomes {
		outcomes[at] = bargain.Outcome(at)
	}
	slices.SortFunc(outcomes, func(a, b bargain.Outcome) int {
		return cmp.Or(cmp.Compare(preferences[0].Of(b), preferences[0].Of(a)),
			cmp.Compare(preferences[1].Of(b), preferences[1].Of(a)))
	})
	best, points := fixed.Min, 0
	for _, o := range outcomes {
		if u := preferences[1].Of(o); u > best {
			best, points = u, points+1
		}
	}

	o := options(t.TempDir(), 1)
	o.Scenarios, o.SelfPlay, o.Repetitions = []string{folder}, true, 2
	_, err = simulation.Run(t.Context(), o)
	require.NoError(t, err)
	page := contents(t, o.Folder)["index.html"]
	line := regexp.MustCompile(`<path class="line green"[^>]* d="([^"]*)"`).FindAllStringSubmatch(page, -1)
	require.Len(t, line, 1)
	require.Equal(t, points-1, strings.Count(line[0][1], "L"))
	require.Equal(t, points, strings.Count(page, `<path class="area green"`))
	shown := regexp.MustCompile(`<path class="area grey"[^>]*>`).FindAllString(page, -1)
	require.Len(t, shown, 1_500)
	slices.Sort(shown)
	require.Greater(t, len(slices.Compact(shown)), 1_400, "the sample has the same outcomes")
	require.Contains(t, page, "<h1>Tournament of 4 strategies in 1 scenario</h1>")
	require.Contains(t, page, "A confidence interval needs at least two complete scenarios.")
	require.Contains(t, page, "and against itself, in both roles, 2 times in each scenario. A session of")
}
