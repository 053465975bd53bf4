package api

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// participantBody is what a participant has got of a turn.
type participantBody struct {
	Name       string            `json:"name"`
	UserID     string            `json:"user_id"`
	TurnID     string            `json:"turn_id"`
	Status     memory.TurnStatus `json:"status"`
	Repeated   bool              `json:"repeated,omitempty"`
	Memory     memory.Mode       `json:"memory,omitempty"`
	LeftOut    []memory.Omission `json:"left_out,omitempty"`
	Candidates []candidateBody   `json:"candidates,omitempty"`
}

// peopleIn checks the participants of a turn. It returns them, and the messages with the name of the turn's user on
// those of the user's role that lack one. A key of one user may name no other user.
func peopleIn(r *frame.Request, body turnRequest, messages []memory.Message) (memory.People, []memory.Message) {
	if len(body.Participants) == 0 {
		return nil, messages
	}
	const path = "participants"
	if body.ConversationID == "" {
		r.Note(path, "share a conversation: give its conversation_id")
	}
	if body.DryRun {
		r.Note(path, "do not go with dry_run")
	}
	if n := len(body.Participants); n > memory.MaxPeople {
		r.Note(path, fmt.Sprintf("has %d names: at most %d are allowed", n, memory.MaxPeople))
		return nil, messages
	}
	spellings, names := map[string]string{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(body.Participants)) {
		userID := body.Participants[name]
		at := fmt.Sprintf("%s[%q]", path, memory.Clip(name, 40))
		r.Note(at, memory.CheckID(strings.TrimSpace(name), false))
		r.Note(at, memory.CheckID(userID, false))
		spelling := strings.ToLower(norm.NFKC.String(strings.TrimSpace(name)))
		if other, isTaken := spellings[spelling]; isTaken {
			r.Note(at, fmt.Sprintf("is another spelling of %q: give one name", other))
		}
		if other, isTaken := names[userID]; isTaken {
			r.Note(at, fmt.Sprintf("is the user of %q too: give each user one name", other))
		}
		spellings[spelling], names[userID] = name, name
	}
	for i, m := range messages {
		if m.Role != memory.RoleUser || m.Name != "" {
			continue
		}
		if names[body.UserID] == "" {
			r.Note(fmt.Sprintf("messages[%d].name", i), "is missing: without a name the message is the user's, and "+
				"participants does not have the user; give the message a name, or add the user")
		}
		messages[i].Name = names[body.UserID]
	}
	return body.Participants, messages
}

// share gives the other participants their copies, and says what each participant has got.
func (h turnHandlers) share(
	ctx context.Context, r *frame.Request, body turnRequest, stored memory.Turn, fresh bool, turn memory.Turn,
) (list []participantBody, err error) {
	if len(turn.People) == 0 {
		return nil, nil
	}
	var copies []ingest.Copy
	err = h.store(ctx, r, body, func() (err error) {
		copies, err = h.Ingester.Share(ctx, stored, fresh, turn)
		return err
	})
	for _, c := range copies {
		of, followErr := h.follow(ctx, c.Turn, body.Wait)
		if memory.IsKind(followErr, memory.KindNotFound) { // the participant, with this copy, was erased since
			continue
		}
		err = cmp.Or(err, followErr)
		list = append(list, participantBody{
			Name: c.Name, UserID: c.Turn.UserID, TurnID: c.Turn.ID, Status: of.Status, Repeated: !c.Fresh,
			Memory: of.Memory, LeftOut: of.LeftOut, Candidates: of.Candidates,
		})
	}
	return list, err
}
