package proxying

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"hippocampus/cmd/bench/target"
)

// caller asks a model for streamed answers.
type caller struct {
	url    string // ends before /chat/completions
	client *http.Client
}

func newCaller(url string) *caller {
	return &caller{url, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1, DisableCompression: true}}}
}

// answer is a streamed answer whose first byte has arrived.
type answer struct {
	body     io.ReadCloser
	first    time.Duration // from the request until the first byte of the body
	memory   time.Duration // part of first that the proxy attributes to memory
	injected bool          // the request was given memory
}

// ask sends the words of a user and returns when the first byte of the answer has arrived.
func (c *caller) ask(ctx context.Context, user, words, model string) (*answer, error) {
	body := target.Body(map[string]any{
		"model": model, "stream": true, "messages": []any{map[string]string{"role": "user", "content": words}},
	})
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+target.Key)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Hippocampus-User", user)
	begin := time.Now()
	response, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	one := make([]byte, 1)
	if _, err = io.ReadFull(response.Body, one); err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers with status %d", c.url, response.StatusCode)
	}
	if err != nil {
		response.Body.Close()
		return nil, fmt.Errorf("read the first byte of %s: %w", c.url, err)
	}
	first := time.Since(begin)
	took, _ := strconv.ParseFloat(response.Header.Get("X-Hippocampus-Took"), 64) // 0 without memory
	return &answer{
		body: response.Body, first: first, memory: time.Duration(took * float64(time.Millisecond)),
		injected: response.Header.Get("X-Hippocampus-Memory") == "injected",
	}, nil
}

// rest reads the answer to its end, and fails if it is cut.
func (a *answer) rest() error {
	text, err := io.ReadAll(a.body)
	if err != nil {
		return fmt.Errorf("read an answer after %q: %w", text, err)
	}
	if !bytes.HasSuffix(text, []byte(end)) {
		return fmt.Errorf("an answer ends with %q", text[max(0, len(text)-100):])
	}
	return nil
}

func (a *answer) close() { _ = a.body.Close() }
