package transport

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/haggle-protocol/haggle/internal/hire/service"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/httpsig"
)

// transfer limits concurrent deliveries, because their content is in memory, and sets the time limits.
func (h *handler) transfer(w http.ResponseWriter) (done func(), err error) {
	if !h.transfers.TryAcquire(1) {
		return nil, &service.Overload{After: time.Second, Text: "too many deliveries at once"}
	}
	control, end := http.NewResponseController(w), time.Now().Add(transferTimeout)
	if err := errors.Join(control.SetReadDeadline(end), control.SetWriteDeadline(end)); err != nil {
		h.transfers.Release(1)
		return nil, err
	}
	return func() { h.transfers.Release(1) }, nil
}

func (h *handler) deliver(w http.ResponseWriter, r request) {
	if err := h.receiveDelivery(w, r); err != nil {
		h.fail(w, r.Request, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *handler) receiveDelivery(w http.ResponseWriter, r request) error {
	d := service.Delivery{
		Agent: r.agent, Seeker: r.query["seeker"], Conversation: r.query["conversation_id"], Hash: r.PathValue("hash"),
	}
	// Strangers must not make the home read 8 MiB.
	if err := h.Service.CheckDelivery(r.Context(), d); err != nil {
		return err
	}
	done, err := h.transfer(w)
	if err != nil {
		return err
	}
	defer done()
	content, err := io.ReadAll(http.MaxBytesReader(w, r.Body, hire.MaxDelivery))
	if err != nil {
		return malformed("body: incomplete, or longer than 8 MiB")
	}
	if err := httpsig.VerifyContentDigest(r.Header, content); err != nil && len(content) > 0 {
		return malformed("content-digest: not the digest of the body")
	}
	return h.Service.Deliver(r.Context(), d, content)
}

func (h *handler) delivery(w http.ResponseWriter, r request) {
	done, err := h.transfer(w)
	if err != nil {
		h.fail(w, r.Request, err)
		return
	}
	defer done()
	content, err := h.Service.Delivery(r.Context(), r.agent, r.PathValue("hash"))
	if err != nil {
		h.fail(w, r.Request, err)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	_, _ = w.Write(content)
}
