package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/ingest/policy"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// TurnParts are the parts behind the routes of turns.
type TurnParts struct {
	Ingester TurnIngester
	Lister   TurnLister
}

// TurnIngester takes turns; package ingest implements it.
type TurnIngester interface {
	// Accept makes a turn durable and queues it. It leaves out the messages that the conversation already has, and counts
	// them in Repeated. If the app already has a turn with this client id, or no message is left, it returns the turn that
	// has the messages, and fresh is false. KindConflict: that turn has other content. KindNotFound: the user has no turn
	// to be replaced.
	Accept(ctx context.Context, turn memory.Turn) (stored memory.Turn, fresh bool, err error)
	// Try returns what would become of a turn, and stores nothing. Unless they are nil, rules decide instead of the app's
	// policy.
	Try(ctx context.Context, turn memory.Turn, rules *policy.Rules) (ingest.Outcome, error)
	// AcceptHeld is Accept, but leaves the processors to the caller for a moment: see ingest.Service.
	AcceptHeld(ctx context.Context, turn memory.Turn) (stored memory.Turn, fresh bool, start func(), err error)
	// Await waits until a turn is processed or failed. If ctx ends first, it
	// returns the turn's present state, or an error that wraps ctx's.
	Await(ctx context.Context, appID, turnID string) (ingest.Outcome, error)
	// Outcome finds a turn by its id, else by its client id.
	Outcome(ctx context.Context, appID, ref string) (ingest.Outcome, error)
	// Share gives the other participants of a turn their copies, after Accept: see ingest.Service.
	Share(ctx context.Context, given memory.Turn, fresh bool, turn memory.Turn) ([]ingest.Copy, error)
	// Withdraw takes back a turn, by its id or client id.
	Withdraw(ctx context.Context, appID, ref string) (ingest.Withdrawn, error)
	// WithdrawShared is Withdraw, also of the copies that others have of the turn.
	WithdrawShared(ctx context.Context, appID, ref string) (ingest.Withdrawn, error)
	// Replay queues a turn again. KindConflict: it has been processed or withdrawn.
	Replay(ctx context.Context, appID, turnID string) (memory.Turn, error)
}

// TurnLister reads turns page by page; db.Turns implements it.
type TurnLister interface {
	ListTurns(ctx context.Context, f db.TurnFilter) ([]memory.Turn, error)
}

type turnHandlers struct {
	TurnParts
	waiter   frame.Waiter
	quotas   *quotas
	slots    *frame.Slots
	contexts turnContexts
}

func (h turnHandlers) register(r *frame.Routes) {
	r.Add("POST /v1/turns", memory.RoleWrite, frame.WithBody(h.post))
	r.Add("GET /v1/turns", memory.RoleRead, frame.List[db.TurnFilter, memory.Turn, turnBody]{
		Name:     "turns",
		Filter:   turnFilter,
		Find:     h.Lister.ListTurns,
		Body:     turnOf,
		Position: func(t memory.Turn) db.Position { return db.Position{At: t.AcceptedAt, ID: t.ID} },
	}.Handle)
	r.Add("GET /v1/turns/:id", memory.RoleRead, h.get)
	r.Add("DELETE /v1/turns/:id", memory.RoleWrite, h.withdraw)
	r.Add("POST /v1/turns/:id/replay", memory.RoleWrite, h.replay)
}

type turnRequest struct {
	ID             string           `json:"id"`
	UserID         string           `json:"user_id"`
	ConversationID string           `json:"conversation_id"`
	AgentID        string           `json:"agent_id"`
	Messages       []messageRequest `json:"messages"`
	Metadata       json.RawMessage  `json:"metadata"`
	At             string           `json:"at"`
	Replaces       string           `json:"replaces"`
	ExpiresAt      string           `json:"expires_at"`
	Memory         string           `json:"memory"`
	Wait           bool             `json:"wait"`
	Return         string           `json:"return"`
	Context        *contextRequest  `json:"context"` // see openapi.yaml for the fields that it may have
	DryRun         bool             `json:"dry_run"`
	Policy         *memory.Policy   `json:"policy"` // with DryRun alone
	Participants   memory.People    `json:"participants"`
}

