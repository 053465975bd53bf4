package llmtest

import (
	"encoding/json"
	"maps"
	"net/http"
	"time"
)

// Reply is the answer to one call.
type Reply struct {
	status int
	header http.Header
	body   string
	delay  time.Duration
	hang   bool
	cut    bool
	chop   bool
}

// Text is a chat answer with this text.
func Text(text string) Reply { return TextWithUsage(text, nil) }

// TextWithUsage is a chat answer with this text and this usage, in the form of the endpoint.
func TextWithUsage(text string, usage map[string]any) Reply {
	return JSON(map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "model": "fake", "usage": usage,
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop",
			"message": map[string]any{"role": "assistant", "content": text},
		}},
	})
}

// JSON is a successful answer with the JSON form of v as its body.
func JSON(v any) Reply {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // a mistake in the test
	}
	return Raw(string(body))
}

// Raw is a successful answer with exactly this body.
func Raw(body string) Reply { return Reply{status: http.StatusOK, body: body} }

// Status is an answer with this status and an error body in the form of OpenAI.
func Status(status int) Reply {
	return Reply{status: status, body: `{"error":{"message":"scripted failure","type":"fake"}}`}
}

// As returns the reply with another status.
func (r Reply) As(status int) Reply { r.status = status; return r }

// Hang sends no answer until the client gives up or the server is closed.
func Hang() Reply { return Reply{hang: true} }

// Cut closes the connection without an answer.
func Cut() Reply { return Reply{cut: true} }

// Chopped sends the headers and half of the body, then closes the connection.
func (r Reply) Chopped() Reply { r.chop = true; return r }

// After returns the reply with a delay.
func (r Reply) After(d time.Duration) Reply { r.delay = d; return r }

// With returns the reply with a header, such as Retry-After.
func (r Reply) With(name, value string) Reply {
	r.header = maps.Clone(r.header)
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header.Set(name, value)
	return r
}

func (r Reply) serve(s *Server, w http.ResponseWriter, request *http.Request) {
	if r.delay > 0 {
		timer := time.NewTimer(r.delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-request.Context().Done():
			return
		case <-s.done:
		}
	}
	if r.hang {
		select {
		case <-request.Context().Done():
		case <-s.done:
		}
		return
	}
	if r.cut {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	maps.Copy(w.Header(), r.header)
	body := r.body
	if r.chop {
		body = body[:len(body)/2]
	}
	w.WriteHeader(r.status)
	if _, err := w.Write([]byte(body)); err != nil {
		return // the client closed the connection
	}
	if r.chop {
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler)
	}
}
