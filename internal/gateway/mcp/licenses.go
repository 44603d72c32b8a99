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

// licensePrefix begins a license's address, which ends with the id.
const licensePrefix = "haggle://licenses/"

// licenseType is the MIME type of licenses.
const licenseType = "application/json"

func licenseURI(id int64) string { return licensePrefix + strconv.FormatInt(id, 10) }

// addLicenses adds the licenses of the caller as resources.
func (s *server) addLicenses(m *mcp.Server) {
	m.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "license", Title: "License", URITemplate: licensePrefix + "{id}", MIMEType: licenseType,
		Description: "A license of the caller, as the publisher's server enforces it. It has the verified name " +
			"of the client; anonymous callers have none.",
	}, s.readLicense)
	m.AddReceivingMiddleware(s.listLicenses)
}

// listLicenses adds the caller's licenses to the list of resources.
func (s *server) listLicenses(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		list, is := request.(*mcp.ListResourcesRequest)
		if !is {
			return next(ctx, method, request)
		}
		cursor := ""
		if list.Params != nil {
			// The SDK does not handle licenses, so it did not issue the cursor.
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
		if !caller.Has(identity.LicensesRead) {
			return found, nil // anonymous callers hold no licenses
		}
		page, err := s.Service.Licenses(ctx, caller, store.Page{After: cursor})
		if err != nil {
			return nil, s.protocolError(ctx, method, err)
		}
		for _, license := range page.Items {
			found.Resources = append(found.Resources, &mcp.Resource{
				URI: licenseURI(license.ID), Name: fmt.Sprintf("license-%d", license.ID), MIMEType: licenseType,
				Title: "License of " + license.Policy.Publisher,
			})
		}
		found.NextCursor = page.Next
		// The list depends on the caller.
		found.CacheScope = "private"
		return found, nil
	}
}

// readLicense reads a license of the caller.
func (s *server) readLicense(
	ctx context.Context, request *mcp.ReadResourceRequest,
) (*mcp.ReadResourceResult, error) {
	uri := request.Params.URI
	id, err := strconv.ParseInt(strings.TrimPrefix(uri, licensePrefix), 10, 64)
	if err != nil || uri != licenseURI(id) {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	caller, err := s.Caller(ctx)
	if err != nil {
		return nil, s.protocolError(ctx, "resources/read", err)
	}
	license, err := s.Service.License(ctx, caller, id)
	var known *service.Error
	switch {
	case errors.As(err, &known) && (known.Kind == service.NotFound || known.Kind == service.Forbidden):
		return nil, mcp.ResourceNotFoundError(uri)
	case err != nil:
		return nil, s.protocolError(ctx, "resources/read", err)
	}
	text, err := json.Marshal(license)
	if err != nil {
		return nil, s.protocolError(ctx, "resources/read", err)
	}
	read := &mcp.ReadResourceResult{
		Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: licenseType, Text: string(text)}},
	}
	read.CacheScope = "private"
	return read, nil
}

// protocolError returns an error with a message for the caller.
func (s *server) protocolError(ctx context.Context, method string, err error) error {
	problem, _ := s.problemOf(ctx, method, err)
	return errors.New(problem.Detail)
}
