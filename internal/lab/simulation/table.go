package simulation

import (
	"bufio"
	"encoding/csv"
	"path/filepath"
	"strconv"

	"github.com/google/renameio/v2"
	"github.com/parquet-go/parquet-go"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
)

// sessionRow is a row in the Parquet table of sessions. The CSV table uses the same columns, with all digits.
type sessionRow struct {
	Scenario        string   `parquet:"scenario,dict"`
	First           string   `parquet:"first,dict"`
	Second          string   `parquet:"second,dict"`
	Repetition      int64    `parquet:"repetition"`
	Seed            uint64   `parquet:"seed"`
	Ending          string   `parquet:"ending,dict"`
	EndedBy         string   `parquet:"ended_by,dict"`
	Step            int64    `parquet:"step"`
	Offers          int64    `parquet:"offers"`
	Time            float64  `parquet:"time"`
	Agreement       string   `parquet:"agreement"`
	UtilityFirst    float64  `parquet:"utility_first"`
	UtilitySecond   float64  `parquet:"utility_second"`
	ValueFirst      float64  `parquet:"value_first"`
	ValueSecond     float64  `parquet:"value_second"`
	AdvantageFirst  float64  `parquet:"advantage_first"`
	AdvantageSecond float64  `parquet:"advantage_second"`
	NashDistance    *float64 `parquet:"nash_distance,optional"`
	ParetoDistance  *float64 `parquet:"pareto_distance,optional"`
	Price           uint64   `parquet:"price"`
	Fee             uint64   `parquet:"fee"`
	Decay           uint64   `parquet:"decay"`
}

// scoreRow is a row of the table of scores in Parquet.
type scoreRow struct {
	Rank           int64    `parquet:"rank"`
	Strategy       string   `parquet:"strategy"`
	Advantage      float64  `parquet:"advantage"`
	Margin         *float64 `parquet:"margin,optional"`
	Behind         float64  `parquet:"behind"`
	BehindMargin   *float64 `parquet:"behind_margin,optional"`
	Value          float64  `parquet:"value"`
	AgreementRate  float64  `parquet:"agreement_rate"`
	Sessions       int64    `parquet:"sessions"`
	Agreements     int64    `parquet:"agreements"`
	Scenarios      int64    `parquet:"scenarios"`
	NashDistance   *float64 `parquet:"nash_distance,optional"`
	ParetoDistance *float64 `parquet:"pareto_distance,optional"`
}

// optional returns a number that can be missing, for Parquet and for CSV. A missing number's text is empty.
func optional(n *fixed.Number) (value *float64, text string) {
	if n == nil {
		return nil, ""
	}
	return new(n.Float()), n.String()
}

// groupRows is the number of rows that the Parquet writer buffers.
const groupRows = 1 << 16

// table writes a table as CSV and as Parquet. Both files appear when they are complete.
type table[Row any] struct {
	files   [2]*renameio.PendingFile
	buffers [2]*bufio.Writer
	csv     *csv.Writer
	parquet *parquet.GenericWriter[Row]
}

func newTable[Row any](folder, name string) (t *table[Row], err error) {
	t = new(table[Row])
	for i, extension := range [2]string{".csv", ".parquet"} {
		t.files[i], err = renameio.NewPendingFile(filepath.Join(folder, name+extension),
			renameio.WithTempDir(folder), renameio.WithStaticPermissions(0o644))
		if err != nil {
			t.discard()
			return nil, err
		}
		t.buffers[i] = bufio.NewWriter(t.files[i])
	}
	t.csv = csv.NewWriter(t.buffers[0])
	schema := parquet.SchemaOf(new(Row))
	t.parquet = parquet.NewGenericWriter[Row](t.buffers[1], schema, parquet.Compression(&parquet.Zstd),
		parquet.MaxRowsPerRowGroup(groupRows))
	var names []string
	for _, path := range schema.Columns() {
		names = append(names, path[0])
	}
	return t, t.csv.Write(names)
}

func (t *table[Row]) write(record []string, row Row) error {
	if err := t.csv.Write(record); err != nil {
		return err
	}
	_, err := t.parquet.Write([]Row{row})
	return err
}

