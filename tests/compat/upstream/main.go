// Command upstream is a scripted model with OpenAI's API, for the clients that scripts/compat runs, and for trying the
// proxy without a model:
//
//	POST /v1/chat/completions, /v1/responses -> an answer that depends on the user's last words
//	GET  /v1/models                          -> one model
//	GET  /last                               -> {"authorization", "body"} of the last request to a model
//
// A request with tools gets a call of the first one, until a tool has answered. The words "Fail with 429" make it fail
// with that status. Every other request gets the text of answerTo. "stream": true streams each answer word by word.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	address := flag.String("listen", "127.0.0.1:0", "address to listen on; port 0: any free one")
	flag.Parse()
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	server := &http.Server{Handler: newModel(), ReadHeaderTimeout: time.Minute}
	log.Fatal(server.Serve(listener))
}

// model keeps the last request.
type model struct {
	http.ServeMux
	mu   sync.Mutex
	last map[string]string
}

func newModel() *model {
	m := &model{last: map[string]string{}}
	m.HandleFunc("POST /v1/chat/completions", m.answer(chat{}))
	m.HandleFunc("POST /v1/responses", m.answer(responses{}))
	m.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, object{"object": "list", "data": []object{
			{"id": "scripted", "object": "model", "created": 1, "owned_by": "tests"},
		}})
	})
	m.HandleFunc("GET /last", func(w http.ResponseWriter, _ *http.Request) {
		m.mu.Lock()
		defer m.mu.Unlock()
		write(w, http.StatusOK, m.last)
	})
	return m
}

type object map[string]any

// request has the fields that the script depends on.
type request struct {
	Stream bool `json:"stream"`
	Tools  []struct {
		Name     string                `json:"name"` // of the Responses API
		Function struct{ Name string } `json:"function"`
	} `json:"tools"`
	Messages []said          `json:"messages"`
	Input    json.RawMessage `json:"input"` // of the Responses API: a text, or a list of items
}

// said is a message, or an item of the Responses API.
type said struct {
	Role    string          `json:"role"`
	Type    string          `json:"type"`
	Content json.RawMessage `json:"content"`
	Output  string          `json:"output"`
}

// reply is an answer of the script: a text, or a call of a tool.
type reply struct{ text, tool string }

// arguments are the arguments of every call of a tool.
const arguments = `{"city":"Lisbon"}`

// api is the form of requests and answers.
type api interface {
	messages(r request) []said
	whole(r reply) object
	// stream returns the events of an answer, and whether their types are written as event: lines also.
	stream(r reply) (events []object, named bool)
}

func (m *model) answer(form api) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has disconnected
		}
		m.mu.Lock()
		m.last = map[string]string{"authorization": r.Header.Get("Authorization"), "body": string(body)}
		m.mu.Unlock()
		w.Header().Set("X-Request-Id", "scripted-1")
		var sent request
		if err := json.Unmarshal(body, &sent); err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		answer, status := script(sent, form.messages(sent))
		switch {
		case status != http.StatusOK:
			refuse(w, status, "a scripted failure")
		case sent.Stream:
			events, named := form.stream(answer)
			stream(w, events, named)
		default:
			write(w, http.StatusOK, form.whole(answer))
		}
	}
}

var failure = regexp.MustCompile(`Fail with (\d{3})`)

// script returns the answer to the messages of a request, or the status that it fails with.
func script(r request, messages []said) (answer reply, status int) {
	if len(messages) == 0 {
		return reply{}, http.StatusBadRequest
	}
	last := messages[len(messages)-1]
	words := string(last.Content) // a text, or parts with texts
	if wanted := failure.FindStringSubmatch(words); wanted != nil {
		status, _ = strconv.Atoi(wanted[1])
		return reply{}, status
	}
	switch {
	case last.Role == "tool" || last.Type == "function_call_output":
		return reply{text: "The tool has answered."}, http.StatusOK
	case len(r.Tools) > 0 && r.Tools[0].Name != "":
		return reply{tool: r.Tools[0].Name}, http.StatusOK
	case len(r.Tools) > 0:
		return reply{tool: r.Tools[0].Function.Name}, http.StatusOK
	}
	return reply{text: "I am a scripted model."}, http.StatusOK
}

// words divides a text so that the parts joined are the text.
func words(text string) []string { return strings.SplitAfter(text, " ") }

// stream writes events as a model would send them.
func stream(w http.ResponseWriter, events []object, named bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range events {
		if named {
			fmt.Fprintf(w, "event: %s\n", event["type"])
		}
		raw, _ := json.Marshal(event) // objects of texts and numbers
		fmt.Fprintf(w, "data: %s\n\n", raw)
		w.(http.Flusher).Flush()
	}
	if !named {
		fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails only if the client has disconnected
}

func refuse(w http.ResponseWriter, status int, text string) {
	write(w, status, object{"error": object{
		"message": text, "type": "scripted_error", "param": nil, "code": fmt.Sprintf("scripted_%d", status),
	}})
}
