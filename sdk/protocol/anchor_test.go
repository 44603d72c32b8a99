package protocol_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/internal/anchor"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// anchor-go knows the IDL and nothing else of this project: what it decodes, and what it encodes again, is the same.
func TestAnchorGoDecodesTheSame(t *testing.T) {
	all := loadFixtures(t)
	parsers := map[string]func([]byte) (any, error){}
	for _, f := range all.Accounts {
		parsers[f.Name] = anchor.ParseAnyAccount
	}
	for _, f := range all.Events {
		parsers[f.Name] = anchor.ParseAnyEvent
	}
	for _, f := range append(all.Accounts, all.Events...) {
		t.Run(f.title(), func(t *testing.T) {
			theirs, err := parsers[f.Name](f.Data)
			require.NoError(t, err)
			ours := newRecord(t, f.Name)
			require.NoError(t, ours.Decode(f.Data))
			requireSameFields(t, reflect.ValueOf(ours).Elem(), reflect.ValueOf(theirs).Elem())

			encoded, err := theirs.(interface{ Marshal() ([]byte, error) }).Marshal()
			require.NoError(t, err)
			require.Equal(t, []byte(f.Data[8:]), encoded)
		})
	}
}

func requireSameFields(t *testing.T, ours, theirs reflect.Value) {
	t.Helper()
	require.Equal(t, ours.NumField(), theirs.NumField())
	for i := range ours.NumField() {
		name := ours.Type().Field(i).Name
		require.True(t, strings.EqualFold(name, theirs.Type().Field(i).Name), name)
		converted := theirs.Field(i).Convert(ours.Field(i).Type())
		require.Equal(t, ours.Field(i).Interface(), converted.Interface(), name)
	}
}

// builders are anchor-go's: they take the arguments, then the accounts.
var builders = map[string]any{
	"initialize_config":      anchor.NewInitializeConfigInstruction,
	"create_negotiation":     anchor.NewCreateNegotiationInstruction,
	"accept_invitation":      anchor.NewAcceptInvitationInstruction,
	"submit_offer":           anchor.NewSubmitOfferInstruction,
	"accept_offer":           anchor.NewAcceptOfferInstruction,
	"reject_negotiation":     anchor.NewRejectNegotiationInstruction,
	"expire_negotiation":     anchor.NewExpireNegotiationInstruction,
	"close_negotiation":      anchor.NewCloseNegotiationInstruction,
	"claim_payout":           anchor.NewClaimPayoutInstruction,
	"update_config":          anchor.NewUpdateConfigInstruction,
	"set_paused":             anchor.NewSetPausedInstruction,
	"propose_authority":      anchor.NewProposeAuthorityInstruction,
	"accept_authority":       anchor.NewAcceptAuthorityInstruction,
	"submit_zopa_commitment": anchor.NewSubmitZopaCommitmentInstruction,
	"reveal_zopa_price":      anchor.NewRevealZopaPriceInstruction,
	"claim_milestone":        anchor.NewClaimMilestoneInstruction,
	"release_milestone":      anchor.NewReleaseMilestoneInstruction,
	"dispute_milestone":      anchor.NewDisputeMilestoneInstruction,
	"resolve_dispute":        anchor.NewResolveDisputeInstruction,
	"settle_deadline":        anchor.NewSettleDeadlineInstruction,
	"settle_by_agreement":    anchor.NewSettleByAgreementInstruction,
}

func TestAnchorGoBuildsTheSame(t *testing.T) {
	for _, f := range loadFixtures(t).Instructions {
		t.Run(f.title(), func(t *testing.T) {
			ours, err := protocol.DecodeInstruction(f.instructionMetas(), f.Data)
			require.NoError(t, err)
			theirs := buildWithAnchor(t, f, ours)
			data, err := theirs.Data()
			require.NoError(t, err)
			// anchor-go forgets the discriminator of an instruction that has no arguments.
			if len(f.Fields) > 0 {
				require.Equal(t, ours.AppendData(nil), data)
			} else {
				require.Empty(t, data)
				require.Len(t, ours.AppendData(nil), 8)
			}
			requireSameMetas(t, f, theirs)
		})
	}
}

func buildWithAnchor(t *testing.T, f fixture, ours protocol.AnyInstruction) solana.Instruction {
	t.Helper()
	require.Contains(t, builders, f.Name)
	build := reflect.ValueOf(builders[f.Name])
	fields := reflect.ValueOf(ours).Elem()
	var in []reflect.Value
	for i := len(f.Metas); i < fields.NumField(); i++ {
		in = append(in, toAnchor(fields.Field(i), build.Type().In(len(in))))
	}
	for _, meta := range f.Metas {
		in = append(in, reflect.ValueOf(meta.Address))
	}
	out := build.Call(in)
	require.Nil(t, out[1].Interface())
	return out[0].Interface().(solana.Instruction)
}

// toAnchor converts an argument, field by field where it is a struct.
func toAnchor(value reflect.Value, to reflect.Type) reflect.Value {
	if value.Kind() != reflect.Struct {
		return value.Convert(to)
	}
	out := reflect.New(to).Elem()
	for i := range value.NumField() {
		out.Field(i).Set(value.Field(i).Convert(to.Field(i).Type))
	}
	return out
}

// requireSameMetas leaves the flags of accounts that are left out aside: anchor-go does not know that they are.
func requireSameMetas(t *testing.T, f fixture, theirs solana.Instruction) {
	t.Helper()
	require.Len(t, theirs.Accounts(), len(f.Metas))
	for i, meta := range theirs.Accounts() {
		require.Equal(t, f.Metas[i].Address, meta.PublicKey)
		if !f.Metas[i].LeftOut {
			require.Equal(t, f.Metas[i].Writable, meta.IsWritable)
			require.Equal(t, f.Metas[i].Signer, meta.IsSigner)
		}
	}
}
