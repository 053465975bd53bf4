package speed

import (
	"context"
	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/measure"
	"hippocampus/cmd/bench/target"
	"time"
)

// meet sends one query for each user, and each query once, which caches embeddings
// and warms the caches of the stores. It measures the first recall of each user.
func (b *bench) meet(ctx context.Context, data content.Data) error {
	var first measure.Times
	before, err := b.cpu()
	if err != nil {
		return err
	}
	for k := range max(queries, data.Users) {
		for i, replica := range b.all {
			at := time.Now()
			ask := target.Body(map[string]any{
				"user_id": data.User(k % data.Users), "query": data.Query(k % queries), "touch": false,
			})
			if _, err := replica.Do(ctx, "POST", "/v1/recall", ask); err != nil {
				return err
			}
			if i == 0 && k < data.Users {
				took := time.Since(at)
				first.Latencies, first.Took = append(first.Latencies, took), first.Took+took
			}
		}
		if k == data.Users-1 {
			after, err := b.cpu()
			if err != nil {
				return err
			}
			first.CPU = (after - before) / time.Duration(len(b.all))
		}
	}
	b.report.Pairs = append(b.report.Pairs, Pair{
		Name: "first recall", Data: data.String(), Clients: 1, Server: first.Sample(),
	})
	return nil
}
