// Package llmtest is a scripted endpoint with the OpenAI API on a loopback port,
// which can simulate the faults of real endpoints:
//
//	client -> /v1/chat/completions -> script -> Reply
//	client -> /v1/embeddings       -> script, or hashed-feature vectors
//	client -> /v1/models           -> an empty list
//	client -> /v1/rerank           -> script, or shares of the query's words
//	client -> /api/embed           -> script, or hashed-feature vectors, with Ollama's API
//
// By default it answers the prompts of the scorer and the router from the facts and
// domains that the test has set. It serves tests within one process (New) and tests
// of a real binary (Start).
package llmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"hippocampus/internal/llm"
)

// Dim is the default dimension of embeddings.
const Dim = 256

// ChatRequest is a request to a chat model.
type ChatRequest struct {
	Call           int    // 1 for the first chat call to this server
	Key            string // the bearer token
	Model          string
	Temperature    float64
	MaxTokens      int
	Format         string // of the response: "json_schema", "json_object" or ""
	Schema         json.RawMessage
	System, User   string // the texts of these roles, each joined by newlines; those of the assistant are in User
	Correction     string // the user's last message, if it follows an answer of the assistant
	Body           string // of the request
	HasTemperature bool
}

// EmbedRequest is a request to an embedding model.
type EmbedRequest struct {
	Call  int
	Model string
	Texts []string
}

// Server is a running endpoint. Its methods may be called at any time.
type Server struct {
	http *httptest.Server
	done chan struct{} // closed by Close: ends hanging replies

	mu         sync.Mutex
	down       bool
	key        string // that is accepted; empty: any
	dim        int
	chats      int
	embeddings int
	onChat     func(ChatRequest) Reply
	onEmbed    func(EmbedRequest) Reply
	onRerank   func(RerankRequest) Reply
	vectors    map[string][]float32
	script     script
}

// New starts a server on a free port and closes it at the end of the test.
func New(t testing.TB) *Server {
	t.Helper()
	s, err := Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Start starts a server on host:port. The caller must close it.
func Start(addr string) (*Server, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("start the fake LLM endpoint: %w", err)
	}
	s := &Server{done: make(chan struct{}), dim: Dim, vectors: map[string][]float32{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.serveChat)
	mux.HandleFunc("POST /v1/embeddings", s.serveEmbeddings)
	mux.HandleFunc("POST /v1/rerank", s.serveRerank)
	mux.HandleFunc("POST /api/embed", s.serveOllama)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		JSON(map[string]any{"object": "list", "data": []any{}}).serve(s, w, r)
	})
	s.http = &httptest.Server{Listener: listener, Config: &http.Server{Handler: s.checkKey(mux)}}
	s.http.Start()
	return s, nil
}

// Close ends hanging replies and the server.
func (s *Server) Close() {
	close(s.done)
	s.http.Close()
}

// URL is the base URL, which ends in /v1.
func (s *Server) URL() string { return s.http.URL + "/v1" }

// OllamaURL is the base URL of Ollama's API.
func (s *Server) OllamaURL() string { return s.http.URL }

// OnChat sets the function that answers chat calls; nil restores Facts and Domains.
func (s *Server) OnChat(f func(ChatRequest) Reply) { s.set(func() { s.onChat = f }) }

// Scripted answers a chat call from Facts, Domains and OnPrompt, for a function of OnChat that answers only some calls.
func (s *Server) Scripted(r ChatRequest) Reply {
	s.mu.Lock()
	script := s.script
	s.mu.Unlock()
	return script.answer(r)
}

// OnEmbed sets the function that answers embedding calls; nil restores Embed.
func (s *Server) OnEmbed(f func(EmbedRequest) Reply) { s.set(func() { s.onEmbed = f }) }

// SetDown sets whether the server closes every connection without an answer.
func (s *Server) SetDown(down bool) { s.set(func() { s.down = down }) }

// SetDim changes the dimension of embeddings.
func (s *Server) SetDim(dim int) { s.set(func() { s.dim = dim }) }

// Embedding sets the vector of one text.
func (s *Server) Embedding(text string, vector []float32) { s.set(func() { s.vectors[text] = vector }) }

