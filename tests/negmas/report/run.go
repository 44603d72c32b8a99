package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/haggle-protocol/haggle/tests/negmas"
)

// plan is the input of compare.py.
type plan struct {
	Scenarios []planScenario `json:"scenarios"`
	Sessions  []planSession  `json:"sessions"`
}

type planScenario struct {
	Name     string   `json:"name"`
	Format   string   `json:"format"`
	Domain   string   `json:"domain"`
	Profiles []string `json:"profiles"`
	Steps    int      `json:"steps"`
}

type planSession struct {
	negmas.Session
	// Seeds is the number of runs with different seeds; 0 measures the time.
	Seeds int `json:"seeds"`
}

// results is the output from compare.py and demo.py.
type results struct {
	Version string `json:"version"`
	Python  string `json:"python"`
	// Negotiators is the number of classes of negotiators that NegMAS exports.
	Negotiators int `json:"negotiators"`
	Sessions    []struct {
		negmas.RecordedSession
		// Whole and Run are seconds, including and excluding construction.
		Whole float64 `json:"whole"`
		Run   float64 `json:"run"`
	} `json:"sessions"`
}

// run runs sessions of scenarios with NegMAS. Seeds returns a session's number of runs.
func run(
	python, folder string, settings []negmas.Setting, sessions []negmas.Session, seeds func(negmas.Session) int,
	environment ...string,
) (*results, error) {
	var p plan
	for _, setting := range settings {
		files := setting.Files(filepath.Join(folder, "testdata"))
		format := "negmas"
		if setting.Genius {
			format = "genius"
		}
		p.Scenarios = append(p.Scenarios, planScenario{
			Name: setting.Name, Format: format, Domain: files[0], Profiles: files[1:], Steps: setting.Steps,
		})
	}
	for _, session := range sessions {
		p.Sessions = append(p.Sessions, planSession{session, seeds(session)})
	}
	r, err := runScript(python, folder, "compare.py", p, environment...)
	if err == nil && len(r.Sessions) != len(sessions) {
		err = fmt.Errorf("results of compare.py: %d sessions of %d", len(r.Sessions), len(sessions))
	}
	return r, err
}

// runScript runs a script in the directory with JSON input, and returns the results.
func runScript(python, folder, script string, plan any, environment ...string) (*results, error) {
	input, err := json.Marshal(plan)
	if err != nil {
		return nil, err
	}
	out, err := os.CreateTemp("", "negmas-*.json")
	if err != nil {
		return nil, err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	command := exec.Command(python, filepath.Join(folder, script), out.Name())
	command.Stdin, command.Stderr = bytes.NewReader(input), os.Stderr
	// A single thread, and the same order in Python's sets in each run.
	command.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1",
		"PYTHONHASHSEED=0")
	command.Env = append(command.Env, environment...)
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	data, err := os.ReadFile(out.Name())
	if err != nil {
		return nil, err
	}
	r := new(results)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("results of %s: %w", script, err)
	}
	return r, nil
}

// runs is the number of runs for a session including random offers.
const runs = 8

// portable makes numpy sort with no vector instructions, because their order for equal numbers depends on the
// processor.
const portable = "NPY_DISABLE_CPU_FEATURES=X86_V3 X86_V4 AVX512_ICL AVX512_SPR AVX2 FMA3"

// recordDemo runs the negotiations of the demonstration, and returns NegMAS' results.
func recordDemo(python, folder string, demo negmas.Demo) (*negmas.Recorded, error) {
	hash, err := demo.Hash()
	if err != nil {
		return nil, err
	}
	r, err := runScript(python, folder, "demo.py", map[string]any{"terms": demo, "sessions": demo.Sessions()}, portable)
	if err != nil {
		return nil, err
	}
	recorded := &negmas.Recorded{
		About:   "Written by make negmas-domains: the answers of NegMAS' negotiators, from demo.py.",
		Version: r.Version, Python: r.Python, Seeds: 1, Scenarios: map[string]string{negmas.DemoName: hash},
	}
	for _, session := range r.Sessions {
		recorded.Sessions = append(recorded.Sessions, session.RecordedSession)
	}
	return recorded, recorded.Write(filepath.Join(folder, "testdata", negmas.DemoFile))
}

// record runs all sessions in a set, and returns NegMAS' results.
func record(python, folder string, set negmas.Set) (*negmas.Recorded, error) {
	data := filepath.Join(folder, "testdata")
	recorded := &negmas.Recorded{
		About: "Written by make negmas: the answers of NegMAS' SAOMechanism, from compare.py.",
		Seeds: runs, Scenarios: map[string]string{},
	}
	for _, setting := range set.Settings {
		if err := setting.Write(data); err != nil {
			return nil, err
		}
		hash, err := setting.Hash(data)
		if err != nil {
			return nil, err
		}
		recorded.Scenarios[setting.Name] = hash
	}
	r, err := run(python, folder, set.Settings, set.Sessions(), func(session negmas.Session) int {
		if session.IsRandom() {
			return runs
		}
		return 1
	}, portable)
	if err != nil {
		return nil, err
	}
	recorded.Version, recorded.Python, recorded.Negotiators = r.Version, r.Python, r.Negotiators
	for _, session := range r.Sessions {
		recorded.Sessions = append(recorded.Sessions, session.RecordedSession)
	}
	return recorded, recorded.Write(filepath.Join(data, set.File))
}
