package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/knowledge/instructions"
	"hippocampus/server/frame"
)

// InstructionParts are the parts behind the routes of instructions.
type InstructionParts struct {
	Publisher InstructionPublisher
	Reader    InstructionReader
}

// InstructionPublisher publishes texts for the model; package instructions implements it.
type InstructionPublisher interface {
	// Publish adds the next version. KindInvalid: its fields are wrong.
	Publish(
		ctx context.Context, scope memory.Scope, d instructions.Draft,
	) (memory.Instruction, memory.InstructionVersion, error)
	// Activate makes a version the active one. KindNotFound: there is no such version.
	Activate(ctx context.Context, scope memory.Scope, name string, version int) (memory.Instruction, error)
	// RollBack activates the version that was active before. KindConflict: no version was.
	RollBack(ctx context.Context, scope memory.Scope, name string) (memory.Instruction, error)
	// Retire leaves no version active.
	Retire(ctx context.Context, scope memory.Scope, name string) (memory.Instruction, error)
	// Version returns a version; 0: the active one. KindNotFound: there is no such version.
	Version(
		ctx context.Context, scope memory.Scope, name string, number int,
	) (memory.Instruction, memory.InstructionVersion, error)
	Diff(ctx context.Context, scope memory.Scope, name string, from, to int) (string, error)
	// Merged returns the instructions that a context shows. The ids may be empty.
	Merged(ctx context.Context, appID, agentID, userID string) ([]memory.ActiveInstruction, error)
}

// InstructionReader reads instructions; db.Instructions implements it.
type InstructionReader interface {
	ListInstructions(ctx context.Context, scope memory.Scope, after string, limit int) ([]memory.Instruction, error)
	FindInstruction(ctx context.Context, scope memory.Scope, name string) (memory.Instruction, error)
	InstructionVersions(
		ctx context.Context, scope memory.Scope, name string, below, limit int,
	) ([]memory.InstructionVersion, error)
}

type instructionHandlers struct {
	InstructionParts
	quotas *quotas
}

func (h instructionHandlers) register(r *frame.Routes) {
	r.Add("POST /v1/instructions", memory.RoleWrite,
		h.quotas.bound(frame.WithBody(h.post), always(db.Usage{Versions: 1})))
	r.Add("GET /v1/instructions", memory.RoleRead, frame.List[scopePage, memory.Instruction, instructionBody]{
		Name:   "instructions",
		Named:  true,
		Filter: func(r *frame.Request, p frame.Page) scopePage { return scopePage{queryScope(r), p} },
		Find: func(ctx context.Context, p scopePage) ([]memory.Instruction, error) {
			return h.Reader.ListInstructions(ctx, p.scope, p.After(), p.Limit)
		},
		Body:     instructionOf,
		Position: func(i memory.Instruction) db.Position { return frame.NamePosition(i.Name) },
	}.Handle)
	r.Add("GET /v1/instructions/merged", memory.RoleRead, h.merged)
	r.Add("GET /v1/instructions/:name", memory.RoleRead, h.get)
	r.Add("DELETE /v1/instructions/:name", memory.RoleWrite, h.retire)
	r.Add("GET /v1/instructions/:name/versions", memory.RoleRead, h.listVersions)
	r.Add("GET /v1/instructions/:name/diff", memory.RoleRead, h.diff)
	r.Add("POST /v1/instructions/:name/activate", memory.RoleWrite, frame.WithBody(h.activate))
	r.Add("POST /v1/instructions/:name/rollback", memory.RoleWrite, frame.WithBody(h.rollBack))
}

type scopePage struct {
	scope memory.Scope
	frame.Page
}