// Chats counts the chat calls so far, including failed ones.
func (s *Server) Chats() int { return s.count(&s.chats) }

// Embeddings counts the embedding calls so far, including failed ones.
func (s *Server) Embeddings() int { return s.count(&s.embeddings) }

// SetKey makes the server refuse every call with another key; empty: it accepts any key.
func (s *Server) SetKey(key string) { s.set(func() { s.key = key }) }

func (s *Server) checkKey(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		key := s.key
		s.mu.Unlock()
		if key != "" && bearer(r) != key {
			Status(http.StatusUnauthorized).serve(s, w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *Server) count(n *int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *n
}

func (s *Server) serveChat(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Model       string   `json:"model"`
		Temperature *float64 `json:"temperature"`
		MaxTokens   int      `json:"max_tokens"`
		Format      struct {
			Type   string `json:"type"`
			Schema struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
		Messages []struct{ Role, Content string } `json:"messages"`
	}
	sent, ok := readJSON(w, r, &body)
	if !ok {
		return
	}
	request := ChatRequest{
		Key: bearer(r), Model: body.Model, MaxTokens: body.MaxTokens, Body: sent,
		Format: body.Format.Type, Schema: body.Format.Schema.Schema, HasTemperature: body.Temperature != nil,
	}
	if body.Temperature != nil {
		request.Temperature = *body.Temperature
	}
	for _, m := range body.Messages {
		if m.Role == "system" {
			request.System += m.Content + "\n"
		} else {
			request.User += m.Content + "\n"
		}
	}
	if n := len(body.Messages); n > 2 && body.Messages[n-2].Role == "assistant" {
		request.Correction = body.Messages[n-1].Content
	}
	s.mu.Lock()
	s.chats++
	request.Call = s.chats
	answer := s.onChat
	if answer == nil {
		answer = s.script.answer
	}
	down := s.down
	s.mu.Unlock()
	reply := Cut()
	if !down {
		reply = answer(request)
	}
	reply.serve(s, w, r)
}

func (s *Server) serveEmbeddings(w http.ResponseWriter, r *http.Request) {
	s.serveEmbed(w, r, s.Embed)
}

// serveEmbed answers with the script of OnEmbed, or else with embed.
func (s *Server) serveEmbed(w http.ResponseWriter, r *http.Request, embed func(EmbedRequest) Reply) {
	var body struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	if _, ok := readJSON(w, r, &body); !ok {
		return
	}
	s.mu.Lock()
	s.embeddings++
	request := EmbedRequest{Call: s.embeddings, Model: body.Model, Texts: body.Input}
	if s.onEmbed != nil {
		embed = s.onEmbed
	}
	down := s.down
	s.mu.Unlock()
	reply := Cut()
	if !down {
		reply = embed(request)
	}
	reply.serve(s, w, r)
}

// Embed answers with the vectors of the texts in reverse order, since clients must
// order them by index.
func (s *Server) Embed(r EmbedRequest) Reply {
	data := []map[string]any{}
	for i := len(r.Texts) - 1; i >= 0; i-- {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": s.Vector(r.Texts[i])})
	}
	return JSON(map[string]any{"object": "list", "model": r.Model, "data": data})
}

// Vector is the embedding of a text: the one that Embedding has set, or else hashed
// features, so that texts with common words are similar. It is not a unit vector,
// since clients must scale it.
func (s *Server) Vector(text string) []float32 {
	s.mu.Lock()
	own, dim := s.vectors[text], s.dim
	s.mu.Unlock()
	if own != nil {
		return own
	}
	vectors, err := llm.Hashed(dim).Embed(context.Background(), llm.ForDocument, []string{text})
	if err != nil {
		return nil
	}
	for i := range vectors[0] {
		vectors[0][i] *= 2
	}
	return vectors[0]
}

func readJSON(w http.ResponseWriter, r *http.Request, into any) (sent string, ok bool) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
	return string(body), err == nil
}

func bearer(r *http.Request) string {
	const prefix = "Bearer "
	if h := r.Header.Get("Authorization"); len(h) > len(prefix) && h[:len(prefix)] == prefix {
		return h[len(prefix):]
	}
	return ""
}
