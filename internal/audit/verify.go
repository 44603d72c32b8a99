package audit

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// A Source reads one database snapshot.
type Source interface {
	// AuditSnapshot calls heads with each chain's recorded head, which products store apart from the entries,
	// and links with every link, ordered by chain and sequence. Both read the same database snapshot. A
	// recorded head without entries is reported as deleted: create the chain together with the first entry.
	AuditSnapshot(ctx context.Context, heads func(Head) error, links func(Link) error) error
}

// Problem is a finding's kind.
type Problem string

// The problems.
const (
	// Changed: an entry's text does not match the recorded hash, or names another entry.
	Changed Problem = "changed"
	// Missing: an entry before others is gone.
	Missing Problem = "missing"
	// Truncated: a chain's last entries are gone.
	Truncated Problem = "truncated"
	// Deleted: a whole chain is gone.
	Deleted Problem = "deleted"
	// Rewritten: the entries agree with each other, but not with a checkpoint.
	Rewritten Problem = "rewritten"
	// Unrecorded: the chain and the recorded head differ.
	Unrecorded Problem = "unrecorded"
	// BadCheckpoint: a line of the checkpoint file is not valid or missing.
	BadCheckpoint Problem = "bad checkpoint"
)

// Finding is a difference between the database and the checkpoints.
type Finding struct {
	Problem Problem `json:"problem"`
	// Chain is empty if the finding is about the checkpoint file.
	Chain string `json:"chain,omitempty"`
	// Entry is the sequence of the first wrong or missing entry. Earlier entries are as written. In a
	// rewritten chain the first wrong entry is between Entry and Until.
	Entry int64 `json:"entry,omitempty"`
	Until int64 `json:"until,omitempty"`
	// Detail describes the difference.
	Detail string `json:"detail"`
}

func (f Finding) String() string {
	if f.Problem == BadCheckpoint {
		return f.Detail
	}
	return fmt.Sprintf("chain %s: entry %d %s: %s", f.Chain, f.Entry, f.Problem, f.Detail)
}

// Report is Verify's result.
type Report struct {
	// Chains, Entries and Checkpoints count the checked objects.
	Chains      int    `json:"chains"`
	Entries     int64  `json:"entries"`
	Checkpoints uint64 `json:"checkpoints"`
	// Uncovered is the number of entries after the last checkpoint of their chain. If such entries are
	// changed and all later hashes recomputed, the change is not visible.
	Uncovered int64 `json:"uncovered"`
	// Findings is ordered by chain. It is empty if everything is valid.
	Findings []Finding `json:"findings"`
}

// VerifyOptions contains Verify's inputs.
type VerifyOptions struct {
	// Path is the checkpoint file.
	Path string
	// Key is the public key of the checkpoints. The keys in the file are not trusted.
	Key ed25519.PublicKey
	// MinSequence is the sequence of a checkpoint known to exist. If zero, none is known.
	MinSequence uint64
}

// Verify checks the chains in a database against themselves and a checkpoint file. It returns an error if
// either cannot be read. The report contains the findings.
func Verify(ctx context.Context, source Source, options VerifyOptions) (*Report, error) {
	opened, err := os.Open(options.Path)
	if err != nil {
		return nil, fmt.Errorf("checkpoint file: %w", err)
	}
	defer opened.Close()
	v := &verification{recorded: map[string]Head{}, chains: map[string]bool{},
		report: &Report{Findings: []Finding{}}}
	// The file is read first, so every head in it is older than the database snapshot.
	var invalid *CheckpointError
	if v.file, _, err = read(opened, options.Key); errors.As(err, &invalid) {
		v.found(Finding{Problem: BadCheckpoint, Detail: invalid.Error()})
	} else if err != nil {
		return nil, err
	}
	v.report.Checkpoints = v.file.last.Sequence
	if invalid == nil && v.report.Checkpoints < options.MinSequence {
		v.found(Finding{Problem: BadCheckpoint, Detail: fmt.Sprintf(
			"checkpoint file: ends with checkpoint %d, but checkpoint %d exists",
			v.report.Checkpoints, options.MinSequence)})
	}
	err = source.AuditSnapshot(ctx, func(head Head) error {
		v.recorded[head.Chain] = head
		return nil
	}, v.link)
	if err != nil {
		return nil, err
	}
	v.end()
	v.deleted()
	slices.SortStableFunc(v.report.Findings, func(a, b Finding) int { return strings.Compare(a.Chain, b.Chain) })
	return v.report, nil
}

// VerifyChain checks an exported chain: all links, ordered by sequence. It needs neither a database nor a
// checkpoint file. It returns the first changed or missing entry as a finding, and the head before this
// entry. If the chain is valid, the finding is nil and the head covers all links.
//
// VerifyChain does not find entries cut off the end, or a chain written again with new hashes. To detect
// these, compare the head, or an earlier link's hash, with a known value.
func VerifyChain(chain string, links []Link) (Head, *Finding) {
	head := Head{Chain: chain}
	for _, l := range links {
		next, finding := follow(head, l)
		if finding != nil {
			return head, finding
		}
		head = next
	}
	return head, nil
}

