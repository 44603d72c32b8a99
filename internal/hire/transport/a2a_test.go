package transport_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	a2alib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/internal/hire/service"
	"github.com/haggle-protocol/haggle/internal/hire/store"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/escrow"
)

// taskClient is an A2A client that finds the home through the card.
func (h *home) taskClient(t *testing.T) *a2aclient.Client {
	t.Helper()
	card, err := agentcard.DefaultResolver.Resolve(t.Context(), h.worker.ID)
	require.NoError(t, err)
	require.Equal(t, "logo", card.Skills[0].ID)
	client, err := a2aclient.NewFromCard(t.Context(), card)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Destroy()) })
	return client
}

// carry returns an A2A request with a signed message.
func carry(t *testing.T, m *hire.Message, task a2alib.TaskID) *a2alib.SendMessageRequest {
	t.Helper()
	var data any
	require.NoError(t, json.Unmarshal(m.Text(), &data))
	message := a2alib.NewMessage(a2alib.MessageRoleUser, a2alib.NewDataPart(data))
	message.TaskID = task
	return &a2alib.SendMessageRequest{Message: message}
}

// said returns the HIRE message sent in response by the worker's side.
func said(t *testing.T, task *a2alib.Task) *hire.Message {
	t.Helper()
	for _, part := range task.Status.Message.Parts {
		if data := part.Data(); data != nil {
			text, err := json.Marshal(data)
			require.NoError(t, err)
			m, err := hire.Parse(text)
			require.NoError(t, err)
			return m
		}
	}
	t.Fatal("no data part")
	return nil
}

func taskOf(t *testing.T, result a2alib.SendMessageResult, err error) *a2alib.Task {
	t.Helper()
	require.NoError(t, err)
	task, is := result.(*a2alib.Task)
	require.True(t, is)
	return task
}

func TestSeekerThatSpeaksA2AHiresAWorker(t *testing.T) {
	h := newHome(t, options{})
	client, k := h.taskClient(t), h.talk()

	// The worker answers while the seeker's request waits.
	propose := k.Message(t, hire.RoleSeeker, hire.TypeProposal, time.Now())
	k.Stored(propose)
	answered := make(chan *a2alib.Task, 1)
	go func() {
		result, err := client.SendMessage(t.Context(), carry(t, propose, ""))
		answered <- taskOf(t, result, err)
	}()
	require.Eventually(t, func() bool {
		page, err := h.Service.Conversations(t.Context(), selection(h.worker.ID))
		return err == nil && len(page.States) == 1
	}, 10*time.Second, 20*time.Millisecond)
	counter := h.send(t, k, hire.RoleWorker, hire.TypeCounter)
	task := <-answered
	require.Equal(t, a2alib.TaskStateInputRequired, task.Status.State)
	require.Equal(t, k.Conversation, task.ContextID)
	require.Equal(t, counter.Hash(), said(t, task).Hash(), "the signed message arrives unchanged")
	require.NoError(t, said(t, task).Verify(h.worker.Public()))
	require.Len(t, task.History, 2)

	accept := k.Message(t, hire.RoleSeeker, hire.TypeAccept, time.Now())
	k.Stored(accept)
	request := carry(t, accept, task.ID)
	request.Config = &a2alib.SendMessageConfig{ReturnImmediately: true}
	result, err := client.SendMessage(t.Context(), request)
	require.Equal(t, a2alib.TaskStateWorking, taskOf(t, result, err).Status.State)
	// Repeating the request, as clients do when a response is lost, changes nothing.
	result, err = client.SendMessage(t.Context(), request)
	require.Len(t, taskOf(t, result, err).History, 3)

	changes := make(chan a2alib.TaskState, 10)
	go func() {
		defer close(changes)
		for event, err := range client.SubscribeToTask(t.Context(), &a2alib.SubscribeToTaskRequest{ID: task.ID}) {
			if err != nil {
				return
			}
			switch event := event.(type) {
			case *a2alib.Task:
				changes <- event.Status.State
			case *a2alib.TaskStatusUpdateEvent:
				changes <- event.Status.State
			}
		}
	}()
	require.Equal(t, a2alib.TaskStateWorking, <-changes)
	h.send(t, k, hire.RoleWorker, hire.TypeAccept)
	require.Equal(t, a2alib.TaskStateCompleted, <-changes, "a home without a settlement key has nothing more to do")
	_, more := <-changes
	require.False(t, more, "the stream ends with the task")

	task, err = client.GetTask(t.Context(), &a2alib.GetTaskRequest{ID: task.ID})
	require.NoError(t, err)
	require.Len(t, task.History, 4)
	_, err = client.SendMessage(t.Context(), carry(t, k.Message(t, hire.RoleSeeker, hire.TypeProposal, time.Now()), ""))
	require.ErrorContains(t, err, "the task has ended: begin another conversation")
}

