package simulation

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
)

// The files in a tournament's directory, besides the tables.
const (
	planFile   = "plan.json"
	blocksFile = "blocks.jsonl"
	lockFile   = "lock"
	// PageFile is the page with the results.
	PageFile = "index.html"
)

// ErrFolder reports a directory that a tournament cannot use.
var ErrFolder = errors.New("simulation: folder not usable")

// Options configures a tournament and names the directory.
type Options struct {
	// Strategies lists the strategies as texts: see [Entrants]. If empty, all take part.
	Strategies []string
	// Models returns the player for a language model, which takes part as "llm:NAME". ModelTerms identifies
	// how such players play. If Models is nil, there are none.
	Models     func(name string) (bargain.Strategy, error)
	ModelTerms string
	// Scenarios are described at [Scenarios].
	Scenarios []string
	// Order ranks outcomes with equal utility. If empty, [OrderNumber] is used.
	Order Order
	// Seed decides generated scenarios and the sessions' random numbers.
	Seed uint64
	// Rounds is the number of rounds of alternating offers. If zero, 100 is used.
	Rounds      int
	Repetitions int
	SelfPlay    bool
	// PriceStep is the price step of strategies that concede rank by rank: see [tournament.Plan].
	PriceStep uint64
	// Workers is the number of goroutines. If zero, one per processor is used.
	Workers int
	// Play plays the blocks from the number from on, as [tournament.Plan.Run] does, together with other
	// processes that use the same id. If nil, this process plays alone.
	Play func(
		ctx context.Context, id string, plan *tournament.Plan, from int, each func(*tournament.Block) error,
	) error
	// Folder is where the results are written.
	Folder string
	// Progress is called after each block with the number of finished sessions, unless Play is set: only Play
	// knows the other processes' sessions. If nil, it is not called.
	Progress func(sessions, of int)
}

// planned is plan.json's content. A directory continues only with the same plan.
type planned struct {
	// Engine is the strategies' version: another version makes other offers.
	Engine      string   `json:"engine"`
	Strategies  []string `json:"strategies"`
	Scenarios   []string `json:"scenarios"`
	Seed        uint64   `json:"seed"`
	Rounds      int      `json:"rounds"`
	Repetitions int      `json:"repetitions"`
	SelfPlay    bool     `json:"self_play"`
	ModelTerms  string   `json:"model_terms,omitempty"`
	// Order is empty for the engine's order.
	Order     Order  `json:"order,omitempty"`
	PriceStep uint64 `json:"price_step,omitempty"`
}

// Report is a tournament's result.
type Report struct {
	Scores []tournament.Score
	// Sessions is the number of finished sessions, Of the number of all sessions. They are equal if Complete
	// is true.
	Sessions, Of int
	Complete     bool
	// Continued is the number of sessions finished by earlier runs.
	Continued int
}

// Run plays a tournament. Each finished block is kept in the directory. If ctx is canceled, the tables and
// the page contain the finished blocks, and a later Run with the same plan plays the rest, with the same
// result as an uninterrupted run. If Run fails before finishing the first block, it removes all files that it
// created.
func Run(ctx context.Context, options Options) (report *Report, err error) {
	plan, planned, err := options.plan()
	if err != nil {
		return nil, err
	}
	if _, statErr := os.Stat(options.Folder); errors.Is(statErr, os.ErrNotExist) {
		defer func() {
			if err != nil {
				_ = os.Remove(options.Folder) // fails if the directory contains results, which must stay
			}
		}()
	}
	if err := os.MkdirAll(options.Folder, 0o755); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(options.Folder, lockFile))
	if locked, err := lock.TryLock(); err != nil || !locked {
		return nil, errors.Join(fmt.Errorf("%w: %q is used by another process", ErrFolder, options.Folder), err)
	}
	defer func() {
		// Another process with the file open does not obtain the lock: it tries only once.
		err = errors.Join(err, os.Remove(lock.Path()), lock.Unlock())
	}()
	content, err := json.MarshalIndent(planned, "", "  ")
	if err != nil {
		return nil, err
	}
	content = append(content, '\n')
	unused := isUnused(options.Folder)
	if err := claim(options.Folder, content, unused); err != nil {
		return nil, err
	}
	r := &runner{Options: options, plan: plan, id: identify(content), stats: plan.NewStats()}
	if report, err = r.run(ctx); err != nil && unused && r.stats.Blocks() == 0 {
		for _, name := range []string{planFile, blocksFile} {
			err = errors.Join(err, os.RemoveAll(filepath.Join(options.Folder, name)))
		}
	}
	return report, err
}

func (o Options) plan() (*tournament.Plan, planned, error) {
	entrants, err := Entrants(o.Strategies, o.Models)
	if err != nil {
		return nil, planned{}, err
	}
	source, digests, err := Scenarios(o.Scenarios, o.Seed)
	if err != nil {
		return nil, planned{}, err
	}
	if err := CheckRules(entrants, source, o.PriceStep); err != nil {
		return nil, planned{}, err
	}
	if err := o.Order.applyAll(source); err != nil {
		return nil, planned{}, err
	}
	order := o.Order
	if order == OrderNumber {
		order = ""
	}
	plan := &tournament.Plan{
		Entrants: entrants, Scenarios: source, Seed: o.Seed, Steps: o.Rounds, Repetitions: o.Repetitions,
		SelfPlay: o.SelfPlay, PriceStep: o.PriceStep,
	}
	p := planned{
		proof.Version, nil, digests, o.Seed, o.Rounds, o.Repetitions, o.SelfPlay, o.ModelTerms, order, o.PriceStep,
	}
	for _, entrant := range entrants {
		p.Strategies = append(p.Strategies, entrant.Name)
	}
	return plan, p, plan.Check()
}

