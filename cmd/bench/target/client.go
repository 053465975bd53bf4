package target

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Client calls a server's API.
type Client struct {
	URL         string
	key         string
	connections *Connections
}

// NewClient calls the server at http://HOST:PORT.
func NewClient(url, key string) Client {
	return Client{URL: url, key: key, connections: NewConnections(strings.TrimPrefix(url, "http://"))}
}

// Disconnect closes the connections that no request uses.
func (c Client) Disconnect() { c.connections.Close() }

// Do sends a body and returns the body of the answer. Any status but 2xx is a *Refusal.
func (c Client) Do(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	return c.send(ctx, method, path, "application/json", body)
}

// Import imports lines of an export.
func (c Client) Import(ctx context.Context, lines []byte) error {
	text, err := c.send(ctx, "POST", "/v1/import", "application/x-ndjson", lines)
	if err != nil {
		return err
	}
	var answer struct{ Failed int }
	if err := json.Unmarshal(text, &answer); err != nil || answer.Failed > 0 {
		return fmt.Errorf("import: %.500s: %w", text, err)
	}
	return nil
}

func (c Client) send(ctx context.Context, method, path, contentType string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	if body != nil {
		request.Header.Set("Content-Type", contentType)
	}
	answer, err := c.connections.Do(request)
	if err == nil && answer.Status/100 != 2 {
		err = &Refusal{Answer: answer, Request: method + " " + path}
	}
	return answer.Body, err
}

// Refusal is an answer whose status is not 2xx.
type Refusal struct {
	Answer
	Request string // method and path
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s: %d %s: %s", r.Request, r.Status, http.StatusText(r.Status), r.Body)
}

// RetryAfter is how long the server asks its client to wait; 0: it does not ask.
func (r *Refusal) RetryAfter() time.Duration {
	seconds, _ := strconv.Atoi(r.Header.Get("Retry-After")) // 0 without the header
	return time.Duration(seconds) * time.Second
}

// Body is a value as JSON. The value consists of maps, slices, strings and numbers.
func Body(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // such a value cannot fail
	}
	return text
}

// Call sends a value as JSON and decodes the answer into out, unless it is nil.
func (c Client) Call(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	answer, err := c.Do(ctx, method, path, body)
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(answer, out)
}

// Memory is a memory to write.
type Memory struct {
	UserID         string   `json:"user_id"`
	Content        string   `json:"content"`
	Importance     float64  `json:"importance"`
	At             string   `json:"at,omitempty"`
	ConversationID string   `json:"conversation_id,omitempty"`
	Tags           []string `json:"tags,omitempty"`
}

// Write stores memories, up to 1,000, and returns their ids.
func (c Client) Write(ctx context.Context, memories []Memory) ([]string, error) {
	var answer struct {
		Results []struct {
			ID    string          `json:"id"`
			Error json.RawMessage `json:"error"`
		} `json:"results"`
	}
	err := c.Call(ctx, "POST", "/v1/memories/batch", map[string]any{"memories": memories}, &answer)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(answer.Results))
	for i, r := range answer.Results {
		if r.ID == "" {
			return nil, fmt.Errorf("memory %d was not taken: %s", i, r.Error)
		}
		ids[i] = r.ID
	}
	return ids, nil
}

// Batch is how many memories one request of Load has.
const Batch = 1000

// Load writes memories, and waits until the vector store has them.
func (c Client) Load(ctx context.Context, memories iter.Seq[Memory]) error {
	batch := make([]Memory, 0, Batch)
	write := func() error {
		if len(batch) == 0 {
			return nil
		}
		_, err := c.Write(ctx, batch)
		batch = batch[:0]
		return err
	}
	for m := range memories {
		batch = append(batch, m)
		if len(batch) < Batch {
			continue
		}
		if err := write(); err != nil {
			return err
		}
	}
	if err := write(); err != nil {
		return err
	}
	return c.Settle(ctx)
}

// Metric is the value of a metric without labels.
func (c Client) Metric(ctx context.Context, name string) (float64, error) {
	metrics, err := c.Do(ctx, "GET", "/metrics", nil)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(metrics)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("the server has no metric %s", name)
}

// Settle waits until no push to the vector store is pending.
func (c Client) Settle(ctx context.Context) error {
	for {
		waiting := 0.0
		for _, name := range []string{"hippocampus_vectors_pending", "hippocampus_vectors_removing"} {
			n, err := c.Metric(ctx, name)
			if err != nil {
				return err
			}
			waiting += n
		}
		if waiting == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%v memories do not reach the vector store: %w", waiting, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}
