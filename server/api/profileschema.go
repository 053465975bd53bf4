package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/recall/profile"
	"hippocampus/server/frame"
)

// ProfileParts are the parts behind the routes of profile schemas.
type ProfileParts struct {
	Schemas db.Profiles
	Filler  ProfileFiller
}

// ProfileFiller fills profiles; package recall/profile implements it.
type ProfileFiller interface {
	// Fill fills the profile of a user. KindNotFound: the app has no schema.
	Fill(ctx context.Context, r profile.Request) (profile.Profile, error)
}

type profileSchemaHandlers struct {
	ProfileParts
	modes ModeKeeper
	slots *frame.Slots
	now   func() time.Time
}

func (h profileSchemaHandlers) register(r *frame.Routes) {
	r.Add("GET /v1/profile-schema", memory.RoleAdmin, h.get)
	r.Add("PUT /v1/profile-schema", memory.RoleAdmin, h.put)
	r.Add("DELETE /v1/profile-schema", memory.RoleAdmin, h.remove)
	r.Add("GET /v1/users/:user_id/profile/fields", memory.RoleRead, h.fill)
}

type profileSchemaBody struct {
	Version  int             `json:"version"`
	Schema   json.RawMessage `json:"schema"`
	StoredAt time.Time       `json:"stored_at"`
	StoredBy string          `json:"stored_by,omitempty"`
}

func profileSchemaOf(p db.ProfileSchema) profileSchemaBody {
	return profileSchemaBody{Version: p.Version, Schema: p.Schema, StoredAt: p.StoredAt, StoredBy: p.StoredBy}
}

func (h profileSchemaHandlers) get(ctx context.Context, r *frame.Request) (any, error) {
	p, err := h.Schemas.ProfileSchema(ctx, r.Key.AppID)
	return profileSchemaOf(p), err
}

func (h profileSchemaHandlers) put(ctx context.Context, r *frame.Request) (any, error) {
	schema, err := profile.Parse(r.Body)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		return nil, memory.Errorf(memory.KindInternal, "write the schema as JSON: %w", err)
	}
	p, err := h.Schemas.SetProfileSchema(ctx, db.ProfileSchema{
		AppID: r.Key.AppID, Schema: raw, StoredAt: memory.Instant(h.now()), StoredBy: r.Key.ID,
	})
	return profileSchemaOf(p), err
}

func (h profileSchemaHandlers) remove(ctx context.Context, r *frame.Request) (any, error) {
	return frame.WithStatus(http.StatusNoContent, nil), h.Schemas.DeleteProfileSchema(ctx, r.Key.AppID)
}

type profileFieldsBody struct {
	UserID  string                       `json:"user_id"`
	At      time.Time                    `json:"at"`
	Version int                          `json:"schema_version"`
	State   profile.State                `json:"state"`
	Fields  map[string]*profileFieldBody `json:"fields"`
}

type profileFieldBody struct {
	Value      any                 `json:"value"`
	At         time.Time           `json:"at"` // of the newest source
	Confidence float64             `json:"confidence"`
	By         profile.By          `json:"by"`
	Sources    []profileSourceBody `json:"sources"`
}

type profileSourceBody struct {
	MemoryID string    `json:"memory_id"`
	Content  string    `json:"content"`
	At       time.Time `json:"at"`
}

func (h profileSchemaHandlers) fill(ctx context.Context, r *frame.Request) (any, error) {
	asked := profile.Request{
		Owner:   r.Owner("path.user_id", r.Key, r.PathValue("user_id")),
		AgentID: r.QueryID("agent_id"),
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	chosen, err := modeFor(ctx, r, h.modes, asked.Owner, "")
	if err != nil {
		return nil, err
	}
	asked.Off = !chosen.Recalls()
	var p profile.Profile
	err = h.slots.Run(ctx, func() (err error) {
		p, err = h.Filler.Fill(ctx, asked)
		return err
	})
	if asked.Ask = r.Query.Get("ask") != "false"; err == nil && asked.Ask && p.State == profile.NotAsked {
		p, err = h.Filler.Fill(ctx, asked) // without a slot of recalls, since a model may take long
	}
	body := profileFieldsBody{
		UserID: asked.Owner.UserID, At: memory.Instant(h.now()), Version: p.Version, State: p.State,
		Fields: map[string]*profileFieldBody{},
	}
	for name, f := range p.Fields {
		body.Fields[name] = fieldBodyOf(f)
	}
	return body, err
}

// fieldBodyOf returns nil for an unknown field.
func fieldBodyOf(f *profile.Field) *profileFieldBody {
	if f == nil {
		return nil
	}
	body := profileFieldBody{Value: f.Value, Confidence: f.Confidence, By: f.By}
	for _, m := range f.Sources {
		body.Sources = append(body.Sources, profileSourceBody{m.ID, m.Content, m.CreatedAt})
		if m.CreatedAt.After(body.At) {
			body.At = m.CreatedAt
		}
	}
	return &body
}
