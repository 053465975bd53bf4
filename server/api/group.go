package api

import (
	"context"
	"slices"

	"hippocampus/internal/memory"
	"hippocampus/recall"
	"hippocampus/server/frame"
)

// PeopleReader finds who takes part in a conversation; db.People implements it.
type PeopleReader interface {
	Participants(ctx context.Context, appID, conversationID string, after memory.Participant, limit int) (
		[]memory.Participant, error)
}

// peopleOf finds the participants of a conversation of a user, each under all their names, up to mostNames. The user is
// among them, or there is no participant: another user may have a conversation with the same id.
func peopleOf(ctx context.Context, people PeopleReader, owner memory.Owner, conversationID string) (
	[]memory.Participant, error,
) {
	var first []memory.Participant
	for after := (memory.Participant{}); ; {
		page, err := people.Participants(ctx, owner.AppID, conversationID, after, mostNames)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(page, func(p memory.Participant) bool { return p.UserID == owner.UserID })
		switch {
		case at >= 0 && first == nil:
			return page, nil
		case at >= 0:
			return append([]memory.Participant{page[at]}, first[:mostNames-1]...), nil
		case len(page) < mostNames:
			return nil, nil
		case first == nil:
			first = page
		}
		after = page[len(page)-1]
	}
}

// mostNames is the number of names of participants in an answer. Some have several names.
const mostNames = 4 * memory.MaxPeople

// membersBody says whose words were recalled for a group.
type membersBody struct {
	Participants []memberBody `json:"participants"`
	LeftOut      []memberBody `json:"left_out"`
}

type memberBody struct {
	UserID string `json:"user_id"`
	Name   string `json:"name"`
	Reason string `json:"reason,omitempty"` // of being left out
}

func memberOf(p memory.Participant) memberBody { return memberBody{UserID: p.UserID, Name: p.Name} }

// Why a member of a group is left out.
const (
	leftOutByKey    = "key"        // the key may not read what belongs to the member
	leftOutByMemory = "memory_off" // memory is off for the member
	leftOutByNumber = "too_many"   // the conversation has memory.MaxPeople others before the member
)

// group has a query recall what the participants of a conversation have said to each other, if the request asks for
// it. KindNotFound: the user does not take part in such a conversation.
func (h RecallParts) group(ctx context.Context, r *frame.Request, body recallRequest, q *recall.Query) (
	*membersBody, error,
) {
	switch {
	case !body.Group:
		return nil, nil
	case body.ConversationID == "":
		return nil, memory.Invalid(memory.Field{Path: "group", Message: "shares a conversation: give its conversation_id"})
	case body.Expand != "" || body.Explain:
		return nil, memory.Invalid(memory.Field{Path: "group", Message: "does not go with expand and explain"})
	}
	found, err := peopleOf(ctx, h.People, memory.Owner{AppID: r.Key.AppID, UserID: body.UserID}, body.ConversationID)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, memory.Errorf(memory.KindNotFound, "user %q takes part in no conversation %q with others: report its "+
			"turns with participants", body.UserID, body.ConversationID)
	}
	q.Group = []memory.Participant{}
	group := &membersBody{Participants: []memberBody{}, LeftOut: []memberBody{}}
	for i, p := range found {
		if i > 0 && found[i-1].UserID == p.UserID {
			continue
		}
		member := memberOf(p)
		mode, err := h.Modes.Of(ctx, p.Owner, p.ConversationID)
		if err != nil {
			return nil, err
		}
		if p.UserID == body.UserID {
			q.Memory = memory.Strictest(q.Memory, mode)
		}
		switch {
		case r.Key.UserID != "" && r.Key.UserID != p.UserID:
			member.Reason = leftOutByKey
		case !mode.Recalls():
			member.Reason = leftOutByMemory
		case len(q.Group) >= memory.MaxPeople:
			member.Reason = leftOutByNumber
		}
		if member.Reason != "" {
			group.LeftOut = append(group.LeftOut, member)
			continue
		}
		group.Participants = append(group.Participants, member)
		q.Group = append(q.Group, p)
	}
	q.NoTouch = true
	return group, nil
}
