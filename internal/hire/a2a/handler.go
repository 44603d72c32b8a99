package a2a

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/haggle-protocol/haggle/internal/hire/service"
	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

var _ a2asrv.RequestHandler = (*Binding)(nil)

// maxAge is how long messages can be repeated.
const maxAge = 5 * time.Minute

func invalid(text string) error { return a2a.NewError(a2a.ErrInvalidParams, text) }

// failed returns the error for the client. It logs internal errors, and does not send their details.
func (b *Binding) failed(ctx context.Context, err error) error {
	var refusal *hire.Refusal
	var overload *service.Overload
	var known *a2a.Error
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.As(err, &refusal):
		return a2a.NewError(a2a.ErrInvalidParams, refusal.Text).WithDetails(map[string]any{"reason": string(refusal.Reason)})
	case errors.As(err, &overload):
		return a2a.NewError(a2a.ErrServerError, overload.Text).WithDetails(map[string]any{
			"retry_after": overload.After.Seconds(),
		})
	case errors.Is(err, store.ErrNotFound):
		return a2a.NewError(a2a.ErrTaskNotFound, "task not found")
	}
	if ctx.Err() == nil {
		b.config.Log.ErrorContext(ctx, "A2A request failed", "error", err)
	}
	return a2a.NewError(a2a.ErrInternalError, "not served: try again")
}

// SendMessage receives a signed message, and returns the task once the worker has answered, or at once.
func (b *Binding) SendMessage(ctx context.Context, request *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	m, id, err := b.verify(ctx, request.Message)
	if err == nil {
		err = b.receive(ctx, m, id)
	}
	if err != nil {
		return nil, b.failed(ctx, err)
	}
	config := request.Config
	if config == nil {
		config = &a2a.SendMessageConfig{}
	}
	task, thread, err := b.task(ctx, id)
	if err == nil && !config.ReturnImmediately && b.awaitsWorker(task, thread) {
		// Where too many requests wait, this one returns at once.
		if waiting, end, ok := b.waits.begin(ctx, id, maxWait); ok {
			defer end()
			for err == nil && b.awaitsWorker(task, thread) && b.changed(waiting, id, thread) {
				task, thread, err = b.task(ctx, id)
			}
		}
	}
	if err != nil {
		return nil, b.failed(ctx, err)
	}
	return latest(task, config.HistoryLength), nil
}

// awaitsWorker reports whether the worker acts next.
func (b *Binding) awaitsWorker(task *a2a.Task, thread *service.Thread) bool {
	return task.Status.State == a2a.TaskStateWorking && !b.awaitsEscrow(thread)
}

// verify returns the signed message and the conversation.
func (b *Binding) verify(ctx context.Context, message *a2a.Message) (m *hire.Message, id string, err error) {
	if m, err = parse(message); err != nil {
		return nil, "", err
	}
	// Old messages are in logs that their parties show to others. They prove nothing about who sends them now.
	if m.At().Sub(b.config.Service.Now()).Abs() > maxAge {
		return nil, "", &hire.Refusal{
			Reason: hire.ReasonClock, Text: "timestamp: more than 5 minutes from the receiver's clock",
		}
	}
	// Unless the signature is valid, the caller cannot find out which conversations exist, and no
	// conversation is read.
	if err := b.config.Service.Verify(ctx, m); err != nil {
		return nil, "", err
	}
	id = store.ConversationID(m.Conversation(), m.From(), m.To())
	if message.TaskID != "" {
		if named, is := b.conversation(message.TaskID); !is || named != id {
			return nil, "", a2a.NewError(a2a.ErrTaskNotFound, "task not found")
		}
	}
	return m, id, nil
}

// receive passes a message to the home. A message already stored is no error: the client may repeat it.
func (b *Binding) receive(ctx context.Context, m *hire.Message, id string) error {
	switch thread, err := b.config.Service.Thread(ctx, id); {
	case errors.Is(err, store.ErrNotFound): // the first message
	case err != nil:
		return err
	case m.From() != thread.State.Seeker:
		return invalid("message: only the seeker of a conversation speaks A2A")
	case b.hasEnded(thread):
		known, err := b.config.Service.Contains(ctx, m)
		if err == nil && !known {
			err = a2a.NewError(a2a.ErrUnsupportedOperation, "the task has ended: begin another conversation")
		}
		return err
	}
	return b.store(ctx, m)
}

// store passes a message to the home, unless the home has stored it.
func (b *Binding) store(ctx context.Context, m *hire.Message) error {
	err := b.config.Service.Receive(ctx, m)
	if refusal := new(hire.Refusal); errors.As(err, &refusal) && refusal.Reason == hire.ReasonDuplicate {
		return nil
	}
	return err
}

func (b *Binding) hasEnded(thread *service.Thread) bool {
	state, _ := b.stateOf(thread)
	return state.Terminal()
}

// latest limits a task's history.
func latest(task *a2a.Task, length *int) *a2a.Task {
	if length != nil && *length >= 0 && *length < len(task.History) {
		task.History = task.History[len(task.History)-*length:]
	}
	return task
}

