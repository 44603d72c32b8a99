package faults_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
)

// received is an event as a listener records it.
type received struct {
	Signature solana.Signature
	Slot      uint64
	Event     string
	// Data is the whole event in hexadecimal.
	Data string
}

func receivedOf(seen haggle.EventEnvelope) received {
	h := received{Signature: seen.Signature, Slot: seen.Slot, Event: "truncated"}
	if seen.Event != nil {
		h.Event, h.Data = seen.Event.EventName(), hex.EncodeToString(seen.Event.AppendTo(nil))
	}
	return h
}

const closedEvent = "NegotiationClosed"

// listener records a negotiation's events in a file. When killed, it later continues where it stopped.
type listener struct {
	client      *haggle.Client
	negotiation solana.PublicKey
	path        string
	logger      *slog.Logger
}

// listenAgain is the pause between failed attempts to subscribe.
const listenAgain = 200 * time.Millisecond

// listen records all events until the context ends.
func (l *listener) listen(ctx context.Context) error {
	for ctx.Err() == nil {
		file, from, err := l.resume()
		if err != nil {
			return err
		}
		subscription, err := l.client.Watch(ctx, l.negotiation, from)
		if err != nil {
			l.logger.Warn("no subscription", "error", err)
			err = pause(ctx, listenAgain)
		} else {
			err = l.write(file, subscription)
			subscription.Close()
		}
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

func (l *listener) write(file *os.File, subscription *haggle.Subscription) error {
	for seen := range subscription.Events() {
		if seen.Late {
			l.logger.Warn("events late")
		}
		line, err := json.Marshal(receivedOf(seen))
		if err != nil {
			return err
		}
		if _, err := file.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	if err := subscription.Err(); err != nil && !errors.Is(err, context.Canceled) {
		l.logger.Warn("a subscription has ended", "error", err)
	}
	return nil
}

// resume removes the last recorded transaction, which may be incomplete, and returns the place to continue
// from.
func (l *listener) resume() (*os.File, haggle.WatchOption, error) {
	all, err := readReceived(l.path)
	if err != nil {
		return nil, nil, err
	}
	for last := len(all) - 1; last >= 0; last-- {
		if all[last].Signature != all[len(all)-1].Signature {
			all = all[:last+1]
			break
		}
		if last == 0 {
			all = nil
		}
	}
	var content bytes.Buffer
	encoder := json.NewEncoder(&content)
	for _, one := range all {
		if err := encoder.Encode(one); err != nil {
			return nil, nil, err
		}
	}
	// A kill at this point leaves either the old file or the new file.
	if err := os.WriteFile(l.path+".new", content.Bytes(), 0o600); err != nil {
		return nil, nil, err
	}
	if err := os.Rename(l.path+".new", l.path); err != nil {
		return nil, nil, err
	}
	file, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	if len(all) == 0 {
		return file, haggle.FromBeginning(), nil
	}
	return file, haggle.After(all[len(all)-1].Signature), nil
}

// readReceived returns the recorded events. It skips a line truncated by a kill.
func readReceived(path string) (all []received, err error) {
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range bytes.Lines(content) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var one received
		if err := json.Unmarshal(line, &one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// pause waits for a duration or the end of the context.
func pause(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(length):
		return nil
	}
}
