package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/instructions"
)

// Instructor publishes texts for the model; package instructions implements it.
type Instructor interface {
	// Publish adds the next version. KindInvalid: its fields are wrong.
	Publish(ctx context.Context, scope memory.Scope, d instructions.Draft) (memory.Instruction, memory.InstructionVersion, error)
	// Activate makes a version the active one. KindNotFound: there is none.
	Activate(ctx context.Context, scope memory.Scope, name string, version int) (memory.Instruction, error)
	// RollBack makes the one active that was before. KindConflict: none was.
	RollBack(ctx context.Context, scope memory.Scope, name string) (memory.Instruction, error)
	// Retire leaves none active.
	Retire(ctx context.Context, scope memory.Scope, name string) (memory.Instruction, error)
	// Version returns a version; 0: the active one. KindNotFound: there is none.
	Version(ctx context.Context, scope memory.Scope, name string, number int) (memory.Instruction, memory.InstructionVersion, error)
	Diff(ctx context.Context, scope memory.Scope, name string, from, to int) (string, error)
	// Merged are those that a context shows; an empty agent or user is none.
	Merged(ctx context.Context, appID, agentID, userID string) ([]memory.ActiveInstruction, error)
}

// InstructionLister pages through instructions; db.Instructions has it.
type InstructionLister interface {
	ListInstructions(ctx context.Context, scope memory.Scope, after string, limit int) ([]memory.Instruction, error)
	FindInstruction(ctx context.Context, scope memory.Scope, name string) (memory.Instruction, error)
	InstructionVersions(ctx context.Context, scope memory.Scope, name string, below, limit int) ([]memory.InstructionVersion, error)
}

// scopeBody is for whom an instruction is.
type scopeBody struct {
	Scope   memory.ScopeKind `json:"scope"`
	AgentID string           `json:"agent_id,omitempty"`
	UserID  string           `json:"user_id,omitempty"`
}

func scopeOf(s memory.Scope) scopeBody {
	body := scopeBody{Scope: s.Kind}
	switch s.Kind {
	case memory.AgentScope:
		body.AgentID = s.ID
	case memory.UserScope:
		body.UserID = s.ID
	}
	return body
}

// scope reads for whom an instruction is, of the key's app.
func (c *checks) scope(prefix string, key memory.Key, b scopeBody) memory.Scope {
	scope := memory.Scope{AppID: key.AppID, Kind: b.Scope}
	for _, of := range []struct {
		kind     memory.ScopeKind
		path, id string
	}{{memory.AgentScope, "agent_id", b.AgentID}, {memory.UserScope, "user_id", b.UserID}} {
		switch {
		case b.Scope == of.kind:
			c.note(prefix+of.path, memory.CheckID(of.id, false))
			scope.ID = of.id
		case of.id != "":
			c.note(prefix+of.path, "does not go with this scope: leave it out, or give the scope "+string(of.kind))
		}
	}
	return scope
}

// queryScope is scope for a request without a body.
func (c *checks) queryScope(r *request) memory.Scope {
	return c.scope("query.", r.key, scopeBody{memory.ScopeKind(r.query.Get("scope")), r.query.Get("agent_id"), r.query.Get("user_id")})
}

// instructionName reads a name from the path.
func (c *checks) instructionName(r *request) string {
	name := r.param("name")
	c.note("path.name", instructions.CheckName(name))
	return name
}

type instructionBody struct {
	scopeBody
	Name      string    `json:"name"`
	Active    int       `json:"active,omitempty"`   // absent: none is
	Previous  int       `json:"previous,omitempty"` // what a roll back makes active
	Latest    int       `json:"latest"`
	ChangedAt time.Time `json:"changed_at"`
}

func instructionOf(i memory.Instruction) instructionBody {
	body := instructionBody{scopeOf(i.Scope), i.Name, i.Active, 0, i.Latest, i.ChangedAt}
	if n := len(i.PreviouslyActive); n > 0 {
		body.Previous = i.PreviouslyActive[n-1]
	}
	return body
}

type versionBody struct {
	Version     int       `json:"version"`
	Content     string    `json:"content"`
	Note        string    `json:"note,omitempty"`
	PublishedAt time.Time `json:"published_at"`
}

func versionOf(v memory.InstructionVersion) versionBody {
	return versionBody{v.Number, v.Content, v.Note, v.PublishedAt}
}

// publishedBody is an instruction and one of its versions.
type publishedBody struct {
	Instruction instructionBody `json:"instruction"`
	Version     versionBody     `json:"version"`
}

func (s *Server) postInstruction(ctx context.Context, r *request) error {
	body, err := decode[struct {
		scopeBody
		Name     string `json:"name"`
		Content  string `json:"content"`
		Note     string `json:"note"`
		Activate *bool  `json:"activate"`
	}](r)
	if err != nil {
		return err
	}
	var c checks
	scope := c.scope("", r.key, body.scopeBody)
	draft := instructions.Draft{Name: body.Name, Content: body.Content, Note: body.Note, Activate: orDefault(body.Activate, true)}
	c.fields = append(c.fields, instructions.Check(draft)...)
	if err := c.err(); err != nil {
		return err
	}
	instruction, version, err := s.Instructor.Publish(ctx, scope, draft)
	if err != nil {
		return err
	}
	return r.JSON(http.StatusCreated, publishedBody{instructionOf(instruction), versionOf(version)})
}

