package speed

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/url"
	"strings"
	"time"

	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/measure"
	"hippocampus/cmd/bench/target"
)

// SlicesOptions of a measurement of one user with many memories.
type SlicesOptions struct {
	Size     target.Size
	Memories int           // of the one user; every hundredth has a tag
	For      time.Duration // of each kind of request
	Settings []string
	Only     string // the beginning of the names of the requests; empty: all
	Progress io.Writer
}

// RunSlices fills a server with one user's memories, a minute apart, and queries
// random days.
func RunSlices(ctx context.Context, o SlicesOptions) (report RequestsReport, err error) {
	report = RequestsReport{
		Size: string(o.Size), Machine: measure.ThisMachine(), Settings: o.Settings, Requests: map[string]measure.Sample{},
	}
	server, err := target.Start(ctx, target.Options{Size: o.Size, Settings: o.Settings})
	if err != nil {
		return report, err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	begin := time.Now() // before anything is recorded
	loaded := Report{}
	data := content.Data{Users: 1, Each: o.Memories, Tag: "tagged"}
	b := &bench{Options: Options{Progress: o.Progress}, server: server, report: &loaded}
	if err := b.load(ctx, data); err != nil {
		return report, fmt.Errorf("%w\n%s", err, server.Log())
	}
	report.Loads = loaded.Loads
	user := data.User(0)
	get := func(query string) func(context.Context, int) error {
		return func(ctx context.Context, _ int) error {
			_, err := server.Do(ctx, "GET", "/v1/memories?limit=50&user_id="+user+query, nil)
			return err
		}
	}
	day := func(n int) (since, until string) {
		at := content.Start.Add(time.Duration(rand.New(rand.NewPCG(uint64(n), 3)).IntN(o.Memories)) * time.Minute)
		return at.Format(time.RFC3339), at.AddDate(0, 0, 1).Format(time.RFC3339)
	}
	recall := func(n int, more map[string]any) error {
		more["user_id"], more["query"] = user, content.Query(n%queries)
		_, err := server.Do(ctx, "POST", "/v1/recall", target.Body(more))
		return err
	}
	asOf := func(at time.Time) string { return "&as_of=" + url.QueryEscape(at.UTC().Format(time.RFC3339Nano)) }
	requests, err := pages(ctx, server, user)
	if err != nil {
		return report, fmt.Errorf("%w\n%s", err, server.Log())
	}
	maps.Copy(requests, map[string]func(context.Context, int) error{
		"list a day": func(ctx context.Context, n int) error {
			since, until := day(n)
			return get("&since="+since+"&until="+until)(ctx, n)
		},
		"list a tag":               get("&tag=" + data.Tag),
		"list a type nothing has":  get("&type=skill"),
		"list as of now":           get(asOf(time.Now())),
		"list as of before it all": get(asOf(begin)),
		"recall a day": func(_ context.Context, n int) error {
			since, until := day(n)
			return recall(n, map[string]any{"since": since, "until": until})
		},
		"recall a tag": func(_ context.Context, n int) error { return recall(n, map[string]any{"tags": []string{data.Tag}}) },
		"recall":       func(_ context.Context, n int) error { return recall(n, map[string]any{}) },
	})
	for name, request := range requests {
		if o.Only != "" && !strings.HasPrefix(name, o.Only) {
			continue
		}
		fmt.Fprintln(o.Progress, name)
		if err := report.measure(ctx, name, 1, o.For, request); err != nil {
			return report, err
		}
	}
	return report, nil
}
