package analyze

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"github.com/haggle-protocol/haggle/cmd/haggle/index"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/profile"
	"github.com/haggle-protocol/haggle/internal/indexer"
	"github.com/haggle-protocol/haggle/internal/indexer/recorded"
	"github.com/haggle-protocol/haggle/internal/lab/comparison"
)

// characteristics maps the values of --by to declaration fields.
var characteristics = map[string]func(*indexer.DeclaredParty) string{
	"strategy": func(d *indexer.DeclaredParty) string { return d.Strategy },
	"model":    func(d *indexer.DeclaredParty) string { return d.Model },
	"prompt":   func(d *indexer.DeclaredParty) string { return d.PromptHash },
}

// characteristicNames lists the values of --by.
var characteristicNames = []string{"strategy", "model", "prompt"}

// groupsView is the comparison of groups of agents.
type groupsView struct {
	// By is one of "strategy", "model" or "prompt".
	By string `json:"by"`
	// Negotiations is the number of compared ones. Incomplete ones lack events and are left out.
	Negotiations int                `json:"negotiations"`
	Incomplete   int                `json:"incomplete"`
	Groups       []comparison.Group `json:"groups"`
}

// compare prints the comparison of groups over an index.
func (a *analyzer) compare(ctx context.Context) error {
	of, is := characteristics[a.by]
	if !is {
		return exitcode.Usagef("--by: %q is not one of %s", a.by, strings.Join(characteristicNames, ", "))
	}
	if a.csv == "-" && a.JSON {
		return exitcode.Usagef("--csv -: stdout has the JSON document: name a file")
	}
	database, err := indexer.OpenExisting(ctx, index.Address(a.database))
	if err != nil {
		return index.Failure(err)
	}
	c := &comparison.Comparison{}
	err = database.Negotiations(ctx, func(n *indexer.RecordedNegotiation) error {
		var parties [2]comparison.Party
		for side, declared := range []*indexer.DeclaredParty{n.Buyer, n.Seller} {
			if declared != nil {
				parties[side] = comparison.Party{Declared: true, Value: of(declared), Late: declared.Late}
			}
		}
		a.Stage(fmt.Sprintf("%d negotiations compared", c.Negotiations))
		of := recorded.Of(n.Events)
		return c.Add(&of, n.Complete, parties)
	})
	if err = errors.Join(err, database.Close()); err != nil {
		return index.Failure(err)
	}
	v := groupsView{a.by, c.Negotiations, c.Incomplete, c.Groups()}
	switch a.csv {
	case "":
		return a.Print(v, v.text())
	case "-":
		return v.writeCSV(a.Stdout)
	}
	if err := v.writeFile(a.csv); err != nil {
		return err
	}
	return a.Print(v, fmt.Sprintf("%d groups to %s", len(v.Groups), a.csv))
}

func (v groupsView) text() string {
	header := []string{
		v.By, "side", "agents", "negotiations", "agreed", "price/escrow", "price/zone", "from Nash", "rounds", "time",
		"decay", "conceded", "concessions",
	}
	var rows [][]string
	for _, g := range v.Groups {
		rows = append(rows, []string{
			nameOf(g), g.Side, strconv.Itoa(g.Agents), strconv.Itoa(g.Negotiations), agreementText(g.Agreement),
			shareText(g.PriceOfEscrow), shareText(g.PriceOfZone), shareText(g.NashDistance), meanText(g.Rounds, number),
			meanText(g.Seconds, func(s float64) string { return time.Duration(s * 1e9).Round(time.Second).String() }),
			shareText(g.Decay), shareText(g.Conceded), concessionsText(g.Concessions),
		})
	}
	lines := []string{format.Table(header, rows)}
	if v.Incomplete > 0 {
		lines = append(lines, fmt.Sprintf("%d negotiations are left out: events are missing", v.Incomplete))
	}
	for _, g := range v.Groups {
		if g.Late > 0 {
			lines = append(lines, fmt.Sprintf("%s, %s: %d of %d declarations arrived after the creation", nameOf(g), g.Side,
				g.Late, g.Negotiations))
		}
	}
	return strings.Join(append(lines, "means with their confidence intervals of 95 %"), "\n")
}

