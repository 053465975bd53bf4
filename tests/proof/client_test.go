package proof

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// reply is an answer of a server.
type reply struct {
	status int
	raw    string
	body   map[string]any
}

// ok reports whether the request succeeded.
func (r reply) ok() bool { return r.status/100 == 2 }

// list returns the objects under a key.
func (r reply) list(key string) []map[string]any {
	items, _ := r.body[key].([]any)
	list := make([]map[string]any, len(items))
	for i, item := range items {
		list[i], _ = item.(map[string]any)
	}
	return list
}

// ndjson is a body that is sent unchanged.
type ndjson string

// try sends a request, without a body if body is nil.
func (s *server) try(method, path string, body any) (reply, error) {
	var reader io.Reader
	kind := "application/json"
	if stream, ok := body.(ndjson); ok {
		reader, kind = strings.NewReader(string(stream)), "application/x-ndjson"
	} else if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return reply{}, err
		}
		reader = bytes.NewReader(data)
	}
	req, err := http.NewRequest(method, s.url+path, reader)
	if err != nil {
		return reply{}, err
	}
	if body != nil {
		req.Header.Set("Content-Type", kind)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	r := reply{status: res.StatusCode, raw: string(data)}
	_ = json.Unmarshal(data, &r.body)
	return r, err
}

// call sends a request and expects one of the statuses.
func (s *server) call(method, path string, body any, statuses ...int) reply {
	s.t.Helper()
	r, err := s.try(method, path, body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	if !slices.Contains(statuses, r.status) {
		s.t.Fatalf("%s %s with %v: status %d, want %v: %s", method, path, body, r.status, statuses, r.raw)
	}
	return r
}

// waitLimit is how long a condition may take to come true on a busy machine.
const waitLimit = 15 * time.Minute

// eventually waits until f reports no more reason to wait.
func eventually(t *testing.T, what string, f func() (waiting string)) {
	t.Helper()
	deadline := time.Now().Add(waitLimit)
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		waiting := f()
		if waiting == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come true within %s: %s", what, waitLimit, waiting)
		}
		time.Sleep(pause)
	}
}
