package api

import (
	"context"
	"errors"
	"strconv"
	"time"

	"hippocampus/ingest/policy"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// PolicyParts are the parts behind the routes of policies.
type PolicyParts struct {
	Keeper    PolicyKeeper
	AsksModel bool // a chat model scores turns
}

// PolicyKeeper keeps what apps remember; package ingest/policy implements it.
type PolicyKeeper interface {
	// Publish stores the next version. KindInvalid: a field is wrong.
	Publish(ctx context.Context, v memory.PolicyVersion) (memory.PolicyVersion, error)
	// Show returns a version; 0: the one that serves. KindNotFound: there is no such version.
	Show(ctx context.Context, appID string, number int) (memory.PolicyVersion, error)
	// Versions lists versions with a number below one, or all for 0, newest first.
	Versions(ctx context.Context, appID string, below, limit int) ([]memory.PolicyVersion, error)
}

type policyHandlers struct{ PolicyParts }

func (h policyHandlers) register(r *frame.Routes) {
	r.Add("GET /v1/policy", memory.RoleAdmin, h.get)
	r.Add("PUT /v1/policy", memory.RoleAdmin, frame.WithBody(h.put))
	r.Add("GET /v1/policy/versions", memory.RoleAdmin, h.list)
}

type policyRequest struct {
	memory.Policy
	Note string `json:"note"`
}

type policyBody struct {
	Version   int  `json:"version"`
	AsksModel bool `json:"asks_model"`
	memory.Policy
	Note        string    `json:"note,omitempty"`
	PublishedAt time.Time `json:"published_at,omitzero"`
	PublishedBy string    `json:"published_by,omitempty"`
}

func (h policyHandlers) body(v memory.PolicyVersion) policyBody {
	return policyBody{
		Version: v.Number, AsksModel: h.AsksModel, Policy: v.Policy, Note: v.Note, PublishedAt: v.PublishedAt,
		PublishedBy: v.PublishedBy,
	}
}

func (h policyHandlers) get(ctx context.Context, r *frame.Request) (any, error) {
	number := 0
	if r.Query.Get("version") != "" {
		number = int(r.QueryNumber("version", "is no number"))
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	v, err := h.Keeper.Show(ctx, r.Key.AppID, number)
	return h.body(v), err
}

func (h policyHandlers) put(ctx context.Context, r *frame.Request, body policyRequest) (any, error) {
	v, err := h.Keeper.Publish(ctx, memory.PolicyVersion{
		AppID: r.Key.AppID, Policy: body.Policy, Note: body.Note, PublishedBy: r.Key.ID,
	})
	return h.body(v), err
}

func (h policyHandlers) list(ctx context.Context, r *frame.Request) (any, error) {
	limit, below := r.Limit(), int(r.QueryNumber("cursor", frame.InvalidCursor))
	if err := r.Err(); err != nil {
		return nil, err
	}
	found, err := h.Keeper.Versions(ctx, r.Key.AppID, below, limit)
	body := struct {
		Versions []policyBody `json:"versions"`
		Next     string       `json:"next_cursor,omitempty"`
	}{Versions: frame.BodiesOf(found, h.body)}
	if n := len(found); n == limit && found[n-1].Number > 1 {
		body.Next = strconv.Itoa(found[n-1].Number)
	}
	return body, err
}

// triedPolicy returns the rules of a policy in a request, nil without one. It notes what is wrong with its fields.
func triedPolicy(r *frame.Request, p *memory.Policy) *policy.Rules {
	if p == nil {
		return nil
	}
	rules, err := policy.Compile(memory.PolicyVersion{AppID: r.Key.AppID, Policy: *p})
	var wrong *memory.Error
	if errors.As(err, &wrong) {
		for _, f := range wrong.Fields {
			r.Note("policy."+f.Path, f.Message)
		}
	}
	return rules
}

// try answers what would become of a turn, and stores nothing.
func (h turnHandlers) try(ctx context.Context, r *frame.Request, body turnRequest, turn memory.Turn) (any, error) {
	for _, given := range []struct {
		name string
		is   bool
	}{{"return", body.Return != ""}, {"context", body.Context != nil}, {"replaces", body.Replaces != ""}} {
		if given.is {
			r.Note(given.name, "does not go with dry_run: leave it out")
		}
	}
	if body.Policy != nil && !r.Key.Role.Includes(memory.RoleAdmin) {
		return nil, memory.Errorf(memory.KindForbidden,
			"a policy is tried with a key of the role admin: without policy, the app's own one decides")
	}
	rules := triedPolicy(r, body.Policy)
	if err := r.Err(); err != nil {
		return nil, err
	}
	var answer turnBody
	err := h.slots.Run(ctx, func() error {
		outcome, err := h.Ingester.Try(ctx, turn, rules)
		answer = outcomeOf(outcome)
		answer.DryRun, answer.Altered = true, r.Altered
		answer.RepeatedCount = outcome.Turn.Repeated
		return err
	})
	return answer, err
}
