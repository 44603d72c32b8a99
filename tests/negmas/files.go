package negmas

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/scenario"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// File is a domain with one profile in a format. Its utilities are compared with NegMAS'.
type File struct {
	// Name is the directory name.
	Name string
	// Format is the file extension, with no dot: yml, json or xml.
	Format string
	p      *bargain.Preferences
}

// FileAnswer is NegMAS' result for a file.
type FileAnswer struct {
	Name     string  `json:"name"`
	Format   string  `json:"format"`
	Reserved float64 `json:"reserved"`
	// Utilities covers all outcomes, or [File.Outcomes] if given.
	Utilities []float64 `json:"utilities"`
	// Discounted holds these outcomes' values, and no agreement's, in step 3 and at half of the time. It is nil
	// if there is no discount.
	Discounted []float64 `json:"discounted"`
}

// FileAnswers contains NegMAS' results for files written by this package and by NegMAS.
type FileAnswers struct {
	Version string       `json:"version"`
	Written []FileAnswer `json:"written"`
	Dumped  []FileAnswer `json:"dumped"`
}

// paths returns the domain's and profile's paths within a directory.
func paths(root, name, format string) (domain, profile string) {
	return filepath.Join(root, name, "domain."+format), filepath.Join(root, name, "profile."+format)
}

// Write writes domain and profile to a directory.
func (f File) Write(root string) error {
	domainPath, profilePath := paths(root, f.Name, f.Format)
	if err := os.MkdirAll(filepath.Dir(domainPath), 0o755); err != nil {
		return err
	}
	var domain, profile []byte
	var err error
	if f.Format == "xml" {
		if domain, err = scenario.WriteGeniusDomain("domain", f.p.Domain()); err == nil {
			profile, err = scenario.WriteGeniusProfile("profile", f.p)
		}
	} else {
		notation := map[string]scenario.Format{"yml": scenario.YAML, "json": scenario.JSON}[f.Format]
		if domain, err = scenario.WriteNegmasDomain("domain", f.p.Domain(), notation); err == nil {
			profile, err = scenario.WriteNegmasProfile("profile", f.p, notation)
		}
	}
	if err == nil {
		err = os.WriteFile(domainPath, domain, 0o644)
	}
	if err == nil {
		err = os.WriteFile(profilePath, profile, 0o644)
	}
	return err
}

// ReadFiles reads the domain and profile with a name and format from a directory.
func ReadFiles(root, name, format string, options scenario.Options) (*bargain.Preferences, error) {
	domainPath, profilePath := paths(root, name, format)
	domainText, err := os.ReadFile(domainPath)
	if err != nil {
		return nil, err
	}
	profile, err := os.ReadFile(profilePath)
	if err != nil {
		return nil, err
	}
	domain, err := scenario.ReadDomain(domainText, options)
	if err != nil {
		return nil, err
	}
	return scenario.ReadProfile(domain, profile)
}

// Outcomes returns the outcomes that are compared: all or, if the domain is large, 200.
func (f File) Outcomes() (list []bargain.Outcome) {
	size := f.p.Domain().Size()
	count := min(size, 200)
	for i := range count {
		list = append(list, bargain.Outcome(i*(size-1)/max(count-1, 1)))
	}
	return list
}

// Plan returns the file as an input entry for files.py, with NegMAS' outcome values. They are texts for names
// and for GENIUS' list items.
func (f File) Plan(root string) any {
	domainPath, profilePath := paths(root, f.Name, f.Format)
	domain := f.p.Domain()
	var outcomes [][]any
	for _, o := range f.Outcomes() {
		var values []any
		for at := range domain.Len() {
			issue, index := domain.Issue(at), domain.Value(o, at)
			if !issue.IsNumeric() || f.Format == "xml" && issue.Kind != bargain.KindReal && issue.Tick != 1 {
				values = append(values, issue.Text(index))
				continue
			}
			values = append(values, json.Number(issue.Text(index)))
		}
		outcomes = append(outcomes, values)
	}
	return map[string]any{"name": f.Name, "format": f.Format, "domain": domainPath, "profile": profilePath,
		"outcomes": outcomes}
}

