package command

import (
	"reflect"
	"strings"
	"sync"

	"github.com/spf13/cobra"
)

// documentsKey is the annotation with the names of the types of a command's documents.
const documentsKey = "documents"

// documentTypes are the types by name. Annotations hold only text.
var documentTypes sync.Map

// Documents declares the types of the documents that a command prints with --json. docs/schemas is generated
// from them.
func Documents(cmd *cobra.Command, documents ...any) {
	var names []string
	for _, document := range documents {
		kind := reflect.TypeOf(document)
		name := kind.PkgPath() + "." + kind.Name()
		documentTypes.Store(name, kind)
		names = append(names, name)
	}
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[documentsKey] = strings.Join(names, " ")
}

// DocumentsOf returns the types that Documents has declared.
func DocumentsOf(cmd *cobra.Command) (types []reflect.Type) {
	for _, name := range strings.Fields(cmd.Annotations[documentsKey]) {
		kind, _ := documentTypes.Load(name)
		types = append(types, kind.(reflect.Type))
	}
	return types
}