func TestDeliveryIsTheArtifactOfATask(t *testing.T) {
	on := hiretest.NewChain()
	h := newHome(t, options{service: withSettlement(on)})
	client, k := h.taskClient(t), h.talk()
	h.send(t, k, hire.RoleSeeker, hire.TypeProposal)
	h.send(t, k, hire.RoleWorker, hire.TypeAccept)
	// The request returns independently of the worker: the escrow is next.
	result, err := client.SendMessage(t.Context(), carry(t, k.Message(t, hire.RoleSeeker, hire.TypeAccept, time.Now()), ""))
	task := taskOf(t, result, err)
	require.Equal(t, a2alib.TaskStateWorking, task.Status.State)
	require.Contains(t, task.Status.Message.Parts[0].Text(), "waits for the seeker's escrow")

	for _, content := range []string{"<svg/>", strings.Repeat("x", 300<<10)} {
		require.NoError(t, h.Service.Deliver(t.Context(), deliveryOf(k, content), []byte(content)))
	}
	task, err = client.GetTask(t.Context(), &a2alib.GetTaskRequest{ID: task.ID})
	require.NoError(t, err)
	require.Equal(t, a2alib.TaskStateWorking, task.Status.State, "a delivery without an escrow is paid by nobody")

	thread, err := h.Thread(t.Context(), store.ConversationID(k.Conversation, k.Seeker.ID, k.Worker.ID))
	require.NoError(t, err)
	on.Open(t, k, thread.State, time.Now(), func(*haggle.Snapshot) {})
	// The stream ends with the task.
	for event, err := range client.SubscribeToTask(t.Context(), &a2alib.SubscribeToTaskRequest{ID: task.ID}) {
		require.NoError(t, err)
		if update, is := event.(*a2alib.TaskStatusUpdateEvent); is {
			require.Equal(t, a2alib.TaskStateCompleted, update.Status.State)
		}
	}
	task, err = client.GetTask(t.Context(), &a2alib.GetTaskRequest{ID: task.ID})
	require.NoError(t, err)
	require.Equal(t, a2alib.TaskStateCompleted, task.Status.State)
	require.Len(t, task.Artifacts, 2)
	require.Equal(t, "<svg/>", string(task.Artifacts[0].Parts[0].Raw()))
	sum := sha256.Sum256([]byte("<svg/>"))
	require.Equal(t, hex.EncodeToString(sum[:]), string(task.Artifacts[0].ID))
	require.Contains(t, string(task.Artifacts[1].Parts[0].URL()), h.worker.ID+hire.DeliveriesPath, "a large one is fetched")
}

