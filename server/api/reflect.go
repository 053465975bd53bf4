package api

import (
	"context"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/reflection"
	"hippocampus/reflection/compression"
	"hippocampus/server/frame"
)

// Reflector condenses the facts of a user; package reflection implements it.
type Reflector interface {
	// Rule is the configured rule.
	Rule() reflection.Rule
	Reflect(ctx context.Context, owner memory.Owner, rule reflection.Rule) (reflection.Result, error)
}

type reflectHandlers struct{ reflector Reflector }

func (h reflectHandlers) register(r *frame.Routes) {
	r.Add("POST /v1/reflect", memory.RoleWrite, frame.WithBody(h.reflect))
}

type reflectRequest struct {
	UserID          string   `json:"user_id"`
	Threshold       *float64 `json:"threshold"`
	CooldownSeconds *int64   `json:"cooldown_seconds"`
	Force           bool     `json:"force"`
}

// rule returns the configured rule with the requested changes.
func (b reflectRequest) rule(set reflection.Rule) reflection.Rule {
	if b.Force {
		return reflection.Always
	}
	set.Importance = frame.OrDefault(b.Threshold, set.Importance)
	if b.CooldownSeconds != nil {
		set.Cooldown = time.Duration(*b.CooldownSeconds) * time.Second
	}
	return set
}

type reflectBody struct {
	At       time.Time     `json:"at"`
	Facts    int           `json:"facts"`
	Skipped  string        `json:"skipped,omitempty"`
	Insights []wire.Memory `json:"insights"`
	Proposed []insightBody `json:"proposed,omitempty"`
	Retired  []string      `json:"retired"`
	LeftOut  []string      `json:"left_out,omitempty"`
}

func (h reflectHandlers) reflect(ctx context.Context, r *frame.Request, body reflectRequest) (any, error) {
	owner := r.BodyOwner(body.UserID)
	if body.Force && (body.Threshold != nil || body.CooldownSeconds != nil) {
		r.Note("force", "is given with threshold or cooldown_seconds, which it ignores: give one of them")
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	result, err := h.reflector.Reflect(ctx, owner, body.rule(h.reflector.Rule()))
	return reflectBody{
		At: result.At, Facts: result.Facts, Skipped: result.Skipped,
		Insights: frame.BodiesOf(result.Insights, wire.MemoryOf), Retired: frame.NotNil(result.Retired),
		Proposed: frame.BodiesOf(result.Proposed, insightOf), LeftOut: result.LeftOut,
	}, err
}

// Compressor condenses old memories; package compression implements it.
type Compressor interface {
	Compress(ctx context.Context, owner memory.Owner, dryRun bool) (compression.Result, error)
}

type compressHandlers struct{ compressor Compressor }

func (h compressHandlers) register(r *frame.Routes) {
	r.Add("POST /v1/compress", memory.RoleWrite, frame.WithBody(h.compress))
}

type compressRequest struct {
	UserID string `json:"user_id"`
	DryRun bool   `json:"dry_run"`
}

type compressBody struct {
	DryRun     bool        `json:"dry_run"`
	At         time.Time   `json:"at"`
	Considered int         `json:"considered"`
	Groups     []groupBody `json:"groups"`
	Stopped    string      `json:"stopped,omitempty"`
}

type groupBody struct {
	Memories  []string      `json:"memories"`
	Summaries []wire.Memory `json:"summaries"`
	Refused   string        `json:"refused,omitempty"`
	LeftOut   []string      `json:"left_out,omitempty"`
}

func (h compressHandlers) compress(ctx context.Context, r *frame.Request, body compressRequest) (any, error) {
	owner := r.BodyOwner(body.UserID)
	if err := r.Err(); err != nil {
		return nil, err
	}
	result, err := h.compressor.Compress(ctx, owner, body.DryRun)
	groups := make([]groupBody, len(result.Groups))
	for i, g := range result.Groups {
		groups[i] = groupBody{
			Memories: g.Memories, Summaries: frame.BodiesOf(g.Summaries, wire.MemoryOf), Refused: g.Refused, LeftOut: g.LeftOut,
		}
	}
	return compressBody{
		DryRun: body.DryRun, At: result.At, Considered: result.Considered, Groups: groups, Stopped: result.Stopped,
	}, err
}
