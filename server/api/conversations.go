package api

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"hippocampus/conversation/session"
	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// ConversationParts are the parts behind the routes of conversations.
type ConversationParts struct {
	Reader    ConversationReader
	People    PeopleReader
	Sessions  Sessions
	Forgetter MemoryForgetter
}

// MemoryForgetter forgets the memories of a conversation; package ingest implements it.
type MemoryForgetter interface {
	ForgetSelected(ctx context.Context, sel ingest.Selection, how ingest.Forgetting) (ingest.Selected, error)
}

// ConversationReader reads conversations and their turns, and sets titles;
// db.Conversations implements it.
type ConversationReader interface {
	Conversation(ctx context.Context, appID, userID, id string) (memory.Conversation, error)
	ListConversations(ctx context.Context, f db.ConversationFilter) ([]memory.Conversation, error)
	ConversationTurns(ctx context.Context, owner memory.Owner, id string, after int64, limit int) ([]memory.Turn, error)
	SetTitle(ctx context.Context, owner memory.Owner, id, title string) (memory.Conversation, error)
}

// Sessions holds the working memory; package session implements it.
type Sessions interface {
	Working(ctx context.Context, appID, userID, id string, f session.Filter) (session.Working, error)
	Delete(ctx context.Context, owner memory.Owner, id string) (db.DeletedConversation, error)
}

type conversationHandlers struct {
	ConversationParts
	modes ModeKeeper
}

func (h conversationHandlers) register(r *frame.Routes) {
	list := frame.List[db.ConversationFilter, memory.Conversation, conversationBody]{
		Name:     "conversations",
		Named:    true,
		Filter:   conversationFilter,
		Find:     h.Reader.ListConversations,
		Body:     conversationOf,
		Position: func(c memory.Conversation) db.Position { return db.Position{At: c.LastAt, ID: c.ID} },
	}
	r.Add("GET /v1/conversations", memory.RoleRead, list.Handle)
	r.Add("GET /v1/conversations/:id", memory.RoleRead, h.get)
	r.Add("PUT /v1/conversations/:id", memory.RoleWrite, frame.WithBody(h.put))
	r.Add("PATCH /v1/conversations/:id", memory.RoleWrite, frame.WithBody(h.patch))
	r.Add("DELETE /v1/conversations/:id", memory.RoleWrite, h.delete)
	r.Add("GET /v1/conversations/:id/working", memory.RoleRead, h.getWorking)
}

type conversationBody struct {
	ID        string               `json:"id"`
	UserID    string               `json:"user_id"`
	Title     string               `json:"title"`
	State     db.ConversationState `json:"state"`
	Turns     int64                `json:"turns"`
	Events    int64                `json:"events"`
	Tokens    int64                `json:"tokens"`
	Summary   string               `json:"summary,omitempty"`
	Through   int64                `json:"summarised_through,omitempty"`
	Kept      int64                `json:"consolidated_through,omitempty"`
	StartedAt time.Time            `json:"started_at"`
	LastAt    time.Time            `json:"last_at"`
	EndedAt   time.Time            `json:"ended_at,omitzero"`
	EndReason string               `json:"end_reason,omitempty"`
	Memory    string               `json:"memory"` // the name of a mode
}

func conversationOf(c memory.Conversation) conversationBody {
	state := db.ConversationOpen
	if !c.EndedAt.IsZero() {
		state = db.ConversationEnded
	}
	return conversationBody{
		ID: c.ID, UserID: c.UserID, Title: c.Title, State: state, Turns: c.Turns, Events: c.Events, Tokens: c.Tokens,
		Summary: c.Summary, Through: c.SummarisedThrough, Kept: c.ConsolidatedThrough,
		StartedAt: c.StartedAt, LastAt: c.LastAt, EndedAt: c.EndedAt, EndReason: c.EndReason, Memory: c.Memory.String(),
	}
}

func conversationFilter(r *frame.Request, p frame.Page) db.ConversationFilter {
	return db.ConversationFilter{
		Owner: r.QueryOwner(), State: db.ConversationState(r.Query.Get("state")), Before: p.Before, Limit: p.Limit,
	}
}

// conversationIDOf reads which conversation a request names. The user may be
// empty if only one user has a conversation with the id.
func conversationIDOf(r *frame.Request) (userID, id string) {
	id = r.PathValue("id")
	userID = r.QueryID("user_id")
	r.Note("path.id", memory.CheckID(id, false))
	return userID, id
}

// namedConversation finds the conversation that the request names, unless anything is
// wrong with the request.
func namedConversation(ctx context.Context, r *frame.Request, reader ConversationReader) (memory.Conversation, error) {
	userID, id := conversationIDOf(r)
	if err := r.Err(); err != nil {
		return memory.Conversation{}, err
	}
	return reader.Conversation(ctx, r.Key.AppID, userID, id)
}

func (h conversationHandlers) get(ctx context.Context, r *frame.Request) (any, error) {
	limit, after := r.Limit(), r.QueryNumber("cursor", frame.InvalidCursor)
	found, err := namedConversation(ctx, r, h.Reader)
	if err != nil {
		return nil, err
	}
	people, err := peopleOf(ctx, h.People, found.Owner, found.ID)
	if err != nil {
		return nil, err
	}
	turns, err := h.Reader.ConversationTurns(ctx, found.Owner, found.ID, after, limit)
	body := struct {
		Conversation conversationBody `json:"conversation"`
		Participants []memberBody     `json:"participants,omitempty"`
		Turns        []turnBody       `json:"turns"`
		Next         string           `json:"next_cursor,omitempty"`
	}{
		Conversation: conversationOf(found), Participants: frame.BodiesOf(people, memberOf),
		Turns: frame.BodiesOf(turns, turnWithMessages),
	}
	if len(turns) == limit {
		body.Next = strconv.FormatInt(turns[len(turns)-1].LastEvent(), 10)
	}
	return body, err
}