// finish replaces the files.
func (t *table[Row]) finish() error {
	t.csv.Flush()
	if err := t.csv.Error(); err != nil {
		return err
	}
	if err := t.parquet.Close(); err != nil {
		return err
	}
	for i, buffer := range t.buffers {
		if err := buffer.Flush(); err != nil {
			return err
		}
		if err := t.files[i].CloseAtomicallyReplace(); err != nil {
			return err
		}
	}
	return nil
}

// discard removes the files unless finish has replaced them.
func (t *table[Row]) discard() {
	for _, file := range t.files {
		if file != nil {
			_ = file.Cleanup() // a temporary file that stays is harmless
		}
	}
}

// roles contains the role names used in the tables.
var roles = [2]string{"first", "second"}

// Role returns a role's name. It is empty for -1.
func Role(number int) string {
	if number < 0 || number >= len(roles) {
		return ""
	}
	return roles[number]
}

func writeBlock(t *table[sessionRow], plan *tournament.Plan, block *tournament.Block) error {
	for i := range block.Sessions {
		s := &block.Sessions[i]
		first, second := plan.Entrants[s.Strategies[0]].Name, plan.Entrants[s.Strategies[1]].Name
		record := []string{
			block.Scenario, first, second, strconv.Itoa(s.Repetition), strconv.FormatUint(s.Seed, 10),
			s.Ending.String(), Role(s.By), strconv.Itoa(s.Step), strconv.Itoa(s.Offers), s.Time.String(),
			s.AgreementText,
		}
		for _, pair := range [][2]fixed.Number{s.Utilities, s.Values, s.Advantages} {
			record = append(record, pair[0].String(), pair[1].String())
		}
		nash, nashText := optional(s.NashDistance)
		pareto, paretoText := optional(s.ParetoDistance)
		record = append(record, nashText, paretoText)
		for _, amount := range []uint64{s.Settlement.Price, s.Settlement.Fee, s.Settlement.Decay} {
			record = append(record, strconv.FormatUint(amount, 10))
		}
		err := t.write(record, sessionRow{
			Scenario: block.Scenario, First: first, Second: second, Repetition: int64(s.Repetition), Seed: s.Seed,
			Ending: s.Ending.String(), EndedBy: Role(s.By), Step: int64(s.Step), Offers: int64(s.Offers),
			Time: s.Time.Float(), Agreement: s.AgreementText,
			UtilityFirst: s.Utilities[0].Float(), UtilitySecond: s.Utilities[1].Float(),
			ValueFirst: s.Values[0].Float(), ValueSecond: s.Values[1].Float(),
			AdvantageFirst: s.Advantages[0].Float(), AdvantageSecond: s.Advantages[1].Float(),
			NashDistance: nash, ParetoDistance: pareto,
			Price: s.Settlement.Price, Fee: s.Settlement.Fee, Decay: s.Settlement.Decay,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// writeScores writes the table of scores.
func writeScores(folder string, scores []tournament.Score) error {
	t, err := newTable[scoreRow](folder, "scores")
	if err != nil {
		return err
	}
	defer t.discard()
	for i, s := range scores {
		row := scoreRow{
			Rank: int64(i) + 1, Strategy: s.Name, Advantage: s.Advantage.Float(), Behind: s.Behind.Float(), Value: s.Value.Float(),
			AgreementRate: s.AgreementRate.Float(), Sessions: s.Sessions, Agreements: s.Agreements,
			Scenarios: s.Scenarios,
		}
		var nash, pareto string
		row.NashDistance, nash = optional(s.NashDistance)
		row.ParetoDistance, pareto = optional(s.ParetoDistance)
		var margin, behind string
		if s.HasMargin {
			row.Margin, margin = optional(&s.Margin)
			row.BehindMargin, behind = optional(&s.BehindMargin)
		}
		record := []string{strconv.Itoa(i + 1), s.Name, s.Advantage.String(), margin, s.Behind.String(), behind, s.Value.String(),
			s.AgreementRate.String(), strconv.FormatInt(s.Sessions, 10), strconv.FormatInt(s.Agreements, 10),
			strconv.FormatInt(s.Scenarios, 10), nash, pareto}
		if err := t.write(record, row); err != nil {
			return err
		}
	}
	return t.finish()
}

// Ending describes a session's end.
func Ending(s *tournament.Session) string {
	switch s.Ending {
	case bargain.EndingAgreement:
		return "agreement"
	case bargain.EndingLeft:
		return "the " + Role(s.By) + " party ended the session"
	}
	return "no agreement at the deadline"
}
