package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// ConfiguredKey names the key that admin_key configures. No other key has this name.
const ConfiguredKey = "configured"

// KeyKeeper stores keys; db.Keys implements it.
type KeyKeeper interface {
	CreateKey(ctx context.Context, k memory.Key) error
	Key(ctx context.Context, id string) (memory.Key, error)
	ListKeys(ctx context.Context, f db.KeyFilter) ([]memory.Key, error)
	RevokeKey(ctx context.Context, id, by string, at time.Time) error
}

// CheckKey returns what is wrong with the name, app, user and role of a key that is to be created. A key of the role
// operator belongs to no app, and a key of one user has the role read or write.
func CheckKey(k memory.Key) memory.Fields {
	var faults memory.Fields
	if !slices.Contains(memory.Roles, k.Role) {
		faults.Add("role", "is not one of operator, admin, write, read")
		return faults
	}
	faults.Add("app_id", memory.CheckID(k.AppID, k.Role == memory.RoleOperator))
	faults.Add("user_id", memory.CheckID(k.UserID, true))
	if k.Role == memory.RoleOperator && k.AppID != "" {
		faults.Add("app_id", "does not go with the role operator, which concerns all apps: leave it out")
	}
	if k.UserID != "" && k.Role.Includes(memory.RoleAdmin) {
		faults.Add("user_id", "does not go with the role "+string(k.Role)+": a key of one user has the role read or write")
	}
	if k.Pool != "" && !slices.Contains(memory.PoolAccesses, k.Pool) {
		faults.Add("pool", "is not one of none, read, write")
	}
	if k.Name == ConfiguredKey {
		faults.Add("name", "is the name of admin_key's key: give another")
	}
	return faults
}

// issuedKeyHandlers list, create and revoke keys. An admin reaches the keys of the own app except operators' keys; an
// operator reaches all keys.
type issuedKeyHandlers struct {
	keys KeyKeeper
	now  func() time.Time
	log  *zap.Logger
}

func (h issuedKeyHandlers) register(r *frame.Routes) {
	r.AddServerWide("GET /v1/admin/keys", memory.RoleAdmin, frame.List[db.KeyFilter, memory.Key, keyBody]{
		Name:     "keys",
		Filter:   h.filter,
		Find:     h.keys.ListKeys,
		Body:     keyOf,
		Position: func(k memory.Key) db.Position { return db.Position{At: k.CreatedAt, ID: k.ID} },
	}.Handle)
	r.AddServerWide("POST /v1/admin/keys", memory.RoleAdmin, frame.WithBody(h.create))
	r.AddServerWide("DELETE /v1/admin/keys/:id", memory.RoleAdmin, h.revoke)
}

type keyRequest struct {
	Name   string      `json:"name"`
	AppID  string      `json:"app_id"`
	UserID string      `json:"user_id"`
	Role   memory.Role `json:"role"`
	Memory string      `json:"memory"`

	Pool memory.PoolAccess `json:"pool"`
}

// keyBody is the JSON of a key. Its secret is in the answer to its creation only.
type keyBody struct {
	ID        string      `json:"id"`
	Name      string      `json:"name"`
	AppID     string      `json:"app_id,omitempty"`
	UserID    string      `json:"user_id,omitempty"`
	Role      memory.Role `json:"role"`
	Memory    string      `json:"memory"`
	CreatedAt time.Time   `json:"created_at"`
	CreatedBy string      `json:"created_by,omitempty"`
	RevokedAt time.Time   `json:"revoked_at,omitzero"`
	RevokedBy string      `json:"revoked_by,omitempty"`
	Secret    string      `json:"secret,omitempty"`

	Pool memory.PoolAccess `json:"pool"`
}

func keyOf(k memory.Key) keyBody {
	return keyBody{
		ID: k.ID, Name: k.Name, AppID: k.AppID, UserID: k.UserID, Role: k.Role,
		Memory: k.Memory.String(), CreatedAt: k.CreatedAt, CreatedBy: k.CreatedBy,
		RevokedAt: k.RevokedAt, RevokedBy: k.RevokedBy,
		Pool: k.PoolAccess(),
	}
}

func (h issuedKeyHandlers) filter(r *frame.Request, p frame.Page) db.KeyFilter {
	f := db.KeyFilter{AppID: r.QueryID("app_id"), Before: p.Before, Limit: p.Limit}
	if r.Key.Role.Includes(memory.RoleOperator) {
		return f
	}
	if f.AppID != "" && f.AppID != r.Key.AppID {
		r.Note("query.app_id", "is another app than that of the key that was sent: leave it out, or send an operator's key")
	}
	f.AppID, f.WithoutOperators = r.Key.AppID, true
	return f
}

func (h issuedKeyHandlers) create(ctx context.Context, r *frame.Request, body keyRequest) (any, error) {
	key := memory.Key{
		ID: memory.NewID(), Name: body.Name, AppID: body.AppID, UserID: body.UserID, Role: body.Role,
		Memory: memory.ModeNamed(body.Memory), CreatedAt: memory.Instant(h.now()), CreatedBy: r.Key.ID,
		Pool: body.Pool,
	}
	if key.AppID == "" && key.Role != memory.RoleOperator {
		key.AppID = r.Key.AppID
	}
	if key.AppID == "" && key.Role != memory.RoleOperator {
		r.Note("app_id", "is missing: the key that was sent belongs to no app, so name one")
		return nil, r.Err()
	}
	if faults := CheckKey(key); len(faults) > 0 {
		return nil, memory.Invalid(faults...)
	}
	switch {
	case !r.Key.Role.Includes(key.Role):
		return nil, frame.NeedsRole(key.Role, r.Key)
	case key.AppID != r.Key.AppID && !r.Key.Role.Includes(memory.RoleOperator):
		return nil, memory.Errorf(memory.KindForbidden,
			"a key of the app %q makes keys of this app only: leave app_id out, or send an operator's key", r.Key.AppID)
	}
	secret := frame.NewSecret()
	key.Hash = frame.HashKey(secret)
	if err := h.keys.CreateKey(ctx, key); err != nil {
		return nil, err
	}
	h.log.Info("a key was created", zap.String("created", key.ID), zap.String("app", key.AppID),
		zap.String("role", string(key.Role)), zap.String("by", r.Key.ID))
	created := keyOf(key)
	created.Secret = secret
	return frame.WithStatus(http.StatusCreated, created), nil
}

func (h issuedKeyHandlers) revoke(ctx context.Context, r *frame.Request) (any, error) {
	id, err := r.PathID()
	if err != nil {
		return nil, err
	}
	key, err := h.keys.Key(ctx, id)
	operator := r.Key.Role.Includes(memory.RoleOperator)
	switch {
	case err == nil && !operator && (key.AppID != r.Key.AppID || !r.Key.Role.Includes(key.Role)),
		memory.IsKind(err, memory.KindNotFound):
		return nil, memory.Errorf(memory.KindNotFound, "there is no key with this id that the key which was sent may revoke")
	case err != nil:
		return nil, err
	case key.Name == ConfiguredKey && key.RevokedAt.IsZero():
		return nil, memory.Errorf(memory.KindConflict, "this is the key that admin_key configures, without which the server "+
			"does not start again: configure another admin_key, which revokes this one")
	}
	if err := h.keys.RevokeKey(ctx, id, r.Key.ID, memory.Instant(h.now())); err != nil {
		return nil, err
	}
	h.log.Info("a key was revoked", zap.String("revoked", key.ID), zap.String("by", r.Key.ID))
	revoked, err := h.keys.Key(ctx, id)
	return keyOf(revoked), err
}
