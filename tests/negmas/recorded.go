package negmas

import (
	"bytes"
	"encoding/json"
	"os"
)

// Recorded contains NegMAS' results.
type Recorded struct {
	// About says how the file was made.
	About string `json:"about"`
	// Version and Python are the NegMAS and Python versions.
	Version string `json:"version"`
	Python  string `json:"python"`
	// Negotiators is the number of classes of negotiators that NegMAS exports.
	Negotiators int `json:"negotiators,omitempty"`
	// Seeds is the number of runs, each with another seed, for a session with a random strategy.
	Seeds int `json:"seeds"`
	// Scenarios holds each scenario's SHA-256.
	Scenarios map[string]string `json:"scenarios"`
	Sessions  []RecordedSession `json:"sessions"`
}

// RecordedSession is a session with the different results from all runs.
type RecordedSession struct {
	Session
	Answers []Answer `json:"answers"`
}

// Write writes recorded results, one session per line.
func (r *Recorded) Write(path string) error {
	head := *r
	head.Sessions = nil
	text, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		return err
	}
	out := bytes.NewBuffer(bytes.TrimSuffix(text, []byte("null\n}")))
	out.WriteString("[\n")
	for i, session := range r.Sessions {
		line, err := json.Marshal(session)
		if err != nil {
			return err
		}
		out.WriteString("    ")
		out.Write(line)
		if i < len(r.Sessions)-1 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
	}
	out.WriteString("  ]\n}\n")
	return os.WriteFile(path, out.Bytes(), 0o644)
}
