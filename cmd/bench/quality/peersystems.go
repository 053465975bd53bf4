package quality

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"hippocampus/cmd/bench/measure"
	"hippocampus/cmd/bench/target"
)

// thisServer is a new server on SQLite, with default settings but for its embedder.
type thisServer struct {
	*target.Server
	turns map[string]string // ids of the conversations' turns by the server's
}

func startThisServer(ctx context.Context, settings []string) (system, error) {
	server, err := target.Start(ctx, target.Options{Size: target.Small, Settings: settings})
	if err != nil {
		return nil, err
	}
	return &thisServer{server, map[string]string{}}, nil
}

func (s *thisServer) report(ctx context.Context, c conversation, t turn) error {
	id, status, err := report(ctx, s.Client, c, t, AllUsers)
	if err == nil && status != "processed" {
		err = fmt.Errorf("the turn is %s", status)
	}
	s.turns[id] = t.ID
	return err
}

// search names the instant, a week after the last message, since the conversations are years old.
func (s *thisServer) search(ctx context.Context, c conversation, question string) ([]string, error) {
	list, err := recall(ctx, s.Client, map[string]any{
		"user_id": c.user(), "query": question, "at": c.End.Add(Lags[1].Duration).Format(time.RFC3339Nano),
	})
	return turnsOf(list, func(r recalled) string { return s.turns[r.SourceTurnID] }), err
}

func (s *thisServer) usage() (measure.Usage, error) { return s.Process().Usage() }
func (s *thisServer) close() error                  { return s.Close() }

// Peer is a system that runs on this machine already.
type Peer struct {
	Name  string
	URL   string // of Hindsight, or of scripts/peers/mem0
	API   PeerAPI
	Store int // port of a further process, which is no child of the first; 0: there is no such process
}

// PeerAPI is how a peer is called.
type PeerAPI string

// The APIs.
const (
	Mem0      PeerAPI = "mem0"      // scripts/peers/mem0, which calls mem0's library
	Hindsight PeerAPI = "hindsight" // its own server
)

func (p Peer) reach() (system, error) {
	at, err := url.Parse(p.URL)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(at.Port())
	if err != nil {
		return nil, fmt.Errorf("%s: give http://127.0.0.1:PORT: %w", p.URL, err)
	}
	r := running{Client: target.NewClient(p.URL, "")}
	ports := []int{port}
	if p.Store != 0 {
		ports = append(ports, p.Store)
	}
	for _, port := range ports {
		process, err := measure.Listener(port)
		if err != nil {
			return nil, err
		}
		if process == 0 {
			return nil, fmt.Errorf("no process of this machine listens on port %d: start the peer as scripts/peers/run does",
				port)
		}
		r.processes = append(r.processes, process)
	}
	if p.API == Mem0 {
		return mem0{r}, nil
	}
	return hindsight{r}, nil
}

// running is a peer with its processes.
type running struct {
	target.Client
	processes []measure.Process
}

func (r running) usage() (sum measure.Usage, err error) {
	for _, process := range r.processes {
		used, failed := process.Usage()
		err = cmp.Or(err, failed)
		sum.CPU, sum.Memory = sum.CPU+used.CPU, sum.Memory+used.Memory
	}
	return sum, err
}

func (r running) close() error { return nil }

// said is a message with the name of its speaker.
func (t turn) said() string { return t.Speaker + ": " + t.Text }

// mem0 is called through scripts/peers/mem0.
type mem0 struct{ running }

func (p mem0) report(ctx context.Context, c conversation, t turn) error {
	return p.Call(ctx, "POST", "/add", map[string]any{"user": c.user(), "turn": t.ID, "text": t.said()}, nil)
}

func (p mem0) search(ctx context.Context, c conversation, question string) (turns []string, err error) {
	err = p.Call(ctx, "POST", "/search", map[string]any{"user": c.user(), "query": question}, &turns)
	return turns, err
}

// hindsight has a bank for each conversation.
type hindsight struct{ running }

func bank(c conversation) string { return "/v1/default/banks/" + url.PathEscape(c.ID) + "/memories" }

func (p hindsight) report(ctx context.Context, c conversation, t turn) error {
	return p.Call(ctx, "POST", bank(c), map[string]any{"items": []any{map[string]any{
		"content": t.said(), "timestamp": t.At.Format(time.RFC3339), "document_id": t.ID,
	}}}, nil)
}

func (p hindsight) search(ctx context.Context, c conversation, question string) (turns []string, err error) {
	var answer struct {
		Results []struct {
			Document string `json:"document_id"`
		} `json:"results"`
	}
	err = p.Call(ctx, "POST", bank(c)+"/recall", map[string]any{"query": question}, &answer)
	for _, r := range answer.Results {
		turns = append(turns, r.Document)
	}
	return turns, err
}
