package schema

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
)

// modulePath begins the import path of every package of this module.
const modulePath = "github.com/haggle-protocol/haggle/"

// comments reads the comments of types and fields, also of unexported ones, from the sources.
type comments struct {
	root string

	lock sync.Mutex
	// known has the comments by "package.Type" and "package.Type.Field".
	known  map[string]string
	parsed map[string]bool
}

// of returns the comment of a type, or of one of its fields, on one line; empty if there is none.
func (c *comments) of(kind reflect.Type, field string) string {
	folder, ours := strings.CutPrefix(kind.PkgPath(), modulePath)
	if !ours {
		return ""
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if !c.parsed[folder] {
		c.parse(folder)
	}
	name := folder + "." + kind.Name()
	if field != "" {
		name += "." + field
	}
	return c.known[name]
}

// parse reads the sources of a package. A file that cannot be read has no comments: the drift test finds that.
func (c *comments) parse(folder string) {
	if c.known == nil {
		c.known, c.parsed = map[string]string{}, map[string]bool{}
	}
	c.parsed[folder] = true
	files, _ := filepath.Glob(filepath.Join(c.root, folder, "*.go"))
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			continue
		}
		for _, declaration := range file.Decls {
			if types, is := declaration.(*ast.GenDecl); is && types.Tok == token.TYPE {
				c.addTypes(folder, types)
			}
		}
	}
}

func (c *comments) addTypes(folder string, types *ast.GenDecl) {
	for _, spec := range types.Specs {
		declared := spec.(*ast.TypeSpec)
		name := folder + "." + declared.Name.Name
		c.known[name] = line(declared.Doc)
		if c.known[name] == "" {
			c.known[name] = line(types.Doc)
		}
		object, isStruct := declared.Type.(*ast.StructType)
		if !isStruct {
			continue
		}
		for _, field := range object.Fields.List {
			for _, fieldName := range field.Names {
				c.known[name+"."+fieldName.Name] = line(field.Doc)
			}
		}
	}
}

func line(comment *ast.CommentGroup) string {
	if comment == nil {
		return ""
	}
	return strings.Join(strings.Fields(comment.Text()), " ")
}
