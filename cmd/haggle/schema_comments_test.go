package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// comments reads the comments of types and fields, also of unexported ones, from the sources.
type comments struct {
	t *testing.T
	// known holds the comments by "package.Type" and "package.Type.Field". It contains "package" once that
	// package is parsed.
	known map[string]string
}

// of returns the comment on a type or field as a line; empty if not found.
func (c comments) of(kind reflect.Type, field string) string {
	folder, ours := strings.CutPrefix(kind.PkgPath(), modulePath+"/")
	if !ours {
		return ""
	}
	if _, parsed := c.known[folder]; !parsed {
		c.parse(folder)
	}
	name := folder + "." + kind.Name()
	if field != "" {
		name += "." + field
	}
	return c.known[name]
}

func (c comments) parse(folder string) {
	c.known[folder] = ""
	files, err := filepath.Glob(filepath.Join(checkout, folder, "*.go"))
	require.NoError(c.t, err)
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		require.NoError(c.t, err)
		for _, declaration := range file.Decls {
			if types, is := declaration.(*ast.GenDecl); is && types.Tok == token.TYPE {
				c.addTypes(folder, types)
			}
		}
	}
}

func (c comments) addTypes(folder string, types *ast.GenDecl) {
	for _, spec := range types.Specs {
		declared := spec.(*ast.TypeSpec)
		name := folder + "." + declared.Name.Name
		c.known[name] = onOneLine(declared.Doc)
		if c.known[name] == "" {
			c.known[name] = onOneLine(types.Doc)
		}
		object, isStruct := declared.Type.(*ast.StructType)
		if !isStruct {
			continue
		}
		for _, field := range object.Fields.List {
			for _, fieldName := range field.Names {
				c.known[name+"."+fieldName.Name] = onOneLine(field.Doc)
			}
		}
	}
}

func onOneLine(comment *ast.CommentGroup) string {
	return strings.Join(strings.Fields(comment.Text()), " ")
}

func TestDescriptionsAreTheCommentsOfTheSources(t *testing.T) {
	c := comments{t, map[string]string{}}
	require.Equal(t, "The offered price.", c.of(reflect.TypeFor[protocol.OfferSubmitted](), "Amount"))
	require.Contains(t, c.of(reflect.TypeFor[amount.Tokens](), ""), "Tokens is an amount of a mint.")
	require.Empty(t, c.of(reflect.TypeFor[string](), ""))
}