// scopeIn checks a scope of the key's app.
func scopeIn(r *frame.Request, prefix string, b wire.Scope) memory.Scope {
	scope := memory.Scope{AppID: r.Key.AppID, Kind: b.Scope}
	for _, id := range []struct {
		kind        memory.ScopeKind
		path, value string
	}{{memory.AgentScope, "agent_id", b.AgentID}, {memory.UserScope, "user_id", b.UserID}} {
		switch {
		case b.Scope == id.kind:
			r.Note(prefix+id.path, memory.CheckID(id.value, false))
			scope.ID = id.value
		case id.value != "":
			r.Note(prefix+id.path, "does not go with this scope: leave it out, or give the scope "+string(id.kind))
		}
	}
	return scope
}

// mayChangeScope refuses to change instructions of the whole app, which are in every user's context, unless
// the key is an admin's.
func mayChangeScope(r *frame.Request, scope memory.Scope) error {
	if scope.Kind == memory.AppScope && !r.Key.Role.Includes(memory.RoleAdmin) {
		return memory.Errorf(memory.KindForbidden, "an instruction of the whole app is in every user's context, so that "+
			"changing it needs a key of role %s; the one sent has role %s", memory.RoleAdmin, r.Key.Role)
	}
	return nil
}

// queryScope reads a scope from the query.
func queryScope(r *frame.Request) memory.Scope {
	return scopeIn(r, "query.", wire.Scope{
		Scope: memory.ScopeKind(r.Query.Get("scope")), AgentID: r.Query.Get("agent_id"), UserID: r.Query.Get("user_id"),
	})
}

// instructionName reads a name from the path.
func instructionName(r *frame.Request) string {
	name := r.PathValue("name")
	r.Note("path.name", instructions.CheckName(name))
	return name
}

// versionIn reads the number of a version from the query; 0 if it is absent.
func versionIn(r *frame.Request, parameter string) int {
	return int(r.QueryNumber(parameter, "is not the number of a version: they are counted from 1"))
}

type instructionBody struct {
	wire.Scope
	Name      string    `json:"name"`
	Active    int       `json:"active,omitempty"`
	Previous  int       `json:"previous,omitempty"` // the version that a rollback activates
	Latest    int       `json:"latest"`
	ChangedAt time.Time `json:"changed_at"`
}

func instructionOf(i memory.Instruction) instructionBody {
	body := instructionBody{
		Scope: wire.ScopeOf(i.Scope), Name: i.Name, Active: i.Active, Latest: i.Latest, ChangedAt: i.ChangedAt,
	}
	if n := len(i.PreviouslyActive); n > 0 {
		body.Previous = i.PreviouslyActive[n-1]
	}
	return body
}

func versionOf(v memory.InstructionVersion) wire.InstructionVersion {
	return wire.VersionOf(v)
}

// publishedBody is an instruction with one of its versions.
type publishedBody struct {
	Instruction instructionBody         `json:"instruction"`
	Version     wire.InstructionVersion `json:"version"`
}

type instructionRequest struct {
	wire.Scope
	Name     string `json:"name"`
	Content  string `json:"content"`
	Note     string `json:"note"`
	Activate *bool  `json:"activate"`
}

func (h instructionHandlers) post(ctx context.Context, r *frame.Request, body instructionRequest) (any, error) {
	scope := scopeIn(r, "", body.Scope)
	draft := instructions.Draft{
		Name: body.Name, Content: body.Content, Note: body.Note, Activate: frame.OrDefault(body.Activate, true),
	}
	r.NoteAll(instructions.Check(draft))
	if err := r.Err(); err != nil {
		return nil, err
	}
	if err := mayChangeScope(r, scope); err != nil {
		return nil, err
	}
	instruction, version, err := h.Publisher.Publish(ctx, scope, draft)
	return frame.WithStatus(http.StatusCreated, struct {
		publishedBody
		frame.Altered
	}{publishedBody{instructionOf(instruction), versionOf(version)}, r.Altered}), err
}