// follow returns the new head once a link is added. It returns a finding if the link does not follow the
// head.
func follow(head Head, l Link) (Head, *Finding) {
	sequence := head.Length + 1
	finding := func(problem Problem, format string, arguments ...any) (Head, *Finding) {
		return head, &Finding{Problem: problem, Chain: head.Chain, Entry: sequence,
			Detail: fmt.Sprintf(format, arguments...)}
	}
	if l.Chain != head.Chain {
		return finding(Changed, "the next entry belongs to chain %s", l.Chain)
	}
	if l.Sequence != sequence {
		return finding(Missing, "the next entry is %d", l.Sequence)
	}
	var e Entry
	if err := json.Unmarshal([]byte(l.Text), &e); err != nil {
		return finding(Changed, "invalid JSON: %v", err)
	}
	if e.Chain != l.Chain || e.Sequence != l.Sequence {
		return finding(Changed, "the text belongs to entry %d of chain %s", e.Sequence, e.Chain)
	}
	hash := Hash(head.Hash, l.Text)
	if hash != l.Hash {
		return finding(Changed, "hash is %s, recorded %s", hash, l.Hash)
	}
	return Head{Chain: head.Chain, Length: sequence, Hash: hash}, nil
}

type verification struct {
	file     file
	recorded map[string]Head
	// chains holds the names of all chains with entries.
	chains map[string]bool
	report *Report
	// head is the chain that is being read, and wrong reports whether there is a finding for it.
	head  Head
	wrong bool
	// confirmed is the chain length confirmed by checkpoints.
	confirmed int64
}

func (v *verification) found(f Finding) {
	v.report.Findings = append(v.report.Findings, f)
	v.wrong = true
}

// link checks the next entry. Only a chain's first finding is reported: the others follow from it.
func (v *verification) link(l Link) error {
	if l.Chain != v.head.Chain || len(v.chains) == 0 {
		v.end()
		v.head, v.wrong, v.confirmed = Head{Chain: l.Chain}, false, 0
		v.chains[l.Chain] = true
		v.report.Chains++
	}
	v.report.Entries++
	if v.wrong {
		return nil
	}
	head, finding := follow(v.head, l)
	if finding != nil {
		v.found(*finding)
		return nil
	}
	v.head = head
	for _, covered := range v.file.covered[l.Chain] {
		if covered.Length != head.Length {
			continue
		}
		if covered.Hash != head.Hash {
			v.found(Finding{Problem: Rewritten, Chain: l.Chain, Entry: v.confirmed + 1, Until: head.Length,
				Detail: fmt.Sprintf("head of %d entries is %s, in checkpoint %d %s", head.Length, head.Hash,
					covered.checkpoint, covered.Hash)})
			return nil
		}
		v.confirmed = head.Length
	}
	return nil
}

// end checks the end of the current chain.
func (v *verification) end() {
	if len(v.chains) == 0 {
		return
	}
	v.report.Uncovered += v.head.Length - v.confirmed
	if v.wrong {
		return
	}
	name := v.head.Chain
	if last, known := v.file.heads[name]; known && v.head.Length < last.Length {
		v.found(Finding{Problem: Truncated, Chain: name, Entry: v.head.Length + 1, Until: last.Length,
			Detail: fmt.Sprintf("the chain has %d entries, a checkpoint %d", v.head.Length, last.Length)})
		return
	}
	switch recorded, known := v.recorded[name]; {
	case !known:
		v.found(Finding{Problem: Unrecorded, Chain: name, Entry: 1, Detail: "no head is recorded"})
	case recorded.Length > v.head.Length:
		v.found(Finding{Problem: Truncated, Chain: name, Entry: v.head.Length + 1, Until: recorded.Length,
			Detail: fmt.Sprintf("the chain has %d entries, the recorded head %d", v.head.Length,
				recorded.Length)})
	case recorded != v.head:
		v.found(Finding{Problem: Unrecorded, Chain: name, Entry: min(recorded.Length, v.head.Length),
			Detail: fmt.Sprintf("the recorded head has %d entries and hash %s, the chain %d and %s",
				recorded.Length, recorded.Hash, v.head.Length, v.head.Hash)})
	}
}

// deleted reports the chains whose entries are all missing.
func (v *verification) deleted() {
	for name, head := range v.file.heads {
		if !v.chains[name] {
			v.found(Finding{Problem: Deleted, Chain: name, Entry: 1, Until: head.Length,
				Detail: fmt.Sprintf("a checkpoint has %d entries", head.Length)})
		}
	}
	for name, head := range v.recorded {
		if _, covered := v.file.heads[name]; !covered && !v.chains[name] {
			v.found(Finding{Problem: Deleted, Chain: name, Entry: 1, Until: head.Length,
				Detail: fmt.Sprintf("the recorded head has %d entries", head.Length)})
		}
	}
}
