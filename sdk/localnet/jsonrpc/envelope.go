package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
)

// request is a request, or a notification if the ID is missing. Notifications receive no response.
type request struct {
	id           json.RawMessage
	version      *string
	method       string
	params       parameters
	named        bool
	notification bool
}

type response struct {
	result any
	err    *Error
	id     json.RawMessage
	// unversioned reports whether the request named no version. The response names none then, either.
	unversioned bool
}

// MarshalJSON implements json.Marshaler.
func (r response) MarshalJSON() ([]byte, error) {
	fields := object{"id": r.id}
	if len(r.id) == 0 {
		fields["id"] = nil
	}
	if !r.unversioned {
		fields["jsonrpc"] = "2.0"
	}
	if r.err != nil {
		fields["error"] = r.err
	} else {
		fields["result"] = r.result
	}
	return json.Marshal(fields)
}

// parseRequest decodes a request as nodes do: a wrong request is an invalid request if the ID is valid,
// otherwise no request at all.
func parseRequest(raw json.RawMessage) (request, *Error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return request{}, parseError
	}
	id, known := fields["id"]
	if known && !isID(id) {
		return request{}, parseError
	}
	r := request{id: id, notification: !known}
	for name, value := range fields {
		var err error
		switch name {
		case "jsonrpc":
			err = json.Unmarshal(value, &r.version)
		case "method":
			err = json.Unmarshal(value, &r.method)
		case "params":
			r.named = value[0] == '{'
			if !r.named {
				err = json.Unmarshal(value, &r.params)
			}
		case "id":
		default:
			err = errors.New("unknown field")
		}
		if err != nil {
			return r, invalidRequest
		}
	}
	if fields["method"] == nil || isNull(fields["method"]) || r.version != nil && *r.version != "2.0" {
		return r, invalidRequest
	}
	return r, nil
}

// isID reports whether the value is null, a string, or a non-negative integer.
func isID(raw json.RawMessage) bool {
	return isNull(raw) || raw[0] == '"' || len(bytes.Trim(raw, "0123456789")) == 0
}

// respond returns the response to a request, or nil for a notification.
func respond(raw json.RawMessage, handle func(request) (any, *Error)) *response {
	r, invalid := parseRequest(raw)
	switch {
	case invalid != nil:
		return &response{err: invalid, id: r.id}
	case r.notification:
		return nil
	case r.version == nil:
		return &response{err: unsupportedProtocol, id: r.id, unversioned: true}
	case r.named:
		return &response{err: namedParams, id: r.id}
	}
	result, err := handle(r)
	return &response{result: result, err: err, id: r.id}
}
