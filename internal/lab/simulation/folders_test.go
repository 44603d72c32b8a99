package simulation_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/lab/simulation"
	"github.com/haggle-protocol/haggle/sdk/bargain/scenario"
)

// TestFoldersWithOtherFilesAreRefused has files that must not be dropped in silence.
func TestFoldersWithOtherFilesAreRefused(t *testing.T) {
	from := categorical(t)
	domain, err := scenario.WriteNegmasDomain("deal", from.Preferences[0].Domain(), scenario.YAML)
	require.NoError(t, err)
	profile, err := scenario.WriteNegmasProfile("a", from.Preferences[0], scenario.YAML)
	require.NoError(t, err)
	xml, err := scenario.WriteGeniusProfile("a", from.Preferences[0])
	require.NoError(t, err)
	three := map[string][]byte{"deal.yml": domain, "a.yml": profile, "b.json": profile}
	for want, files := range map[string]map[string][]byte{
		"has 3 profiles instead of two (a.yml, b.json, c.xml)":                                                {"c.xml": xml},
		"has 1 profile instead of two (a.yml)":                                                                {"b.json": nil},
		"has profiles (a.yml, b.json), but no domain":                                                         {"deal.yml": nil},
		"has two domains, a.yml and deal.yml":                                                                 {"a.yml": domain},
		"c.yml: scenario: invalid document: YAML: yaml: line 1: did not find expected node content":           {"c.yml": []byte("a: [")},
		"deal.yml: scenario: invalid document: YAML: the document is empty":                                   {"deal.yml": {}},
		"c.json: scenario: invalid document: the document is neither an outcome space nor a utility function": {"c.json": []byte("{}")},
		"c.xml: scenario: invalid document: <agents> is neither a domain nor a profile":                       {"c.xml": []byte("<agents/>")},
		"a.yml: scenario: invalid document: document has the unknown type \"WeightedUtilityFunction\"":        {"a.yml": []byte("type: WeightedUtilityFunction")},
		"": {"_info.yml": []byte("a: 1"), ".c.yml": {0}, "deal-pareto.xml": []byte("<pareto/>"), "notes.txt": {0}},
	} {
		parent := t.TempDir()
		folder := filepath.Join(parent, "deal")
		require.NoError(t, os.Mkdir(folder, 0o700))
		all := maps.Clone(three)
		maps.Copy(all, files)
		for name, content := range all {
			if content != nil {
				require.NoError(t, os.WriteFile(filepath.Join(folder, name), content, 0o600))
			}
		}
		for _, list := range [][]string{{folder}, {parent}} {
			_, _, err = simulation.Scenarios(list, 1)
			if want == "" {
				require.NoError(t, err)
				continue
			}
			require.ErrorIs(t, err, simulation.ErrInput)
			require.ErrorContains(t, err, fmt.Sprintf("folder %q", folder))
			require.ErrorContains(t, err, want)
		}
	}
}