// isUnused reports whether a directory contains neither finished blocks nor a page.
func isUnused(folder string) bool {
	blocks, err := os.Stat(filepath.Join(folder, blocksFile))
	_, pageErr := os.Stat(filepath.Join(folder, PageFile))
	hasNoBlocks := errors.Is(err, os.ErrNotExist) || err == nil && blocks.Size() == 0
	return hasNoBlocks && errors.Is(pageErr, os.ErrNotExist)
}

// claim writes the plan into a new or empty directory, or replaces an unplayed plan. It refuses a directory
// with results of another plan, or with other files.
func claim(folder string, content []byte, unused bool) error {
	path := filepath.Join(folder, planFile)
	existing, err := os.ReadFile(path)
	switch {
	case err == nil && bytes.Equal(existing, content):
		return nil
	case err == nil && !unused:
		return refuse(folder, existing)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	case err != nil:
		if err := requireEmpty(folder); err != nil {
			return err
		}
	}
	return renameio.WriteFile(path, content, 0o644, renameio.WithTempDir(folder))
}

// refuse returns the error for a directory with another plan's results.
func refuse(folder string, content []byte) error {
	var existing planned
	if err := json.Unmarshal(content, &existing); err == nil && existing.Engine != proof.Version {
		return fmt.Errorf("%w: %q has results of another version of the strategies (%s instead of %s): "+
			"use a new folder", ErrFolder, folder, cmp.Or(existing.Engine, "an older one"), proof.Version)
	}
	return fmt.Errorf("%w: %q has another tournament: use another folder", ErrFolder, folder)
}

func requireEmpty(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() != lockFile {
			return fmt.Errorf("%w: %q has other files: use a new folder", ErrFolder, folder)
		}
	}
	return nil
}

// identify returns a plan's id: 32 hexadecimal digits.
func identify(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:16])
}

// runner is a single tournament run.
type runner struct {
	Options
	plan     *tournament.Plan
	id       string
	stats    *tournament.Stats
	sessions *table[sessionRow]
}

func (r *runner) run(ctx context.Context) (*Report, error) {
	var err error
	if r.sessions, err = newTable[sessionRow](r.Folder, "sessions"); err != nil {
		return nil, err
	}
	defer r.sessions.discard()
	path := filepath.Join(r.Folder, blocksFile)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := r.restore(file); err != nil {
		return nil, err
	}
	report := &Report{Continued: r.stats.Sessions(), Of: r.plan.Sessions()}
	encoder := json.NewEncoder(file)
	err = r.play(ctx, func(block *tournament.Block) error {
		if err := encoder.Encode(block); err != nil {
			return err
		}
		return r.add(block)
	})
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	report.Complete = r.stats.Blocks() == r.plan.Blocks()
	if err := r.write(report); err != nil {
		return nil, err
	}
	if report.Complete {
		return report, os.Remove(path)
	}
	return report, file.Sync()
}

func (r *runner) play(ctx context.Context, each func(*tournament.Block) error) error {
	from := r.stats.Blocks()
	switch {
	case from == r.plan.Blocks():
		return nil
	case r.Play != nil:
		return r.Play(ctx, r.id, r.plan, from, each)
	}
	return r.plan.Run(ctx, r.Workers, from, each)
}

// add counts a block.
func (r *runner) add(block *tournament.Block) error {
	r.stats.Add(block)
	if r.Progress != nil && r.Play == nil {
		r.Progress(r.stats.Sessions(), r.plan.Sessions())
	}
	return writeBlock(r.sessions, r.plan, block)
}

// restore adds the blocks from an earlier run, and cuts off an unfinished line left by a killed process.
func (r *runner) restore(file *os.File) error {
	lines := bufio.NewReader(file)
	end := int64(0)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		block := new(tournament.Block)
		if err != nil || json.Unmarshal(line, block) != nil || !r.isNext(block) {
			break
		}
		end += int64(len(line))
		if err := r.add(block); err != nil {
			return err
		}
	}
	if err := file.Truncate(end); err != nil {
		return err
	}
	_, err := file.Seek(end, io.SeekStart)
	return err
}

// isNext reports whether a block has the next block's form.
func (r *runner) isNext(block *tournament.Block) bool {
	return block.Number == r.stats.Blocks() && block.Number < r.plan.Blocks() &&
		len(block.Sessions) == r.plan.BlockSessions() && len(block.Curves) == len(r.plan.Entrants)
}

// write writes the results so far.
func (r *runner) write(report *Report) error {
	report.Scores, report.Sessions = r.stats.Scores(), r.stats.Sessions()
	if err := r.sessions.finish(); err != nil {
		return err
	}
	if err := writeScores(r.Folder, report.Scores); err != nil {
		return err
	}
	page, err := r.page(report)
	if err != nil {
		return err
	}
	return renameio.WriteFile(filepath.Join(r.Folder, PageFile), page, 0o644, renameio.WithTempDir(r.Folder))
}
