package recording

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Player is an endpoint that answers from a recording. A prompt that occurs more
// than once is answered in the recorded order, and then by its last answer.
type Player struct {
	server *httptest.Server

	mu      sync.Mutex
	model   string
	answers map[string][]string // by hash
	unknown func(error)
}

// NewPlayer starts an endpoint for a recording. It calls unknown for each prompt that
// has no recorded answer, with an error that names the prompt.
func NewPlayer(r Recording, unknown func(error)) *Player {
	p := &Player{model: r.Model, answers: map[string][]string{}, unknown: unknown}
	for _, c := range r.Calls {
		p.answers[c.Hash] = append(p.answers[c.Hash], c.Answer)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /models", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, map[string]any{"object": "list", "data": []any{}})
	})
	mux.HandleFunc("POST "+completions, p.answer)
	p.server = httptest.NewServer(mux)
	return p
}

// Close stops the endpoint.
func (p *Player) Close() { p.server.Close() }

// URL is the base URL for the server.
func (p *Player) URL() string { return p.server.URL }

func (p *Player) answer(w http.ResponseWriter, r *http.Request) {
	var asked chatRequest
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	text, err := p.next(asked.Messages)
	if err != nil {
		p.unknown(err)
		write(w, http.StatusBadRequest, map[string]any{"error": map[string]any{"message": err.Error()}})
		return
	}
	write(w, http.StatusOK, map[string]any{
		"id": "recorded", "object": "chat.completion", "model": p.model,
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop", "message": Message{Role: "assistant", Content: text},
		}},
	})
}

// next returns the next answer to a prompt.
func (p *Player) next(messages []Message) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	hash := hashOf(messages)
	answers := p.answers[hash]
	if len(answers) == 0 {
		return "", fmt.Errorf("the recording has no answer to the prompt %s (hash %s) that ends in %q: record it again",
			nameOf(messages), hash, ending(messages))
	}
	if len(answers) > 1 {
		p.answers[hash] = answers[1:]
	}
	return answers[0], nil
}

// ending is the end of the last message, which holds the data of a prompt.
func ending(messages []Message) string {
	const size = 300
	if len(messages) == 0 {
		return ""
	}
	text := messages[len(messages)-1].Content
	return strings.ToValidUTF8(text[max(0, len(text)-size):], "")
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails only if the client has disconnected
}
