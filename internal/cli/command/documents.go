package command

import (
	"reflect"
	"sync"

	"github.com/spf13/cobra"
)

// documents maps commands to their document types, a []reflect.Type.
var documents sync.Map

// Documents declares the types printed by a command with --json. docs/schemas is generated from them.
func Documents(cmd *cobra.Command, samples ...any) {
	var types []reflect.Type
	for _, sample := range samples {
		types = append(types, reflect.TypeOf(sample))
	}
	documents.Store(cmd, types)
}

// DocumentsOf returns the types that Documents has declared.
func DocumentsOf(cmd *cobra.Command) []reflect.Type {
	types, _ := documents.Load(cmd)
	declared, _ := types.([]reflect.Type)
	return declared
}
