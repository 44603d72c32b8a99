package a2a

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// macLength is the code's length in task ids, in hexadecimal digits.
const macLength = 32

// taskID returns the task id for a conversation. A2A requests are not signed, so the id is a secret, given
// only to callers who sent a signed message. Conversation names can be guessed, so the id contains a code
// that only the home can compute. No id table is needed.
func (b *Binding) taskID(conversation string) a2a.TaskID {
	return a2a.TaskID(conversation + "." + b.code(conversation))
}

// conversation returns a task's conversation. It returns false unless the home issued the id.
func (b *Binding) conversation(task a2a.TaskID) (string, bool) {
	conversation, code, found := strings.Cut(string(task), ".")
	return conversation, found && hmac.Equal([]byte(code), []byte(b.code(conversation)))
}

func (b *Binding) code(conversation string) string {
	mac := hmac.New(sha256.New, b.config.Secret)
	mac.Write([]byte("haggle/hire/a2a/task/v1\x00" + conversation))
	return hex.EncodeToString(mac.Sum(nil))[:macLength]
}
