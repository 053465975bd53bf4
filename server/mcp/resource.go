package mcp

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hippocampus/internal/memory"
)

const (
	fileScheme = "memory://"
	fileSuffix = "/memory.md"
	ownFile    = fileScheme + "me" + fileSuffix // of the user of the connection
	fileType   = "text/markdown"
)

// addFile adds the memory file: one resource if the connection names the user, else a template.
func (s *Server) addFile(server *sdk.Server, bound bool) {
	const name, title = "memory.md", "Memory file"
	const description = "All that is remembered about the user, as Markdown, by kinds of statements."
	if bound {
		server.AddResource(&sdk.Resource{
			URI: ownFile, Name: name, Title: title, Description: description, MIMEType: fileType,
		}, s.readFile)
		return
	}
	server.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: fileScheme + "{user_id}" + fileSuffix, Name: name, Title: title, Description: description,
		MIMEType: fileType,
	}, s.readFile)
}

// readFile answers with the memory file that a URI names.
func (s *Server) readFile(ctx context.Context, request *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := request.Params.URI
	user := userOf(ctx)
	if user == "" {
		var err error
		user, err = url.PathUnescape(strings.TrimSuffix(strings.TrimPrefix(uri, fileScheme), fileSuffix))
		if err != nil || memory.CheckID(user, false) != "" {
			return nil, sdk.ResourceNotFoundError(uri)
		}
	}
	text, err := s.file(ctx, user)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: fileType, Text: text}}}, nil
}

// file returns the memory file of a user.
func (s *Server) file(ctx context.Context, user string) (string, error) {
	return ask[string](ctx, s.v1, http.MethodGet, "/v1/files/memory.md?"+url.Values{"user_id": {user}}.Encode(), nil)
}