func (h instructionHandlers) get(ctx context.Context, r *frame.Request) (any, error) {
	scope, name := queryScope(r), instructionName(r)
	number := versionIn(r, "version")
	if err := r.Err(); err != nil {
		return nil, err
	}
	instruction, version, err := h.Publisher.Version(ctx, scope, name, number)
	return publishedBody{instructionOf(instruction), versionOf(version)}, err
}

func (h instructionHandlers) listVersions(ctx context.Context, r *frame.Request) (any, error) {
	scope, name := queryScope(r), instructionName(r)
	limit, below := r.Limit(), int(r.QueryNumber("cursor", frame.InvalidCursor))
	if err := r.Err(); err != nil {
		return nil, err
	}
	instruction, err := h.Reader.FindInstruction(ctx, scope, name)
	if err != nil {
		return nil, err
	}
	found, err := h.Reader.InstructionVersions(ctx, scope, name, below, limit)
	body := struct {
		Instruction instructionBody           `json:"instruction"`
		Versions    []wire.InstructionVersion `json:"versions"`
		Next        string                    `json:"next_cursor,omitempty"`
	}{Instruction: instructionOf(instruction), Versions: frame.BodiesOf(found, versionOf)}
	if n := len(found); n == limit && found[n-1].Number > 1 {
		body.Next = strconv.Itoa(found[n-1].Number)
	}
	return body, err
}

func (h instructionHandlers) diff(ctx context.Context, r *frame.Request) (any, error) {
	scope, name := queryScope(r), instructionName(r)
	from, to := versionIn(r, "from"), versionIn(r, "to")
	if err := r.Err(); err != nil {
		return nil, err
	}
	diff, err := h.Publisher.Diff(ctx, scope, name, from, to)
	return struct {
		From int    `json:"from"`
		To   int    `json:"to"`
		Diff string `json:"diff"`
	}{from, to, diff}, err
}

type activateRequest struct {
	wire.Scope
	Version int `json:"version"`
}

func (h instructionHandlers) activate(ctx context.Context, r *frame.Request, body activateRequest) (any, error) {
	scope, name := scopeIn(r, "", body.Scope), instructionName(r)
	if err := r.Err(); err != nil {
		return nil, err
	}
	if err := mayChangeScope(r, scope); err != nil {
		return nil, err
	}
	activated, err := h.Publisher.Activate(ctx, scope, name, body.Version)
	return instructionOf(activated), err
}

func (h instructionHandlers) rollBack(ctx context.Context, r *frame.Request, body wire.Scope) (any, error) {
	scope, name := scopeIn(r, "", body), instructionName(r)
	if err := r.Err(); err != nil {
		return nil, err
	}
	if err := mayChangeScope(r, scope); err != nil {
		return nil, err
	}
	rolledBack, err := h.Publisher.RollBack(ctx, scope, name)
	return instructionOf(rolledBack), err
}

func (h instructionHandlers) retire(ctx context.Context, r *frame.Request) (any, error) {
	scope, name := queryScope(r), instructionName(r)
	if err := r.Err(); err != nil {
		return nil, err
	}
	if err := mayChangeScope(r, scope); err != nil {
		return nil, err
	}
	retired, err := h.Publisher.Retire(ctx, scope, name)
	return instructionOf(retired), err
}

// mergedBody is an instruction as a context shows it.
type mergedBody struct {
	wire.Scope
	Name string `json:"name"`
	wire.InstructionVersion
}

func mergedOf(i memory.ActiveInstruction) mergedBody {
	return mergedBody{wire.ScopeOf(i.Scope), i.Name, versionOf(i.InstructionVersion)}
}

func (h instructionHandlers) merged(ctx context.Context, r *frame.Request) (any, error) {
	agentID, userID := r.QueryID("agent_id"), r.QueryID("user_id")
	if err := r.Err(); err != nil {
		return nil, err
	}
	found, err := h.Publisher.Merged(ctx, r.Key.AppID, agentID, userID)
	return struct {
		Instructions []mergedBody `json:"instructions"`
	}{frame.BodiesOf(found, mergedOf)}, err
}
