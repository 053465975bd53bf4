package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"hippocampus/cmd/hippocampus/remote"
	"hippocampus/server/mcp"
)

const mcpPath = "/mcp"

// newBridge relays MCP to a server, for a user; if it is "", the tools take the user as an argument.
func newBridge(to remote.Server, user string, log io.Writer) *mcp.Bridge {
	to.Base = strings.TrimSuffix(to.Base, mcpPath)
	endpoint := to.Base + mcpPath
	if user != "" {
		endpoint += "?" + url.Values{"user_id": {user}}.Encode()
	}
	return &mcp.Bridge{Endpoint: endpoint, HTTP: bridged{to}, Log: log}
}

// bridged is the server of a bridge.
type bridged struct{ remote.Server }

// RoundTrip implements http.RoundTripper: it adds the key, and turns every response that is not JSON-RPC into an
// error with the remedy. A redirect is such an error, since it could take the key to another server.
func (b bridged) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b.Key != "" {
		r.Header.Set("Authorization", "Bearer "+b.Key)
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, b.Unreachable(err)
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("the answer of %s broke off: %w; try again", b.Base, err)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	if response.StatusCode == http.StatusAccepted { // the answer to a notification
		return response, nil
	}
	var message struct{ JSONRPC string }
	if json.Unmarshal(body, &message) == nil && message.JSONRPC != "" {
		response.StatusCode = http.StatusOK // the transport replaces the errors of other responses by texts of its own
		return response, nil
	}
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if response.StatusCode == http.StatusBadRequest && media == "text/plain" { // the protocol refuses the message
		return nil, fmt.Errorf("%s refuses: %s", b.Base, strings.TrimSpace(string(body)))
	}
	return nil, b.Refusal(response)
}
