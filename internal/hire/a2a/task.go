package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/haggle-protocol/haggle/internal/hire/service"
	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

const (
	mediaType = "application/json"
	// maxContent limits deliveries in artifacts, in bytes. Larger deliveries are fetched at their URL.
	maxContent = 256 << 10
)

// task returns a conversation as a task for the seeker.
func (b *Binding) task(ctx context.Context, id string) (*a2a.Task, *service.Thread, error) {
	thread, err := b.config.Service.Thread(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	task := &a2a.Task{ID: b.taskID(id), ContextID: thread.State.Conversation}
	status := &task.Status
	var note string
	status.State, note = b.stateOf(thread)
	var latest *a2a.Message
	messages, err := b.config.Service.Messages(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range messages {
		if m.Payload().Type() == hire.TypeContract && m.To() != thread.State.Seeker {
			continue // the worker's copy
		}
		message, err := messageOf(task, thread.State.Seeker, m)
		if err != nil {
			return nil, nil, err
		}
		task.History = append(task.History, message)
		if m.From() != thread.State.Seeker {
			latest = message
		}
	}
	if at := thread.State.At; !at.IsZero() {
		status.Timestamp = &at
	}
	if latest != nil {
		said := *latest
		status.Message = &said
	} else if note != "" {
		status.Message = a2a.NewMessageForTask(a2a.MessageRoleAgent, task)
		status.Message.ID = string(thread.State.Last)
	}
	if note != "" {
		status.Message.Parts = append(a2a.ContentParts{a2a.NewTextPart(note)}, status.Message.Parts...)
	}
	task.Artifacts, err = b.artifacts(ctx, thread)
	return task, thread, err
}

// stateOf returns the task's state, with a note for people where the messages do not explain it.
func (b *Binding) stateOf(thread *service.Thread) (a2a.TaskState, string) {
	state := thread.State
	bySeeker := thread.Last.From() == state.Seeker
	switch kind := thread.Last.Payload().Type(); {
	case kind == hire.TypeInquiry && !thread.Now.After(b.capabilityDue(thread)):
		return a2a.TaskStateWorking, ""
	case kind == hire.TypeInquiry:
		return a2a.TaskStateInputRequired, "the worker has not answered the inquiry; a proposal is possible"
	case kind == hire.TypeCapability:
		return a2a.TaskStateInputRequired, ""
	}
	switch state.Phase {
	case hire.PhaseDeclined:
		if bySeeker {
			return a2a.TaskStateCanceled, ""
		}
		return a2a.TaskStateRejected, ""
	case hire.PhaseNegotiating:
		if bySeeker {
			return a2a.TaskStateWorking, ""
		}
		return a2a.TaskStateInputRequired, ""
	case hire.PhaseContracted:
		return b.contracted(thread)
	}
	return a2a.TaskStateFailed, "the time for a response is over"
}

// capabilityDue returns the time until which an inquiry waits for a capability; zero if none waits.
func (b *Binding) capabilityDue(thread *service.Thread) time.Time {
	if thread.Last.Payload().Type() != hire.TypeInquiry {
		return time.Time{}
	}
	return b.config.Service.Rules().CapabilityDue(thread.State.At)
}

// deadlineOf returns the deadline of the delivery.
func deadlineOf(thread *service.Thread) time.Time {
	deadline, _ := thread.State.Terms.Deadline.Parse() // valid: hire.Parse checks it
	return deadline
}

// awaitsEscrow reports whether both sides have accepted, and the seeker must deposit.
func (b *Binding) awaitsEscrow(thread *service.Thread) bool {
	state := thread.State
	return b.config.Service.Settles() && state.SeekerAccept != "" && state.WorkerAccept != "" && state.SeekerContract == ""
}

// escrowDue returns the time until which a task waits for the seeker's escrow; zero if not waiting.
func (b *Binding) escrowDue(thread *service.Thread) time.Time {
	if !b.awaitsEscrow(thread) {
		return time.Time{}
	}
	// The home needs some time to see an escrow.
	due, deadline := thread.LastAt.Add(service.ContractWindow), deadlineOf(thread).Add(time.Minute)
	if deadline.Before(due) {
		return deadline
	}
	return due
}

// contracted returns the task state following at least one acceptance.
func (b *Binding) contracted(thread *service.Thread) (a2a.TaskState, string) {
	state, now := thread.State, thread.Now
	switch {
	case state.SeekerAccept == "":
		return a2a.TaskStateInputRequired, "the worker has accepted; the same acceptance of the seeker is due"
	case state.WorkerAccept == "":
		return a2a.TaskStateWorking, ""
	case !b.config.Service.Settles():
		return a2a.TaskStateCompleted, "both sides have accepted; this home settles nothing"
	case b.awaitsEscrow(thread) && now.After(b.escrowDue(thread)):
		return a2a.TaskStateFailed, "this home has seen no escrow in time; look for it on chain"
	case b.awaitsEscrow(thread):
		return a2a.TaskStateWorking, "both sides have accepted; the home waits for the seeker's escrow on chain"
	case len(delivered(thread)) > 0:
		return a2a.TaskStateCompleted, "the worker has delivered; after a claim on chain, silence pays it at the end of the review"
	case now.After(deadlineOf(thread)):
		return a2a.TaskStateFailed, "no delivery at this home before the deadline; look for a claim on chain, and dispute it in time"
	}
	return a2a.TaskStateWorking, "the price is in escrow; the worker works"
}

// delivered returns the deliveries of the current deal.
func delivered(thread *service.Thread) []store.Delivered {
	if thread.State.SeekerAccept == "" || thread.State.WorkerAccept == "" {
		return nil
	}
	for i, delivery := range thread.Deliveries {
		if !delivery.At.Before(thread.LastAt) {
			return thread.Deliveries[i:]
		}
	}
	return nil
}

// artifacts returns the deliveries of the current deal.
func (b *Binding) artifacts(ctx context.Context, thread *service.Thread) (artifacts []*a2a.Artifact, err error) {
	for _, delivery := range delivered(thread) {
		part := a2a.NewFileURLPart(a2a.URL(b.config.Card.ID+hire.DeliveriesPath+delivery.Hash), "application/octet-stream")
		if delivery.Size <= maxContent {
			content, err := b.config.Service.Delivery(ctx, thread.State.Seeker, delivery.Hash)
			if errors.Is(err, store.ErrNotFound) {
				continue // too old, and deleted meanwhile
			}
			if err != nil {
				return nil, err
			}
			part = a2a.NewRawPart(content)
			part.MediaType = "application/octet-stream"
		}
		artifacts = append(artifacts, &a2a.Artifact{
			ID: a2a.ArtifactID(delivery.Hash), Name: "delivery", Parts: a2a.ContentParts{part},
			Metadata: map[string]any{
				"sha256": delivery.Hash, "size": delivery.Size, "at": delivery.At.Format(time.RFC3339Nano),
			},
		})
	}
	return artifacts, nil
}

// messageOf converts a HIRE message for A2A.
func messageOf(task *a2a.Task, seeker string, m *hire.Message) (*a2a.Message, error) {
	var data any
	if err := json.Unmarshal(m.Text(), &data); err != nil {
		return nil, err
	}
	part := a2a.NewDataPart(data)
	part.MediaType = mediaType
	role := a2a.MessageRoleAgent
	if m.From() == seeker {
		role = a2a.MessageRoleUser
	}
	message := a2a.NewMessageForTask(role, task, part)
	message.ID = string(m.Hash())
	return message, nil
}

// parse returns the HIRE message inside an A2A message.
func parse(message *a2a.Message) (*hire.Message, error) {
	if message == nil || len(message.Parts) != 1 || message.Parts[0] == nil || message.Parts[0].Data() == nil {
		return nil, invalid("message: must have one data part: a signed message of " + hire.Protocol)
	}
	text, err := json.Marshal(message.Parts[0].Data())
	if err != nil {
		return nil, invalid("message: data: not valid")
	}
	m, err := hire.Parse(text)
	if err != nil {
		return nil, err
	}
	if message.ContextID != "" && message.ContextID != m.Conversation() {
		return nil, invalid("message: contextId: not the conversation_id of the signed message")
	}
	return m, nil
}