// GetTask returns a task.
func (b *Binding) GetTask(ctx context.Context, request *a2a.GetTaskRequest) (*a2a.Task, error) {
	id, err := b.known(request.ID)
	if err != nil {
		return nil, err
	}
	task, _, err := b.task(ctx, id)
	if err != nil {
		return nil, b.failed(ctx, err)
	}
	return latest(task, request.HistoryLength), nil
}

func (b *Binding) known(task a2a.TaskID) (string, error) {
	id, is := b.conversation(task)
	if !is {
		return "", a2a.NewError(a2a.ErrTaskNotFound, "task not found")
	}
	return id, nil
}

// SendStreamingMessage receives a signed message, and yields the task and later changes. It receives nothing
// if too many requests wait.
func (b *Binding) SendStreamingMessage(ctx context.Context, request *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		m, id, err := b.verify(ctx, request.Message)
		if err != nil {
			yield(nil, b.failed(ctx, err))
			return
		}
		b.stream(ctx, id, func() error { return b.receive(ctx, m, id) }, yield)
	}
}

// SubscribeToTask yields a task and later changes.
func (b *Binding) SubscribeToTask(ctx context.Context, request *a2a.SubscribeToTaskRequest) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		id, err := b.known(request.ID)
		if err != nil {
			yield(nil, err)
			return
		}
		b.stream(ctx, id, func() error { return nil }, yield)
	}
}

// stream begins, and yields the task, and then the task's status and artifacts whenever they change, until it
// is the seeker's turn, the task has ended, or ten minutes are over.
func (b *Binding) stream(
	ctx context.Context, id string, begin func() error, yield func(a2a.Event, error) bool,
) {
	waiting, end, ok := b.waits.begin(ctx, id, maxStream)
	if !ok {
		yield(nil, b.failed(ctx, &service.Overload{After: 5 * time.Second, Text: "too many requests wait for workers"}))
		return
	}
	defer end()
	if err := begin(); err != nil {
		yield(nil, b.failed(ctx, err))
		return
	}
	task, thread, err := b.task(ctx, id)
	if err != nil {
		yield(nil, b.failed(ctx, err))
		return
	}
	if !yield(task, nil) {
		return
	}
	sent := len(task.Artifacts)
	for task.Status.State == a2a.TaskStateWorking && b.changed(waiting, id, thread) {
		if task, thread, err = b.task(ctx, id); err != nil {
			yield(nil, b.failed(ctx, err))
			return
		}
		for ; sent < len(task.Artifacts); sent++ {
			if !yield(&a2a.TaskArtifactUpdateEvent{
				TaskID: task.ID, ContextID: task.ContextID, Artifact: task.Artifacts[sent], LastChunk: true,
			}, nil) {
				return
			}
		}
		if !yield(&a2a.TaskStatusUpdateEvent{TaskID: task.ID, ContextID: task.ContextID, Status: task.Status}, nil) {
			return
		}
	}
}

// CancelTask is not possible: ending a negotiation needs a signed message.
func (b *Binding) CancelTask(_ context.Context, request *a2a.CancelTaskRequest) (*a2a.Task, error) {
	if _, err := b.known(request.ID); err != nil {
		return nil, err
	}
	return nil, a2a.NewError(a2a.ErrTaskNotCancelable, "send a signed message of type reject")
}

// ListTasks is not supported: A2A requests do not prove who sends them.
func (b *Binding) ListTasks(context.Context, *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	return nil, a2a.ErrUnsupportedOperation
}

// GetTaskPushConfig is not supported, like all methods for push notifications: a home pushes to agents with
// an inbox.
func (b *Binding) GetTaskPushConfig(context.Context, *a2a.GetTaskPushConfigRequest) (*a2a.TaskPushConfig, error) {
	return nil, a2a.ErrPushNotificationNotSupported
}

// ListTaskPushConfigs is not supported.
func (b *Binding) ListTaskPushConfigs(
	context.Context, *a2a.ListTaskPushConfigRequest,
) ([]*a2a.TaskPushConfig, error) {
	return nil, a2a.ErrPushNotificationNotSupported
}

// CreateTaskPushConfig is not supported.
func (b *Binding) CreateTaskPushConfig(
	context.Context, *a2a.CreateTaskPushConfigRequest,
) (*a2a.TaskPushConfig, error) {
	return nil, a2a.ErrPushNotificationNotSupported
}

// DeleteTaskPushConfig is not supported.
func (b *Binding) DeleteTaskPushConfig(context.Context, *a2a.DeleteTaskPushConfigRequest) error {
	return a2a.ErrPushNotificationNotSupported
}

// GetExtendedAgentCard is not supported.
func (b *Binding) GetExtendedAgentCard(context.Context, *a2a.GetExtendedAgentCardRequest) (*a2a.AgentCard, error) {
	return nil, a2a.ErrExtendedCardNotConfigured
}