// nameOf returns a group's name. A prompt hash is shortened.
func nameOf(g comparison.Group) string {
	const hash, short = 64, 12
	switch {
	case !g.Declared:
		return "(no declaration)"
	case g.Value == "":
		return "(none declared)"
	case len(g.Value) == hash:
		return g.Value[:short] + "…"
	}
	return g.Value
}

func agreementText(s comparison.Share) string {
	if s.Share == nil {
		return "-"
	}
	return fmt.Sprintf("%d/%d %s (%s to %s)", s.Hits, s.Count, profile.Percent(*s.Share),
		profile.Percent(*s.Low), profile.Percent(*s.High))
}

func shareText(m comparison.Mean) string { return meanText(m, profile.Percent) }

func number(figure float64) string { return strconv.FormatFloat(figure, 'f', 1, 64) }

func meanText(m comparison.Mean, write func(float64) string) string {
	switch {
	case m.Mean == nil:
		return "-"
	case m.Low == nil:
		return write(*m.Mean)
	}
	return write(*m.Mean) + " ± " + write(*m.High-*m.Mean)
}

func concessionsText(c comparison.Concessions) string {
	var parts []string
	for _, model := range concessionCounts(c) {
		if model.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", model.count, model.name))
		}
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}

type concessionCount struct {
	name  string
	count int
}

func concessionCounts(c comparison.Concessions) []concessionCount {
	return []concessionCount{
		{"boulware", c.Boulware}, {"linear", c.Linear}, {"conceder", c.Conceder}, {"tit-for-tat", c.TitForTat},
		{"hardliner", c.Hardliner}, {"unknown", c.Unknown},
	}
}

// writeFile writes the CSV. An existing file stays until the new file is complete.
func (v groupsView) writeFile(path string) error {
	var content bytes.Buffer
	if err := v.writeCSV(&content); err != nil {
		return err
	}
	return renameio.WriteFile(path, content.Bytes(), 0o644, renameio.WithStaticPermissions(0o644))
}

// writeCSV writes a header line, then a line for each group. Missing figures are empty.
func (v groupsView) writeCSV(out io.Writer) error {
	writer := csv.NewWriter(out)
	names := []string{
		v.By, "declared", "side", "agents", "negotiations", "open", "late", "ended", "agreed", "agreement",
		"agreement_low", "agreement_high",
	}
	for _, metric := range meansOf(comparison.Group{}) {
		names = append(names, metric.name+"_count", metric.name, metric.name+"_low", metric.name+"_high")
	}
	for _, model := range concessionCounts(comparison.Concessions{}) {
		names = append(names, strings.ReplaceAll(model.name, "-", "_"))
	}
	if err := writer.Write(names); err != nil {
		return err
	}
	for _, g := range v.Groups {
		record := []string{
			g.Value, strconv.FormatBool(g.Declared), g.Side, strconv.Itoa(g.Agents), strconv.Itoa(g.Negotiations),
			strconv.Itoa(g.Open), strconv.Itoa(g.Late), strconv.Itoa(g.Agreement.Count), strconv.Itoa(g.Agreement.Hits),
			figure(g.Agreement.Share), figure(g.Agreement.Low), figure(g.Agreement.High),
		}
		for _, metric := range meansOf(g) {
			m := metric.mean
			record = append(record, strconv.Itoa(m.Count), figure(m.Mean), figure(m.Low), figure(m.High))
		}
		for _, model := range concessionCounts(g.Concessions) {
			record = append(record, strconv.Itoa(model.count))
		}
		if err := writer.Write(record); err != nil {
			return err
		}
	}
	writer.Flush()
	return writer.Error()
}

type namedMean struct {
	name string
	mean comparison.Mean
}

func meansOf(g comparison.Group) []namedMean {
	return []namedMean{
		{"price_of_escrow", g.PriceOfEscrow}, {"price_of_zone", g.PriceOfZone}, {"nash_distance", g.NashDistance},
		{"rounds", g.Rounds}, {"seconds", g.Seconds}, {"decay", g.Decay}, {"conceded", g.Conceded},
	}
}

func figure(value *float64) string {
	if value == nil {
		return ""
	}
	return strconv.FormatFloat(*value, 'f', -1, 64)
}
