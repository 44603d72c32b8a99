package llmtest

import "encoding/json"

// Minimal returns a schema's shortest simple JSON value: the first constant of an enumeration, empty strings
// and lists, zero, and false.
func Minimal(schema []byte) string {
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return "null"
	}
	text, err := json.Marshal(minimal(root, root, 0))
	if err != nil {
		return "null"
	}
	return string(text)
}

func minimal(node, root any, depth int) any {
	fields, _ := node.(map[string]any)
	if constant, has := fields["const"]; has {
		return constant
	}
	if values, _ := fields["enum"].([]any); len(values) > 0 {
		return values[0]
	}
	if variants, _ := fields["anyOf"].([]any); len(variants) > 0 && depth < maxDepth {
		return minimal(variants[0], root, depth+1)
	}
	if reference, isReference := fields["$ref"].(string); isReference && depth < maxDepth {
		return minimal(resolve(root, reference), root, depth+1)
	}
	kind := fields["type"]
	if kinds, _ := kind.([]any); len(kinds) > 0 {
		kind = kinds[0]
	}
	switch kind {
	case "object":
		object := map[string]any{}
		properties, _ := fields["properties"].(map[string]any)
		for name, property := range properties {
			if depth < maxDepth {
				object[name] = minimal(property, root, depth+1)
			}
		}
		return object
	case "array":
		if least, _ := fields["minItems"].(float64); least > 0 && depth < maxDepth {
			return []any{minimal(fields["items"], root, depth+1)}
		}
		return []any{}
	case "string":
		return ""
	case "integer", "number":
		return 0
	case "boolean":
		return false
	}
	return nil
}
