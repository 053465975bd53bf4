package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"hippocampus/internal/memory"
)

// post sends a JSON request to a path of the endpoint and reads the JSON answer. Its errors are those
// that call expects.
func (c *Client) post(ctx context.Context, path string, body, into any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return memory.Errorf(memory.KindInternal, "write the request: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.options.BaseURL+path, bytes.NewReader(data))
	if err != nil {
		return memory.Errorf(memory.KindInternal, "write the request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	if c.options.APIKey != "" {
		request.Header.Set("Authorization", "Bearer "+c.options.APIKey)
	}
	response, err := (&doer{http: c.http, now: c.options.Now}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return json.NewDecoder(response.Body).Decode(into)
}