func TestStateOfATaskFollowsTheConversation(t *testing.T) {
	c := &clock{now: time.Now()}
	h := newHome(t, options{service: withClock(c)})
	client := h.taskClient(t)
	send := func(k *hiretest.Talk, of hire.Type) *a2alib.Task {
		m := k.Message(t, hire.RoleSeeker, of, c.time())
		k.Stored(m)
		request := carry(t, m, "")
		request.Config = &a2alib.SendMessageConfig{ReturnImmediately: true}
		result, err := client.SendMessage(t.Context(), request)
		return taskOf(t, result, err)
	}
	get := func(id a2alib.TaskID) a2alib.TaskState {
		none := 0
		task, err := client.GetTask(t.Context(), &a2alib.GetTaskRequest{ID: id, HistoryLength: &none})
		require.NoError(t, err)
		require.Empty(t, task.History)
		return task.Status.State
	}
	asked := h.talk()
	task := send(asked, hire.TypeInquiry)
	require.Equal(t, a2alib.TaskStateWorking, task.Status.State)
	h.send(t, asked, hire.RoleWorker, hire.TypeCapability)
	require.Equal(t, a2alib.TaskStateInputRequired, get(task.ID))
	require.Equal(t, a2alib.TaskStateWorking, send(asked, hire.TypeProposal).Status.State)
	h.send(t, asked, hire.RoleWorker, hire.TypeReject)
	require.Equal(t, a2alib.TaskStateRejected, get(task.ID))

	ended := h.talk()
	send(ended, hire.TypeProposal)
	require.Equal(t, a2alib.TaskStateCanceled, send(ended, hire.TypeReject).Status.State)

	silent := h.talk()
	propose := silent.Message(t, hire.RoleSeeker, hire.TypeProposal, c.time())
	result, err := client.SendMessage(t.Context(), &a2alib.SendMessageRequest{
		Message: carry(t, propose, "").Message, Config: &a2alib.SendMessageConfig{ReturnImmediately: true},
	})
	task = taskOf(t, result, err)
	c.pass(61 * time.Second)
	require.Equal(t, a2alib.TaskStateFailed, get(task.ID), "the worker is silent")
	result, err = client.SendMessage(t.Context(), carry(t, propose, ""))
	require.Equal(t, task.ID, taskOf(t, result, err).ID)
	c.pass(5 * time.Minute)
	_, err = client.SendMessage(t.Context(), carry(t, propose, ""))
	require.ErrorContains(t, err, "timestamp", "whoever has a log of the conversation gets no id of its task")
}

func TestHostileRequestsOfA2AAreRefused(t *testing.T) {
	h := newHome(t, options{})
	client, k := h.taskClient(t), h.talk()
	refused := func(message string, request *a2alib.SendMessageRequest) {
		t.Helper()
		_, err := client.SendMessage(t.Context(), request)
		require.ErrorContains(t, err, message)
	}
	now := time.Now()
	propose := k.Message(t, hire.RoleSeeker, hire.TypeProposal, now)

	forged := carry(t, propose, "")
	forged.Message.Parts[0].Data().(map[string]any)["conversation_id"] = "other"
	refused("signature", forged)
	other := carry(t, propose, "")
	other.Message.ContextID = "other"
	refused("contextId", other)
	refused("one data part", &a2alib.SendMessageRequest{
		Message: a2alib.NewMessage(a2alib.MessageRoleUser, nil),
	})
	refused("one data part", &a2alib.SendMessageRequest{
		Message: a2alib.NewMessage(a2alib.MessageRoleUser, a2alib.NewTextPart("draw me a logo")),
	})
	refused("task not found", carry(t, propose, "0000.1111"))
	refused("timestamp", carry(t, k.Message(t, hire.RoleSeeker, hire.TypeProposal, now.Add(-6*time.Minute)), ""))
	page, err := h.Service.Conversations(t.Context(), selection(h.worker.ID))
	require.NoError(t, err)
	require.Empty(t, page.States, "nothing is stored")

	// A stranger that knows the conversation's name knows no task.
	h.post(t, propose)
	k.Stored(propose)
	id := store.ConversationID(k.Conversation, k.Seeker.ID, k.Worker.ID)
	for _, guess := range []string{"", k.Conversation, id, id + ".", id + "." + strings.Repeat("0", 32)} {
		_, err := client.GetTask(t.Context(), &a2alib.GetTaskRequest{ID: a2alib.TaskID(guess)})
		require.ErrorIs(t, err, a2alib.ErrTaskNotFound, guess)
	}
	// The worker's messages go to the inbox.
	counter := k.Message(t, hire.RoleWorker, hire.TypeCounter, now)
	refused("only the seeker", carry(t, counter, ""))

	_, err = client.ListTasks(t.Context(), &a2alib.ListTasksRequest{})
	require.ErrorIs(t, err, a2alib.ErrUnsupportedOperation)
	response, err := http.Post(h.worker.ID+"/hire/a2a", "application/json", strings.NewReader(strings.Repeat(" ", 1<<20)))
	require.NoError(t, err)
	_, _ = io.Copy(io.Discard, response.Body)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
}

