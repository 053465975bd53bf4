package quality

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"hippocampus/cmd/bench/measure"
)

// PeersOptions choose which memory systems are measured, and how.
type PeersOptions struct {
	Paths    []string // conversation files, and folders of them
	Embedder []string // settings with which this server uses the embedder of the peers; nil: it is not measured so
	Peers    []Peer
	Clients  int           // of the last measurement
	For      time.Duration // of the last measurement
	Rest     time.Duration // longest wait for an idle machine before the questions
	Progress io.Writer
}

// Peers compares memory systems by the same conversations and questions.
type Peers struct {
	Machine       measure.Machine `json:"machine"`
	Conversations []string        `json:"conversations"`
	Messages      int             `json:"messages"`
	Clients       int             `json:"clients"`
	Systems       []PeerRow       `json:"systems"`
}

// PeerRow is the measurement of one system. CPU and memory are those of all its processes.
type PeerRow struct {
	Name   string         `json:"name"`
	Found  Mean           `json:"found"`             // of the evidence of each question
	Report measure.Sample `json:"report_a_message"`  // until the message can be recalled, one client
	Recall measure.Sample `json:"recall"`            // one client
	Crowd  measure.Sample `json:"recall_by_clients"` // without pauses
	Memory int64          `json:"memory_bytes"`      // at the end; a page that several processes share counts once
}

// system is a memory system that runs.
type system interface {
	// report returns when the message can be recalled.
	report(ctx context.Context, c conversation, t turn) error
	// search returns the turns of the memories that the system finds by default, the best first.
	search(ctx context.Context, c conversation, question string) (turns []string, err error)
	usage() (measure.Usage, error)
	close() error
}

// MeasurePeers reports the conversations message by message to one system after the other, and asks their questions.
func MeasurePeers(ctx context.Context, o PeersOptions) (Peers, error) {
	conversations, err := load(o.Paths)
	if err != nil {
		return Peers{}, err
	}
	result := Peers{Machine: measure.ThisMachine(), Clients: o.Clients}
	for _, c := range conversations {
		result.Conversations = append(result.Conversations, c.user())
		result.Messages += len(c.Turns)
	}
	peers := make([]system, len(o.Peers)) // before minutes are spent on this server
	for i, p := range o.Peers {
		if peers[i], err = p.reach(); err != nil {
			return result, fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	measured := func(name string, s system) error {
		row, err := measureSystem(ctx, o, conversations, name, s)
		if err = cmp.Or(err, s.close()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		result.Systems = append(result.Systems, row)
		return nil
	}
	measureThis := func(name string, settings []string) error {
		s, err := startThisServer(ctx, settings)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return measured(name, s)
	}
	if err := measureThis("this server", nil); err != nil {
		return result, err
	}
	if o.Embedder != nil {
		if err := measureThis("this server, embedder of the peers", o.Embedder); err != nil {
			return result, err
		}
	}
	for i, p := range o.Peers {
		if err := measured(p.Name, peers[i]); err != nil {
			return result, err
		}
	}
	return result, nil
}

// request is a question about a conversation.
type request struct {
	place int // of the conversation
	of    conversation
	asks  question
}

func measureSystem(
	ctx context.Context, o PeersOptions, conversations []conversation, name string, s system,
) (row PeerRow, err error) {
	row.Name = name
	var requests []request
	for i, c := range conversations {
		for _, q := range c.asked() {
			requests = append(requests, request{i, c, q})
		}
	}
	if len(requests) == 0 {
		return row, errors.New("the conversations have no questions that can be measured")
	}
	if row.Report, err = sampled(s, func(t *measure.Times) error {
		return reportAll(ctx, o, conversations, name, s, t)
	}); err != nil {
		return row, err
	}
	// What a system does by itself after a conversation has ended is not a part of its recalls.
	if _, err := measure.Rest(ctx, o.Rest, o.Progress); err != nil {
		return row, err
	}
	answers := make([]asked, len(requests))
	if row.Recall, err = sampled(s, func(t *measure.Times) error {
		for i, r := range requests {
			if err := t.Call(func() error {
				turns, err := s.search(ctx, r.of, r.asks.Text)
				answers[i] = asked{r.place, r.asks.Category, measuresOf(turns, r.asks.Evidence)}
				return err
			}); err != nil {
				return fmt.Errorf("ask %s: %w", r.asks.ID, err)
			}
		}
		return nil
	}); err != nil {
		return row, err
	}
	row.Found = summarise(answers)
	fmt.Fprintf(o.Progress, "%s: %d clients for %s\n", name, o.Clients, o.For)
	if row.Crowd, err = sampled(s, func(t *measure.Times) error {
		var next atomic.Int64
		return t.Run(ctx, o.Clients, o.For, &next, func(ctx context.Context, n int) error {
			r := requests[n%len(requests)]
			_, err := s.search(ctx, r.of, r.asks.Text)
			return err
		})
	}); err != nil {
		return row, err
	}
	used, err := s.usage()
	row.Memory = used.Memory
	return row, err
}

// reportAll reports every message, one after the other.
func reportAll(
	ctx context.Context, o PeersOptions, conversations []conversation, name string, s system, t *measure.Times,
) error {
	for _, c := range conversations {
		fmt.Fprintf(o.Progress, "%s: reporting %s: %d messages\n", name, c.user(), len(c.Turns))
		for _, said := range c.Turns {
			if err := t.Call(func() error { return s.report(ctx, c, said) }); err != nil {
				return fmt.Errorf("report %s of %s: %w", said.ID, c.user(), err)
			}
		}
	}
	return nil
}

// sampled returns the times that f adds, with the CPU time that the system takes for them.
func sampled(s system, f func(t *measure.Times) error) (measure.Sample, error) {
	var t measure.Times
	before, err := s.usage()
	if err != nil {
		return measure.Sample{}, err
	}
	if err := f(&t); err != nil {
		return measure.Sample{}, err
	}
	after, err := s.usage()
	t.CPU = after.CPU - before.CPU
	return t.Sample(), err
}
