package mcp

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressEvery is the interval for progress notifications. Clients end a call that sends none for some time,
// often for a minute.
const progressEvery = 5 * time.Second

// progress notifies a client while the client's call waits.
type progress struct {
	// session is nil if the client has requested no notifications.
	session *mcp.ServerSession
	token   any
	// total is the longest waiting time.
	total       time.Duration
	begun, last time.Time
}

// waiting returns a handler for tools that can wait.
func waiting[In any](call func(context.Context, In, *progress) *Answer) mcp.ToolHandlerFor[In, *Answer] {
	return func(ctx context.Context, request *mcp.CallToolRequest, in In) (*mcp.CallToolResult, *Answer, error) {
		reported := &progress{}
		if token := request.Params.GetProgressToken(); token != nil {
			reported.session, reported.token = request.Session, token
		}
		return result(call(ctx, in, reported))
	}
}

// report notifies the client at the beginning of the wait and every [progressEvery]. The values are seconds.
func (p *progress) report(ctx context.Context, message string) {
	now := time.Now()
	if p.session == nil || !p.last.IsZero() && now.Sub(p.last) < progressEvery {
		return
	}
	if p.begun.IsZero() {
		p.begun = now
	}
	p.last = now
	// If notifying fails, the client still receives the result.
	_ = p.session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: p.token, Message: message, Progress: now.Sub(p.begun).Seconds(), Total: p.total.Seconds(),
	})
}
