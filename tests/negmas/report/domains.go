package main

import (
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/tests/negmas"
)

//go:embed domains.md.tmpl
var domainsText string

// compareDomains records the results for all sets but the first, and for the demonstration, and writes the
// page about them.
func compareDomains(python, folder, out string) error {
	data := filepath.Join(folder, "testdata")
	table := report.NewTable("set", "scenario", "steps", "sessions", "same result", "by default")
	var recorded *negmas.Recorded
	for _, set := range negmas.Sets()[1:] {
		fmt.Fprintf(os.Stderr, "==> the answers of NegMAS: scenarios %s\n", set.Name)
		var err error
		if recorded, err = record(python, folder, set); err != nil {
			return err
		}
		same, err := set.Replay(recorded, data)
		if err != nil {
			return err
		}
		for at := range set.Settings {
			set.Settings[at].AsNegmas = false
		}
		byDefault, err := set.Replay(recorded, data)
		if err != nil {
			return err
		}
		for _, setting := range set.Settings {
			played := same.In(setting.Name)
			table.Row(set.Name, setting.Name+": "+setting.About, report.Count(setting.Steps), report.Count(len(played)),
				report.Count(played.Same()), report.Count(byDefault.In(setting.Name).Same()))
		}
	}
	fmt.Fprintln(os.Stderr, "==> the answers of NegMAS: negotiations of haggle demo")
	values, err := compareDemo(python, folder)
	if err != nil {
		return err
	}
	maps.Copy(values, map[string]any{
		"version": recorded.Version, "python": recorded.Python, "table": table.String(), "seeds": recorded.Seeds,
		"strategies": len(negmas.Strategies()), "negotiators": recorded.Negotiators,
	})
	text, err := report.Fill(domainsText, nil, values)
	if err != nil {
		return err
	}
	return os.WriteFile(out, []byte(text), 0o644)
}
