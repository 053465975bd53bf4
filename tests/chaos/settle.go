package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// settle looks at the stores until there is no violation, or until the limit has
// passed since the last fault. It returns the last violations and how long it took.
func settle(
	ctx context.Context, k *keeper, c *Client, x *Expectation, limit time.Duration,
) ([]Violation, time.Duration, error) {
	var users []string
	for user := range x.byUser {
		users = append(users, user)
	}
	began := time.Now()
	for {
		violations, err := inspect(ctx, k, c, x, users)
		if err != nil {
			violations = nil
		}
		took := time.Since(began)
		if err == nil && len(violations) == 0 || took > limit {
			return violations, took, err
		}
		if !wait(ctx, time.Second) {
			return violations, took, ctx.Err()
		}
	}
}

// inspect replays failed turns, reads the stores, and checks them.
func inspect(ctx context.Context, k *keeper, c *Client, x *Expectation, users []string) ([]Violation, error) {
	var failed struct {
		Turns []Turn `json:"turns"`
	}
	if err := c.GetJSON(ctx, "/v1/turns?status=failed&limit=500", &failed); err != nil {
		return nil, err
	}
	for _, t := range failed.Turns {
		c.Do(ctx, "POST", "/v1/turns/"+t.ID+"/replay", nil)
	}
	found, err := Look(ctx, c, users)
	if err != nil {
		return nil, err
	}
	if found.Vectors, err = k.vectors(ctx); err != nil {
		return nil, fmt.Errorf("read the vectors: %w", err)
	}
	violations := Check(x, found)
	if len(violations) > 0 {
		return violations, nil
	}
	if found.Drift, err = drift(ctx, c); err != nil {
		return nil, err
	}
	return Check(x, found), nil
}

// drift has the server verify its stores.
func drift(ctx context.Context, c *Client) (map[string]int, error) {
	a := c.Do(ctx, "POST", "/v1/admin/verify", nil)
	var job struct {
		ID     string                     `json:"id"`
		State  string                     `json:"state"`
		Result map[string]json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(a.body, &job); err != nil || a.status != 202 {
		return nil, fmt.Errorf("verify: status %d: %s", a.status, a.text())
	}
	for job.State != "completed" {
		if !wait(ctx, 200*time.Millisecond) {
			return nil, ctx.Err()
		}
		if err := c.GetJSON(ctx, "/v1/jobs/"+job.ID, &job); err != nil {
			return nil, err
		}
		if job.State == "discarded" || job.State == "cancelled" {
			return nil, fmt.Errorf("the verification is %s", job.State)
		}
	}
	counts := map[string]int{}
	for _, what := range []string{"missing", "orphaned", "different"} {
		var some struct {
			Count int `json:"count"`
		}
		if err := json.Unmarshal(job.Result[what], &some); err != nil {
			return nil, fmt.Errorf("the result of the verification: %w", err)
		}
		counts[what] = some.Count
	}
	return counts, nil
}
