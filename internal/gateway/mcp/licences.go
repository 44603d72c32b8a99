package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// licencePrefix begins a licence's address, which ends with the id.
const licencePrefix = "haggle://licenses/"

// licenceType is the MIME type of licences.
const licenceType = "application/json"

func licenceURI(id int64) string { return licencePrefix + strconv.FormatInt(id, 10) }

// addLicences adds the licences of the caller as resources.
func (s *server) addLicences(m *mcp.Server) {
	m.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "license", Title: "Licence", URITemplate: licencePrefix + "{id}", MIMEType: licenceType,
		Description: "A licence of the caller, as the publisher's server enforces it. It has the verified name " +
			"of the client; anonymous callers have none.",
	}, s.readLicence)
	m.AddReceivingMiddleware(s.listLicences)
}

// listLicences adds the caller's licences to the list of resources.
func (s *server) listLicences(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		list, is := request.(*mcp.ListResourcesRequest)
		if !is {
			return next(ctx, method, request)
		}
		cursor := ""
		if list.Params != nil {
			// The SDK does not handle licences, so it did not issue the cursor.
			cursor, list.Params.Cursor = list.Params.Cursor, ""
		}
		answer, err := next(ctx, method, request)
		found, is := answer.(*mcp.ListResourcesResult)
		if err != nil || !is {
			return answer, err
		}
		caller, err := s.Caller(ctx)
		if err != nil {
			return nil, err
		}
		if !caller.Has(identity.LicencesRead) {
			return found, nil // anonymous callers hold no licences
		}
		page, err := s.Service.Licences(ctx, caller, store.Page{After: cursor})
		if err != nil {
			return nil, s.protocolError(ctx, method, err)
		}
		for _, licence := range page.Items {
			found.Resources = append(found.Resources, &mcp.Resource{
				URI: licenceURI(licence.ID), Name: fmt.Sprintf("license-%d", licence.ID), MIMEType: licenceType,
				Title: "Licence of " + licence.Policy.Publisher,
			})
		}
		found.NextCursor = page.Next
		// The list depends on the caller.
		found.CacheScope = "private"
		return found, nil
	}
}

// readLicence reads a licence of the caller.
func (s *server) readLicence(
	ctx context.Context, request *mcp.ReadResourceRequest,
) (*mcp.ReadResourceResult, error) {
	uri := request.Params.URI
	id, err := strconv.ParseInt(strings.TrimPrefix(uri, licencePrefix), 10, 64)
	if err != nil || uri != licenceURI(id) {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	caller, err := s.Caller(ctx)
	if err != nil {
		return nil, s.protocolError(ctx, "resources/read", err)
	}
	licence, err := s.Service.Licence(ctx, caller, id)
	var known *service.Error
	switch {
	case errors.As(err, &known) && (known.Kind == service.NotFound || known.Kind == service.Forbidden):
		return nil, mcp.ResourceNotFoundError(uri)
	case err != nil:
		return nil, s.protocolError(ctx, "resources/read", err)
	}
	text, err := json.Marshal(licence)
	if err != nil {
		return nil, s.protocolError(ctx, "resources/read", err)
	}
	read := &mcp.ReadResourceResult{
		Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: licenceType, Text: string(text)}},
	}
	read.CacheScope = "private"
	return read, nil
}

// protocolError returns an error with a message for the caller.
func (s *server) protocolError(ctx context.Context, method string, err error) error {
	problem, _ := s.problemOf(ctx, method, err)
	return errors.New(problem.Detail)
}
