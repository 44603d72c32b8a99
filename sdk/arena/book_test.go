package arena

import (
	"crypto/ed25519"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// newBook returns a book where operator and resolver use the keys 100 and 101.
func newBook(t *testing.T) *Book {
	b, err := NewBook(Config{
		Market: "m", Question: "50,000 likes?", Opens: opens, Closes: opens.Add(time.Hour), Operator: idOf(100),
		Resolver: idOf(101), Grant: 100 * SetPrice,
	})
	require.NoError(t, err)
	return b
}

// Rules 2, 44 and 45.
func TestBookTakesEachMessageOnceInItsOrder(t *testing.T) {
	b := newBook(t)
	refused := func(code Code, m *Message, now time.Time) {
		t.Helper()
		_, _, err := b.Enter(m, now, [SaltSize]byte{})
		refusal, is := err.(*Refusal)
		require.True(t, is, "%v", err)
		require.Equal(t, code, refusal.Code)
	}
	join := signed(t, 1, 1, 0, opens, Join{Name: "degen"})
	first, events, err := b.Enter(join, opens, [SaltSize]byte{1})
	require.NoError(t, err)
	require.Len(t, events, 1)
	again, events, err := b.Enter(join, opens.Add(time.Second), [SaltSize]byte{2})
	require.NoError(t, err)
	require.Empty(t, events)
	require.Equal(t, first, again, "the entry and its receipt are the same ones")

	split := signed(t, 1, 2, 1, opens, Split{Sets: 30})
	second, _, err := b.Enter(split, opens, [SaltSize]byte{})
	require.NoError(t, err)
	require.True(t, second.At.After(first.At), "no two entries have the same time")
	refused(CodeSequence, join, opens)
	refused(CodeSequence, signed(t, 1, 4, 1, opens, Split{Sets: 1}), opens)
	refused(CodeSequence, signed(t, 1, 2, 1, opens, Split{Sets: 31}), opens)
	refused(CodeExpired, signed(t, 1, 3, 1, opens, Split{Sets: 1}), opens.Add(2*time.Minute))
	refused(CodeExpired, signed(t, 1, 3, 1, opens.Add(10*time.Minute), Split{Sets: 1}), opens.Add(3*time.Minute))
	refused(CodeFunds, signed(t, 1, 3, 1, opens.Add(3*time.Minute), Split{Sets: 71}), opens.Add(3*time.Minute))
	other, err := Sign(keyOf(1), Draft{Market: "n", Sequence: 3, Expires: opens, Action: Leave{}})
	require.NoError(t, err)
	refused(CodeUnknown, other, opens)
	forged := *signed(t, 1, 3, 1, opens, Leave{})
	forged.agent = idOf(2)
	refused(CodeSignature, &forged, opens)
	require.EqualValues(t, 3, b.Next(idOf(1)), "a refused message uses no number")
	require.Equal(t, Holding{Money: 70 * SetPrice, Yes: 30, No: 30}, b.Market().ledger.Holding(idOf(1)))
}

// Rules 47 and 48.
func TestReceiptProvesItsMessageAndTime(t *testing.T) {
	b := newBook(t)
	m := signed(t, 1, 1, 0, opens, Join{Name: "degen"})
	entry, _, err := b.Enter(m, opens, [SaltSize]byte{7})
	require.NoError(t, err)
	receipt, err := ReceiptFor(keyOf(100), entry)
	require.NoError(t, err)
	require.NoError(t, receipt.Verify(idOf(100), m))
	require.Error(t, receipt.Verify(idOf(101), m))
	require.Error(t, receipt.Verify(idOf(100), signed(t, 1, 1, 0, opens, Join{Name: "other"})))
	for _, change := range []func(*Receipt){
		func(r *Receipt) { r.At = r.At.Add(time.Microsecond) }, func(r *Receipt) { r.Salt = "00" + r.Salt[2:] },
		func(r *Receipt) { r.Leaf = "00" + r.Leaf[2:] }, func(r *Receipt) { r.Sequence++ },
		func(r *Receipt) { r.Signature = "" }, func(r *Receipt) { r.Market = "n" },
	} {
		changed := receipt
		change(&changed)
		require.Error(t, changed.Verify(idOf(100), m), "%+v", changed)
	}
	require.NotEqual(t, entry.Leaf(), Leaf([SaltSize]byte{8}, m.Text()), "without the salt nobody can try texts")
}

// Rule 1. A book replayed from the log produces the same events, whenever time passed in between.
func TestBookReplays(t *testing.T) {
	b := newBook(t)
	var entries []Entry
	var events []Event
	now := opens
	do := func(seed byte, action Action) {
		t.Helper()
		id := Address(keyOf(seed).Public().(ed25519.PublicKey))
		passed, err := b.Pass(now)
		require.NoError(t, err)
		entry, more, err := b.Enter(signed(t, seed, b.Next(id), b.Market().Shown(id), now, action), now, [SaltSize]byte{seed})
		require.NoError(t, err)
		entries, events = append(entries, entry), append(append(events, passed...), more...)
	}
	do(1, Join{Name: "a"})
	do(2, Join{Name: "b"})
	do(1, Split{Sets: 20})
	do(1, Invite{Agents: []string{idOf(2)}})
	do(2, AcceptInvitation{Chat: 1})
	now = now.Add(2 * time.Second)
	do(1, Propose{1, []Leg{{Seller: idOf(1), Buyer: idOf(2), Token: Yes, Price: 58, Quantity: 20}}})
	now = now.Add(2 * time.Second)
	do(2, Agree{1, 1})
	now = now.Add(5 * time.Second)
	do(2, Finalize{1, b.Market().agents[idOf(2)].reviews})
	now = now.Add(time.Hour)
	do(101, Resolve{OutcomeYes})
	require.Equal(t, 100*SetPrice+20*SetPrice-20*58*SetPrice/100, b.Market().ledger.Holding(idOf(2)).Money)

	again := newBook(t)
	var replayed []Event
	for _, entry := range entries {
		m, err := Parse(entry.Message.Text())
		require.NoError(t, err)
		copied, more, err := again.Enter(m, entry.At, entry.Salt)
		require.NoError(t, err)
		require.Equal(t, entry, copied)
		replayed = append(replayed, more...)
	}
	require.Equal(t, events, replayed)
}
