package ledger

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gagliardetto/solana-go"
)

var memoPrograms = map[solana.PublicKey]bool{
	solana.MustPublicKeyFromBase58("Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo"): true,
	solana.MemoProgramID: true,
}

// Memo returns a transaction's memos as listed by nodes, with lengths: "[2] hi; [3] you". If there are none,
// it returns "".
func (t *Transaction) Memo() string {
	var memos []string
	for _, instruction := range t.Decoded.Message.Instructions {
		if !memoPrograms[t.Keys[instruction.ProgramIDIndex]] {
			continue
		}
		text := "(unparseable)"
		if utf8.Valid(instruction.Data) {
			text = string(instruction.Data)
		}
		memos = append(memos, fmt.Sprintf("[%d] %s", len(instruction.Data), text))
	}
	return strings.Join(memos, "; ")
}