// conversationSettings is what is set of a conversation, which may have no turn yet.
type conversationSettings struct {
	ID     string `json:"id"`
	UserID string `json:"user_id"`
	Memory string `json:"memory"`
}

type conversationRequest struct {
	Memory string `json:"memory"`
}

func (h conversationHandlers) put(ctx context.Context, r *frame.Request, body conversationRequest) (any, error) {
	owner, id := r.QueryOwner(), r.PathValue("id")
	r.Note("path.id", memory.CheckID(id, false))
	if err := r.Err(); err != nil {
		return nil, err
	}
	mode := memory.ModeNamed(body.Memory)
	return conversationSettings{ID: id, UserID: owner.UserID, Memory: mode.String()}, h.modes.Set(ctx, owner, id, mode)
}

type titleRequest struct {
	Title string `json:"title"`
}

func (h conversationHandlers) patch(ctx context.Context, r *frame.Request, body titleRequest) (any, error) {
	r.Note("title", memory.CheckTitle(body.Title))
	found, err := namedConversation(ctx, r, h.Reader)
	if err != nil {
		return nil, err
	}
	changed, err := h.Reader.SetTitle(ctx, found.Owner, found.ID, body.Title)
	return conversationOf(changed), err
}

type deletedConversationBody struct {
	ID         string `json:"id"`
	UserID     string `json:"user_id"`
	Turns      int    `json:"turns"`
	Candidates int    `json:"candidates"`
	Forgotten  *int   `json:"forgotten,omitempty"`
	Kept       string `json:"kept"`
}

// keptMemories describes what remains of a deleted conversation.
const keptMemories = "the memories that were made from it: " +
	"list them by conversation_id, and delete those that are to go, too"

// keptPinned describes what remains if the memories were forgotten.
const keptPinned = "pinned memories, and the forgotten ones until they are purged: restore brings them back"

func (h conversationHandlers) delete(ctx context.Context, r *frame.Request) (any, error) {
	found, err := namedConversation(ctx, r, h.Reader)
	if err != nil {
		return nil, err
	}
	body := deletedConversationBody{ID: found.ID, UserID: found.UserID, Kept: keptMemories}
	if r.Query.Get("memories") == "forget" {
		n, err := h.forgetMemories(ctx, found)
		if err != nil {
			return nil, err
		}
		body.Forgotten, body.Kept = &n, keptPinned
	}
	deleted, err := h.Sessions.Delete(ctx, found.Owner, found.ID)
	body.Turns, body.Candidates = deleted.Turns, deleted.Candidates
	return body, err
}

// forgetMemories forgets the memories of a conversation with what states the same, and returns how many of them were
// forgotten. After an error the conversation and the other memories remain, and the same request continues the work.
func (h conversationHandlers) forgetMemories(ctx context.Context, c memory.Conversation) (n int, err error) {
	for more := true; more; {
		done, err := h.Forgetter.ForgetSelected(ctx, ingest.Selection{Owner: c.Owner, ConversationID: c.ID},
			ingest.Forgetting{})
		if err != nil {
			return n, err
		}
		for _, e := range done.Forgotten {
			if e.Err != nil {
				return n, e.Err
			}
		}
		n, more = n+len(done.Forgotten), done.More
	}
	return n, nil
}

// workingEventBody is the JSON of an event of a conversation.
type workingEventBody struct {
	Number     int64                 `json:"number"`
	TurnID     string                `json:"turn_id"`
	MessageID  string                `json:"message_id,omitempty"`
	Role       string                `json:"role"`
	Name       string                `json:"name,omitempty"`
	Content    string                `json:"content"`
	Kind       memory.MessageKind    `json:"kind"`
	Tags       []string              `json:"tags"`
	Context    memory.MessageContext `json:"context"`
	Importance float64               `json:"importance"`
	Tokens     int                   `json:"tokens"`
	At         time.Time             `json:"at"`
}

type workingBody struct {
	Conversation conversationBody   `json:"conversation"`
	Events       []workingEventBody `json:"events"`
	Held         int                `json:"held"`
	Tokens       int                `json:"tokens"`
	Fill         float64            `json:"fill"`
}

func (h conversationHandlers) getWorking(ctx context.Context, r *frame.Request) (any, error) {
	filter := session.Filter{
		Kinds: frame.NamesOf[memory.MessageKind](r.Query["kind"]), Tags: r.Query["tag"],
		MinImportance: r.QueryFloat("min_importance"),
		Since:         r.QueryTime("since"), Limit: int(r.QueryNumber("limit", "is not written as a plain integer")),
	}
	for i, tag := range filter.Tags {
		r.Note(fmt.Sprintf("query.tag[%d]", i), memory.CheckContent(tag, memory.MaxTagRunes))
	}
	userID, id := conversationIDOf(r)
	if err := r.Err(); err != nil {
		return nil, err
	}
	w, err := h.Sessions.Working(ctx, r.Key.AppID, userID, id, filter)
	body := workingBody{
		Conversation: conversationOf(w.Conversation), Events: []workingEventBody{},
		Held: w.Held, Tokens: w.Tokens, Fill: w.Fill,
	}
	for _, e := range w.Events {
		body.Events = append(body.Events, workingEventBody{
			Number: e.Number, TurnID: e.TurnID, MessageID: e.MessageID, Role: e.Role, Name: e.Name, Content: e.Content,
			Kind: e.Kind, Tags: frame.NotNil(e.Tags), Context: e.Context, Importance: e.Importance, Tokens: e.Tokens, At: e.At,
		})
	}
	return body, err
}
