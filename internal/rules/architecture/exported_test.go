package architecture

import (
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// exportedExceptions lists accepted declarations, "declaration: type", with reasons.
var exportedExceptions = exceptions{}

func TestExportedDeclarationsMentionNoInternalType(t *testing.T) {
	exportedExceptions.check(t, internalTypes(t, nil, "./sdk/..."))
}

// internalTypes returns the mentions of internal types in exported declarations. overlay has additional
// files.
func internalTypes(t *testing.T, overlay map[string][]byte, patterns ...string) []string {
	t.Helper()
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.LoadTypes, Dir: "../../..", Overlay: overlay,
	}, patterns...)
	require.NoError(t, err)
	require.NotEmpty(t, loaded)
	s := scan{seen: map[types.Type]bool{}, found: map[string]bool{}}
	for _, p := range loaded {
		require.Empty(t, p.Errors, p.ID)
		if isInternal(p.PkgPath) || p.Name == "main" {
			continue
		}
		for _, name := range p.Types.Scope().Names() {
			if object := p.Types.Scope().Lookup(name); object.Exported() {
				s.object(strings.TrimPrefix(p.PkgPath, module)+"."+name, object)
			}
		}
	}
	return sorted(s.found)
}

// scan collects the mentions of internal types in exported declarations.
type scan struct {
	// seen holds the types whose declarations are already scanned.
	seen  map[types.Type]bool
	found map[string]bool
}

func (s *scan) object(where string, object types.Object) {
	name, isType := object.(*types.TypeName)
	switch {
	case !isType:
		s.mention(where, object.Type())
	case name.IsAlias():
		s.mention(where, types.Unalias(name.Type()))
	default:
		s.declaration(where, name.Type().(*types.Named))
	}
}

// declaration scans the user-accessible parts of a declared type: type parameters, exported methods, exported
// fields, and the type itself if it is not a struct.
func (s *scan) declaration(where string, named *types.Named) {
	named = named.Origin()
	if s.seen[named] {
		return
	}
	s.seen[named] = true
	for parameter := range named.TypeParams().TypeParams() {
		s.mention(where, parameter.Constraint())
	}
	for method := range named.Methods() {
		if method.Exported() {
			s.mention(where+"."+method.Name(), method.Type())
		}
	}
	s.underlying(where, named.Underlying())
}

func (s *scan) underlying(where string, t types.Type) {
	switch t := t.(type) {
	case *types.Struct:
		for field := range t.Fields() {
			switch {
			case field.Exported():
				s.mention(where+"."+field.Name(), field.Type())
			case field.Embedded():
				// An embedded type's exported fields and methods also belong to the struct.
				s.promoted(where, field.Type())
			}
		}
	case *types.Interface:
		for method := range t.ExplicitMethods() {
			if method.Exported() {
				s.mention(where+"."+method.Name(), method.Type())
			}
		}
		for embedded := range t.EmbeddedTypes() {
			s.mention(where, embedded)
		}
	default:
		s.mention(where, t)
	}
}

func (s *scan) promoted(where string, t types.Type) {
	if pointer, isPointer := t.(*types.Pointer); isPointer {
		t = pointer.Elem()
	}
	if named, isNamed := types.Unalias(t).(*types.Named); isNamed {
		s.declaration(where, named)
	}
}

// mention records the internal types in a type's spelling.
func (s *scan) mention(where string, t types.Type) {
	switch t := t.(type) {
	case *types.Alias:
		s.name(where, t.Obj())
		s.mention(where, types.Unalias(t))
	case *types.Named:
		s.name(where, t.Obj())
		for argument := range t.TypeArgs().Types() {
			s.mention(where, argument)
		}
		// If an exported declaration mentions an unexported type, a user can reach the type's exported parts.
		object := t.Obj()
		if !object.Exported() && object.Pkg() != nil && strings.HasPrefix(object.Pkg().Path(), module) {
			s.declaration(where, t)
		}
	case *types.Signature:
		for parameter := range t.TypeParams().TypeParams() {
			s.mention(where, parameter.Constraint())
		}
		for variable := range t.Params().Variables() {
			s.mention(where, variable.Type())
		}
		for variable := range t.Results().Variables() {
			s.mention(where, variable.Type())
		}
	case *types.Map:
		s.mention(where, t.Key())
		s.mention(where, t.Elem())
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		s.mention(where, t.Elem())
	case *types.Union:
		for term := range t.Terms() {
			s.mention(where, term.Type())
		}
	case *types.Struct, *types.Interface:
		s.underlying(where, t)
	}
}

func (s *scan) name(where string, object *types.TypeName) {
	if object.Pkg() != nil && isInternal(object.Pkg().Path()) {
		s.found[where+": "+object.Pkg().Path()+"."+object.Name()] = true
	}
}

// TestInternalTypes checks that the rule finds violations, using source written only for this test.
func TestInternalTypes(t *testing.T) {
	path, err := filepath.Abs("../../../sdk/keeper/leaks.go")
	require.NoError(t, err)
	found := internalTypes(t, map[string][]byte{path: []byte(`package keeper

import "github.com/haggle-protocol/haggle/sdk/internal/solana/rpcpool"

type LeakingAlias = rpcpool.Pool
type LeakingSlice []rpcpool.Pool
type LeakingStruct struct {
	Field  map[string]*rpcpool.Pool
	hidden rpcpool.Pool
	embedded
}
type LeakingInterface interface{ Method(func() rpcpool.Pool) }
type LeakingGeneric[P interface{ *rpcpool.Pool }] struct{}

type embedded struct{ Promoted chan rpcpool.Pool }

func (LeakingStruct) Method() (rpcpool.Pool, error) { panic(0) }
func (LeakingStruct) hiddenMethod(rpcpool.Pool)     {}

type unexported struct{ Reachable rpcpool.Pool }

func LeakingFunction(...rpcpool.Pool)  {}
func LeakingResult() *unexported       { return nil }
func hiddenFunction() *rpcpool.Pool    { return nil }

var LeakingVariable = hiddenFunction()
`)}, "./sdk/keeper")
	for i := range found {
		found[i], _, _ = strings.Cut(strings.TrimPrefix(found[i], "sdk/keeper."), ":")
	}
	slices.Sort(found)
	require.Equal(t, []string{
		"LeakingAlias", "LeakingFunction", "LeakingGeneric", "LeakingInterface.Method",
		"LeakingResult.Reachable", "LeakingSlice", "LeakingStruct.Field", "LeakingStruct.Method",
		"LeakingStruct.Promoted", "LeakingVariable",
	}, found)
}
