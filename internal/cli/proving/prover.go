// Package proving writes proofs of package proof for negotiations on chain, and compares them with the chain or an
// index.
package proving

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/gagliardetto/solana-go"
	"github.com/google/renameio/v2"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
)

// Prover commits an agent to its strategy, and writes a proof for each negotiation.
type Prover struct {
	// Folder contains a file for each negotiation and side. Once the commitment is made, the file contains
	// the reveal: keep it private until the negotiation is over.
	Folder string
	// Side is the agent's side.
	Side proof.Side
	// Strategy is the subject of the commitment, if Model is nil.
	Strategy proof.Strategy
	// Model is the language model that the agent commits to instead, because model moves cannot be replayed.
	Model *proof.Model
	// Document returns the document with the given hash if the agent had it in the negotiation, otherwise
	// nil. If nil, the proof contains no documents.
	Document func(
		ctx context.Context, negotiation solana.PublicKey, createdAt int64, hash [32]byte,
	) ([]byte, error)
	// Committed is called with each new commitment before publication. If nil, it is not called.
	Committed func(negotiation solana.PublicKey, commitment proof.Hash)

	lock sync.Mutex
}

// Path returns the proof path for the side in a negotiation. Agents on both sides may share a Folder.
func (p *Prover) Path(negotiation solana.PublicKey, createdAt int64) string {
	return filepath.Join(p.Folder, fmt.Sprintf("%s-%d-%s.json", negotiation, createdAt, p.Side))
}

// Commit returns the commitment for a negotiation. The first call makes the nonce and writes the file, before
// anything is published; later calls, including those following a restart, read the file.
func (p *Prover) Commit(n *haggle.Snapshot) ([32]byte, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	path := p.Path(n.Address, n.CreatedAt)
	known, err := readProof(path)
	if err == nil {
		reveal := p.reveal()
		reveal.Nonce = known.Reveal.Nonce
		commitment, err := proof.Commit(termsOf(n), p.Side, reveal)
		if err == nil && commitment != known.Commitment {
			err = fmt.Errorf("%s: the agent is committed to another strategy or model there: restart it with "+
				"that one", path)
		}
		return commitment, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return [32]byte{}, err
	}
	made := &proof.Proof{
		Version: proof.Version, Terms: termsOf(n), Side: p.Side, Offers: []proof.Offer{},
		Reveal: p.reveal(),
	}
	if _, err := rand.Read(made.Reveal.Nonce[:]); err != nil {
		return [32]byte{}, err
	}
	if made.Commitment, err = proof.Commit(made.Terms, made.Side, made.Reveal); err != nil {
		return [32]byte{}, err
	}
	if err := write(path, made); err != nil {
		return [32]byte{}, err
	}
	if p.Committed != nil {
		p.Committed(n.Address, made.Commitment)
	}
	return made.Commitment, nil
}

// reveal returns the subject of the commitment, nonce not included.
func (p *Prover) reveal() proof.Reveal {
	if p.Model != nil {
		return proof.Reveal{Model: p.Model}
	}
	return proof.Reveal{Strategy: new(p.Strategy)}
}

func readProof(path string) (*proof.Proof, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p, err := proof.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// write replaces a file atomically: a nonce must not be lost once the commitment is published.
func write(path string, p *proof.Proof) error {
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		return err
	}
	file, err := renameio.NewPendingFile(path, renameio.WithStaticPermissions(0o600),
		renameio.WithTempDir(filepath.Dir(path)))
	if err != nil {
		return err
	}
	defer file.Cleanup()
	if _, err := file.Write(text.Bytes()); err != nil {
		return err
	}
	return file.CloseAtomicallyReplace()
}