func (s *Server) listInstructions(ctx context.Context, r *request) error {
	var c checks
	page := c.pageOf(r, func(name string) bool { return instructions.CheckName(name) == "" })
	scope := c.queryScope(r)
	if err := c.err(); err != nil {
		return err
	}
	found, err := s.Instructions.ListInstructions(ctx, scope, page.name(), page.limit)
	if err != nil {
		return err
	}
	answer := struct {
		Instructions []instructionBody `json:"instructions"`
		Next         string            `json:"next_cursor,omitempty"`
	}{Instructions: []instructionBody{}}
	for _, i := range found {
		answer.Instructions = append(answer.Instructions, instructionOf(i))
	}
	answer.Next = page.next(len(found), func() db.Position { return byName(found[len(found)-1].Name) })
	return r.JSON(http.StatusOK, answer)
}

// byName is a place in a list that is ordered by names.
func byName(name string) db.Position { return db.Position{At: time.UnixMicro(0), ID: name} }

// name is the last one seen of a list that is ordered by names; "": none.
func (p page) name() string {
	if p.before == nil {
		return ""
	}
	return p.before.ID
}

func (s *Server) getInstruction(ctx context.Context, r *request) error {
	var c checks
	scope, name := c.queryScope(r), c.instructionName(r)
	number := c.version(r, "version")
	if err := c.err(); err != nil {
		return err
	}
	instruction, version, err := s.Instructor.Version(ctx, scope, name, number)
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, publishedBody{instructionOf(instruction), versionOf(version)})
}

// version reads the number of a version from the query; 0 where it is left out.
func (c *checks) version(r *request, name string) int {
	return int(c.number(r, name, "is no number of a version: they are counted from 1"))
}

func (s *Server) listVersions(ctx context.Context, r *request) error {
	var c checks
	scope, name := c.queryScope(r), c.instructionName(r)
	limit, below := c.limit(r), int(c.number(r, "cursor", notACursor))
	if err := c.err(); err != nil {
		return err
	}
	instruction, err := s.Instructions.FindInstruction(ctx, scope, name)
	if err != nil {
		return err
	}
	found, err := s.Instructions.InstructionVersions(ctx, scope, name, below, limit)
	if err != nil {
		return err
	}
	answer := struct {
		Instruction instructionBody `json:"instruction"`
		Versions    []versionBody   `json:"versions"`
		Next        string          `json:"next_cursor,omitempty"`
	}{instructionOf(instruction), []versionBody{}, ""}
	for _, v := range found {
		answer.Versions = append(answer.Versions, versionOf(v))
	}
	if n := len(found); n == limit && found[n-1].Number > 1 {
		answer.Next = strconv.Itoa(found[n-1].Number)
	}
	return r.JSON(http.StatusOK, answer)
}

func (s *Server) diffInstruction(ctx context.Context, r *request) error {
	var c checks
	scope, name := c.queryScope(r), c.instructionName(r)
	from, to := c.version(r, "from"), c.version(r, "to")
	if err := c.err(); err != nil {
		return err
	}
	diff, err := s.Instructor.Diff(ctx, scope, name, from, to)
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, struct {
		From int    `json:"from"`
		To   int    `json:"to"`
		Diff string `json:"diff"`
	}{from, to, diff})
}

func (s *Server) activateInstruction(ctx context.Context, r *request) error {
	body, err := decode[struct {
		scopeBody
		Version int `json:"version"`
	}](r)
	if err != nil {
		return err
	}
	return changeInstruction(r, body.scopeBody, func(scope memory.Scope, name string) (memory.Instruction, error) {
		return s.Instructor.Activate(ctx, scope, name, body.Version)
	})
}

func (s *Server) rollBackInstruction(ctx context.Context, r *request) error {
	body, err := decode[scopeBody](r)
	if err != nil {
		return err
	}
	return changeInstruction(r, body, func(scope memory.Scope, name string) (memory.Instruction, error) {
		return s.Instructor.RollBack(ctx, scope, name)
	})
}

// changeInstruction answers with what a change makes of the instruction that the path names.
func changeInstruction(r *request, of scopeBody, change func(scope memory.Scope, name string) (memory.Instruction, error)) error {
	var c checks
	scope, name := c.scope("", r.key, of), c.instructionName(r)
	if err := c.err(); err != nil {
		return err
	}
	changed, err := change(scope, name)
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, instructionOf(changed))
}

func (s *Server) retireInstruction(ctx context.Context, r *request) error {
	var c checks
	scope, name := c.queryScope(r), c.instructionName(r)
	if err := c.err(); err != nil {
		return err
	}
	retired, err := s.Instructor.Retire(ctx, scope, name)
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, instructionOf(retired))
}

// mergedBody is an instruction as the context shows it.
type mergedBody struct {
	scopeBody
	Name string `json:"name"`
	versionBody
}

func (s *Server) mergedInstructions(ctx context.Context, r *request) error {
	var c checks
	agentID, userID := r.query.Get("agent_id"), r.query.Get("user_id")
	c.note("query.agent_id", memory.CheckID(agentID, true))
	c.note("query.user_id", memory.CheckID(userID, true))
	if err := c.err(); err != nil {
		return err
	}
	found, err := s.Instructor.Merged(ctx, r.key.AppID, agentID, userID)
	if err != nil {
		return err
	}
	answer := struct {
		Instructions []mergedBody `json:"instructions"`
	}{[]mergedBody{}}
	for _, i := range found {
		answer.Instructions = append(answer.Instructions, mergedBody{scopeOf(i.Scope), i.Name, versionOf(i.InstructionVersion)})
	}
	return r.JSON(http.StatusOK, answer)
}
