// Package simulation runs tournaments of package bargain in a directory. It reads scenarios from files, keeps
// finished blocks to continue stopped tournaments, and writes tables and a page.
package simulation

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
	"github.com/haggle-protocol/haggle/sdk/bargain/scenario"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
)

// ErrInput reports strategies or scenarios that do not exist or cannot be read.
var ErrInput = errors.New("simulation: invalid input")

// The generators of scenarios.
const (
	random = "random"
	haggle = "haggle"
)

// maxGenerated limits how many scenarios a generator makes.
const maxGenerated = 1_000_000

// modelPrefix begins the names of language models among the strategies.
const modelPrefix = "llm:"

// Entrants returns the strategies given by texts, which [game.Parse] reads. If there are no texts, it returns
// all strategies but the optimal player, which plays by Haggle's rules only. The entrants' names are the
// canonical texts. models returns the player for "llm:NAME"; if nil, there is none.
func Entrants(
	names []string, models func(name string) (bargain.Strategy, error),
) (entrants []tournament.Entrant, err error) {
	if len(names) == 0 {
		names = strategy.Names()
	}
	for _, name := range names {
		name = strings.TrimSpace(name)
		if model, is := strings.CutPrefix(name, modelPrefix); is && models != nil {
			played, err := models(model)
			if err != nil {
				return nil, err
			}
			entrants = append(entrants, tournament.Entrant{Name: name, Strategy: played})
			continue
		}
		entry, err := game.Parse(name)
		if err != nil {
			return nil, fmt.Errorf("%w: strategy %w", ErrInput, err)
		}
		entrants = append(entrants, tournament.Entrant{Name: entry.String(), Strategy: entry.Strategy})
	}
	return entrants, nil
}

// isOptimal reports whether an entrant is the optimal player.
func isOptimal(entrant tournament.Entrant) bool { return entrant.Name == game.Name }

// hasRules reports whether all scenarios in a source use Haggle's rules.
func hasRules(source tournament.Source) bool {
	list, isList := source.(tournament.List)
	if isList {
		return !slices.ContainsFunc(list, func(s *tournament.Scenario) bool { return s.Rules == nil })
	}
	_, is := source.(tournament.Haggle)
	return is
}

// CheckRules returns [ErrInput] if the optimal player takes part and not all scenarios have Haggle's rules, and if a
// price step, which is 0 for none, would change nothing: no strategy concedes rank by rank, or no scenario has Haggle's
// rules.
func CheckRules(entrants []tournament.Entrant, scenarios tournament.Join, step uint64) error {
	isOther := func(source tournament.Source) bool { return !hasRules(source) }
	concedes := func(entrant tournament.Entrant) bool { return strategy.Entry{Strategy: entrant.Strategy}.HasStep() }
	switch {
	case slices.ContainsFunc(entrants, isOptimal) && slices.ContainsFunc(scenarios, isOther):
		return fmt.Errorf("%w: strategy %q plays by Haggle's rules only: use generated scenarios of the kind %q",
			ErrInput, game.Name, haggle)
	case step != 0 && !slices.ContainsFunc(entrants, concedes):
		return fmt.Errorf("%w: a price step requires one of the strategies %s", ErrInput,
			strings.Join(strategy.Stepping(), ", "))
	case step != 0 && !slices.ContainsFunc(scenarios, hasRules):
		return fmt.Errorf("%w: a price step requires generated scenarios of the kind %q", ErrInput, haggle)
	}
	return nil
}

// Scenarios returns the source for a list: "random:N" and "haggle:N" are N generated scenarios, other entries
// are directories: see [ReadScenario]. A directory that lacks a domain stands for all subdirectories. No
// scenario can occur twice. Digests identify the list's content.
func Scenarios(list []string, seed uint64) (source tournament.Join, digests []string, err error) {
	for _, entry := range list {
		kind, count, hasCount := strings.Cut(entry, ":")
		if hasCount && (kind == random || kind == haggle) {
			n, err := strconv.ParseUint(count, 10, 32)
			if err != nil || n == 0 || n > maxGenerated {
				return nil, nil, fmt.Errorf("%w: scenarios %q: the number must be from 1 to %d",
					ErrInput, entry, maxGenerated)
			}
			source, digests = append(source, generated(kind, seed, int(n))), append(digests, entry)
			continue
		}
		read, digest, err := readFolder(entry)
		if err != nil {
			return nil, nil, err
		}
		source, digests = append(source, read), append(digests, digest)
	}
	return source, digests, checkDistinct(source)
}

// HaveOwnRounds reports whether all scenarios in a list use Haggle's rules, and so their own deadlines.
func HaveOwnRounds(list []string) bool {
	return !slices.ContainsFunc(list, func(entry string) bool { return !strings.HasPrefix(entry, haggle+":") })
}

func generated(kind string, seed uint64, count int) tournament.Source {
	if kind == haggle {
		return tournament.Haggle{Seed: seed, Count: count}
	}
	return tournament.Random{Seed: seed, Count: count}
}

// Scenario returns a single scenario: either generated by name, such as random-1-3 for the third scenario of
// seed 1, or read from a directory.
func Scenario(name string) (*tournament.Scenario, error) {
	if made, number, ok := parseGenerated(name); ok {
		return generated(made.kind, made.seed, number).Scenario(number - 1)
	}
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%w: scenario %q is not a folder; generated scenarios are %s-SEED-NUMBER and "+
			"%s-SEED-NUMBER, with a number from 1 to %d", ErrInput, name, random, haggle, maxGenerated)
	}
	s, _, err := ReadScenario(name)
	return s, err
}