// Files returns this package's files: all kinds of domains and utilities, in each format that can express them.
func Files() ([]File, error) {
	thousandth := func(n int64) fixed.Number { return fixed.Ratio(n, 1000) }
	table := func(thousandths ...int64) (t utility.Table) {
		for _, n := range thousandths {
			t = append(t, thousandth(n))
		}
		return t
	}
	line := func(first, last int64, count uint64) utility.Line {
		return utility.Line{First: thousandth(first), Last: thousandth(last), Count: count}
	}
	price := bargain.Price("price", 10, 30, 5)
	days := bargain.Integer("days", -2, 3)
	hours := bargain.Integer("hours", 0, 4)
	words := bargain.Categorical("no", "no", "yes", "1", "1_000", "~", "é \"x\"", "2020-01-01")
	tier := bargain.Ordered("1", "low", "middle", "high")
	rate := bargain.Real("rate", fixed.One/4, fixed.One, fixed.One/8)
	long := bargain.Price("price", 5_000_000, 7_123_456_789, 1)
	text := table(0, 1000, 300, 250, 50, 700, 100)
	additive := func(constant int64, parts ...utility.Values) func(*bargain.Domain) (bargain.Utility, error) {
		return func(d *bargain.Domain) (bargain.Utility, error) {
			return utility.NewAdditive(d, thousandth(constant), nil, parts...)
		}
	}
	outcomes := func(d *bargain.Domain) (bargain.Utility, error) {
		values, random := make([]fixed.Number, d.Size()), bargain.NewRandom(1, 1)
		for o := range values {
			values[o] = thousandth(int64(random.Below(1_000)) - 100)
		}
		return utility.NewMapping(d, values)
	}
	rectangles := func(d *bargain.Domain) (bargain.Utility, error) {
		return utility.NewHyperRectangle(d, thousandth(125),
			utility.Rectangle{Value: thousandth(500), Ranges: []utility.Range{{Issue: 0, First: 1, Last: 2}}},
			utility.Rectangle{Value: thousandth(250), Ranges: []utility.Range{
				{Issue: 1, First: 0, Last: 3}, {Issue: 2, First: 1, Last: 2}, {Issue: 3, First: 2, Last: 2}}},
			utility.Rectangle{Value: thousandth(-125), Ranges: []utility.Range{
				{Issue: 4, First: 3, Last: 5}, {Issue: 1, First: 5, Last: 5}}},
			utility.Rectangle{Value: thousandth(50)})
	}
	all := additive(-50, table(0, 400, 100, 20, 30), table(10, 0, 30, 20, 50, 40), text, table(0, 90, 70),
		line(500, 100, rate.Count))
	straight := additive(0, line(0, 250, hours.Count), text, line(125, 0, rate.Count))
	kinds, none := []bargain.Issue{price, days, words, tier, rate}, bargain.Discount{}
	var files []File
	for _, c := range []struct {
		name     string
		formats  []string
		issues   []bargain.Issue
		utility  func(*bargain.Domain) (bargain.Utility, error)
		discount bargain.Discount
	}{
		{"additive", []string{"yml"}, kinds, all, none},
		{"lines", []string{"yml", "json", "xml"}, []bargain.Issue{hours, words, rate}, straight, none},
		{"names", []string{"yml", "json", "xml"}, []bargain.Issue{words, tier},
			additive(20, text, table(0, 90, 70)), none},
		{"tick", []string{"yml", "xml"}, []bargain.Issue{price, tier},
			additive(0, table(0, 400, 100, 20, 30), table(0, 90, 70)), none},
		{"rectangles", []string{"yml"}, kinds, rectangles, none},
		{"outcomes", []string{"yml"}, []bargain.Issue{days, tier, price}, outcomes, none},
		{"single", []string{"yml", "json"}, []bargain.Issue{words}, outcomes, none},
		{"bent", []string{"yml"}, []bargain.Issue{rate, tier},
			additive(0, table(0, 10, 30, 20, 50, 40, 500), table(0, 90, 70)), none},
		{"long", []string{"yml", "json"}, []bargain.Issue{long}, additive(0, line(1000, 100, long.Count)),
			none},
		{"factor", []string{"yml", "json"}, []bargain.Issue{words, tier}, additive(0, text, table(0, 90, 70)),
			bargain.Discount{Factor: thousandth(900), PerStep: true}},
		{"cost", []string{"yml"}, []bargain.Issue{price, tier}, outcomes,
			bargain.Discount{Cost: thousandth(60), KeepReservation: true}},
	} {
		domain, err := bargain.NewDomain(c.issues...)
		if err != nil {
			return nil, err
		}
		u, err := c.utility(domain)
		if err != nil {
			return nil, err
		}
		p, err := bargain.NewDiscounted(domain, u, thousandth(125), c.discount)
		if err != nil {
			return nil, err
		}
		for _, format := range c.formats {
			files = append(files, File{Name: c.name, Format: format, p: p})
		}
	}
	return files, nil
}
