package quality

import (
	"cmp"
	"context"
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
	measured := func(name string, start func() (system, error)) error {
		s, err := start()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		row, err := measureSystem(ctx, o, conversations, name, s)
		if err = cmp.Or(err, s.close()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		result.Systems = append(result.Systems, row)
		return nil
	}
	if err := measured("this server", func() (system, error) { return startThisServer(ctx, nil) }); err != nil {
		return result, err
	}
	if o.Embedder != nil {
		start := func() (system, error) { return startThisServer(ctx, o.Embedder) }
		if err := measured("this server, embedder of the peers", start); err != nil {
			return result, err
		}
	}
	for _, p := range o.Peers {
		if err := measured(p.Name, p.reach); err != nil {
			return result, err
		}
	}
	return result, nil
}

func measureSystem(
	ctx context.Context, o PeersOptions, conversations []conversation, name string, s system,
) (PeerRow, error) {
	row := PeerRow{Name: name}
	var reported, recalled measure.Times
	err := counted(s, &reported, func() error {
		for _, c := range conversations {
			fmt.Fprintf(o.Progress, "%s: reporting %s: %d messages\n", name, c.user(), len(c.Turns))
			for _, t := range c.Turns {
				if err := reported.Call(func() error { return s.report(ctx, c, t) }); err != nil {
					return fmt.Errorf("report %s of %s: %w", t.ID, c.user(), err)
				}
			}
		}
		return nil
	})
	if err != nil {
		return row, err
	}
	// What a system does by itself after a conversation has ended is not a part of its recalls.
	if _, err := measure.Rest(ctx, o.Rest, o.Progress); err != nil {
		return row, err
	}
	type request struct {
		of   conversation
		text string
	}
	var requests []request
	var answers []asked
	err = counted(s, &recalled, func() error {
		for i, c := range conversations {
			for _, q := range c.asked() {
				requests = append(requests, request{c, q.Text})
				if err := recalled.Call(func() error {
					turns, err := s.search(ctx, c, q.Text)
					answers = append(answers, asked{i, q.Category, measuresOf(turns, q.Evidence)})
					return err
				}); err != nil {
					return fmt.Errorf("ask %s: %w", q.ID, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		return row, err
	}
	fmt.Fprintf(o.Progress, "%s: %d clients for %s\n", name, o.Clients, o.For)
	var crowd measure.Times
	var next atomic.Int64
	err = counted(s, &crowd, func() error {
		return crowd.Run(ctx, o.Clients, o.For, &next, func(ctx context.Context, n int) error {
			r := requests[n%len(requests)]
			_, err := s.search(ctx, r.of, r.text)
			return err
		})
	})
	if err != nil {
		return row, err
	}
	used, err := s.usage()
	row.Found, row.Memory = summarise(answers), used.Memory
	row.Report = reported.Sample()
	row.Recall, row.Crowd = recalled.Sample(), crowd.Sample()
	return row, err
}

// counted adds the CPU time that the system takes for f.
func counted(s system, t *measure.Times, f func() error) error {
	before, err := s.usage()
	if err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	after, err := s.usage()
	t.CPU += after.CPU - before.CPU
	return err
}
