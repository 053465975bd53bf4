// Package proxying compares the OpenAI-compatible proxy with a plain reverse proxy to the same scripted model:
//
//	bench -> server's /proxy/v1       -> model of this process   first streamed byte, resident memory
//	bench -> bench reverse, a process -> model of this process   the same: the floor
//	bench -> server's /v1/context                                the time of the memory
package proxying

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/measure"
	"hippocampus/cmd/bench/target"
)

// Options of a measurement.
type Options struct {
	Size     target.Size
	Data     content.Data
	Rounds   int           // requests of each kind
	Pause    time.Duration // after each request
	Open     int           // streams that are open at the same time
	Settings []string
	Progress io.Writer
}

// Report has times of requests that one client sends in a random order.
type Report struct {
	Size     string          `json:"size"`
	Machine  measure.Machine `json:"machine"`
	Settings []string        `json:"settings,omitempty"`
	Data     string          `json:"data"`
	Reverse  measure.Sample  `json:"reverse_proxy"` // until the first byte of the answer's body
	Proxy    measure.Sample  `json:"proxy"`         // until the first byte of the answer's body
	Rest     measure.Sample  `json:"rest"`          // of Proxy, without the time that memory took in the same request
	Context  measure.Sample  `json:"context"`       // until the end of the answer
	Injected int             `json:"injected"`      // requests to the proxy that were given memory

	Streams []Held `json:"streams"` // of the server and of the reverse proxy
}

// Held is a process with open streams.
type Held struct {
	Name     string `json:"name"`
	Open     int    `json:"open"`
	Injected int    `json:"injected"` // streams whose requests were given memory
	Before   int64  `json:"before"`   // resident bytes without a stream
	During   int64  `json:"during"`   // resident bytes while all are open
}

// Overhead is the median time of the proxy, less those of a plain reverse proxy and of a context, in ms.
func (r Report) Overhead() float64 { return r.Proxy.P50 - r.Reverse.P50 - r.Context.P50 }

// The targets of the proxy.
const (
	mostOverhead = 3         // ms
	mostResident = 200 << 20 // bytes, of a server with 1,000 open streams
)

// Check returns an error that names each missed target.
func (r Report) Check() error {
	if over := r.Overhead(); over >= mostOverhead {
		return fmt.Errorf("the proxy adds %.2f ms, and the target is under %d ms", over, mostOverhead)
	}
	for _, held := range r.Streams[:1] {
		if held.During >= mostResident {
			return fmt.Errorf("%d streams take %d MiB, and the target is under %d", held.Open, held.During>>20, mostResident>>20)
		}
	}
	return nil
}

// Run measures a new server.
func Run(ctx context.Context, o Options) (report Report, err error) {
	report = Report{
		Size: string(o.Size), Machine: measure.ThisMachine(), Settings: o.Settings, Data: o.Data.String(),
	}
	model, err := startModel()
	if err != nil {
		return report, err
	}
	defer model.close()
	settings := append([]string{
		"HIPPOCAMPUS_PROXY_UPSTREAM=" + model.url, "HIPPOCAMPUS_PROXY_TIMEOUT=30s",
	}, o.Settings...)
	server, err := target.Start(ctx, target.Options{Size: o.Size, Settings: settings})
	if err != nil {
		return report, err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	reverse, err := startReverse(ctx, model.url)
	if err != nil {
		return report, err
	}
	defer func() { err = cmp.Or(err, reverse.close()) }()
	fmt.Fprintf(o.Progress, "loading %s\n", o.Data)
	if err := server.Load(ctx, o.Data.All()); err != nil {
		return report, fmt.Errorf("%w\n%s", err, server.Log())
	}
	m := measurement{
		Options: o, server: server, report: &report, proxied: newCaller(server.URL + "/proxy/v1"),
		reversed: newCaller(reverse.url), plain: reverse, model: model,
	}
	if err := m.firstBytes(ctx); err != nil {
		return report, fmt.Errorf("%w\n%s", err, server.Log())
	}
	if err := m.openStreams(ctx); err != nil {
		return report, fmt.Errorf("%w\n%s", err, server.Log())
	}
	return report, nil
}

// measurement holds what the steps of one measurement share.
type measurement struct {
	Options
	server            *target.Server
	plain             *reverse
	proxied, reversed *caller
	model             *model
	report            *Report
}

// firstBytes sends each kind of request in each round. It begins with a tenth more rounds, which are not measured.
func (m *measurement) firstBytes(ctx context.Context) error {
	fmt.Fprintf(m.Progress, "%d rounds\n", m.Rounds)
	random := rand.New(rand.NewPCG(3, 1))
	var next int
	var reversed, proxied, rest, asked measure.Times
	ask := func(of *caller, t *measure.Times) func() error {
		return func() error {
			next++
			answer, err := of.ask(ctx, m.user(next), m.Data.Query(next), streaming)
			if err != nil {
				return err
			}
			defer answer.close()
			t.Latencies, t.Took = append(t.Latencies, answer.first), t.Took+answer.first
			if t == &proxied {
				rest.Latencies = append(rest.Latencies, answer.first-answer.memory)
				rest.Took += answer.first - answer.memory
			}
			if answer.injected {
				m.report.Injected++
			}
			return answer.rest()
		}
	}
	kinds := []func() error{ask(m.reversed, &reversed), ask(m.proxied, &proxied), func() error {
		next++
		query := m.Data.Query(next)
		body := target.Body(map[string]any{
			"user_id": m.user(next), "query": query, "max_tokens": 1000, "present": []string{query}, "condense": false,
		})
		return asked.Call(func() error {
			_, err := m.server.Do(ctx, "POST", "/v1/context", body)
			return err
		})
	}}
	for round := range m.Rounds + m.Rounds/10 {
		if round == m.Rounds/10 {
			for _, t := range []*measure.Times{&reversed, &proxied, &rest, &asked} {
				*t = measure.Times{}
			}
			m.report.Injected = 0
		}
		random.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		for _, kind := range kinds {
			if err := kind(); err != nil {
				return err
			}
			select {
			case <-time.After(m.Pause):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	m.report.Reverse, m.report.Proxy = reversed.Sample(), proxied.Sample()
	m.report.Rest, m.report.Context = rest.Sample(), asked.Sample()
	return nil
}

func (m *measurement) user(n int) string { return m.Data.User(n % m.Data.Users) }
