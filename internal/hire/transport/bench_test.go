package transport_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// BenchmarkReply measures the time from a seeker's request to the inbox until the seeker has the event with
// the worker's reply, in one conversation over HTTP with SQLite: two messages, each signed, verified and on
// disk before it is delivered. It reports the median and the 99th percentile.
func BenchmarkReply(b *testing.B) {
	h := newHome(b, options{})
	seeker := hiretest.NewAgent()
	toSeeker, toWorker := h.open(b, seeker, nil, ""), h.open(b, h.worker, nil, "")
	post := func(m *hire.Message) {
		response, err := http.Post(h.worker.ID+hire.InboxPath, "application/json", bytes.NewReader(m.Text()))
		if err == nil {
			_, err = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
		if err != nil || response.StatusCode != http.StatusAccepted {
			b.Error("not accepted", err)
		}
	}
	talks := make(chan *hiretest.Talk)
	replied := make(chan struct{})
	defer close(talks)
	go func() {
		for k := range talks {
			_, m := toWorker.next()
			k.Stored(m)
			reply := k.Message(b, hire.RoleWorker, hire.TypeClarification, time.Now())
			post(reply)
			replied <- struct{}{}
		}
	}()
	var times []time.Duration
	k := hiretest.NewTalk(seeker, h.worker)
	for b.Loop() {
		of := hire.TypeClarification
		if len(times)%(hire.MaxMessages/2) == 0 {
			k, of = hiretest.NewTalk(seeker, h.worker), hire.TypeProposal
		}
		talks <- k
		m := k.Message(b, hire.RoleSeeker, of, time.Now())
		begin := time.Now()
		post(m)
		_, reply := toSeeker.next()
		times = append(times, time.Since(begin))
		<-replied
		require.Equal(b, m.Hash(), reply.InReplyTo())
		k.Stored(reply)
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "ms-median")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "ms-p99")
}