// readFolder reads the scenario in a directory, or the scenarios in all subdirectories.
func readFolder(folder string) (tournament.List, string, error) {
	s, digest, err := ReadScenario(folder)
	if !errors.Is(err, errNoDomain) {
		return tournament.List{s}, digest, err
	}
	entries, readErr := os.ReadDir(folder)
	if readErr != nil {
		return nil, "", readErr
	}
	var list tournament.List
	sum := sha256.New()
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		s, digest, err := ReadScenario(filepath.Join(folder, entry.Name()))
		if errors.Is(err, errNoDomain) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		list = append(list, s)
		sum.Write([]byte(digest))
	}
	if len(list) == 0 {
		return nil, "", err
	}
	return list, "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

// errNoDomain reports a directory that lacks a domain.
var errNoDomain = errors.New("there is no file with a domain")

// isAddition reports whether a file is not a part of the scenario for GENIUS and NegMAS either: hidden files,
// NegMAS' statistics, and GENIUS' list of Pareto-optimal outcomes.
func isAddition(name string) bool {
	return name[0] == '.' || name[0] == '_' || strings.HasSuffix(strings.ToLower(name), "pareto.xml")
}

// ReadScenario reads a directory containing a domain and two profiles in GENIUS' XML or NegMAS' YAML or JSON.
// Profiles are assigned to roles in file name order. It returns [ErrInput] if there is another XML, YAML or
// JSON file, such as a third profile, unless the name begins with "." or "_" or ends with "pareto.xml". The
// digest identifies the files' content.
func ReadScenario(folder string) (*tournament.Scenario, string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, "", fmt.Errorf("%w: scenarios %q: use random:N, haggle:N or a folder: %w",
			ErrInput, folder, err)
	}
	sum := sha256.New()
	var domain *file
	var profiles []*file
	var others error
	for _, entry := range entries {
		format := strings.ToLower(filepath.Ext(entry.Name()))
		if entry.IsDir() || isAddition(entry.Name()) ||
			!slices.Contains([]string{".xml", ".yml", ".yaml", ".json"}, format) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, "", err
		}
		fmt.Fprintf(sum, "%q %d\n", entry.Name(), len(content))
		sum.Write(content)
		f := &file{name: entry.Name(), content: content}
		isDomain, err := scenario.IsDomain(content)
		switch {
		case err != nil:
			others = errors.Join(others, fmt.Errorf("%s: %w", f.name, err))
		case !isDomain:
			profiles = append(profiles, f)
		case domain == nil:
			domain = f
		default:
			return nil, "", fmt.Errorf("%w: folder %q has two domains, %s and %s",
				ErrInput, folder, domain.name, f.name)
		}
	}
	switch {
	case others != nil:
		return nil, "", fmt.Errorf("%w: folder %q: %w", ErrInput, folder, others)
	case domain == nil && len(profiles) == 0:
		return nil, "", fmt.Errorf("%w: folder %q: %w", ErrInput, folder, errNoDomain)
	case domain == nil:
		return nil, "", fmt.Errorf("%w: folder %q has profiles (%s), but no domain",
			ErrInput, folder, names(profiles))
	case len(profiles) != 2:
		return nil, "", fmt.Errorf("%w: folder %q has %s instead of two (%s)", ErrInput, folder,
			report.Counted(len(profiles), "profile", ""), names(profiles))
	}
	s := &tournament.Scenario{Name: filepath.Base(filepath.Clean(folder))}
	if err := readScenario(s, domain, profiles); err != nil {
		return nil, "", fmt.Errorf("%w: folder %q: %w", ErrInput, folder, err)
	}
	return s, "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

// ReadProfile reads a domain and one party's profile in GENIUS' XML or NegMAS' YAML or JSON.
func ReadProfile(domainPath, profilePath string) (*bargain.Preferences, error) {
	domain, err := readFile(domainPath)
	if err != nil {
		return nil, err
	}
	read, err := domain.domain()
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInput, domainPath, err)
	}
	profile, err := readFile(profilePath)
	if err != nil {
		return nil, err
	}
	preferences, err := profile.preferences(read)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInput, profilePath, err)
	}
	return preferences, nil
}

func readFile(path string) (*file, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	return &file{name: filepath.Base(path), content: content}, nil
}

// names returns the names of files as a list.
func names(files []*file) string {
	var list []string
	for _, f := range files {
		list = append(list, f.name)
	}
	return strings.Join(list, ", ")
}

type file struct {
	name    string
	content []byte
}

// domain reads the file as a domain.
func (f *file) domain() (*bargain.Domain, error) {
	return scenario.ReadDomain(f.content, scenario.Options{})
}

// preferences reads the file as a profile.
func (f *file) preferences(domain *bargain.Domain) (*bargain.Preferences, error) {
	return scenario.ReadProfile(domain, f.content)
}

// readScenario reads the domain and both profiles.
func readScenario(s *tournament.Scenario, domain *file, profiles []*file) error {
	read, err := domain.domain()
	if err != nil {
		return fmt.Errorf("%s: %w", domain.name, err)
	}
	for role, profile := range profiles {
		if s.Preferences[role], err = profile.preferences(read); err != nil {
			return fmt.Errorf("%s: %w", profile.name, err)
		}
	}
	return nil
}