// turnBody is the JSON of a turn. Lists omit messages and candidates.
type turnBody struct {
	ID             string            `json:"id"`
	ClientID       string            `json:"client_id,omitempty"`
	Memory         memory.Mode       `json:"memory,omitempty"`
	UserID         string            `json:"user_id"`
	ConversationID string            `json:"conversation_id,omitempty"`
	AgentID        string            `json:"agent_id,omitempty"`
	FirstEvent     int64             `json:"first_event,omitempty"`
	Status         memory.TurnStatus `json:"status"`
	Attempts       int               `json:"attempts"`
	LastError      string            `json:"last_error,omitempty"`
	At             time.Time         `json:"at"`
	ExpiresAt      time.Time         `json:"expires_at,omitzero"`
	AcceptedAt     time.Time         `json:"accepted_at"`
	ProcessedAt    time.Time         `json:"processed_at,omitzero"`
	WithdrawnAt    time.Time         `json:"withdrawn_at,omitzero"`
	ScoredBy       string            `json:"scored_by,omitempty"`
	PolicyVersion  int               `json:"policy_version,omitempty"`
	Shared         *memory.Share     `json:"shared,omitempty"`
	Repeated       bool              `json:"repeated,omitempty"`
	RepeatedCount  int               `json:"repeated_messages,omitempty"`
	frame.Altered
	Metadata   json.RawMessage   `json:"metadata,omitempty"`
	Messages   []memory.Message  `json:"messages,omitempty"`
	Withheld   []withheldBody    `json:"withheld,omitempty"`
	LeftOut    []memory.Omission `json:"left_out,omitempty"`
	Candidates []candidateBody   `json:"candidates,omitzero"`
	turnContextBody
	DryRun       bool              `json:"dry_run,omitempty"`
	Participants []participantBody `json:"participants,omitempty"`
}

func turnOf(t memory.Turn) turnBody {
	if t.Status == memory.TurnWithdrawn {
		t.LeftOut = nil // omitted like its messages
	}
	var shared *memory.Share
	if t.Shared.Is() {
		shared = &t.Shared
	}
	return turnBody{
		Shared: shared,
		ID:     t.ID, ClientID: t.ClientID, UserID: t.UserID, ConversationID: t.ConversationID, AgentID: t.AgentID,
		FirstEvent: t.FirstEvent, Status: t.Status, Attempts: t.Attempts, LastError: t.LastError,
		At: t.At, ExpiresAt: t.ExpiresAt, AcceptedAt: t.AcceptedAt, ProcessedAt: t.ProcessedAt, WithdrawnAt: t.WithdrawnAt,
		Metadata: t.Metadata, LeftOut: t.LeftOut, Memory: t.Memory, ScoredBy: t.Scored.By, PolicyVersion: t.Scored.Policy,
	}
}

// turnWithMessages returns the JSON of a turn with its messages.
func turnWithMessages(t memory.Turn) turnBody {
	body := turnOf(t)
	if t.Status == memory.TurnWithdrawn {
		return body
	}
	body.Messages = t.Readable()
	for _, w := range t.Withheld {
		body.Withheld = append(body.Withheld, withheldBody{
			Message: w.Message, Statement: w.Statement, Policy: w.Policy, At: w.At,
		})
	}
	return body
}

// withheldBody says that a part of a message is withheld, and why.
type withheldBody struct {
	Message   int       `json:"message"`
	Statement string    `json:"statement,omitempty"`
	Policy    int       `json:"policy,omitempty"`
	At        time.Time `json:"at"`
}

func outcomeOf(o ingest.Outcome) turnBody {
	body := turnOf(o.Turn)
	body.Candidates = frame.BodiesOf(o.Candidates, candidateOf)
	return body
}

