package db

import (
	"context"
	"encoding/json"
	"time"

	"hippocampus/internal/memory"
)

// ProfileSchema is the schema of an app's profiles; see recall/profile.
type ProfileSchema struct {
	AppID    string
	Version  int             // from 1, counts how often it was stored
	Schema   json.RawMessage // an object
	StoredAt time.Time
	StoredBy string // id of a key; may be empty
}

// FilledProfile is what a model has read from the statements of a user.
type FilledProfile struct {
	Owner    memory.Owner
	AgentID  string          // whose statements were read as well; empty: those of all
	Basis    string          // hash of the schema and the statements; "": nothing is stored
	Fields   json.RawMessage // a list
	FilledAt time.Time
}

// Profiles keeps the schemas of profiles, and what models have read for them.
type Profiles interface {
	// ProfileSchema returns the schema of an app. KindNotFound: it has no schema.
	ProfileSchema(ctx context.Context, appID string) (ProfileSchema, error)
	// SetProfileSchema stores the schema of an app, and returns it with its Version.
	SetProfileSchema(ctx context.Context, p ProfileSchema) (ProfileSchema, error)
	// DeleteProfileSchema deletes the schema of an app and all of its filled profiles. KindNotFound: it has no schema.
	DeleteProfileSchema(ctx context.Context, appID string) error
	// FilledProfile returns what was stored last; its Basis is empty if nothing is.
	FilledProfile(ctx context.Context, owner memory.Owner, agentID string) (FilledProfile, error)
}

// ProfileTx stores what a model has read in a user's transaction. A purge of memories deletes it.
type ProfileTx interface {
	// KeepProfile replaces what is stored of the owner for p.AgentID.
	KeepProfile(ctx context.Context, p FilledProfile) error
}
