package arena

// The names of actions in messages.
func (Join) Kind() string              { return "join" }
func (Connect) Kind() string           { return "connect" }
func (Leave) Kind() string             { return "leave" }
func (State) Kind() string             { return "state" }
func (Split) Kind() string             { return "split" }
func (Merge) Kind() string             { return "merge" }
func (Say) Kind() string               { return "say" }
func (Pass) Kind() string              { return "pass" }
func (Invite) Kind() string            { return "invite" }
func (AcceptInvitation) Kind() string  { return "accept_invitation" }
func (DeclineInvitation) Kind() string { return "decline_invitation" }
func (Chat) Kind() string              { return "chat" }
func (Propose) Kind() string           { return "propose" }
func (Counter) Kind() string           { return "counter" }
func (Agree) Kind() string             { return "agree" }
func (Reject) Kind() string            { return "reject" }
func (LeaveChat) Kind() string         { return "leave_chat" }
func (Finalize) Kind() string          { return "finalize" }
func (Cancel) Kind() string            { return "cancel" }
func (Deposit) Kind() string           { return "deposit" }
func (Withdraw) Kind() string          { return "withdraw" }
func (Resolve) Kind() string           { return "resolve" }

// The names of facts in messages.
func (Joined) Kind() string          { return "joined" }
func (Connected) Kind() string       { return "connected" }
func (Left) Kind() string            { return "left" }
func (Announced) Kind() string       { return "announced" }
func (Stated) Kind() string          { return "stated" }
func (Changed) Kind() string         { return "changed" }
func (Turn) Kind() string            { return "turn" }
func (Passed) Kind() string          { return "passed" }
func (Said) Kind() string            { return "said" }
func (Invited) Kind() string         { return "invited" }
func (InvitationEnded) Kind() string { return "invitation_ended" }
func (ChatBegan) Kind() string       { return "chat_began" }
func (ChatJoined) Kind() string      { return "chat_joined" }
func (ChatLeft) Kind() string        { return "chat_left" }
func (ChatEnded) Kind() string       { return "chat_ended" }
func (ChatSaid) Kind() string        { return "chat_said" }
func (Proposed) Kind() string        { return "proposed" }
func (AgreedTo) Kind() string        { return "agreed_to" }
func (Rejected) Kind() string        { return "rejected" }
func (Update) Kind() string          { return "update" }
func (Tentative) Kind() string       { return "tentative" }
func (Voided) Kind() string          { return "voided" }
func (Countdown) Kind() string       { return "countdown" }
func (CountdownEnded) Kind() string  { return "countdown_ended" }
func (Reviewed) Kind() string        { return "reviewed" }
func (Traded) Kind() string          { return "traded" }
func (Closed) Kind() string          { return "closed" }
func (Resolved) Kind() string        { return "resolved" }