func (h turnHandlers) post(ctx context.Context, r *frame.Request, body turnRequest) (any, error) {
	turn := memory.Turn{
		Owner: r.BodyOwner(body.UserID), ClientID: body.ID,
		AgentID: body.AgentID, ConversationID: body.ConversationID, Messages: messagesIn(r, body.Messages),
		Metadata: r.Metadata("metadata", body.Metadata), At: r.Time("at", body.At), Replaces: body.Replaces,
		Offset: offsetOf(body), Expires: r.Expiry("expires_at", body.ExpiresAt),
		Memory: memory.ModeNamed(body.Memory), KeyMemory: r.Key.Memory,
	}
	r.Note("id", memory.CheckID(body.ID, true))
	r.Note("replaces", memory.CheckID(body.Replaces, true))
	r.OptionalIDs("", body.AgentID, body.ConversationID)
	turn.People, turn.Messages = peopleIn(r, body, turn.Messages)
	if body.DryRun {
		return h.try(ctx, r, body, turn)
	}
	if body.Policy != nil {
		r.Note("policy", "goes with dry_run alone: PUT /v1/policy stores a policy")
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	stored, fresh, asked, err := h.accept(ctx, r, body, turn)
	if err != nil {
		return nil, err
	}
	copies, err := h.share(ctx, r, body, stored, fresh, turn)
	if err != nil {
		return nil, err
	}
	accepted, err := h.follow(ctx, stored, body.Wait)
	if memory.IsKind(err, memory.KindNotFound) { // the turn was stored a moment ago
		err = memory.Errorf(memory.KindConflict, "the user, with this turn, was erased before the turn was processed")
	}
	if err != nil {
		return nil, err
	}
	accepted.Repeated, accepted.RepeatedCount = !fresh, stored.Repeated
	accepted.Altered, accepted.turnContextBody = r.Altered, asked
	accepted.Participants = copies
	if accepted.Status == memory.TurnAccepted {
		return frame.WithStatus(http.StatusAccepted, accepted), nil
	}
	return accepted, nil
}

// offsetOf returns the offset of a turn's time, else of the last time of a message that has an offset.
func offsetOf(body turnRequest) string {
	offset := memory.OffsetOf(body.At)
	for i := len(body.Messages) - 1; i >= 0 && offset == ""; i-- {
		offset = memory.OffsetOf(body.Messages[i].At)
	}
	return offset
}

// isStored reports whether the app has a turn with a client id.
func (h turnHandlers) isStored(ctx context.Context, appID, clientID string) bool {
	if clientID == "" {
		return false
	}
	outcome, err := h.Ingester.Outcome(ctx, appID, clientID)
	return err == nil && outcome.Turn.ClientID == clientID
}

// follow returns the present state of a stored turn. With wait it first waits for the turn
// to be processed.
func (h turnHandlers) follow(ctx context.Context, stored memory.Turn, wait bool) (turnBody, error) {
	switch {
	case stored.Status != memory.TurnAccepted:
		outcome, err := h.Ingester.Outcome(ctx, stored.AppID, stored.ID)
		return outcomeOf(outcome), err
	case !wait:
		return turnOf(stored), nil
	}
	waiting, cancel := h.waiter.Context(ctx)
	defer cancel()
	outcome, err := h.Ingester.Await(waiting, stored.AppID, stored.ID)
	switch {
	case err != nil && waiting.Err() != nil && ctx.Err() == nil:
		return turnOf(stored), nil
	case err != nil:
		return turnBody{}, err
	case outcome.Turn.Status == memory.TurnAccepted:
		return turnOf(outcome.Turn), nil
	}
	return outcomeOf(outcome), nil
}

func (h turnHandlers) get(ctx context.Context, r *frame.Request) (any, error) {
	outcome, err := h.outcome(ctx, r)
	body := turnWithMessages(outcome.Turn)
	body.Candidates = frame.BodiesOf(outcome.Candidates, candidateOf)
	return body, err
}

// outcome finds the turn that the path names by its id or client id.
func (h turnHandlers) outcome(ctx context.Context, r *frame.Request) (ingest.Outcome, error) {
	ref, err := r.PathID()
	if err != nil {
		return ingest.Outcome{}, err
	}
	return h.Ingester.Outcome(ctx, r.Key.AppID, ref)
}

// withdrawnBody is a turn that was taken back, with the effects of that.
type withdrawnBody struct {
	turnBody
	Effects []effectBody      `json:"effects"`
	Facts   []factEffectBody  `json:"facts"`
	Events  []eventEffectBody `json:"events"`
}

func (h turnHandlers) withdraw(ctx context.Context, r *frame.Request) (any, error) {
	ref, err := r.PathID()
	if err != nil {
		return nil, err
	}
	withdraw := h.Ingester.WithdrawShared
	if r.Key.UserID != "" { // what others have said is not the user's to take back
		withdraw = h.Ingester.Withdraw
	}
	done, err := withdraw(ctx, r.Key.AppID, ref)
	return withdrawnBody{
		turnBody: turnOf(done.Turn), Effects: frame.BodiesOf(done.Effects, effectOf),
		Facts: frame.BodiesOf(done.Facts, factEffectOf), Events: frame.BodiesOf(done.Log, eventEffectOf),
	}, err
}

func (h turnHandlers) replay(ctx context.Context, r *frame.Request) (any, error) {
	outcome, err := h.outcome(ctx, r)
	if err != nil {
		return nil, err
	}
	turn, err := h.Ingester.Replay(ctx, r.Key.AppID, outcome.Turn.ID)
	return frame.WithStatus(http.StatusAccepted, turnOf(turn)), err
}

func turnFilter(r *frame.Request, p frame.Page) db.TurnFilter {
	return db.TurnFilter{
		AppID: r.Key.AppID, UserID: r.QueryID("user_id"),
		Status: memory.TurnStatus(r.Query.Get("status")), Before: p.Before, Limit: p.Limit,
	}
}