func selection(agent string) service.Selection { return service.Selection{Agent: agent} }

// withSettlement lets a home sign contracts for a chain.
func withSettlement(on *hiretest.Chain) func(*service.Config) {
	return func(c *service.Config) {
		c.Settlement = &service.Settlement{
			Key: hiretest.NewAgent().Key, Genesis: solana.Hash{1}, Assets: escrow.Assets("devnet"), Snapshots: on.Snapshots,
		}
	}
}

// clock is the clock of a home, which a test sets while the home reads it.
type clock struct {
	lock sync.Mutex
	now  time.Time
}

func (c *clock) time() time.Time {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.now = c.now.Add(d)
}

// withClock lets a home read a clock.
func withClock(c *clock) func(*service.Config) {
	return func(config *service.Config) { config.Now = c.time }
}

func deliveryOf(k *hiretest.Talk, content string) service.Delivery {
	sum := sha256.Sum256([]byte(content))
	return service.Delivery{
		Agent: k.Worker.ID, Seeker: k.Seeker.ID, Conversation: k.Conversation, Hash: hex.EncodeToString(sum[:]),
	}
}

// One task cannot take the places of all others, and a stopping home ends the waits.
func TestWaitsForWorkersAreLimitedAndEnd(t *testing.T) {
	h := newHome(t, options{})
	client, k := h.taskClient(t), h.talk()
	m := k.Message(t, hire.RoleSeeker, hire.TypeProposal, time.Now())
	request := carry(t, m, "")
	request.Config = &a2alib.SendMessageConfig{ReturnImmediately: true}
	result, err := client.SendMessage(t.Context(), request)
	task := taskOf(t, result, err)

	ended := make(chan error, 4)
	for range 4 {
		begun := make(chan struct{})
		go func() {
			var last error
			first := sync.OnceFunc(func() { close(begun) })
			for _, err := range client.SubscribeToTask(t.Context(), &a2alib.SubscribeToTaskRequest{ID: task.ID}) {
				last = err
				first()
			}
			ended <- last
		}()
		<-begun
	}
	for _, err := range client.SubscribeToTask(t.Context(), &a2alib.SubscribeToTaskRequest{ID: task.ID}) {
		require.ErrorContains(t, err, "too many requests wait")
	}
	// This request is stored all the same.
	result, err = client.SendMessage(t.Context(), carry(t, m, ""))
	require.Equal(t, a2alib.TaskStateWorking, taskOf(t, result, err).Status.State)

	other := carry(t, h.talk().Message(t, hire.RoleSeeker, hire.TypeProposal, time.Now()), "")
	for _, err := range client.SendStreamingMessage(t.Context(), other) {
		require.NoError(t, err, "another task has its own places")
		break
	}
	require.NoError(t, h.server.Shutdown(t.Context()))
	for range 4 {
		require.NoError(t, <-ended)
	}
}

// If a worker does not reply to an inquiry, the task changes even though no message arrives.
func TestStreamShowsThatAnInquiryWasNotAnswered(t *testing.T) {
	clock := new(atomic.Pointer[time.Time])
	begin := time.Now()
	clock.Store(&begin)
	h := newHome(t, options{service: func(c *service.Config) { c.Now = func() time.Time { return *clock.Load() } }})
	client, k := h.taskClient(t), h.talk()
	var states []a2alib.TaskState
	inquiry := carry(t, k.Message(t, hire.RoleSeeker, hire.TypeInquiry, begin), "")
	for event, err := range client.SendStreamingMessage(t.Context(), inquiry) {
		require.NoError(t, err)
		switch event := event.(type) {
		case *a2alib.Task:
			states = append(states, event.Status.State)
			later := begin.Add(61 * time.Second)
			clock.Store(&later)
		case *a2alib.TaskStatusUpdateEvent:
			states = append(states, event.Status.State)
		}
	}
	require.Equal(t, []a2alib.TaskState{a2alib.TaskStateWorking, a2alib.TaskStateInputRequired}, states)
}
