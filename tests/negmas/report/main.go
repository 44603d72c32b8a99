// Command report runs NegMAS and the bargaining engine on the same scenarios, records NegMAS' results for the
// tests, and writes docs/NEGMAS.md. `make negmas` calls it. With -files it only records the utilities that
// NegMAS reads from scenario files, and the files that NegMAS writes; with -domains it also records the
// results for the sets with ties and discounts, and for haggle demo's negotiations, and writes
// docs/NEGMAS_DOMAINS.md.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/haggle-protocol/haggle/tests/negmas"
)

func main() {
	python := flag.String("python", "python3", "the Python that has NegMAS")
	folder := flag.String("folder", "tests/negmas", "the folder of compare.py and testdata")
	out := flag.String("out", "docs", "folder for the pages")
	domainsOnly := flag.Bool("domains", false, "no measurements: the answers with ties and discounts, and of haggle demo")
	filesOnly := flag.Bool("files", false, "record the answers to scenario files only")
	flag.Parse()
	err := recordFiles(*python, *folder)
	if err == nil && !*filesOnly {
		err = compareDomains(*python, *folder, filepath.Join(*out, "NEGMAS_DOMAINS.md"))
	}
	if err == nil && !*filesOnly && !*domainsOnly {
		err = compare(*python, *folder, filepath.Join(*out, "NEGMAS.md"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "negmas:", err)
		os.Exit(1)
	}
}

// measured returns the sessions to be timed.
func measured() []negmas.Session {
	var sessions []negmas.Session
	for _, setting := range negmas.Settings() {
		for _, known := range negmas.Strategies() {
			sessions = append(sessions, negmas.Session{
				Scenario: setting.Name, First: known.Name, Second: known.Name,
			})
		}
		for _, pair := range [][2]string{
			{"TB boulware", "TB conceder"}, {"TB linear", "MiCRO"}, {"TFT", "TB boulware"}, {"CAB", "aspiration 4"},
		} {
			sessions = append(sessions, negmas.Session{Scenario: setting.Name, First: pair[0], Second: pair[1]})
		}
	}
	return sessions
}

func compare(python, folder, out string) error {
	runtime.GOMAXPROCS(1)
	data := filepath.Join(folder, "testdata")
	// The engine is measured first: later, the garbage collector would also visit NegMAS' results.
	fmt.Fprintln(os.Stderr, "==> the time of the engine")
	ours, err := measure(measured(), data)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "==> the answers of NegMAS")
	set := negmas.Sets()[0]
	recorded, err := record(python, folder, set)
	if err != nil {
		return err
	}
	all, err := set.Replay(recorded, data)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "==> the time of NegMAS")
	theirs, err := run(python, folder, set.Settings, measured(), func(negmas.Session) int { return 0 })
	if err != nil {
		return err
	}
	var rows []*row
	for at, session := range theirs.Sessions {
		rows = append(rows, &row{
			session: session.RecordedSession,
			theirs:  speed{whole: seconds(session.Whole), run: seconds(session.Run)},
			ours:    ours[at],
		})
	}
	for _, r := range rows {
		for i := range recorded.Sessions {
			if recorded.Sessions[i].Session == r.session.Session {
				r.session, r.engine, r.isEqual = recorded.Sessions[i], all[i].Answer, all[i].IsSame
			}
		}
	}
	text, err := page(recorded, all, rows, measureCurves())
	if err != nil {
		return err
	}
	return os.WriteFile(out, []byte(text), 0o644)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// measure measures the sessions of the engine.
func measure(sessions []negmas.Session, data string) ([]speed, error) {
	list := make([]speed, len(sessions))
	for _, setting := range negmas.Settings() {
		v, err := valuesOf(setting, data)
		if err != nil {
			return nil, err
		}
		for at, session := range sessions {
			if session.Scenario != setting.Name {
				continue
			}
			if list[at], err = v.measure(session); err != nil {
				return nil, fmt.Errorf("%v: %w", session, err)
			}
		}
	}
	return list, nil
}
