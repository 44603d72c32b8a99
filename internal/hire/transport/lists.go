package transport

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/haggle-protocol/haggle/internal/hire/service"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

func (h *handler) conversations(w http.ResponseWriter, r request) {
	selected, err := selection(r)
	if err != nil {
		h.fail(w, r.Request, err)
		return
	}
	found, err := h.Service.Conversations(r.Context(), selected)
	if err != nil {
		h.fail(w, r.Request, err)
		return
	}
	page := hire.ConversationPage{
		Latest: uint64(found.Latest), Conversations: []hire.Conversation{}, Next: found.Next,
	}
	for _, state := range found.States {
		page.Conversations = append(page.Conversations, hire.Conversation{
			ID: state.Conversation, Seeker: state.Seeker, Worker: state.Worker, State: state,
		})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(page)
}

func selection(r request) (selected service.Selection, err error) {
	selected = service.Selection{Agent: r.agent, After: r.query["after"]}
	if selected.After != "" && !service.IsID(selected.After) {
		return selected, malformed("after: not the next of a page")
	}
	if text, has := r.query["open"]; has {
		if selected.Open, err = strconv.ParseBool(text); err != nil {
			return selected, malformed("open: neither true nor false")
		}
	}
	if text, has := r.query["session"]; has {
		session, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return selected, malformed("session: not a number below 2^64")
		}
		selected.Session = &session
	}
	return selected, nil
}

// log sends a conversation's audit links, one per line.
func (h *handler) log(w http.ResponseWriter, r request) {
	links, err := h.Service.Log(r.Context(), r.agent, r.query["conversation_id"], r.query["seeker"])
	if err != nil {
		h.fail(w, r.Request, err)
		return
	}
	lines := json.NewEncoder(timed(w, eventTimeout))
	lines.SetEscapeHTML(false)
	w.Header().Set("Content-Type", "application/jsonl")
	for link, err := range links {
		if err == nil {
			err = lines.Encode(link)
		}
		if err != nil {
			// The status is sent. Aborting the connection is the only way to show that the log is incomplete.
			panic(http.ErrAbortHandler)
		}
	}
}
