package transport

import (
	"net/http"
	"time"
)

// timedWriter limits each write's time instead of the whole response's.
type timedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration
}

func timed(w http.ResponseWriter, limit time.Duration) *timedWriter {
	return &timedWriter{w, http.NewResponseController(w), limit}
}

func (t *timedWriter) Write(content []byte) (int, error) {
	if err := t.control.SetWriteDeadline(time.Now().Add(t.limit)); err != nil {
		return 0, err
	}
	return t.ResponseWriter.Write(content)
}

// Flush makes it an [http.Flusher], which servers of streams look for.
func (t *timedWriter) Flush() { _ = t.control.Flush() }

// Unwrap lets an [http.ResponseController] find the connection.
func (t *timedWriter) Unwrap() http.ResponseWriter { return t.ResponseWriter }
