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

// results is the output of compare.py.
type results struct {
	Version string `json:"version"`
	Python  string `json:"python"`
	// Negotiators is the number of classes of negotiators that NegMAS exports.
	Negotiators int `json:"negotiators"`
	Sessions    []struct {
		negmas.RecordedSession
		// Whole and Run are seconds, with and without construction.
		Whole float64 `json:"whole"`
		Run   float64 `json:"run"`
	} `json:"sessions"`
}

// run runs sessions of scenarios with NegMAS. Seeds returns the number of runs of a session.
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
	input, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	out, err := os.CreateTemp("", "negmas-*.json")
	if err != nil {
		return nil, err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	command := exec.Command(python, filepath.Join(folder, "compare.py"), out.Name())
	command.Stdin, command.Stderr = bytes.NewReader(input), os.Stderr
	// One thread, and the same order of Python's sets in each run.
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
		return nil, fmt.Errorf("results of compare.py: %w", err)
	}
	if len(r.Sessions) != len(sessions) {
		return nil, fmt.Errorf("results of compare.py: %d sessions of %d", len(r.Sessions), len(sessions))
	}
	return r, nil
}

// runs is the number of runs of a session with random offers.
const runs = 8

// portable lets numpy sort without vector instructions, whose order of equal numbers depends on the processor.
const portable = "NPY_DISABLE_CPU_FEATURES=X86_V3 X86_V4 AVX512_ICL AVX512_SPR AVX2 FMA3"

// record runs all sessions of a set, and returns NegMAS' answers.
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
