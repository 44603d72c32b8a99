package negmas

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/scenario"
)

func fileAnswers(t *testing.T) *FileAnswers {
	data, err := os.ReadFile("testdata/files/answers.json")
	require.NoError(t, err)
	answers := new(FileAnswers)
	require.NoError(t, json.Unmarshal(data, answers))
	require.Equal(t, "0.16.0", answers.Version)
	return answers
}

// requireAnswer requires NegMAS' utilities for outcomes, and discounted values in step 3.
func requireAnswer(t *testing.T, want FileAnswer, p *bargain.Preferences, outcomes []bargain.Outcome) {
	require.Equal(t, want.Reserved, p.Reservation().Float())
	require.Len(t, want.Utilities, len(outcomes))
	for i, o := range outcomes {
		require.InDelta(t, want.Utilities[i], p.Of(o).Float(), 1e-9, p.Domain().Text(o))
	}
	if want.Discounted == nil {
		return
	}
	require.Len(t, want.Discounted, len(outcomes)+1)
	for i, o := range append(outcomes, bargain.NoOutcome) {
		require.InDelta(t, want.Discounted[i], p.ValueAt(o, 3, fixed.One/2).Float(), 1e-9, p.Domain().Text(o))
	}
}

// TestNegmasReadsTheWrittenFiles requires that NegMAS has read the current files and computed the written
// utilities, which package scenario also reads back.
func TestNegmasReadsTheWrittenFiles(t *testing.T) {
	files, err := Files()
	require.NoError(t, err)
	answers := fileAnswers(t).Written
	require.Len(t, answers, len(files), "run make negmas")
	folder := t.TempDir()
	for at, file := range files {
		t.Run(file.Name+" "+file.Format, func(t *testing.T) {
			require.NoError(t, file.Write(folder))
			recorded := "testdata/files/written"
			for _, name := range []string{"domain.", "profile."} {
				want, err := os.ReadFile(filepath.Join(folder, file.Name, name+file.Format))
				require.NoError(t, err)
				got, err := os.ReadFile(filepath.Join(recorded, file.Name, name+file.Format))
				require.NoError(t, err)
				require.Equal(t, string(want), string(got), "run make negmas")
			}
			require.Equal(t, []string{file.Name, file.Format}, []string{answers[at].Name, answers[at].Format})
			requireAnswer(t, answers[at], file.p, file.Outcomes())
			read, err := ReadFiles(recorded, file.Name, file.Format, scenario.Options{})
			require.NoError(t, err)
			if file.Format != "xml" { // GENIUS' format does not store a real issue's number of values
				requireAnswer(t, answers[at], read, file.Outcomes())
			}
		})
	}
}

// TestReadsTheFilesOfNegmas requires NegMAS' utilities for the scenarios saved by NegMAS.
func TestReadsTheFilesOfNegmas(t *testing.T) {
	answers := fileAnswers(t).Dumped
	require.Len(t, answers, 19)
	for _, answer := range answers {
		t.Run(answer.Name+" "+answer.Format, func(t *testing.T) {
			var options scenario.Options
			if answer.Format == "xml" {
				options.Levels = 11
			}
			p, err := ReadFiles("testdata/files/dumped", answer.Name, answer.Format, options)
			require.NoError(t, err)
			var outcomes []bargain.Outcome
			for o := range bargain.Outcome(p.Domain().Size()) {
				outcomes = append(outcomes, o)
			}
			requireAnswer(t, answer, p, outcomes)
		})
	}
}
