package proving

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
)

// ErrNoEnd: the node has yet to return the negotiation's end.
var ErrNoEnd = errors.New("the node has not returned the end of the negotiation")

// Pauses when rereading a history that lacks the end.
const (
	firstPause   = 200 * time.Millisecond
	longestPause = 5 * time.Second
)

// Finish adds the offers and last move on chain to an ended negotiation's unfinished proof, and verifies the
// proof. A node's history can lag behind the accounts, so Finish retries until the history contains the end. It
// returns ErrNoEnd if ctx is done earlier. An address can hold several negotiations in turn, with several
// proofs: Finish returns the paths of the proofs it finished; none if the agent has no unfinished proof.
func (p *Prover) Finish(
	ctx context.Context, client *haggle.Client, negotiation solana.PublicKey,
) (paths []string, err error) {
	policy := backoff.NewExponentialBackOff()
	policy.InitialInterval, policy.MaxInterval = firstPause, longestPause
	paths, err = backoff.Retry(ctx, func() ([]string, error) {
		finished, err := p.finishKnown(ctx, client, negotiation)
		lags := errors.Is(err, ErrNoEnd) || errors.Is(err, rpc.ErrNotFound)
		if err != nil && !lags {
			err = backoff.Permanent(err)
		}
		return finished, err
	}, backoff.WithBackOff(policy), backoff.WithMaxElapsedTime(0))
	if err != nil && ctx.Err() != nil && !errors.Is(err, ErrNoEnd) {
		err = fmt.Errorf("%w: %w", ErrNoEnd, err)
	}
	return paths, err
}

// finishKnown finishes the proofs for the negotiations at the given address whose ends the node knows.
func (p *Prover) finishKnown(
	ctx context.Context, client *haggle.Client, negotiation solana.PublicKey,
) (paths []string, err error) {
	unfinished, err := p.unfinished(negotiation)
	if err != nil || len(unfinished) == 0 {
		return nil, err
	}
	courses, err := read(ctx, client, negotiation)
	if err != nil {
		return nil, err
	}
	for _, c := range courses {
		made := unfinished[c.terms.CreatedAt]
		if made == nil || c.last == nil {
			continue
		}
		if err := p.complete(ctx, client, made, c); err != nil {
			return paths, err
		}
		path := p.Path(negotiation, c.terms.CreatedAt)
		if err := write(path, made); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	if len(paths) == 0 {
		return nil, ErrNoEnd
	}
	return paths, nil
}

// unfinished returns the agent's unfinished proofs for the negotiations at the given address, by created_at.
func (p *Prover) unfinished(negotiation solana.PublicKey) (map[int64]*proof.Proof, error) {
	entries, err := os.ReadDir(p.Folder)
	if err != nil {
		return nil, err
	}
	found := map[int64]*proof.Proof{}
	for _, entry := range entries {
		if !strings.Contains(entry.Name(), negotiation.String()) || filepath.Ext(entry.Name()) != ".json" {
			continue
		}
		path := filepath.Join(p.Folder, entry.Name())
		known, err := readProof(path)
		if err != nil {
			return nil, err
		}
		if createdAt := known.Terms.CreatedAt; known.Last == nil && p.Path(negotiation, createdAt) == path {
			found[createdAt] = known
		}
	}
	return found, nil
}

// complete adds a negotiation's moves with the agent's documents to the proof, and verifies the proof.
func (p *Prover) complete(ctx context.Context, client *haggle.Client, made *proof.Proof, c *course) error {
	if err := c.readMetadata(ctx, client); err != nil {
		return err
	}
	if err := p.addDocuments(ctx, c); err != nil {
		return err
	}
	made.Offers, made.Last = c.offers, c.last
	_, err := made.Verify()
	return err
}

// addDocuments adds the documents that the agent has had to the offers.
func (p *Prover) addDocuments(ctx context.Context, c *course) error {
	for i := range c.offers {
		hash, has := onchain.Metadata(c.offers[i].Metadata).Document()
		if !has || p.Document == nil {
			continue
		}
		text, err := p.Document(ctx, solana.PublicKey(c.terms.Negotiation), c.terms.CreatedAt, hash)
		if err != nil {
			return fmt.Errorf("document of offer %d: %w", i+1, err)
		}
		c.offers[i].Document = string(text)
	}
	return nil
}
