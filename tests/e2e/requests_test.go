package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// object is a decoded JSON object.
type object map[string]any

// reply is an answer of the server.
type reply struct {
	status int
	header http.Header
	raw    string
	body   object
}

var httpClient = &http.Client{Timeout: waitLimit}

// try sends a request, without a body if body is nil; a string or []byte is sent unchanged.
func (s *server) try(method, path string, body any) (reply, error) {
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	case []byte:
		reader = bytes.NewReader(b)
	default:
		data, err := json.Marshal(b)
		if err != nil {
			return reply{}, err
		}
		reader = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, s.address()+path, reader)
	if err != nil {
		return reply{}, err
	}
	if s.key != "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
	}
	if reader != nil {
		req.Header.Set("Content-Type", "application/json")
		if path == "/v1/import" {
			req.Header.Set("Content-Type", "application/x-ndjson")
		}
	}
	res, err := httpClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return reply{}, err
	}
	r := reply{status: res.StatusCode, header: res.Header, raw: string(data)}
	_ = json.Unmarshal(data, &r.body)
	return r, nil
}

// call sends a request and expects one of the statuses.
func (s *server) call(method, path string, body any, statuses ...int) reply {
	s.t.Helper()
	r, err := s.try(method, path, body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	for _, status := range statuses {
		if r.status == status {
			return r
		}
	}
	s.t.Fatalf("%s %s with %v: status %d, want %v: %s", method, path, body, r.status, statuses, r.raw)
	return r
}

// erase erases a user. It repeats the request while the answer is 503, since an
// erasure waits for pushes under way, including those of a killed server.
func (s *server) erase(user string) (receipt reply) {
	s.t.Helper()
	eventually(s.t, "the user being erased", func() string {
		if receipt = s.call("DELETE", "/v1/users/"+url.PathEscape(user), nil, 200, 503); receipt.status == 503 {
			return receipt.raw
		}
		return ""
	})
	return receipt
}

// list returns the objects under a key of an answer.
func (r reply) list(key string) []object { return listOf(r.body[key]) }

// listOf returns a list of objects in a JSON value.
func listOf(value any) []object {
	items, _ := value.([]any)
	list := make([]object, len(items))
	for i, item := range items {
		list[i], _ = item.(map[string]any)
	}
	return list
}

// contents returns the content fields of a list, in order.
func contents(list []object) []string {
	texts := make([]string, len(list))
	for i, o := range list {
		texts[i], _ = o["content"].(string)
	}
	return texts
}
